// SPDX-License-Identifier: BSD-3-Clause
// Products on a device against the definition, evaluated in double on the host.
#include <catch2/catch.hpp>
#include <thread>

#include <heptad/cuda.h>

#include "schedulers/cuda/stream_executor.hpp"
#include "src/plan/device_planner.hpp"
#include "tests/gpu/device.hpp"
#include "tests/new_operators.hpp"

using namespace heptad;
using namespace heptad::test;

namespace {

struct shape {
  std::int64_t m, n, k;
  bool a_row_major = false, b_row_major = false, c_row_major = false;
};

template <typename T>
matrix_view<T> view(T* data, std::int64_t rows, std::int64_t cols, bool row_major_, std::int64_t padding) {
  return row_major_ ? row_major(data, rows, cols, cols + padding) : column_major(data, rows, cols, rows + padding);
}

std::size_t room(std::int64_t rows, std::int64_t cols, std::int64_t padding) {
  return static_cast<std::size_t>(rows > cols ? (rows + padding) * (cols + padding)
                                              : (cols + padding) * (rows + padding));
}

/// One product with padding around everything; `run` queues it. Compares every element of C, and that the padding is as
/// it was.
template <typename T, typename Run>
void check_product(shape const& s, T alpha, T beta, std::int64_t padding, std::size_t offset, double tolerance,
                   Run const& run) {
  INFO("m " << s.m << ", n " << s.n << ", k " << s.k << ", row-major " << s.a_row_major << s.b_row_major
            << s.c_row_major << ", beta " << beta << ", padding " << padding << ", offset " << offset);
  device_array<T> A(random_values<T>(room(s.m, s.k, padding), 1), offset);
  device_array<T> B(random_values<T>(room(s.k, s.n, padding), 2), offset);
  auto start = random_values<T>(room(s.m, s.n, padding), 3);
  auto const shape_of_C = view<T>(start.data(), s.m, s.n, s.c_row_major, padding);
  auto const at = [&](std::int64_t i, std::int64_t j) {
    return static_cast<std::size_t>(i * shape_of_C.row_stride + j * shape_of_C.col_stride);
  };
  auto const before = start;
  if (beta == T(0))
    for (std::int64_t j = 0; j < s.n; ++j)
      for (std::int64_t i = 0; i < s.m; ++i) start[at(i, j)] = std::numeric_limits<T>::quiet_NaN();
  device_array<T> C(start, offset);
  auto const a = view<T>(A.data(), s.m, s.k, s.a_row_major, padding),
             b = view<T>(B.data(), s.k, s.n, s.b_row_major, padding);
  run(alpha, a, b, beta, view<T>(C.data(), s.m, s.n, s.c_row_major, padding));
  C.download();
  double worst = 0;
  std::vector<bool> inside(start.size());
  for (std::int64_t j = 0; j < s.n; ++j)
    for (std::int64_t i = 0; i < s.m; ++i) {
      double sum = 0;
      for (std::int64_t l = 0; l < s.k; ++l) sum += element(A.host, a, i, l) * element(B.host, b, l, j);
      double const expected = static_cast<double>(alpha) * sum +
                              (beta == T(0) ? 0.0 : static_cast<double>(beta) * static_cast<double>(before[at(i, j)]));
      double const error = std::abs(static_cast<double>(C.host[at(i, j)]) - expected);
      worst = std::isnan(error) ? error : std::max(worst, error);
      inside[at(i, j)] = true;
      if (std::isnan(worst)) FAIL("NaN at " << i << ", " << j);
    }
  CHECK(worst < tolerance * std::numeric_limits<T>::epsilon() * static_cast<double>(s.k));
  for (std::size_t e = 0; e < start.size(); ++e)
    if (!inside[e]) REQUIRE(C.host[e] == start[e]);
}

template <typename T>
cuda::plan plan_of(shape const& s, bool beta_zero, std::vector<cuda::stage> stages) {
  cuda::plan p;
  p.type = sizeof(T) == 8 ? element_type::f64 : element_type::f32;
  p.shape = {s.m, s.n, s.k, s.a_row_major, s.b_row_major, false, beta_zero};
  p.stages = std::move(stages);
  cuda::complete_device_plan(p, cuda::default_device_profile());
  return p;
}

template <typename T>
void check_stages(std::vector<cuda::stage> const& stages, double tolerance) {
  stream_and_handle on;
  for (shape const& s : {shape{96, 80, 112}, shape{97, 83, 101, true, false}, shape{90, 123, 77, false, true},
                         shape{64, 65, 130, true, true}})
    for (T const beta : {T(0), T(-1.5)})
      for (std::size_t const offset : {0, 1}) {
        cuda::executable const what(plan_of<T>(s, beta == T(0), stages));
        check_product<T>(s, T(1.25), beta, offset == 0 ? 0 : 3, offset, tolerance,
                         [&](T alpha, auto a, auto b, T bet, auto c) {
                           cuda::gemm<T>(on.stream, on.handle, what, alpha, a, b, bet, c);
                         });
      }
}

}  // namespace

