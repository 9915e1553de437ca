// SPDX-License-Identifier: BSD-3-Clause
// The pool of workspace, products for which there is less memory than planned, and how much memory there is.
#include "src/api/memory.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "tests/api/reference.hpp"
#include "tests/temporary_folder.hpp"

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

/// The files of /proc and /sys that tell how much memory there is.
struct machine_files {
  heptad::test::temporary_folder folder;

  void write(std::filesystem::path const& name, std::string const& text) const {
    std::filesystem::path const path = folder.path() / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text << '\n';
  }
  void limit(std::filesystem::path const& group, std::string const& most, std::size_t used) const {
    write("sys/fs/cgroup" / group / "memory.max", most);
    write("sys/fs/cgroup" / group / "memory.current", std::to_string(used));
  }
  [[nodiscard]] std::size_t free(std::size_t address_space = SIZE_MAX) const {
    return heptad::free_memory(folder.path() / "proc", folder.path() / "sys", address_space);
  }
};

std::size_t resident_bytes() {
  std::size_t mapped = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> mapped >> resident;
  return resident * static_cast<std::size_t>(getpagesize());
}

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

TEST_CASE("a pool that releases its blocks gives their pages back, and leaves those that are lent alone") {
  constexpr std::size_t bytes = 8 << 20;
  heptad::memory_pool pool;
  (void)pool.take(2 * bytes);
  pool.release();  // from now on malloc keeps smaller blocks that are freed, below one that is in use
  std::vector<heptad::memory_pool::lease> others;
  for (int i = 0; i < 4; ++i) std::memset(others.emplace_back(pool.take(bytes)).data(), 2, bytes);
  auto lent = pool.take(bytes);
  std::memset(lent.data(), 1, bytes);
  others.clear();
  std::size_t const before = resident_bytes();
  pool.release();
  CHECK(resident_bytes() + 2 * bytes < before);
  CHECK(std::count(lent.data(), lent.data() + bytes, std::byte{1}) == bytes);
  injection const none(0, 1000);
  CHECK_FALSE(pool.take(bytes));  // nothing was kept
  std::byte* const data = lent.data();
  lent = {};
  auto const again = pool.take(bytes);
  REQUIRE(again);  // as ever
  CHECK(again.data() == data);
}

TEST_CASE("a context that has released its workspace holds none, and the next product is right") {
  product x({300, 300, 300});
  heptad::context workers(2);
  heptad::options wishes;
  wishes.force_levels = 1;
  x.run(workers, wishes);
  auto const blocks = [&] {
    injection const counting(0, 0);
    CHECK(x.right(x.run(workers, wishes)));
    return count.load();
  };
  CHECK(blocks() == 0);
  workers.release_workspace();
  CHECK(blocks() == 1);
  CHECK(blocks() == 0);
}

TEST_CASE("workspace can be released while calls are in progress") {
  heptad::context workers(2);
  heptad::options wishes;
  wishes.force_levels = 1;
  std::atomic<int> running{3}, wrong{0};
  std::vector<std::thread> callers;
  for (int i = 0; i < 3; ++i) {
    callers.emplace_back([&, i] {
      product x({200 + 10 * i, 190, 180});
      for (int round = 0; round < 20; ++round) wrong += !x.right(x.run(workers, wishes));
      --running;
    });
  }
  while (running > 0) workers.release_workspace();
  for (auto& caller : callers) caller.join();
  CHECK(wrong == 0);
}

TEST_CASE("free memory is the least that the machine, the groups of the process and its address space leave") {
  machine_files files;
  CHECK(files.free() == SIZE_MAX);  // nothing is known
  files.write("proc/meminfo", "MemTotal: 9000 kB\nMemAvailable: 2000 kB");
  CHECK(files.free() == 2000 * 1024);

  files.write("proc/self/cgroup", "4:memory:/old/inner\n1:name=systemd:/old");  // version 1 only
  files.limit("old", "10", 0);
  CHECK(files.free() == 2000 * 1024);
  files.write("proc/self/cgroup", "4:memory:/old\n0::/outer/middle/inner");
  CHECK(files.free() == 2000 * 1024);  // no file of the groups
  files.limit("outer", "1000000", 400000);
  CHECK(files.free() == 600000);
  files.limit("outer/middle", "max", 300000);
  CHECK(files.free() == 600000);
  files.limit("outer/middle/inner", "500000", 200000);
  CHECK(files.free() == 300000);
  files.write("sys/fs/cgroup/outer/middle/inner/memory.stat", "anon 150000\ninactive_file 50000");
  CHECK(files.free() == 350000);
  files.limit("", "900000", 700000);
  CHECK(files.free() == 200000);
  files.limit("outer", "1000000", 2000000);  // the limit was lowered
  CHECK(files.free() == 0);
  files.write("proc/self/cgroup", "0::/");
  CHECK(files.free() == 200000);

  auto const page = static_cast<std::size_t>(getpagesize());
  files.write("proc/self/statm", "100 7 3 1 0 9 0");
  CHECK(files.free(102 * page) == 2 * page);
  CHECK(files.free(90 * page) == 0);
  CHECK(files.free(1000 * page) == 200000);
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
