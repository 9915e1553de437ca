// SPDX-License-Identifier: BSD-3-Clause
// P A = L U with partial pivoting on StarPU: by halves of the columns (Toledo 1997), down to narrow panels that LAPACK
// factors, so that most of the work is in large products.
//   starpu_lu [n] [repetitions]
#include <limits>

#include "dense.hpp"

extern "C" void dgetrf_(int const*, int const*, double*, int const*, int*, int*);

namespace {

using namespace example;
using handle = starpu_data_handle_t;

constexpr int panel = 128, leaf = 512;

// Row i was exchanged with row pivots[i] of the whole. Written by the task that factors the panel of column i and read
// by those that depend on that panel: StarPU orders them by the panel's handle.
std::vector<int> pivots;

/// The exchanges number [first, last) on the rows of X, whose first row is row `top` of the whole; then, if there is an
/// L, X := L⁻¹ X for the rows of L.
void exchange(matrix const& X, int top, int first, int last) {
  for (int j = 0; j < X.cols; ++j) {
    double* const column = X.data + std::int64_t{1} * j * X.ld - top;
    for (int i = first; i < last; ++i) std::swap(column[i], column[pivots[static_cast<std::size_t>(i)]]);
  }
}

void exchange_rows(handle X, handle after, int top, int first, int last) {
  auto const cols = tiles(cols_of(X), leaf / 2);
  parts const x(X, whole(rows_of(X)), cols);
  for (std::size_t j = 0; j + 1 < cols.size(); ++j)
    submit("swap", {x(0, j), after}, [=](std::vector<matrix> const& m) { exchange(m[0], top, first, last); });
}

/// X := L⁻¹ X, L lower with a diagonal of ones
void solve(handle L, handle X) {
  int const n = rows_of(L), k = cols_of(X);
  if (n <= leaf) {
    auto const cols = tiles(k, leaf);
    parts const x(X, whole(n), cols);
    for (std::size_t j = 0; j + 1 < cols.size(); ++j)
      submit("trsm", {x(0, j), L}, [](std::vector<matrix> const& m) {
        dtrsm_("L", "L", "N", "U", &m[0].rows, &m[0].cols, &one, m[1].data, &m[1].ld, m[0].data, &m[0].ld);
      });
    return;
  }
  parts const l(L, halves(n), halves(n), true), x(X, halves(n), whole(k));
  solve(l(0, 0), x(0, 0));
  update(l(1, 0), x(0, 0), false, x(1, 0));
  solve(l(1, 1), x(1, 0));
}

/// The columns of A, whose first element is on the diagonal of the whole, in row `top`.
void lu(handle A, int top) {
  int const m = rows_of(A), n = cols_of(A);
  if (n <= panel) {
    submit("getrf", {A}, [top](std::vector<matrix> const& x) {
      int info = 0;
      int* const own = pivots.data() + top;
      dgetrf_(&x[0].rows, &x[0].cols, x[0].data, &x[0].ld, own, &info);
      if (info != 0) std::abort();
      for (int i = 0; i < x[0].cols; ++i) own[i] += top - 1;  // LAPACK counts from 1, and from its first row
    });
    return;
  }
  int const k = halves(n)[1];
  parts const a(A, whole(m), halves(n));
  handle const left = a(0, 0), right = a(0, 1);
  lu(left, top);
  exchange_rows(right, left, top, top, top + k);
  parts const l(left, {0, k, m}, whole(k)), r(right, {0, k, m}, whole(n - k));
  solve(l(0, 0), r(0, 0));
  update(l(1, 0), r(0, 0), false, r(1, 0));
  lu(r(1, 0), top + k);
  exchange_rows(l(1, 0), r(1, 0), top + k, top + k, top + n);
}

}  // namespace

int main(int argc, char** argv) {
  choose_blas_kernels(argv);
  int const n = argc > 1 ? std::atoi(argv[1]) : 1500, repetitions = argc > 2 ? std::atoi(argv[2]) : 1;
  auto const at = [n](int i, int j) {
    return static_cast<std::size_t>(i) + static_cast<std::size_t>(j) * static_cast<std::size_t>(n);
  };
  std::vector<double> A(static_cast<std::size_t>(n) * static_cast<std::size_t>(n));
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> uniform(-1, 1);
  for (double& x : A) x = uniform(random);
  pivots.resize(static_cast<std::size_t>(n));

  // ‖Pᵀ L U − A‖ / (n ‖A‖ eps), as LAPACK's dget01.
  auto const residual = [&](std::vector<double> const& F) {
    std::vector<double> product(A.size(), 0.0);
    for (int j = 0; j < n; ++j)
      for (int i = 0; i <= j; ++i) product[at(i, j)] = F[at(i, j)];
    dtrmm_("L", "L", "N", "U", &n, &n, &one, F.data(), &n, product.data(), &n);
    for (int j = 0; j < n; ++j)
      for (int i = n; i-- > 0;) std::swap(product[at(i, j)], product[at(pivots[static_cast<std::size_t>(i)], j)]);
    for (std::size_t i = 0; i < A.size(); ++i) product[i] -= A[i];
    return norm(product, n) / (n * norm(A, n) * std::numeric_limits<double>::epsilon());
  };
  return compare(
      "LU", 2.0 / 3 * n * n * static_cast<double>(n), A, n, repetitions, [](handle whole) { lu(whole, 0); }, residual);
}
