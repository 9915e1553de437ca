// SPDX-License-Identifier: BSD-3-Clause
// Products of matrices in host memory, pageable and pinned, within little device memory and much, against the
// definition. Small integers: the results are exact.
#include <string>

#include "tests/gpu/device.hpp"

using namespace heptad;
using namespace heptad::test;
using Catch::Contains;

namespace {

struct problem_on_host {
  std::int64_t m, n, k;
  bool a_row_major = false, b_row_major = false, c_row_major = false;
};

template <typename T>
matrix_view<T> view(std::vector<T>& data, std::int64_t rows, std::int64_t cols, bool by_rows) {
  constexpr std::int64_t padding = 3;
  data.resize(static_cast<std::size_t>((rows + padding) * (cols + padding)));
  return by_rows ? row_major(data.data(), rows, cols, cols + padding)
                 : column_major(data.data(), rows, cols, rows + padding);
}

template <typename T>
void fill(std::vector<T>& data, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_int_distribution<int> digit(-4, 4);
  for (T& x : data) x = static_cast<T>(digit(random));
}

template <typename T>
cuda::host_report check_product(problem_on_host const& s, T alpha, T beta, bool pinned,
                                cuda::host_options const& wishes) {
  INFO("m " << s.m << ", n " << s.n << ", k " << s.k << ", row-major " << s.a_row_major << s.b_row_major
            << s.c_row_major << ", beta " << beta << ", pinned " << pinned);
  std::vector<T> a, b, c;
  auto const A = view(a, s.m, s.k, s.a_row_major), B = view(b, s.k, s.n, s.b_row_major),
             C = view(c, s.m, s.n, s.c_row_major);
  fill(a, 1), fill(b, 2), fill(c, 3);
  auto expected = c;
  for (std::int64_t i = 0; i < s.m; ++i)
    for (std::int64_t j = 0; j < s.n; ++j) {
      double sum = 0;
      for (std::int64_t l = 0; l < s.k; ++l) sum += element(a, A, i, l) * element(b, B, l, j);
      auto const at = static_cast<std::size_t>(i * C.row_stride + j * C.col_stride);
      expected[at] =
          static_cast<T>(static_cast<double>(alpha) * sum + static_cast<double>(beta) * static_cast<double>(c[at]));
      if (beta == T(0)) c[at] = std::numeric_limits<T>::quiet_NaN();
    }
  if (pinned)
    for (auto* x : {&a, &b, &c}) require(cudaHostRegister(x->data(), x->size() * sizeof(T), cudaHostRegisterDefault));
  matrix_view<T const> const from_A{A.data, A.rows, A.cols, A.row_stride, A.col_stride},
      from_B{B.data, B.rows, B.cols, B.row_stride, B.col_stride};
  auto const report = cuda::gemm<T>(alpha, from_A, from_B, beta, C, wishes);
  if (pinned)
    for (auto* x : {&a, &b, &c}) require(cudaHostUnregister(x->data()));
  CHECK(c == expected);
  CHECK(report.staged == !pinned);
  return report;
}

cuda::host_options within(std::size_t bytes) {
  cuda::host_options wishes;
  wishes.max_device_memory = bytes;
  wishes.ring_bytes = std::size_t{256} << 10;  // small: every block takes several buffers
  return wishes;
}

}  // namespace

TEST_CASE("a product of host matrices is right, whatever their layout, memory and size on the device") {
  for (std::size_t const bytes : {std::size_t{400} << 10, std::size_t{1500} << 10, std::size_t{256} << 20})
    for (int layout = 0; layout < 8; ++layout)
      for (bool const pinned : {false, true}) {
        problem_on_host const s{301, 258, 407, (layout & 1) != 0, (layout & 2) != 0, (layout & 4) != 0};
        auto const r = check_product<double>(s, 2.0, layout % 3 == 0 ? 0.0 : -3.0, pinned, within(bytes));
        CHECK(r.device_bytes <= bytes);
        CHECK(r.resident == (bytes > std::size_t{10} << 20));
        CHECK(r.bytes_out == 301 * 258 * 8);
        CHECK(r.bytes_in >= (301 * 407 + 407 * 258) * 8);
        CHECK((r.pinned_bytes == 0) == pinned);
      }
  for (bool const pinned : {false, true})
    check_product<float>({500, 1, 77}, 1.0F, 1.0F, pinned, within(std::size_t{1} << 20));
}

