// SPDX-License-Identifier: BSD-3-Clause
// The C interface: arguments in the words of the BLAS, codes instead of exceptions.
#include <fmt/format.h>

#include <cstring>
#include <new>
#include <string>

#include <heptad/heptad.h>
#include <heptad/hybrid.h>
#include <heptad/heptad.hpp>
#include <heptad/hybrid.hpp>

#include "src/api/blas_arguments.hpp"
#include "src/api/context.hpp"
#include "src/api/gemm.hpp"
#include "src/api/no_memory.hpp"
#include "src/api/runtime_call.hpp"

static_assert(HEPTAD_SUCCESS == static_cast<int>(heptad::status::success));
static_assert(HEPTAD_INVALID_ARGUMENT == static_cast<int>(heptad::status::invalid_argument));
static_assert(HEPTAD_OUT_OF_MEMORY == static_cast<int>(heptad::status::out_of_memory));
static_assert(HEPTAD_CANCELLED == static_cast<int>(heptad::status::cancelled));
static_assert(HEPTAD_INTERNAL_ERROR == static_cast<int>(heptad::status::internal_error));

namespace heptad {
namespace {

/// Fixed storage, so that noting a failure cannot fail.
thread_local char last_error[512] = "";

int fail(status code, char const* message) noexcept { return record_failure(code, message); }

/// Runs a call of the C interface; no exception leaves it.
template <typename Call>
int guarded(Call const& call) noexcept {
  try {
    call();
    return HEPTAD_SUCCESS;
  } catch (error const& e) {
    return fail(e.code(), e.what());
  } catch (std::bad_alloc const&) {
    return fail(no_memory.code(), no_memory.what());
  } catch (std::exception const& e) {
    return fail(status::internal_error, e.what());
  } catch (...) {
    return fail(status::internal_error, "an exception of unknown type");
  }
}

template <typename T>
void column_major_gemm(char transa, char transb, std::int64_t m, std::int64_t n, std::int64_t k, T alpha, T const* a,
                       std::int64_t lda, T const* b, std::int64_t ldb, T beta, T* c, std::int64_t ldc) {
  auto const x = blas_operands(transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
  (void)multiply(default_context(), x, options{});
}

template <typename T>
void column_major_hybrid(char transa, char transb, std::int64_t m, std::int64_t n, std::int64_t k, T alpha, T const* a,
                         std::int64_t lda, T const* b, std::int64_t ldb, T beta, T* c, std::int64_t ldc) {
  auto const x = blas_operands(transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
  (void)hybrid::gemm(default_context(), x.alpha, x.A, x.B, x.beta, x.C);
}

}  // namespace

int record_failure(status code, char const* message) noexcept {
  std::strncpy(last_error, message, sizeof last_error - 1);
  return static_cast<int>(code);
}

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

int heptad_hybrid_dgemm(char transa, char transb, int64_t m, int64_t n, int64_t k, double alpha, const double* a,
                        int64_t lda, const double* b, int64_t ldb, double beta, double* c, int64_t ldc) {
  return heptad::guarded(
      [&] { heptad::column_major_hybrid(transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc); });
}

int heptad_hybrid_sgemm(char transa, char transb, int64_t m, int64_t n, int64_t k, float alpha, const float* a,
                        int64_t lda, const float* b, int64_t ldb, float beta, float* c, int64_t ldc) {
  return heptad::guarded(
      [&] { heptad::column_major_hybrid(transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc); });
}

int heptad_set_num_threads(int n) {
  return heptad::guarded([n] { heptad::default_context().state().set_threads(n); });
}

int heptad_get_num_threads(void) {
  int threads = 0;
  heptad::guarded([&threads] { threads = heptad::default_context().threads(); });
  return threads;
}

int heptad_release_workspace(void) {
  if (heptad::context* const known = heptad::known_default_context()) known->release_workspace();
  return HEPTAD_SUCCESS;
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
