// SPDX-License-Identifier: BSD-3-Clause
// The pool of workspace, and products for which there is less memory than planned.
#include "src/api/memory.hpp"

#include <atomic>
#include <catch2/catch.hpp>
#include <cstdint>
#include <thread>
#include <vector>

#include "tests/api/reference.hpp"

using heptad::test::layout;
using heptad::test::padded_matrix;

namespace {

// Allocations count up; those in [fail_from, fail_to) fail, and those above the limit.
std::atomic<int> count{0}, fail_from{0}, fail_to{0};
std::atomic<std::size_t> limit{SIZE_MAX};

struct injection {
  injection(int from, int to, std::size_t most = SIZE_MAX) {
    count = 0;
    fail_from = from;
    fail_to = to;
    limit = most;
    heptad::set_allocation_gate([](std::size_t bytes) {
      int const i = count++;
      return (i < fail_from || i >= fail_to) && bytes <= limit;
    });
  }
  ~injection() { heptad::set_allocation_gate(nullptr); }
};

struct shape {
  std::int64_t m, n, k;
};

struct product {
  padded_matrix<double> A, B, C0, C;

  explicit product(shape s)
      : A(s.m, s.k, layout::columns), B(s.k, s.n, layout::rows), C0(s.m, s.n, layout::columns), C(C0) {
    std::mt19937 random(1);
    A.fill(random);
    B.fill(random);
    C0.fill(random);
  }
  heptad::report run(heptad::context& workers, heptad::options const& wishes) {
    for (std::int64_t i = 0; i < C.view().rows; ++i) {
      for (std::int64_t j = 0; j < C.view().cols; ++j) C(i, j) = C0(i, j);
    }
    return heptad::gemm(workers, 0.7, A.read(), B.read(), -1.0, C.view(), wishes);
  }
  [[nodiscard]] bool right(heptad::report const& r) const {
    return heptad::test::largest_error(0.7, A, B, -1.0, C0, C) <= heptad::test::tolerance<double>(r.plan, 0.7, 1);
  }
};

}  // namespace

TEST_CASE("blocks are aligned, kept, and lent to one call at a time") {
  heptad::memory_pool pool;
  std::byte* first = nullptr;
  {
    auto const a = pool.take(1000);
    auto const b = pool.take(3 << 20);
    REQUIRE(a);
    REQUIRE(b);
    CHECK(a.data() != b.data());
    CHECK(reinterpret_cast<std::uintptr_t>(a.data()) % 64 == 0);
    CHECK(reinterpret_cast<std::uintptr_t>(b.data()) % (2 << 20) == 0);
    first = b.data();
  }
  injection const none(0, 1000);
  auto const again = pool.take(2 << 20);
  REQUIRE(again);  // without an allocation
  CHECK(again.data() == first);
  CHECK(pool.take(900));
  CHECK_FALSE(pool.take(4 << 20));
  CHECK_FALSE(pool.take(SIZE_MAX));
}

TEST_CASE("when an allocation fails a smaller plan gives the right result") {
  auto const s = GENERATE(shape{300, 310, 320}, shape{700, 90, 500}, shape{129, 127, 131}, shape{40, 40, 40});
  product x(s);
  heptad::options wishes;
  if (s.m > 40) wishes.force_levels = 2;
  for (int last = 0; last < 40; ++last) {
    heptad::context workers(3);  // new: its pool is empty
    injection const first_ones(0, last);
    try {
      heptad::report const r = x.run(workers, wishes);
      CHECK(count > last);
      CHECK(r.fell_back == (last > 0));
      CHECK(x.right(r));
    } catch (heptad::error const& e) {
      CHECK(e.code() == heptad::status::out_of_memory);
      CHECK(std::string(e.what()).find("C is untouched") != std::string::npos);
      CHECK((x.C.memory() == x.C0.memory()));
      CHECK(count <= last);
      REQUIRE(last > 0);
      return;  // not even packing scratch; more failures change nothing
    }
  }
  FAIL("the product never gave up");
}

TEST_CASE("with little memory a product falls back to fewer levels, then to classical") {
  product x({400, 400, 400});
  heptad::context workers(2);
  heptad::options wishes;
  wishes.force_levels = 2;
  std::size_t const wanted = x.run(workers, wishes).workspace;
  for (std::size_t const most : {wanted - 1, wanted / 2, wanted / 4}) {
    heptad::context fresh(2);
    injection const small(0, 0, most + (2 << 20));
    heptad::report const r = x.run(fresh, wishes);
    CHECK(r.workspace <= most + (2 << 20));
    CHECK(x.right(r));
  }
}

TEST_CASE("after a failure the next call plans as before") {
  product x({300, 300, 300});
  heptad::context workers(2);
  heptad::options wishes;
  wishes.force_levels = 2;
  {
    injection const first(0, 1);
    CHECK(x.run(workers, wishes).fell_back);
  }
  heptad::report const r = x.run(workers, wishes);
  CHECK_FALSE(r.fell_back);
  CHECK(r.plan.levels.size() == 2);
}