TEST_CASE("stages of every kind give the product on the device") {
  using cuda::make_stage;
  for (auto const& stages :
       std::vector<std::vector<cuda::stage>>{{},
                                             {make_stage("winograd", 1, false)},
                                             {make_stage("winograd", 1, true)},
                                             {make_stage("winograd", 2, true)},
                                             {make_stage("winograd", 2, false)},
                                             {make_stage("winograd", 3, true)},
                                             {make_stage("winograd", 3, false)},
                                             {make_stage("strassen", 2, true)},
                                             {make_stage("huang323", 1, true)},
                                             {make_stage("huang323", 1, false)},
                                             {make_stage("winograd", 1, false), make_stage("winograd", 2, true)}}) {
    INFO(stages.size() << " stages");
    check_stages<double>(stages, 200);
    check_stages<float>(stages, 200);
  }
}

TEMPLATE_TEST_CASE("fused levels give the product on the device in every way of accumulation", "", float, double) {
  using T = TestType;
  stream_and_handle on;
  for (auto const& stages : std::vector<std::vector<cuda::stage>>{
           {cuda::make_stage("strassen", 1, false, true)},
           {cuda::make_stage("winograd", 1, false, true)},
           {cuda::make_stage("strassen", 2, false, true)},
           {cuda::make_stage("winograd", 1, false), cuda::make_stage("strassen", 1, false, true)}})
    for (auto const how : {cuda::accumulation::ordered, cuda::accumulation::atomic, cuda::accumulation::streams})
      for (shape const& s : {shape{544, 288, 72}, shape{97, 83, 101, true, false}, shape{590, 123, 77, false, true},
                             shape{64, 265, 130, true, true}})
        for (T const beta : {T(0), T(-1.5)})
          for (std::size_t const offset : {0, 1}) {
            INFO("way " << int(how));
            auto p = plan_of<T>(s, beta == T(0), stages);
            p.accumulation = how;
            cuda::executable const what(p);
            check_product<T>(s, T(1.25), beta, offset == 0 ? 0 : 3, offset, 200,
                             [&](T alpha, auto a, auto b, T bet, auto c) {
                               cuda::gemm<T>(on.stream, on.handle, what, alpha, a, b, bet, c);
                             });
          }
}

