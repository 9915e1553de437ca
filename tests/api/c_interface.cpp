// SPDX-License-Identifier: BSD-3-Clause
// heptad_dgemm and heptad_sgemm: values, codes and messages.
#include <fmt/format.h>
#include <heptad/heptad.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <string>
#include <thread>

#include "src/api/context.hpp"
#include "tests/api/reference.hpp"

using heptad::test::layout;
using heptad::test::padded_matrix;

namespace {

int call_gemm(char ta, char tb, std::int64_t m, std::int64_t n, std::int64_t k, double alpha, double const* a,
              std::int64_t lda, double const* b, std::int64_t ldb, double beta, double* c, std::int64_t ldc) {
  return heptad_dgemm(ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}
int call_gemm(char ta, char tb, std::int64_t m, std::int64_t n, std::int64_t k, float alpha, float const* a,
              std::int64_t lda, float const* b, std::int64_t ldb, float beta, float* c, std::int64_t ldc) {
  return heptad_sgemm(ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

bool transposed(char trans) { return trans != 'n' && trans != 'N'; }

/// Runs one product of random matrices with entries in [−1, 1] and gives its error over a generous classical bound.
template <typename T>
double error_ratio(char ta, char tb, std::int64_t m, std::int64_t n, std::int64_t k, T alpha, T beta) {
  std::mt19937 random(static_cast<unsigned>(m * 31 + n * 7 + k));
  // A row-major matrix is its transpose in columns.
  padded_matrix<T> A(m, k, transposed(ta) ? layout::rows : layout::columns);
  padded_matrix<T> B(k, n, transposed(tb) ? layout::rows : layout::columns);
  padded_matrix<T> C(m, n, layout::columns);
  A.fill(random);
  B.fill(random);
  C.fill(random);
  padded_matrix<T> const before = C;
  if (beta == T(0)) C.set(std::numeric_limits<T>::quiet_NaN());
  REQUIRE(call_gemm(ta, tb, m, n, k, alpha, A.view().data, A.ld(), B.view().data, B.ld(), beta, C.view().data,
                    C.ld()) == HEPTAD_SUCCESS);
  CHECK(C.strays() == 0);
  double const error = heptad::test::largest_error(alpha, A, B, beta, before, C);
  // These sizes use at most three levels: 12³ bounds their growth factors many times over (Higham 2002, §23.2.2).
  double const bound = std::numeric_limits<T>::epsilon() * (static_cast<double>(k) * 100 + 1728);
  return error / bound;
}

}  // namespace

TEMPLATE_TEST_CASE("all transposes with all kinds of alpha and beta agree with the triple loop", "", double, float) {
  for (char const ta : {'n', 'T', 'c'}) {
    for (char const tb : {'N', 't', 'C'}) {
      for (TestType const alpha : {TestType(0), TestType(1), TestType(-1), TestType(0.7)}) {
        for (TestType const beta : {TestType(0), TestType(1), TestType(-1), TestType(0.7)}) {
          INFO(ta << tb << " alpha " << alpha << " beta " << beta);
          CHECK(error_ratio<TestType>(ta, tb, 37, 29, 41, alpha, beta) <= 1);
        }
      }
      CHECK(error_ratio<TestType>(ta, tb, 131, 149, 139, TestType(-1), TestType(0.7)) <= 1);
    }
  }
}

TEMPLATE_TEST_CASE("sizes from 0 up and primes agree with the triple loop", "", double, float) {
  for (std::int64_t const m : {0, 1, 2, 7, 23, 97}) {
    for (std::int64_t const n : {0, 1, 3, 8, 31, 89}) {
      for (std::int64_t const k : {0, 1, 5, 16, 101}) {
        INFO(m << " x " << n << " x " << k);
        CHECK(error_ratio<TestType>('n', 'n', m, n, k, TestType(0.7), TestType(-1)) <= 1);
        CHECK(error_ratio<TestType>('t', 'n', m, n, k, TestType(1), TestType(0)) <= 1);
      }
    }
  }
  CHECK(error_ratio<TestType>('n', 't', 503, 401, 307, TestType(0.7), TestType(0)) <= 1);
  CHECK(error_ratio<TestType>('t', 't', 769, 521, 643, TestType(1), TestType(0.7)) <= 1);
  CHECK(error_ratio<TestType>('n', 'n', 1, 1, 300000, TestType(1), TestType(1)) <= 1);
}

TEST_CASE("alpha = 0 and k = 0 never read A and B, which may be null") {
  std::vector<double> c{1, 2, 3, 4};
  CHECK(heptad_dgemm('n', 'n', 2, 2, 5, 0.0, nullptr, 2, nullptr, 5, 2.0, c.data(), 2) == HEPTAD_SUCCESS);
  CHECK(c == std::vector<double>{2, 4, 6, 8});
  CHECK(heptad_dgemm('n', 'n', 2, 2, 0, 1.0, nullptr, 2, nullptr, 1, -1.0, c.data(), 2) == HEPTAD_SUCCESS);
  CHECK(c == std::vector<double>{-2, -4, -6, -8});
  c.assign(4, std::nan(""));
  CHECK(heptad_dgemm('n', 'n', 2, 2, 0, 1.0, nullptr, 2, nullptr, 1, 0.0, c.data(), 2) == HEPTAD_SUCCESS);
  CHECK(c == std::vector<double>(4, 0.0));
  CHECK(heptad_dgemm('n', 'n', 0, 2, 5, 1.0, nullptr, 1, nullptr, 5, 0.0, nullptr, 1) == HEPTAD_SUCCESS);
}

TEST_CASE("every wrong argument is an error that names it, its value and the rule, and leaves C alone") {
  struct bad_call {
    char ta, tb;
    std::int64_t m, n, k, lda, ldb, ldc;
    bool a, b, c;
    char const* message;
  };
  constexpr std::int64_t huge = std::int64_t{1} << 40;
  auto const bad = GENERATE_COPY(values<bad_call>({
      {'x', 'n', 5, 4, 3, 5, 3, 5, true, true, true, "transa = 'x' must be one of n, N, t, T, c, C"},
      {'n', '\0', 5, 4, 3, 5, 3, 5, true, true, true, "transb = '\\x00' must be one of n, N, t, T, c, C"},
      {'n', 'n', -5, 4, 3, 5, 3, 5, true, true, true, "m = -5 must not be negative"},
      {'n', 'n', 5, -4, 3, 5, 3, 5, true, true, true, "n = -4 must not be negative"},
      {'n', 'n', 5, 4, -3, 5, 3, 5, true, true, true, "k = -3 must not be negative"},
      {'n', 'n', 5, 4, 3, 4, 3, 5, true, true, true, "lda = 4 must be at least max(1, m) = 5"},
      {'t', 'n', 5, 4, 3, 2, 3, 5, true, true, true, "lda = 2 must be at least max(1, k) = 3"},
      {'n', 'n', 5, 4, 3, 5, 2, 5, true, true, true, "ldb = 2 must be at least max(1, k) = 3"},
      {'n', 'c', 5, 4, 3, 5, 3, 5, true, true, true, "ldb = 3 must be at least max(1, n) = 4"},
      {'n', 'n', 5, 4, 3, 5, 3, 3, true, true, true, "ldc = 3 must be at least max(1, m) = 5"},
      {'n', 'n', 0, 4, 3, 1, 3, 0, true, true, true, "ldc = 0 must be at least max(1, m) = 1"},
      {'n', 'n', 5, 4, 3, 5, 3, 5, false, true, true, "a = null must point to 5 x 3 elements"},
      {'n', 'n', 5, 4, 3, 5, 3, 5, true, false, true, "b = null must point to 3 x 4 elements"},
      {'n', 'n', 5, 4, 3, 5, 3, 5, true, true, false, "c = null must point to 5 x 4 elements"},
      {'n', 'n', huge, huge, 3, huge, 3, huge, true, true, true,
       "C of 1099511627776 x 1099511627776 elements is larger than the address space"},
      {'n', 'n', 5, 4, huge, 5, huge, huge << 20, true, true, true,
       "C of 5 x 4 elements with strides 1 and 1152921504606846976 reaches beyond the address space"},
  }));
  std::vector<double> const a(64, 1), b(64, 1);
  std::vector<double> c(64, 7);
  CHECK(heptad_dgemm(bad.ta, bad.tb, bad.m, bad.n, bad.k, 1, bad.a ? a.data() : nullptr, bad.lda,
                     bad.b ? b.data() : nullptr, bad.ldb, 0, bad.c ? c.data() : nullptr,
                     bad.ldc) == HEPTAD_INVALID_ARGUMENT);
  CHECK(std::string(heptad_last_error()) == bad.message);
  CHECK((c == std::vector<double>(64, 7)));
}

TEST_CASE("C may not overlap A or B") {
  std::vector<double> memory(200, 1);
  auto const before = memory;
  double *const x = memory.data(), *const y = x + 100;
  CHECK(heptad_dgemm('n', 'n', 5, 5, 5, 1, x, 5, y, 5, 0, x + 24, 5) == HEPTAD_INVALID_ARGUMENT);
  auto const range = [](double const* begin) { return fmt::format("[{}, {})", fmt::ptr(begin), fmt::ptr(begin + 25)); };
  CHECK(heptad_last_error() == "C must not overlap A: C is in " + range(x + 24) + ", A in " + range(x));
  CHECK(heptad_dgemm('n', 'n', 5, 5, 5, 1, x, 5, y, 5, 0, y - 24, 5) == HEPTAD_INVALID_ARGUMENT);
  CHECK(heptad_last_error() == "C must not overlap B: C is in " + range(y - 24) + ", B in " + range(y));
  CHECK((memory == before));
  CHECK(heptad_dgemm('n', 'n', 5, 5, 5, 1, x, 5, y, 5, 0, x + 25, 5) == HEPTAD_SUCCESS);
  // The last quadrant from two others of one matrix with leading dimension 10.
  CHECK(heptad_dgemm('n', 'n', 5, 5, 5, 1, x + 5, 10, x + 50, 10, 1, x + 55, 10) == HEPTAD_SUCCESS);
}

TEST_CASE("the last error belongs to its thread") {
  CHECK(heptad_dgemm('n', 'n', -1, 0, 0, 1, nullptr, 1, nullptr, 1, 0, nullptr, 1) == HEPTAD_INVALID_ARGUMENT);
  CHECK(std::string(heptad_last_error()) == "m = -1 must not be negative");
  std::thread([] { CHECK(std::string(heptad_last_error()).empty()); }).join();
}

TEST_CASE("freeing the workspace of a default context that there is not makes none") {
  bool const there_is_one = heptad::known_default_context() != nullptr;
  CHECK(heptad_release_workspace() == HEPTAD_SUCCESS);
  CHECK((heptad::known_default_context() != nullptr) == there_is_one);
}

TEST_CASE("the number of threads can be set and read, and status values have names") {
  int const before = heptad_get_num_threads();
  CHECK(before >= 1);
  CHECK(heptad_set_num_threads(3) == HEPTAD_SUCCESS);
  CHECK(heptad_get_num_threads() == 3);
  CHECK(error_ratio<double>('n', 'n', 300, 200, 250, 1.0, 1.0) <= 1);
  CHECK(heptad_set_num_threads(-2) == HEPTAD_INVALID_ARGUMENT);
  CHECK(std::string(heptad_last_error()) == "threads = -2 must be between 0 and 16384");
  CHECK(heptad_get_num_threads() == 3);
  CHECK(heptad_set_num_threads(0) == HEPTAD_SUCCESS);
  CHECK(heptad_get_num_threads() >= 1);
  CHECK(heptad_set_num_threads(before) == HEPTAD_SUCCESS);
  CHECK(heptad_release_workspace() == HEPTAD_SUCCESS);
  CHECK(std::string(heptad_status_string(HEPTAD_OUT_OF_MEMORY)) == "out of memory");
  CHECK(std::string(heptad_status_string(77)) == "unknown status");
  CHECK(std::string(heptad_version()).find('.') != std::string::npos);
}
