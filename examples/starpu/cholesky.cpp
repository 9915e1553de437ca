// SPDX-License-Identifier: BSD-3-Clause
// A = L Lᵀ on StarPU: three recursions on halves, which leave large products for the trailing updates.
//   starpu_cholesky [n] [repetitions]
#include <limits>

#include "dense.hpp"

extern "C" {
void dpotrf_(char const*, int const*, double*, int const*, int*);
void dsyrk_(char const*, char const*, int const*, int const*, double const*, double const*, int const*, double const*,
            double*, int const*);
}

namespace {

using namespace example;
using handle = starpu_data_handle_t;

constexpr int leaf = 512;

/// X := X L⁻ᵀ
void solve(handle L, handle X) {
  int const n = rows_of(L), m = rows_of(X);
  if (n <= leaf) {
    auto const rows = tiles(m, leaf);
    parts const x(X, rows, whole(n));
    for (std::size_t i = 0; i + 1 < rows.size(); ++i)
      submit("trsm", {x(i, 0), L}, [](std::vector<matrix> const& m) {
        dtrsm_("R", "L", "T", "N", &m[0].rows, &m[0].cols, &one, m[1].data, &m[1].ld, m[0].data, &m[0].ld);
      });
    return;
  }
  parts const l(L, halves(n), halves(n), true), x(X, whole(m), halves(n));
  solve(l(0, 0), x(0, 0));
  update(x(0, 0), l(1, 0), true, x(0, 1));
  solve(l(1, 1), x(0, 1));
}

/// The lower triangle of C −= A Aᵀ
void update_triangle(handle A, handle C) {
  int const n = rows_of(C);
  if (n <= leaf) {
    submit("syrk", {C, A}, [](std::vector<matrix> const& m) {
      dsyrk_("L", "N", &m[0].rows, &m[1].cols, &minus_one, m[1].data, &m[1].ld, &one, m[0].data, &m[0].ld);
    });
    return;
  }
  parts const c(C, halves(n), halves(n)), a(A, halves(n), whole(cols_of(A)), true);
  update(a(1, 0), a(0, 0), true, c(1, 0));
  update_triangle(a(0, 0), c(0, 0));
  update_triangle(a(1, 0), c(1, 1));
}

void cholesky(handle A) {
  int const n = rows_of(A);
  if (n <= leaf) {
    submit("potrf", {A}, [](std::vector<matrix> const& m) {
      int info = 0;
      dpotrf_("L", &m[0].rows, m[0].data, &m[0].ld, &info);
      if (info != 0) std::abort();
    });
    return;
  }
  parts const a(A, halves(n), halves(n));
  cholesky(a(0, 0));
  solve(a(0, 0), a(1, 0));
  update_triangle(a(1, 0), a(1, 1));
  cholesky(a(1, 1));
}

}  // namespace

int main(int argc, char** argv) {
  choose_blas_kernels(argv);
  int const n = argc > 1 ? std::atoi(argv[1]) : 2048, repetitions = argc > 2 ? std::atoi(argv[2]) : 1;
  auto const at = [n](int i, int j) {
    return static_cast<std::size_t>(i) + static_cast<std::size_t>(j) * static_cast<std::size_t>(n);
  };
  std::vector<double> A(static_cast<std::size_t>(n) * static_cast<std::size_t>(n));
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> uniform(-1, 1);
  for (int j = 0; j < n; ++j)
    for (int i = j; i < n; ++i) A[at(i, j)] = A[at(j, i)] = uniform(random) + (i == j ? n : 0);

  // ‖L Lᵀ − A‖ / (n ‖A‖ eps), as LAPACK's dpot01.
  auto const residual = [&](std::vector<double> const& F) {
    std::vector<double> product(A.size(), 0.0);
    for (int j = 0; j < n; ++j)
      for (int i = j; i < n; ++i) product[at(j, i)] = F[at(i, j)];
    dtrmm_("L", "L", "N", "N", &n, &n, &one, F.data(), &n, product.data(), &n);
    for (std::size_t i = 0; i < A.size(); ++i) product[i] -= A[i];
    return norm(product, n) / (n * norm(A, n) * std::numeric_limits<double>::epsilon());
  };
  return compare("Cholesky", 1.0 / 3 * n * n * static_cast<double>(n), A, n, repetitions, cholesky, residual);
}