TEMPLATE_TEST_CASE("every fused tile gives the product on the device", "", float, double) {
  using T = TestType;
  stream_and_handle on;
  auto const tiles = cuda::fused_tiles(sizeof(T) == 8 ? element_type::f64 : element_type::f32);
  for (int tile = 0; tile < static_cast<int>(tiles.size()); ++tile)
    for (shape const& s :
         {shape{1088, 576, 136}, shape{597, 683, 101, true, false}, shape{590, 623, 77, false, true}}) {
      INFO("tile " << tile);
      auto p = plan_of<T>(s, true, {cuda::make_stage("strassen", 1, false, true)});
      p.tile = tile;
      cuda::complete_device_plan(p, cuda::default_device_profile());
      cuda::executable const what(p);
      CHECK(what.workspace_bytes() == p.workspace);
      check_product<T>(s, T(1.25), T(0), 0, 0, 200, [&](T alpha, auto a, auto b, T beta, auto c) {
        cuda::gemm<T>(on.stream, on.handle, what, alpha, a, b, beta, c);
      });
    }
}

TEMPLATE_TEST_CASE("small fused products race nowhere", "", float, double) {  // for tools that make kernels slow
  using T = TestType;
  stream_and_handle on;
  auto const tiles = cuda::fused_tiles(sizeof(T) == 8 ? element_type::f64 : element_type::f32);
  for (int tile = 0; tile < static_cast<int>(tiles.size()); ++tile)
    for (auto const how : {cuda::accumulation::ordered, cuda::accumulation::atomic, cuda::accumulation::streams})
      for (shape const& s : {shape{288, 144, 40}, shape{131, 70, 39, true, true}}) {
        INFO("tile " << tile << ", way " << int(how));
        auto p = plan_of<T>(s, false, {cuda::make_stage("strassen", 1, false, true)});
        p.tile = tile;
        p.accumulation = how;
        cuda::complete_device_plan(p, cuda::default_device_profile());
        cuda::executable const what(p);
        check_product<T>(s, T(1.25), T(-1.5), 0, 0, 200, [&](T alpha, auto a, auto b, T beta, auto c) {
          cuda::gemm<T>(on.stream, on.handle, what, alpha, a, b, beta, c);
        });
      }
}

TEST_CASE("ordered and streamed fused products are the same bits every time, and can be captured") {
  constexpr std::int64_t n = 1030;
  stream_and_handle on;
  device_array<float> A(random_values<float>(n * n, 1)), B(random_values<float>(n * n, 2)),
      C(std::vector<float>(n * n));
  auto const square = [](float* data) { return column_major(data, n, n, n); };
  for (auto const how : {cuda::accumulation::ordered, cuda::accumulation::streams}) {
    auto p = plan_of<float>({n, n, n}, true, {cuda::make_stage("strassen", 1, false, true)});
    p.accumulation = how;
    cuda::executable const what(p);
    CHECK((what.workspace_bytes() == 0) == (how == cuda::accumulation::streams));
    device_array<float> memory(std::vector<float>(what.workspace_bytes() / sizeof(float) + 1));
    auto const run = [&] {
      cuda::gemm<float>(on.stream, on.handle, what, 1.0F, square(A.data()), square(B.data()), 0.0F, square(C.data()),
                        {memory.data(), what.workspace_bytes()});
    };
    run();
    C.download();
    auto const first = C.host;
    captured const replay(on.stream, run);
    for (int again = 0; again < 5; ++again) {
      require(cudaMemset(C.data(), 0xff, first.size() * sizeof(float)));
      replay.launch();
      C.download();
      REQUIRE(C.host == first);
    }
    for (int warm = 0; warm < 2; ++warm) run();
    std::size_t const allocated = test::allocations;
    run();
    CHECK(test::allocations == allocated);
  }
}

TEST_CASE("a fused level in narrow arithmetic, of long sums or in a tile that there is not, is refused") {
  auto const stages = std::vector{cuda::make_stage("strassen", 1, false, true)};
  auto narrow = plan_of<float>({64, 64, 64}, true, stages);
  narrow.arithmetic = cuda::arithmetic::tf32;
  CHECK_THROWS_WITH(cuda::executable(narrow), Catch::Contains("exact products"));
  auto none = plan_of<double>({64, 64, 64}, true, stages);
  none.tile = 17;
  CHECK_THROWS_WITH(cuda::executable(none), Catch::Contains("plan.tile = 17"));
  CHECK_THROWS_WITH(
      cuda::executable(plan_of<float>({64, 64, 64}, true, {cuda::make_stage("huang323", 1, false, true)})),
      Catch::Contains("more than 4"));
}

