// SPDX-License-Identifier: BSD-3-Clause
#include "src/api/product_bench.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "codelets/cpu/product.hpp"
#include "schedulers/executor.hpp"
#include "tasks/gemm_graph.hpp"

namespace heptad {
namespace {

// Operands from memory take at most so much of it.
constexpr double most_fetched_bytes = 256e6;

template <typename T>
cpu::product_call<T> call_of(extents const& e, std::span<cpu::term<T> const> a, std::span<cpu::term<T> const> b,
                             std::span<cpu::destination<T> const> c, std::int64_t ldc) {
  return {.m = e.m,
          .n = e.n,
          .k = e.k,
          .a = a,
          .a_rs = 1,
          .a_cs = padded_leading_dimension(e.m, sizeof(T)),
          .b = b,
          .b_rs = 1,
          .b_cs = padded_leading_dimension(e.k, sizeof(T)),
          .c = c,
          .c_rs = 1,
          .c_cs = ldc};
}

}  // namespace

template <typename T>
product_bench<T>::product_bench(std::string kernel, calibration_clocks const& clocks, bench_room const& room)
    : kernel_(std::move(kernel)),
      kernels_(*cpu::find_kernel_set<T>(kernel_)),
      clocks_(clocks),
      operands_(elements(room)),
      scratch_(scratch_bytes(room)) {}

template <typename T>
double product_bench<T>::plain(extents const& e, double budget, bool fetched) const {
  std::int64_t const lda = padded_leading_dimension(e.m, sizeof(T)), ldb = padded_leading_dimension(e.k, sizeof(T));
  std::int64_t const sets = fetched ? sets_of(e) : 1;
  std::int64_t next = 0;
  cpu::term<T> A{nullptr, T(1)}, B{nullptr, T(1)};
  cpu::destination<T> C{nullptr, T(1), T(1)};
  auto const call = call_of<T>(e, {&A, 1}, {&B, 1}, {&C, 1}, lda);
  auto const run = [&] {
    T* const operands = operands_.data() + held(e) * (next++ % sets);
    A.data = operands, B.data = operands + lda * e.k, C.data = operands + lda * e.k + ldb * e.n;
    cpu::product(kernels_, call, cpu::variant::abc, scratch_.data());
  };
  return seconds_of(clocks_, run, budget);
}

template <typename T>
double product_bench<T>::updating(extents const& e, int blocks, double budget) const {
  std::int64_t const lda = padded_leading_dimension(e.m, sizeof(T)), ldb = padded_leading_dimension(e.k, sizeof(T));
  std::int64_t const ldc = padded_leading_dimension(2 * e.m, sizeof(T));
  T* const operands = operands_.data();
  T* const C = operands + lda * e.k + ldb * e.n;
  cpu::term<T> const A{operands, T(1)}, B{operands + lda * e.k, T(1)};
  cpu::destination<T> const quarters[] = {
      {C, 1, 1}, {C + e.m, 1, 1}, {C + e.n * ldc, 1, 1}, {C + e.n * ldc + e.m, 1, 1}};
  auto const destinations = std::span(quarters).first(static_cast<std::size_t>(blocks));
  auto const call = call_of<T>(e, {&A, 1}, {&B, 1}, destinations, ldc);
  return seconds_of(
      clocks_, [&] { cpu::product(kernels_, call, cpu::variant::abc, scratch_.data()); }, budget);
}

template <typename T>
double product_bench<T>::levels(std::vector<plan_level> list, extents const& block, bool product_buffer, double budget,
                                bool fetched) const {
  plan how;
  how.type = sizeof(T) == 8 ? element_type::f64 : element_type::f32;
  how.kernel = kernel_;
  how.product_buffer = product_buffer;
  how.levels = std::move(list);
  auto [m, n, k] = block;
  for (plan_level const& l : how.levels) m *= l.coefficients->m, n *= l.coefficients->n, k *= l.coefficients->k;
  how.shape.m = how.core_m = m, how.shape.n = how.core_n = n, how.shape.k = how.core_k = k;
  how.shape.beta_zero = true;
  graph const g = build_gemm_graph(how, machine_);
  std::int64_t const lda = padded_leading_dimension(m, sizeof(T)), ldb = padded_leading_dimension(k, sizeof(T));
  std::vector<std::unique_ptr<executor>> works;
  for (std::int64_t i = 0; i < (fetched ? sets_of({m, n, k}) : 1); ++i) {
    T* const A = operands_.data() + i * held({m, n, k});
    T* const B = A + lda * k;
    works.push_back(make_executor<T>(g, how,
                                     {1, column_major<T const>(A, m, k, lda), column_major<T const>(B, k, n, ldb), 0,
                                      column_major(B + ldb * n, m, n, lda)},
                                     nullptr));
  }
  filled_memory<std::byte> const scratch(static_cast<double>(works.front()->scratch_bytes()));
  std::size_t next = 0;
  auto const run = [&] {
    executor& work = *works[next++ % works.size()];
    for (task const& t : g.tasks) work.run(t, scratch.data());
  };
  return seconds_of(clocks_, run, budget);
}

template <typename T>
bool product_bench<T>::may_stay(extents const& e) const {
  return static_cast<std::size_t>(held(e)) * sizeof(T) <= machine_.l3_bytes / 2;
}

template <typename T>
std::int64_t product_bench<T>::held(extents const& e) {
  std::int64_t const lda = padded_leading_dimension(e.m, sizeof(T)), ldb = padded_leading_dimension(e.k, sizeof(T));
  return lda * (e.k + e.n) + ldb * e.n;
}

// Together they take far more than the caches into which passes write such blocks: the second level, or any.
template <typename T>
std::int64_t product_bench<T>::sets_of(extents const& e) const {
  bool const streamed = std::cbrt(double(e.m) * double(e.n) * double(e.k)) >= std::sqrt(streaming_bytes / sizeof(T));
  double const bytes =
      streamed ? std::min(2.0 * double(machine_.l3_bytes), most_fetched_bytes) : 6.0 * double(machine_.l2_bytes);
  return std::max<std::int64_t>(2, static_cast<std::int64_t>(bytes / sizeof(T)) / held(e));
}

template <typename T>
double product_bench<T>::elements(bench_room const& room) const {
  std::int64_t most = 0;
  for (extents const& e : room.operands) most = std::max(most, held(e));
  for (extents const& e : room.fetched) most = std::max(most, held(e) * sets_of(e));
  return static_cast<double>(most);
}

template <typename T>
double product_bench<T>::scratch_bytes(bench_room const& room) const {
  std::size_t most = 0;
  for (extents const& e : room.products)
    most = std::max(most, cpu::product_scratch(kernels_, e.m, e.n, e.k, cpu::variant::abc));
  return static_cast<double>(most);
}

template class product_bench<float>;
template class product_bench<double>;

}  // namespace heptad
