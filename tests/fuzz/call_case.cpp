// SPDX-License-Identifier: BSD-3-Clause
// Draw, run twice, compare. What must not be read (the other triangle, a unit diagonal, C for beta = 0, A and B for
// alpha = 0) holds NaN; what must not be written is compared bit by bit.
#include "tests/fuzz/call_case.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <heptad/heptad.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string_view>
#include <vector>

#include "tests/fuzz/blas.hpp"
#include "tests/fuzz/factor_case.hpp"
#include "tests/fuzz/stream.hpp"

namespace heptad::fuzz {
namespace {

enum class routine { c_gemm, gemm, gemm_64, cblas_gemm, symm, syrk, syr2k, trmm, trsm, getrf, potrf, gesv };
constexpr std::array names{"heptad_gemm", "gemm", "gemm_64", "cblas_gemm", "symm",  "syrk",
                           "syr2k",       "trmm", "trsm",    "getrf",      "potrf", "gesv"};

struct shape {
  int rows = 0, cols = 0, ld = 1;
  [[nodiscard]] std::size_t elements() const { return static_cast<std::size_t>(ld) * static_cast<std::size_t>(cols); }
};

/// The arguments; f[0..3] are the flags in the order of the routine.
struct call_case {
  routine what{};
  std::array<char, 4> f{};
  int m = 0, n = 0, k = 0;
  double alpha = 0, beta = 0;
  shape A, B, C;
  bool special = false;  // some elements are NaN or infinite
  bool broken = false;   // one argument breaks its rule
  bool overlap = false;  // C is A

