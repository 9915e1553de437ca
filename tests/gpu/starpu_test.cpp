// SPDX-License-Identifier: BSD-3-Clause
// StarPU's CUDA workers: small graphs are shared with CPU workers, large products run on the devices alone, on all that
// there are. Entries are small integers, so that every order of the sums gives the same bits.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <heptad/starpu.hpp>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "tests/starpu/runtime.hpp"

using namespace heptad;
using namespace heptad::test;

namespace {

/// Two CPU workers and so many of every device.
class both_kinds {
public:
  explicit both_kinds(char const* policy = "eager", int workers_a_device = 1)
      : environment_(setenv("STARPU_NCPU", "2", 1) +
                     setenv("STARPU_NWORKER_PER_CUDA", std::to_string(workers_a_device).c_str(), 1)),
        runtime_(policy) {
    starpu_profiling_status_set(STARPU_PROFILING_ENABLE);
  }
  /// Tasks that every worker of a kind has run since the last question.
  [[nodiscard]] static std::vector<int> each_ran(starpu_worker_archtype kind) {
    std::vector<int> counts;
    for (unsigned id = 0; id < starpu_worker_get_count(); ++id) {
      starpu_profiling_worker_info info;
      if (starpu_worker_get_type(static_cast<int>(id)) != kind) continue;
      starpu_profiling_worker_get_info(static_cast<int>(id), &info);
      counts.push_back(info.executed_tasks);
    }
    return counts;
  }
  [[nodiscard]] static int ran(starpu_worker_archtype kind) {
    auto const counts = each_ran(kind);
    return std::accumulate(counts.begin(), counts.end(), 0);
  }

private:
  int environment_;  // set before StarPU reads it
  own_starpu runtime_;
};

template <typename T>
void change(T& x) {
  x = T(1) - x;
}

/// By the sequential scheduler.
template <typename T>
void expect(T alpha, handled_matrix<T> const& A, bool ta, handled_matrix<T> const& B, bool tb, T beta,
            handled_matrix<T>& C) {
  auto const view = [](handled_matrix<T> const& x, bool transposed) {
    auto const plain = column_major<T const>(x.data.data(), x.rows, x.cols, x.ld);
    return transposed ? matrix_view<T const>{plain.data, x.cols, x.rows, x.ld, 1} : plain;
  };
  context alone(1);
  options wishes;
  wishes.scheduler = scheduler_kind::sequential;
  (void)gemm<T>(alone, alpha, view(A, ta), view(B, tb), beta, column_major(C.data.data(), C.rows, C.cols, C.ld),
                wishes);
}

}  // namespace

TEMPLATE_TEST_CASE("CPU workers and all devices share the tasks of one product, with the sequential scheduler's result",
                   "", double, float) {
  using T = TestType;
  both_kinds const workers;
  REQUIRE(starpu_cuda_worker_get_count() > 0);
  std::mt19937 random(31);
  int cpu = 0;
  std::vector<int> devices(starpu_cuda_worker_get_count());
  auto const all_took_part = [&] { return cpu > 0 && std::ranges::count(devices, 0) == 0; };
  for (int round = 0; round < 100 && (round < 8 || !all_took_part()); ++round) {
    bool const ta = round % 2 == 1, tb = round % 4 >= 2;
    T const beta = T(round % 3);
    handled_matrix<T> A(ta ? 402 : 517, ta ? 517 : 402, random), B(tb ? 430 : 402, tb ? 402 : 430, random),
        C(517, 430, random), wanted(C);
    expect(T(-1), A, ta, B, tb, beta, wanted);
    starpu::submit_options how;
    how.wishes.force_levels = 2;
    how.transpose_a = ta, how.transpose_b = tb;
    (void)starpu::submit_gemm(T(-1), A.share(), B.share(), beta, C.share(), how);
    C.release();
    REQUIRE((C.data == wanted.data));
    A.release(), B.release();
    cpu += both_kinds::ran(STARPU_CPU_WORKER);
    std::ranges::transform(devices, both_kinds::each_ran(STARPU_CUDA_WORKER), devices.begin(), std::plus<>());
  }
  CHECK(all_took_part());
}

