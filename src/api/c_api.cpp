// SPDX-License-Identifier: BSD-3-Clause
// The C interface: arguments in the words of the BLAS, codes instead of exceptions.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <string>

#include <heptad/heptad.h>
#include <heptad/heptad.hpp>

#include "src/api/arguments.hpp"
#include "src/api/context.hpp"
#include "src/api/gemm.hpp"

static_assert(HEPTAD_SUCCESS == static_cast<int>(heptad::status::success));
static_assert(HEPTAD_INVALID_ARGUMENT == static_cast<int>(heptad::status::invalid_argument));
static_assert(HEPTAD_OUT_OF_MEMORY == static_cast<int>(heptad::status::out_of_memory));
static_assert(HEPTAD_CANCELLED == static_cast<int>(heptad::status::cancelled));
static_assert(HEPTAD_INTERNAL_ERROR == static_cast<int>(heptad::status::internal_error));

namespace heptad {
namespace {

/// Fixed storage, so that noting a failure cannot fail.
thread_local char last_error[512] = "";

int fail(status code, char const* message) noexcept {
  std::strncpy(last_error, message, sizeof last_error - 1);
  return static_cast<int>(code);
}

/// Runs a call of the C interface; no exception leaves it.
template <typename Call>
int guarded(Call const& call) noexcept {
  try {
    call();
    return HEPTAD_SUCCESS;
  } catch (error const& e) {
    return fail(e.code(), e.what());
  } catch (std::bad_alloc const&) {
    return fail(status::out_of_memory, "out of memory before the product began; C is untouched");
  } catch (std::exception const& e) {
    return fail(status::internal_error, e.what());
  } catch (...) {
    return fail(status::internal_error, "an exception of unknown type");
  }
}

bool is_transposed(char const* name, char trans) {
  switch (trans) {
    case 'n':
    case 'N':
      return false;
    case 't':
    case 'T':
    case 'c':
    case 'C':
      return true;
    default:
      throw error(status::invalid_argument, fmt::format("{} = {:?} must be one of n, N, t, T, c, C", name, trans));
  }
}

void check_size(char const* name, std::int64_t size) {
  if (size < 0) throw error(status::invalid_argument, fmt::format("{} = {} must not be negative", name, size));
}

void check_leading(char const* name, std::int64_t ld, char const* rows_name, std::int64_t rows) {
  std::int64_t const least = std::max<std::int64_t>(1, rows);
  if (ld >= least) return;
  throw error(status::invalid_argument,
              fmt::format("{} = {} must be at least max(1, {}) = {}", name, ld, rows_name, least));
}

void check_pointer(char const* name, void const* data, std::int64_t rows, std::int64_t cols) {
  if (data != nullptr || rows == 0 || cols == 0) return;
  throw error(status::invalid_argument, fmt::format("{} = null must point to {} x {} elements", name, rows, cols));
}

template <typename T>
void column_major_gemm(char transa, char transb, std::int64_t m, std::int64_t n, std::int64_t k, T alpha, T const* a,
                       std::int64_t lda, T const* b, std::int64_t ldb, T beta, T* c, std::int64_t ldc) {
  bool const ta = is_transposed("transa", transa);
  bool const tb = is_transposed("transb", transb);
  check_size("m", m);
  check_size("n", n);
  check_size("k", k);
  check_leading("lda", lda, ta ? "k" : "m", ta ? k : m);
  check_leading("ldb", ldb, tb ? "n" : "k", tb ? n : k);
  check_leading("ldc", ldc, "m", m);
  auto const A = ta ? column_major(a, k, m, lda).transposed() : column_major(a, m, k, lda);
  auto const B = tb ? column_major(b, n, k, ldb).transposed() : column_major(b, k, n, ldb);
  operands<T> const x{alpha, A, B, beta, column_major(c, m, n, ldc)};
  if (x.reads_factors()) {
    check_pointer("a", a, A.rows, A.cols);
    check_pointer("b", b, B.rows, B.cols);
  }
  check_pointer("c", c, m, n);
  check_operands(x);
  (void)multiply(default_context(), x, options{});
}

}  // namespace
}  // namespace heptad

int heptad_dgemm(char transa, char transb, int64_t m, int64_t n, int64_t k, double alpha, const double* a, int64_t lda,
                 const double* b, int64_t ldb, double beta, double* c, int64_t ldc) {
  return heptad::guarded(
      [&] { heptad::column_major_gemm(transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc); });
}

int heptad_sgemm(char transa, char transb, int64_t m, int64_t n, int64_t k, float alpha, const float* a, int64_t lda,
                 const float* b, int64_t ldb, float beta, float* c, int64_t ldc) {
  return heptad::guarded(
      [&] { heptad::column_major_gemm(transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc); });
}

int heptad_set_num_threads(int n) {
  return heptad::guarded([n] { heptad::default_context().state().set_threads(n); });
}

int heptad_get_num_threads(void) {
  int threads = 0;
  heptad::guarded([&threads] { threads = heptad::default_context().threads(); });
  return threads;
}

const char* heptad_status_string(int status) {
  switch (status) {
    case HEPTAD_SUCCESS:
      return "success";
    case HEPTAD_INVALID_ARGUMENT:
      return "invalid argument";
    case HEPTAD_OUT_OF_MEMORY:
      return "out of memory";
    case HEPTAD_CANCELLED:
      return "cancelled";
    case HEPTAD_INTERNAL_ERROR:
      return "internal error";
    default:
      return "unknown status";
  }
}

const char* heptad_last_error(void) { return heptad::last_error; }

const char* heptad_version(void) { return heptad::version(); }
