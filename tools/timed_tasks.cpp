// SPDX-License-Identifier: BSD-3-Clause
#include "tools/timed_tasks.hpp"

#include <random>

#include "schedulers/executor.hpp"
#include "schedulers/sequential/sequential.hpp"
#include "schedulers/simulate/simulate.hpp"

namespace heptad::tools {
namespace {

template <typename T>
std::vector<T> random_matrix(std::int64_t rows, std::int64_t cols) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<T> entry(-1, 1);
  std::vector<T> matrix(static_cast<std::size_t>(rows * cols));
  for (T& x : matrix) x = entry(random);
  return matrix;
}

/// By columns, or by rows.
template <typename T>
matrix_view<T> view_of(T* data, std::int64_t rows, std::int64_t cols, bool row_major) {
  return {data, rows, cols, row_major ? cols : 1, row_major ? 1 : rows};
}

}  // namespace

template <typename T>
std::vector<double> time_tasks(workspace const& memory) try {
  prepared_plan const& prepared = *memory.prepared;
  problem const& x = prepared.how.shape;
  auto const A = random_matrix<T>(x.m, x.k), B = random_matrix<T>(x.k, x.n);
  std::vector<T> C(static_cast<std::size_t>(x.m * x.n));
  gemm_operands<T> const operands{T(1), view_of(A.data(), x.m, x.k, x.a_row_major),
                                  view_of(B.data(), x.k, x.n, x.b_row_major), x.beta_zero ? T(0) : T(1),
                                  view_of(C.data(), x.m, x.n, x.c_row_major)};
  auto const work = make_executor<T>(prepared.work, prepared.how, operands, reinterpret_cast<T*>(memory.shared()));
  static_cast<void>(run_sequential(prepared.work, *work, memory.scratch(0)));  // fresh memory is slow
  return measured_seconds(prepared.work, run_sequential(prepared.work, *work, memory.scratch(0)));
} catch (std::bad_alloc const&) {
  throw error(status::out_of_memory, "no memory for A, B and C of the measured run");
}

template std::vector<double> time_tasks<float>(workspace const&);
template std::vector<double> time_tasks<double>(workspace const&);

}  // namespace heptad::tools