  [[nodiscard]] bool is_gemm() const { return what <= routine::cblas_gemm; }
  [[nodiscard]] bool factors() const { return what >= routine::getrf; }
  [[nodiscard]] bool triangular() const { return what == routine::trmm || what == routine::trsm; }
};

double draw_scalar(stream& r) {
  switch (r.below(5)) {
    case 0:
      return 0;
    case 1:
      return 1;
    case 2:
      return -1;
    default:
      return static_cast<float>(r.uniform());
  }
}

shape draw_shape(stream& r, int rows, int cols) {
  return {rows, cols, std::max(1, rows) + (r.one_in(3) ? r.below(6) : 0)};
}

/// The same call with one argument that breaks its rule.
call_case with_broken_rule(stream& r, call_case x) {
  switch (r.below(4)) {
    case 0:
      x.f[0] = 'X';
      break;
    case 1:
      x.n = -1;
      break;
    case 2:
      x.A.ld = 0;
      break;
    default:
      (x.what == routine::syrk || x.is_gemm() ? x.C.ld : x.B.ld) = 0;
  }
  return x;
}

call_case draw(stream& r, double largest) {
  call_case x;
  x.what = static_cast<routine>(r.below(static_cast<int>(names.size())));
  if (x.factors()) {  // drawn as it is run
    x.broken = r.one_in(50);
    x.special = !x.broken && r.one_in(20);
    return x;
  }
  x.m = draw_size(r);
  x.n = draw_size(r);
  x.k = draw_size(r);
  while (static_cast<double>(x.m) * x.n * x.k > largest)
    (x.m >= std::max(x.n, x.k) ? x.m : x.n >= x.k ? x.n : x.k) /= 2;
  x.alpha = draw_scalar(r);
  x.beta = draw_scalar(r);
  auto const stored = [&](bool transposed, int rows, int cols) {
    return transposed ? draw_shape(r, cols, rows) : draw_shape(r, rows, cols);
  };
  if (x.is_gemm()) {
    x.f = {r.of("nNtTcC"), r.of("nNtTcC")};
    x.A = stored(!std::strchr("nN", x.f[0]), x.m, x.k);
    x.B = stored(!std::strchr("nN", x.f[1]), x.k, x.n);
    x.C = draw_shape(r, x.m, x.n);
  } else if (x.what == routine::syrk || x.what == routine::syr2k) {
    x.f = {r.of("UuLl"), r.of("nNtTcC")};
    x.A = stored(!std::strchr("nN", x.f[1]), x.n, x.k);
    x.B = draw_shape(r, x.A.rows, x.A.cols);
    x.C = draw_shape(r, x.n, x.n);
  } else {
    x.f = {r.of("LlRr"), r.of("UuLl"), r.of("nNtTcC"), r.of("UuNn")};
    int const order = std::strchr("Ll", x.f[0]) ? x.m : x.n;
    x.A = draw_shape(r, order, order);
    x.B = draw_shape(r, x.m, x.n);
    x.C = x.triangular() ? x.B : draw_shape(r, x.m, x.n);
  }
  // The reference's CBLAS ends the program.
  x.broken = x.what != routine::cblas_gemm && r.one_in(50);
  if (!x.broken && x.what == routine::c_gemm && x.alpha != 0 && x.m > 0 && x.n > 0 && x.k > 0) x.overlap = r.one_in(50);
  x.special = x.is_gemm() && r.one_in(20);
  return x;
}

template <typename T>
struct operands {
  std::vector<T> A, B, C;
};

template <typename T>
std::vector<T> draw_elements(stream& r, shape const& X, bool unread, bool special) {
  std::vector<T> elements(X.elements() + 1);
  for (T& x : elements) x = unread ? std::numeric_limits<T>::quiet_NaN() : static_cast<T>(r.uniform());
  if (special && X.elements() > 0) {
    constexpr T infinity = std::numeric_limits<T>::infinity();
    std::array const values{infinity, -infinity, std::numeric_limits<T>::quiet_NaN()};
    elements[r.next() % X.elements()] = values[r.next() % 3];
  }
  return elements;
}

/// Element (i, j) of the triangle that is stored, or of a whole matrix.
bool stored(char uplo, int i, int j) { return uplo == 'U' || uplo == 'u' ? i <= j : i >= j; }

template <typename T>
operands<T> draw_operands(stream& r, call_case const& x) {
  bool const no_product = x.alpha == 0 || (!x.triangular() && x.what != routine::symm && x.k == 0);
  operands<T> o;
  o.A = draw_elements<T>(r, x.A, no_product, x.special && r.one_in(2));
  o.B = draw_elements<T>(r, x.B, no_product && !x.triangular(), x.special && r.one_in(2));
  o.C = x.triangular() ? o.B : draw_elements<T>(r, x.C, x.beta == 0, x.special && r.one_in(4));
  if (x.what < routine::symm || x.what == routine::syrk || x.what == routine::syr2k) return o;
  bool const unit = x.triangular() && std::strchr("Uu", x.f[3]);
  for (int j = 0; j < x.A.cols; ++j) {
    for (int i = 0; i < x.A.rows; ++i) {
      T& a = o.A[static_cast<std::size_t>(j) * static_cast<std::size_t>(x.A.ld) + static_cast<std::size_t>(i)];
      if (!stored(x.f[1], i, j) || (unit && i == j)) a = std::numeric_limits<T>::quiet_NaN();
      else if (x.what == routine::trsm) a = i == j ? a + std::copysign(T(1), a) : a / static_cast<T>(x.A.rows);
    }
  }
  return o;
}

template <typename T>
double largest(std::vector<T> const& X) {
  double result = 0;
  for (T const x : X) {
    if (std::isfinite(x)) result = std::max(result, std::abs(static_cast<double>(x)));
  }
  return result;
}

/// The routine of a BLAS with 32-bit integers.
template <typename T>
void call_blas(blas_functions<T, std::int32_t> const& blas, call_case const& x, operands<T>& o) {
  T const alpha = static_cast<T>(x.alpha), beta = static_cast<T>(x.beta);
  auto const& f = x.f;
  switch (x.what) {
    case routine::symm:
      return blas.symm(&f[0], &f[1], &x.m, &x.n, &alpha, o.A.data(), &x.A.ld, o.B.data(), &x.B.ld, &beta, o.C.data(),
                       &x.C.ld, 1, 1);
    case routine::syrk:
      return blas.syrk(&f[0], &f[1], &x.n, &x.k, &alpha, o.A.data(), &x.A.ld, &beta, o.C.data(), &x.C.ld, 1, 1);
    case routine::syr2k:
      return blas.syr2k(&f[0], &f[1], &x.n, &x.k, &alpha, o.A.data(), &x.A.ld, o.B.data(), &x.B.ld, &beta, o.C.data(),
                        &x.C.ld, 1, 1);
    case routine::trmm:
      return blas.trmm(&f[0], &f[1], &f[2], &f[3], &x.m, &x.n, &alpha, o.A.data(), &x.A.ld, o.C.data(), &x.B.ld, 1, 1,
                       1, 1);
    case routine::trsm:
      return blas.trsm(&f[0], &f[1], &f[2], &f[3], &x.m, &x.n, &alpha, o.A.data(), &x.A.ld, o.C.data(), &x.B.ld, 1, 1,
                       1, 1);
    default:
      return blas.gemm(&f[0], &f[1], &x.m, &x.n, &x.k, &alpha, o.A.data(), &x.A.ld, o.B.data(), &x.B.ld, &beta,
                       o.C.data(), &x.C.ld, 1, 1);
  }
}

int cblas_trans(char trans) {
  return std::strchr("nN", trans) ? 111 : std::strchr("tT", trans) ? 112 : std::strchr("cC", trans) ? 113 : 0;
}

/// The same call by Heptad; the status of the C interface, 0 for the BLAS.
template <typename T>
int call_heptad(call_case const& x, operands<T>& o) {
  T const alpha = static_cast<T>(x.alpha), beta = static_cast<T>(x.beta);
  switch (x.what) {
    case routine::c_gemm:
      return ours<T>::c_gemm(x.f[0], x.f[1], x.m, x.n, x.k, alpha, o.A.data(), x.A.ld, o.B.data(), x.B.ld, beta,
                             o.C.data(), x.C.ld);
    case routine::gemm_64: {
      std::int64_t const m = x.m, n = x.n, k = x.k, lda = x.A.ld, ldb = x.B.ld, ldc = x.C.ld;
      ours<T>::with_64_bits().gemm(&x.f[0], &x.f[1], &m, &n, &k, &alpha, o.A.data(), &lda, o.B.data(), &ldb, &beta,
                                   o.C.data(), &ldc, 1, 1);
      return 0;
    }
    case routine::cblas_gemm:
      // Column by column is Cᵀ = op(B)ᵀ op(A)ᵀ row by row.
      ours<T>::cblas_gemm(101, cblas_trans(x.f[1]), cblas_trans(x.f[0]), x.n, x.m, x.k, alpha, o.B.data(), x.B.ld,
                          o.A.data(), x.A.ld, beta, o.C.data(), x.C.ld);
      return 0;
    default:
      call_blas(ours<T>::with_32_bits(), x, o);
      return 0;
  }
}

template <typename T>
std::string compare(call_case const& x, operands<T> const& before, std::vector<T> const& expected,
                    std::vector<T> const& C) {
  double const unit = std::numeric_limits<T>::epsilon() / 2;
  int const depth = x.triangular() || x.what == routine::symm ? x.A.rows : x.what == routine::syr2k ? 2 * x.k : x.k;
  double const result = x.what == routine::trsm ? 8 * largest(expected)
                                                : largest(before.A) * largest(x.triangular() ? before.C : before.B);
  double const factors = x.what == routine::syrk ? largest(before.A) * largest(before.A) : result;
  double const tolerance = 64 * unit *
                           (std::abs(x.alpha) * (depth + 1) * factors + std::abs(x.beta) * largest(before.C) +
                            (x.what == routine::trsm ? depth * result : 0));
  for (int j = 0; j < x.C.cols; ++j) {
    for (int i = 0; i < x.C.ld; ++i) {
      auto const at = static_cast<std::size_t>(j) * static_cast<std::size_t>(x.C.ld) + static_cast<std::size_t>(i);
      bool const written =
          i < x.C.rows && ((x.what != routine::syrk && x.what != routine::syr2k) || stored(x.f[0], i, j));
      if (!written) {
        if (std::memcmp(&C[at], &before.C[at], sizeof(T)) != 0)
          return fmt::format("element ({}, {}) must not be written", i, j);
      } else if (std::isfinite(expected[at])) {
        if (!(std::abs(static_cast<double>(C[at]) - static_cast<double>(expected[at])) <= tolerance))
          return fmt::format("element ({}, {}) is {}, the reference's {}, tolerance {:.3g}", i, j, C[at], expected[at],
                             tolerance);
      } else if (!(std::isnan(expected[at]) ? std::isnan(C[at]) : C[at] == expected[at])) {
        return fmt::format("element ({}, {}) is {}, the reference's {}", i, j, C[at], expected[at]);
      }
    }
  }
  return {};
}

template <typename T>
bool same_bits(std::vector<T> const& X, std::vector<T> const& Y) {
  return std::memcmp(X.data(), Y.data(), X.size() * sizeof(T)) == 0;
}

template <typename T>
std::string run_case(stream& r, call_case const& drawn, blas_functions<T, std::int32_t> const& reference) {
  operands<T> const before = draw_operands<T>(r, drawn);
  call_case const x = drawn.broken ? with_broken_rule(r, drawn) : drawn;
  operands<T> by_reference = before, by_us = before;
  if (x.overlap) {
    auto const& [m, n] = std::pair(x.C.rows, x.C.cols);
    by_us.A.resize(std::max(
        by_us.A.size(), static_cast<std::size_t>(x.C.ld) * static_cast<std::size_t>(n) + static_cast<std::size_t>(m)));
    std::vector<T> const A = by_us.A;
    int const status = ours<T>::c_gemm(x.f[0], x.f[1], x.m, x.n, x.k, T(1), by_us.A.data(), x.A.ld, by_us.B.data(),
                                       x.B.ld, T(0), by_us.A.data(), x.C.ld);
    return status == HEPTAD_INVALID_ARGUMENT && same_bits(A, by_us.A) ? "" : fmt::format("C over A: status {}", status);
  }
  call_blas(reference, x, by_reference);
  int const expected_report = take_reported();
  int const status = call_heptad(x, by_us);
  int const report = take_reported();
  if (!same_bits(before.A, by_us.A) || (!x.triangular() && !same_bits(before.B, by_us.B)))
    return "an operand was written";
  if (x.broken) {
    if (!same_bits(before.C, by_us.C)) return "C was touched";
    if (x.what == routine::c_gemm) return status == HEPTAD_INVALID_ARGUMENT ? "" : fmt::format("status {}", status);
    return report == expected_report && report != 0
               ? ""
               : fmt::format("info {}, the reference's {}", report, expected_report);
  }
  if (status != HEPTAD_SUCCESS || report != 0)
    return fmt::format("status {}, info {}: {}", status, report, heptad_last_error());
  return compare(x, before, by_reference.C, by_us.C);
}

}  // namespace

bool by_classical_algorithm() {
  char const* const levels = std::getenv("HEPTAD_FORCE_LEVELS");
  return levels != nullptr && std::string_view(levels) == "0";
}

struct harness::state {
  blas_functions<double, std::int32_t> f64;
  blas_functions<float, std::int32_t> f32;
  double largest;
  std::array<std::atomic<std::uint64_t>, names.size()> counts{};
  std::atomic<std::uint64_t> broken{0}, special{0};
};

harness::harness(void* reference, double largest)
    : state_(new state{find_blas<double>(reference), find_blas<float>(reference), largest}) {}
harness::~harness() = default;

std::string harness::run(std::uint64_t seed, std::uint64_t call) {
  stream r(seed, call);
  call_case const x = draw(r, state_->largest);
  bool const is_double = r.one_in(2);
  ++state_->counts[static_cast<std::size_t>(x.what)];
  state_->broken += x.broken;
  state_->special += x.special;
  std::string const name =
      fmt::format("{} {}", is_double ? "double" : "float", names[static_cast<std::size_t>(x.what)]);
  if (x.factors()) {
    auto const what = static_cast<factorization>(static_cast<int>(x.what) - static_cast<int>(routine::getrf));
    auto* const run = is_double ? &run_factorization<double> : &run_factorization<float>;
    std::string const failure = run(r, what, {x.broken, x.special}, state_->largest);
    return failure.empty() ? failure : name + " " + failure;
  }
  std::string const failure = is_double ? run_case<double>(r, x, state_->f64) : run_case<float>(r, x, state_->f32);
  if (failure.empty()) return failure;
  return fmt::format("{} flags {} m={} n={} k={} alpha={} beta={} lda={} ldb={} ldc={}{}: {}", name,
                     std::string(x.f.data(), strnlen(x.f.data(), 4)), x.m, x.n, x.k, x.alpha, x.beta, x.A.ld, x.B.ld,
                     x.C.ld, x.special ? " with NaN or Inf" : "", failure);
}

std::string harness::summary() const {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) text += fmt::format("{} {}, ", state_->counts[i].load(), names[i]);
  return text + fmt::format("{} with a broken rule, {} with NaN or Inf", state_->broken.load(), state_->special.load());
}

}  // namespace heptad::fuzz