TEST_CASE("a batch is one call, passes have kernels of their own, and products in turn are calls of their own") {
  shape const s{256, 256, 256};
  auto const count = [&](std::vector<cuda::stage> stages) {
    return cuda::stream_executor(plan_of<double>(s, true, std::move(stages))).count();
  };
  auto const two = count({cuda::make_stage("winograd", 2, true)});
  CHECK((two.product_calls == 1 && two.products == 49 && two.passes == 3 && two.general_passes == 0));
  auto const nested = count({cuda::make_stage("winograd", 1, false), cuda::make_stage("winograd", 3, true)});
  CHECK((nested.product_calls == 7 && nested.products == 7 * 343 && nested.passes == 3 + 7 * 3));
  auto const in_turn = count({cuda::make_stage("winograd", 2, false)});
  CHECK((in_turn.product_calls == 49 && in_turn.products == 49 && in_turn.passes == 3));
}

TEST_CASE("planned products are right in every layout") {
  for (int layouts = 0; layouts < 8; ++layouts) {
    shape const s{130, 70, 90, (layouts & 1) != 0, (layouts & 2) != 0, (layouts & 4) != 0};
    cuda::options wishes;
    wishes.force_levels = 2;
    check_product<double>(s, -1.0, 0.5, 5, 0, 100, [&](double alpha, auto a, auto b, double beta, auto c) {
      cuda::gemm<double>(nullptr, nullptr, alpha, a, b, beta, c, wishes);
    });
  }
}

TEST_CASE("vectors, single elements and thin products") {
  for (shape const& s : {shape{1, 1, 1}, shape{1, 50, 70}, shape{50, 1, 70}, shape{60, 70, 1}, shape{3, 200, 2}})
    check_product<float>(s, 2.0F, 1.0F, 0, 0, 20, [&](float alpha, auto a, auto b, float beta, auto c) {
      cuda::gemm<float>(nullptr, nullptr, alpha, a, b, beta, c);
    });
}

TEST_CASE("alpha = 0 or k = 0 only scales C, and A and B are not touched") {
  device_array<double> C(std::vector<double>(12, 3.0));
  matrix_view<double const> const nothing{nullptr, 3, 0, 1, 3}, nothing_b{nullptr, 0, 4, 1, 1};
  cuda::gemm<double>(nullptr, nullptr, 1.0, nothing, nothing_b, 2.0, column_major(C.data(), 3, 4, 3));
  C.download();
  CHECK(C.host == std::vector<double>(12, 6.0));
  matrix_view<double const> const a{nullptr, 3, 5, 1, 3}, b{nullptr, 5, 4, 1, 5};
  cuda::gemm<double>(nullptr, nullptr, 0.0, a, b, 0.0, column_major(C.data(), 3, 4, 3));
  C.download();
  CHECK(C.host == std::vector<double>(12, 0.0));
}

TEST_CASE("the C interface multiplies column-major matrices with transposes") {
  for (char const ta : {'N', 'T'})
    for (char const tb : {'n', 'c'}) {
      shape const s{40, 30, 50, ta != 'N', tb != 'n'};
      check_product<double>(s, 1.5, -0.5, 2, 0, 20, [&](double alpha, auto a, auto b, double beta, auto c) {
        auto const ld = [](auto const& x) { return std::max(x.row_stride, x.col_stride); };
        REQUIRE(heptad_cuda_dgemm(nullptr, ta, tb, s.m, s.n, s.k, alpha, a.data, ld(a), b.data, ld(b), beta, c.data,
                                  ld(c)) == HEPTAD_SUCCESS);
      });
      check_product<float>(s, 1.5F, -0.5F, 2, 0, 20, [&](float alpha, auto a, auto b, float beta, auto c) {
        auto const ld = [](auto const& x) { return std::max(x.row_stride, x.col_stride); };
        REQUIRE(heptad_cuda_sgemm(nullptr, ta, tb, s.m, s.n, s.k, alpha, a.data, ld(a), b.data, ld(b), beta, c.data,
                                  ld(c)) == HEPTAD_SUCCESS);
      });
    }
}