TEST_CASE("blocks of a host product go through the levels that were asked for") {
  auto wishes = within(std::size_t{64} << 20);
  wishes.device.force_levels = 2;
  auto const r = check_product<double>({512, 512, 512}, 1.0, 1.0, false, wishes);
  CHECK(!r.plan.stages.empty());
  wishes.copy_threads = 3;
  CHECK(!check_product<float>({640, 512, 384}, 1.0F, 0.0F, false, wishes).plan.stages.empty());
}

TEST_CASE("products of pageable matrices are right on one device after the other") {
  int devices = 0, before = 0;
  require(cudaGetDeviceCount(&devices));
  if (devices < 2) {
    WARN("skipped: needs two devices");
    return;
  }
  require(cudaGetDevice(&before));
  cuda::release_pinned_memory();
  for (int const device : {0, 1, 1, 0}) {
    INFO("device " << device);
    require(cudaSetDevice(device));
    CHECK_NOTHROW(check_product<double>({301, 258, 407}, 2.0, -3.0, false, within(std::size_t{1500} << 10)));
  }
  require(cudaSetDevice(before));
  cuda::release_pinned_memory();
}

TEST_CASE("the report of a host product says what moved and how much of that was hidden") {
  auto const r = check_product<double>({1024, 1024, 1024}, 1.0, 0.0, true, within(std::size_t{12} << 20));
  CHECK(r.products > 4);
  CHECK(r.in_seconds > 0);
  CHECK(r.product_seconds > 0);
  CHECK(r.out_seconds > 0);
  CHECK(r.overlap > 0);
  CHECK(r.overlap <= 1);
  CHECK(r.seconds >= r.in_seconds);
  CHECK_THAT(cuda::explain(r), Contains("out of core") && Contains(std::to_string(r.bytes_in)));
}

TEST_CASE("a host product of which nothing is to be added only scales C") {
  std::vector<double> c(6, 2.0), none;
  auto const C = column_major(c.data(), std::int64_t{2}, std::int64_t{3}, std::int64_t{2});
  cuda::gemm<double>(0.0, {nullptr, 2, 5, 1, 2}, {nullptr, 5, 3, 1, 5}, -3.0, C);
  CHECK(c == std::vector<double>(6, -6.0));
  c.assign(6, std::nan(""));
  cuda::gemm<double>(1.0, {nullptr, 2, 0, 1, 2}, {nullptr, 0, 3, 1, 1}, 0.0, C);
  CHECK(c == std::vector<double>(6, 0.0));
}

TEST_CASE("bad input to a host product is refused by name and leaves C as it was") {
  std::vector<double> a(64), b(64), c(64, 5.0);
  auto const before = c;
  auto const square = [](auto* data) { return column_major(data, std::int64_t{8}, std::int64_t{8}, std::int64_t{8}); };
  device_array<double> there(std::vector<double>(64));
  auto const call = [&](double* from, cuda::host_options const& wishes = {}) {
    cuda::gemm<double>(1.0, square(static_cast<double const*>(from)), square(static_cast<double const*>(b.data())), 0.0,
                       square(c.data()), wishes);
  };
  CHECK_THROWS_WITH(call(there.data()), Contains("A.data") && Contains("host memory"));
  CHECK_THROWS_WITH(call(nullptr), Contains("A.data = null"));
  CHECK_THROWS_WITH(call(c.data()), Contains("C must not overlap A"));
  cuda::host_options wishes;
  wishes.ring_bytes = 1;
  CHECK_THROWS_WITH(call(a.data(), wishes), Contains("ring_bytes = 1"));
  wishes = {};
  wishes.copy_threads = 0;
  CHECK_THROWS_WITH(call(a.data(), wishes), Contains("copy_threads = 0"));
  wishes = {};
  wishes.max_device_memory = 100;
  CHECK_THROWS_WITH(call(a.data(), wishes), Contains("100 bytes of device memory are too few"));
  wishes = {};
  wishes.device.max_error = 0;
  CHECK_THROWS_WITH(call(a.data(), wishes), Contains("max_error"));
  CHECK(c == before);
  CHECK_NOTHROW(call(a.data()));
  cuda::release_pinned_memory();
}