TEMPLATE_TEST_CASE("every device takes part in a large product", "", double, float) {
  using T = TestType;
  both_kinds const workers(GENERATE("lws", "dmda"));
  std::mt19937 random(35);
  handled_matrix<T> A(4300, 4100, random), B(4100, 4200, random), C(4300, 4200, random), wanted(C);
  expect(T(-1), A, false, B, false, T(2), wanted);
  (void)both_kinds::each_ran(STARPU_CUDA_WORKER);
  plan const planned = starpu::submit_gemm(T(-1), A.share(), B.share(), T(2), C.share());
  C.release();
  CHECK((C.data == wanted.data));
  auto const ran = both_kinds::each_ran(STARPU_CUDA_WORKER);
  INFO(planned.reason);
  CHECK(std::ranges::count(ran, 0) == 0);
  CHECK(std::accumulate(ran.begin(), ran.end(), 0) == static_cast<int>(planned.tasks));
}

TEMPLATE_TEST_CASE("large products run on the device alone, between tasks of the caller's on the CPU", "", double,
                   float) {
  using T = TestType;
  both_kinds const workers("lws", GENERATE(1, 2));
  std::mt19937 random(32);
  handled_matrix<T> A(2200, 2049, random), B(2100, 2049, random), C(2200, 2100, random), wanted(C);
  for (T& x : wanted.data)
    if (x != handled_matrix<T>::mark) change<T>(x);
  expect(T(2), A, false, B, true, T(-1), wanted);
  for (T& x : wanted.data)
    if (x != handled_matrix<T>::mark) change<T>(x);
  starpu::submit_options how;
  how.transpose_b = true;
  auto& on_cpu = each_element<T, change<T>>();
  submit(on_cpu, C.share());
  (void)both_kinds::ran(STARPU_CUDA_WORKER);
  plan const planned = starpu::submit_gemm(T(2), A.share(), B.share(), T(-1), C.handle, how);
  submit(on_cpu, C.handle);
  C.release();
  CHECK((C.data == wanted.data));
  CHECK_THAT(planned.reason, Catch::Contains("CUDA device"));
  CHECK(both_kinds::ran(STARPU_CUDA_WORKER) == static_cast<int>(planned.tasks));
}

TEST_CASE("a deterministic product stays on the CPU") {
  both_kinds const workers;
  std::mt19937 random(33);
  handled_matrix<double> A(600, 500, random), B(500, 550, random), C(600, 550, random), wanted(C);
  expect(1.0, A, false, B, false, 1.0, wanted);
  starpu::submit_options how;
  how.wishes.deterministic = true;
  (void)both_kinds::ran(STARPU_CUDA_WORKER);
  (void)starpu::submit_gemm(1.0, A.share(), B.share(), 1.0, C.share(), how);
  C.release();
  CHECK(both_kinds::ran(STARPU_CUDA_WORKER) == 0);
  CHECK((C.data == wanted.data));
}

TEST_CASE("the caller's NaN spreads no further than in a classical product where no levels are allowed") {
  both_kinds const workers;
  std::mt19937 random(34);
  handled_matrix<double> A(2100, 2100, random), B(2100, 2100, random), C(2100, 2100, random);
  A(7, 1500) = std::numeric_limits<double>::quiet_NaN();
  starpu::submit_options how;
  how.wishes.max_levels = 0;
  plan const planned = starpu::submit_gemm(1.0, A.share(), B.share(), 0.0, C.share(), how);
  C.release();
  CHECK_THAT(planned.reason, Catch::Contains("CUDA device"));
  for (std::int64_t j = 0; j < C.cols; ++j)
    for (std::int64_t i = 0; i < C.rows; ++i) REQUIRE(std::isnan(C(i, j)) == (i == 7));
}