TEST_CASE("a product captured into a graph can be replayed on new data") {
  constexpr std::int64_t n = 256;
  stream_and_handle on;
  device_array<double> A(random_values<double>(n * n, 1)), B(random_values<double>(n * n, 2)),
      C(std::vector<double>(n * n));
  auto const square = [](double* data) { return column_major(data, n, n, n); };
  cuda::executable const what(plan_of<double>({n, n, n}, true, {cuda::make_stage("winograd", 2, true)}));
  for (bool const own_memory : {true, false}) {
    device_array<double> memory(std::vector<double>(what.workspace_bytes() / sizeof(double)));
    cuda::workspace const given =
        own_memory ? cuda::workspace{memory.data(), what.workspace_bytes()} : cuda::workspace{};
    auto const run = [&] {
      cuda::gemm<double>(on.stream, on.handle, what, 1.0, square(A.data()), square(B.data()), 0.0, square(C.data()),
                         given);
    };
    run();
    require(cudaStreamSynchronize(on.stream));
    captured const replay(on.stream, run);
    for (unsigned seed : {5, 6}) {
      A.host = random_values<double>(n * n, seed);
      A.upload();
      replay.launch();
      C.download();
      double worst = 0;
      for (std::int64_t j = 0; j < n; j += 17)
        for (std::int64_t i = 0; i < n; ++i) {
          double sum = 0;
          for (std::int64_t l = 0; l < n; ++l) sum += A.host[i + l * n] * B.host[l + j * n];
          worst = std::max(worst, std::abs(sum - C.host[i + j * n]));
        }
      CHECK(worst < 1e-12);
    }
  }
}

TEST_CASE("running an executable with its own workspace and handle allocates nothing") {
  constexpr std::int64_t n = 512;
  stream_and_handle on;
  device_array<float> A(random_values<float>(n * n, 1)), B(random_values<float>(n * n, 2)),
      C(std::vector<float>(n * n));
  auto const square = [](float* data) { return column_major(data, n, n, n); };
  cuda::executable const what(
      plan_of<float>({n, n, n}, true, {cuda::make_stage("winograd", 1, false), cuda::make_stage("winograd", 2, true)}));
  device_array<float> memory(std::vector<float>(what.workspace_bytes() / sizeof(float)));
  auto const run = [&] {
    cuda::gemm<float>(on.stream, on.handle, what, 1.0F, square(A.data()), square(B.data()), 0.0F, square(C.data()),
                      {memory.data(), what.workspace_bytes()});
  };
  for (int warm = 0; warm < 3; ++warm) run();
  require(cudaStreamSynchronize(on.stream));
  std::size_t free_before = 0, free_after = 0, total = 0;
  require(cudaMemGetInfo(&free_before, &total));
  std::size_t const allocated = test::allocations;
  for (int i = 0; i < 5; ++i) run();
  CHECK(test::allocations == allocated);
  require(cudaStreamSynchronize(on.stream));
  require(cudaMemGetInfo(&free_after, &total));
  CHECK(free_after == free_before);
}

