// SPDX-License-Identifier: BSD-3-Clause
#include "tests/accuracy/random_product.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "src/algorithm/algorithm.hpp"
#include "src/matrix/limits.hpp"
#include "src/matrix/orientation.hpp"
#include "tests/algorithm/known.hpp"

namespace heptad::test {
namespace {

int widest(coefficient_matrix const& X) {
  int most = 1;
  for (int r = 0; r < X.cols; ++r) {
    int terms = 0;
    for (int i = 0; i < X.rows; ++i) terms += X(i, r).is_zero() ? 0 : 1;
    most = std::max(most, terms);
  }
  return most;
}

}  // namespace

template <typename T>
problem product<T>::shape() const {
  auto const row_major = [](auto const& X) { return orientation_of(X) == orientation::row_major; };
  if (!row_major(C.read())) return {m(), n(), k(), row_major(A.read()), row_major(B.read()), false, beta == T(0)};
  return {n(), m(), k(), row_major(B.read().transposed()), row_major(A.read().transposed()), false, beta == T(0)};
}

template <typename T>
void product<T>::reset() {
  for (std::int64_t j = 0; j < n(); ++j)
    for (std::int64_t i = 0; i < m(); ++i) C(i, j) = beta == T(0) ? std::numeric_limits<T>::quiet_NaN() : C0(i, j);
}

template <typename T>
product<T> random_product(generator& random, std::int64_t most) {
  auto const size = [&] { return 1 + below(random, most); };
  auto const some = [&] { return static_cast<layout>(below(random, 3)); };
  product<T> x(size(), size(), size(), some(), some(), some());
  std::array<double, 6> const factors{1, -1, 0.7, 3, 1, -0.01};
  x.alpha = static_cast<T>(factors[static_cast<std::size_t>(below(random, 6))]);
  if (below(random, 2) == 0) x.beta = static_cast<T>(factors[static_cast<std::size_t>(below(random, 6))]);
  return x;
}

plan random_plan(generator& random, element_type type, problem const& shape) {
  plan p;
  p.type = type;
  p.shape = shape;
  std::int64_t m = p.shape.m, n = p.shape.n, k = p.shape.k;
  int a = 1, b = 1, c = 1, last = 0, products = 1;
  constexpr int most_products = 400;  // of blocks of a few elements each
  for (int wanted = 1 + static_cast<int>(below(random, 3)), tries = 0; tries < 20; ++tries) {
    if (static_cast<int>(p.levels.size()) == wanted) break;
    static auto const all = known(40);
    auto const& x = all[static_cast<std::size_t>(below(random, static_cast<std::int64_t>(all.size())))];
    int const kind = last + static_cast<int>(below(random, 3 - last));
    if (x->rank() == 1 || products * x->rank() > most_products || m / x->m < 1 || n / x->n < 1 || k / x->k < 1)
      continue;
    if (kind == static_cast<int>(level_kind::fused)) {
      if (std::max({a * widest(x->U), b * widest(x->V), c * widest(x->W)}) > most_terms) continue;
      a *= widest(x->U), b *= widest(x->V), c *= widest(x->W);
    }
    last = kind;
    products *= x->rank();
    m /= x->m, n /= x->n, k /= x->k;
    p.levels.push_back({x->name, static_cast<level_kind>(kind), x});
  }
  p.product_buffer = below(random, 2) == 0;
  p.slots = 1 + static_cast<int>(below(random, 3));
  p.independent = below(random, 2) == 0;
  p.strips = 1 + below(random, 3);
  p.pads = {below(random, 2) == 0, below(random, 2) == 0, below(random, 2) == 0};
  p.workers = 1 + static_cast<int>(below(random, 3));
  p.deterministic = below(random, 2) == 0;
  p.workspace_cap = std::numeric_limits<std::size_t>::max();
  return p;
}

template <typename T>
std::vector<long double> exact(product<T> const& x) {
  std::vector<long double> result, row(static_cast<std::size_t>(x.k()));
  result.resize(static_cast<std::size_t>(x.m() * x.n()));
  std::vector<long double> columns(static_cast<std::size_t>(x.k() * x.n()));
  for (std::int64_t j = 0; j < x.n(); ++j)
    for (std::int64_t l = 0; l < x.k(); ++l) columns[static_cast<std::size_t>(j * x.k() + l)] = x.B(l, j);
  for (std::int64_t i = 0; i < x.m(); ++i) {
    for (std::int64_t l = 0; l < x.k(); ++l) row[static_cast<std::size_t>(l)] = x.A(i, l);
    for (std::int64_t j = 0; j < x.n(); ++j) {
      long double const* const column = columns.data() + j * x.k();
      long double sum = 0;
      for (std::int64_t l = 0; l < x.k(); ++l) sum += row[static_cast<std::size_t>(l)] * column[l];
      sum *= x.alpha;
      if (x.beta != T(0)) sum += static_cast<long double>(x.beta) * x.C0(i, j);
      result[static_cast<std::size_t>(j * x.m() + i)] = sum;
    }
  }
  return result;
}

template <typename T>
double largest_finite(padded_matrix<T> const& X) {
  double most = 0;
  for (std::int64_t j = 0; j < X.view().cols; ++j)
    for (std::int64_t i = 0; i < X.view().rows; ++i)
      if (std::isfinite(X(i, j))) most = std::max(most, std::abs(static_cast<double>(X(i, j))));
  return most;
}

template <typename T>
double allowed_error(product<T> const& x, plan const& how) {
  double const u = std::numeric_limits<T>::epsilon() / 2;
  double const alpha = std::abs(static_cast<double>(x.alpha)), beta = std::abs(static_cast<double>(x.beta));
  // u first: the product of the largest magnitudes alone may overflow.
  double const from_product = u * how.bound * largest_finite(x.A) * largest_finite(x.B) * alpha;
  double const from_C = beta == 0 ? 0 : u * how.bound_of_C * largest_finite(x.C0) * beta;
  double const lost =
      (alpha + 1) * static_cast<double>(x.k() + 2) * static_cast<double>(std::numeric_limits<T>::denorm_min());
  return from_product + from_C + lost;
}

#define HEPTAD_FOR(T)                                              \
  template struct product<T>;                                      \
  template product<T> random_product<T>(generator&, std::int64_t); \
  template std::vector<long double> exact(product<T> const&);      \
  template double largest_finite(padded_matrix<T> const&);         \
  template double allowed_error(product<T> const&, plan const&);
HEPTAD_FOR(double)
HEPTAD_FOR(float)
#undef HEPTAD_FOR

}  // namespace heptad::test