TEST_CASE("threads and streams may share an executable") {
  constexpr std::int64_t n = 320;
  cuda::executable const what(plan_of<double>({n, n, n}, true, {cuda::make_stage("winograd", 2, true)}));
  device_array<double> A(random_values<double>(n * n, 1)), B(random_values<double>(n * n, 2));
  std::vector<std::unique_ptr<device_array<double>>> results;
  for (int t = 0; t < 4; ++t) results.push_back(std::make_unique<device_array<double>>(std::vector<double>(n * n)));
  std::vector<std::thread> threads;
  for (auto& C : results)
    threads.emplace_back([&, c = C->data()] {
      cudaStream_t stream = nullptr;
      cudaStreamCreate(&stream);
      for (int i = 0; i < 10; ++i)
        cuda::gemm<double>(stream, nullptr, what, 1.0, column_major(A.data(), n, n, n), column_major(B.data(), n, n, n),
                           0.0, column_major(c, n, n, n));
      cudaStreamSynchronize(stream);
      cudaStreamDestroy(stream);
    });
  for (auto& t : threads) t.join();
  for (auto& C : results) C->download();
  for (auto& C : results) CHECK(C->host == results[0]->host);
  double sum = 0;
  for (std::int64_t l = 0; l < n; ++l) sum += A.host[5 + l * n] * B.host[l + 9 * n];
  CHECK(results[0]->host[5 + 9 * n] == Approx(sum));
}

TEST_CASE("TF32 is used only when it is asked for") {
  constexpr std::int64_t n = 512;
  device_array<float> A(random_values<float>(n * n, 1)), B(random_values<float>(n * n, 2)),
      C(std::vector<float>(n * n));
  auto const error = [&](cuda::arithmetic how, int levels) {
    cuda::options wishes;
    wishes.arithmetic = how;
    wishes.force_levels = levels;
    cuda::gemm<float>(nullptr, nullptr, 1.0F, column_major(A.data(), n, n, n), column_major(B.data(), n, n, n), 0.0F,
                      column_major(C.data(), n, n, n), wishes);
    C.download();
    double worst = 0;
    for (std::int64_t j = 0; j < n; j += 31)
      for (std::int64_t i = 0; i < n; ++i) {
        double sum = 0;
        for (std::int64_t l = 0; l < n; ++l) sum += static_cast<double>(A.host[i + l * n]) * B.host[l + j * n];
        worst = std::max(worst, std::abs(sum - C.host[i + j * n]));
      }
    return worst;
  };
  for (int levels : {0, 2}) {
    CHECK(error(cuda::arithmetic::exact, levels) < 2e-4);
    CHECK(error(cuda::arithmetic::tf32, levels) > 1e-3);
    CHECK(error(cuda::arithmetic::tf32, levels) < 2e-1);
  }
}

TEST_CASE("the caller's handle keeps its modes, and does not decide the arithmetic") {
  constexpr std::int64_t n = 256;
  stream_and_handle on;
  REQUIRE(cublasSetMathMode(on.handle, CUBLAS_TF32_TENSOR_OP_MATH) == CUBLAS_STATUS_SUCCESS);
  REQUIRE(cublasSetPointerMode(on.handle, CUBLAS_POINTER_MODE_DEVICE) == CUBLAS_STATUS_SUCCESS);
  device_array<float> A(random_values<float>(n * n, 1)), B(random_values<float>(n * n, 2)),
      C(std::vector<float>(n * n));
  cuda::gemm<float>(on.stream, on.handle, 1.0F, column_major(A.data(), n, n, n), column_major(B.data(), n, n, n), 0.0F,
                    column_major(C.data(), n, n, n));
  C.download();
  double sum = 0;
  for (std::int64_t l = 0; l < n; ++l) sum += static_cast<double>(A.host[3 + l * n]) * B.host[l + 4 * n];
  CHECK(std::abs(C.host[3 + 4 * n] - sum) < 1e-4);
  cublasMath_t math{};
  cublasPointerMode_t pointers{};
  cublasGetMathMode(on.handle, &math);
  cublasGetPointerMode(on.handle, &pointers);
  CHECK(math == CUBLAS_TF32_TENSOR_OP_MATH);
  CHECK(pointers == CUBLAS_POINTER_MODE_DEVICE);
}
