// SPDX-License-Identifier: BSD-3-Clause
// The drop-in as a program meets it: many threads, forks, threads that follow the backend's, and no loop.
#include <dlfcn.h>
#include <fcntl.h>
#include <heptad/heptad.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <heptad/tbb.hpp>

#include "blas/backend.hpp"
#include "blas/process.hpp"
#include "tests/dropin/in_child.hpp"
#include "tests/environment_variable.hpp"
#include "tests/fuzz/blas.hpp"

namespace {

using heptad::dropin::in_child;

/// C = A B for entries that are small integers: exact with any algorithm.
struct integer_product {
  int m, n, k;
  std::vector<double> A, B;

  integer_product(int rows, int cols, int depth) : m(rows), n(cols), k(depth) {
    for (int i = 0; i < m * k; ++i) A.push_back(i * 7 % 11 - 5);
    for (int i = 0; i < k * n; ++i) B.push_back(i * 5 % 13 - 6);
  }
  [[nodiscard]] std::vector<double> expected() const {
    std::vector<double> C(static_cast<std::size_t>(m) * n);
    for (int j = 0; j < n; ++j) {
      for (int l = 0; l < k; ++l) {
        for (int i = 0; i < m; ++i)
          C[static_cast<std::size_t>(j) * m + i] +=
              A[static_cast<std::size_t>(l) * m + i] * B[static_cast<std::size_t>(j) * k + l];
      }
    }
    return C;
  }
  [[nodiscard]] std::vector<double> by_blas() const {
    std::vector<double> C(static_cast<std::size_t>(m) * n, NAN);
    double const one = 1, zero = 0;
    heptad::fuzz::dgemm_("N", "N", &m, &n, &k, &one, A.data(), &m, B.data(), &k, &zero, C.data(), &m, 1, 1);
    return C;
  }
  [[nodiscard]] std::vector<double> by_c_interface() const {
    std::vector<double> C(static_cast<std::size_t>(m) * n, NAN);
    REQUIRE(heptad_dgemm('n', 'n', m, n, k, 1, A.data(), m, B.data(), k, 0, C.data(), m) == HEPTAD_SUCCESS);
    return C;
  }
};

/// How many worked on the product by a plan of one level; −1: the result is wrong, or the report contradicts itself.
int workers_of(heptad::context& workers, integer_product const& x) {
  heptad::options forced;
  forced.force_levels = 1;
  std::vector<double> C(static_cast<std::size_t>(x.m) * x.n, NAN);
  heptad::report const done = heptad::gemm(workers, 1.0, heptad::column_major(x.A.data(), x.m, x.k, x.m),
                                           heptad::column_major(x.B.data(), x.k, x.n, x.k), 0.0,
                                           heptad::column_major(C.data(), x.m, x.n, x.m), forced);
  bool const agrees = done.busy_seconds.size() == static_cast<std::size_t>(done.plan.workers);
  return C == x.expected() && agrees ? done.plan.workers : -1;
}

}  // namespace

TEST_CASE("fast levels run under the drop-in's calls") {
  integer_product const x(96, 80, 72);
  CHECK(x.by_blas() == x.expected());
  auto const plan = heptad::make_plan<double>(heptad::default_context(), {96, 80, 72});
  CHECK(plan.levels.size() == 1);
  CHECK(heptad::blas::this_process().pays<double>({96, 80, 72}, heptad::blas::place::between));
  // Columns of A, which only sums of its blocks round.
  integer_product picked(96, 80, 72);
  std::mt19937 random(1);
  for (double& a : picked.A) a = std::uniform_real_distribution<double>(-1, 1)(random);
  for (int i = 0; i < 72 * 80; ++i) picked.B[static_cast<std::size_t>(i)] = i % 72 == i / 72 % 72;
  auto const C = picked.by_blas(), columns = picked.expected();
  CHECK(C != columns);
  CHECK(std::ranges::equal(C, columns, [](double x, double y) { return std::abs(x - y) < 1e-13; }));
}

TEST_CASE("64 threads at once each get their own result") {
  integer_product const x(70, 60, 50), y(33, 64, 40);
  auto const x_expected = x.expected(), y_expected = y.expected();
  std::atomic<int> right{0};
  std::vector<std::thread> callers;
  for (int i = 0; i < 64; ++i) {
    callers.emplace_back([&, i] {
      for (int round = 0; round < 20; ++round) {
        right += i % 2 == 0 ? x.by_blas() == x_expected : y.by_blas() == y_expected;
      }
    });
  }
  for (auto& caller : callers) caller.join();
  CHECK(right == 64 * 20);
}

TEST_CASE("a child of a fork multiplies, by the BLAS and by the C interface, and so does its child") {
  integer_product const x(130, 120, 110);
  auto const expected = x.expected();
  REQUIRE(x.by_blas() == expected);
  REQUIRE(x.by_c_interface() == expected);
  auto const both = [&] { return x.by_blas() == expected && x.by_c_interface() == expected; };
  CHECK(in_child(both));
  CHECK(in_child([&] { return both() && in_child(both); }));
  CHECK(both());
}

TEST_CASE("the child of a fork works alone, whatever workers its parent had", "[unsanitized]") {
  integer_product const x(300, 300, 300);
  heptad::context of_parent(2);
  auto const multiplies_with = [&x](heptad::context& workers, int count) { return workers_of(workers, x) == count; };
  REQUIRE(multiplies_with(of_parent, 2));
  REQUIRE(x.by_blas() == x.expected());
  auto const alone = [&] {
    heptad::context fresh(2);
    return multiplies_with(of_parent, 1) && multiplies_with(fresh, 1) &&
           multiplies_with(heptad::default_context(), 1) && heptad::blas::this_process().workers() == 1;
  };
  CHECK(in_child(alone));
  CHECK(in_child([&] { return in_child(alone); }));
  CHECK(multiplies_with(of_parent, 2));
}

namespace {

void fork_while_others_multiply() {
  integer_product const x(64, 64, 64);
  auto const expected = x.expected();
  REQUIRE(x.by_blas() == expected);  // what a fork must see to is set up by the first call
  std::atomic<bool> stop{false};
  std::vector<std::thread> callers;
  for (int i = 0; i < 3; ++i) {
    callers.emplace_back([&] {
      while (!stop) (void)x.by_blas();
    });
  }
  int right = 0;
  while (right < 20 && in_child([&] { return x.by_blas() == expected; })) ++right;
  stop = true;
  for (auto& caller : callers) caller.join();
  CHECK(right == 20);
}

}  // namespace

TEST_CASE("a fork while another thread makes the first call leaves the child able to multiply", "[unsanitized]") {
  integer_product const x(16, 16, 16);
  auto const expected = x.expected();
  constexpr int rounds = 40;
  int right = 0;
  // A process that has made no call.
  auto const fork_meanwhile = [&] {
    std::thread first([&] { (void)x.by_blas(); });
    std::this_thread::sleep_for(std::chrono::microseconds(100 * right));
    bool const done = in_child([&] { return x.by_blas() == expected; });
    first.join();
    return done;
  };
  while (right < rounds && in_child(fork_meanwhile)) ++right;
  CHECK(right == rounds);
}

TEST_CASE("a fork while other threads multiply leaves the child able to", "[unsanitized]") {
  fork_while_others_multiply();
}

TEST_CASE("a fork while other threads multiply and are traced leaves the child able to", "[unsanitized]") {
  heptad::test::temporary_folder const folder;
  heptad::test::environment_variable const traced("HEPTAD_TRACE", (folder.path() / "trace.json").c_str());
  fork_while_others_multiply();
}

TEST_CASE("the child of a fork works alone where its parent had no context but one on an arena", "[unsanitized]") {
  integer_product const x(300, 300, 300);
  oneapi::tbb::task_arena arena(2);
  heptad::context of_parent = heptad::make_context(arena);
  REQUIRE(workers_of(of_parent, x) == 2);
  CHECK(in_child([&] { return workers_of(of_parent, x) == 1; }));
}

TEST_CASE("a profile that cannot be read makes no call fail") {
  integer_product const x(130, 120, 110);
  heptad::test::profile_folder const folder;
  std::filesystem::create_directory(folder.folder.path() / "profile.json");
  CHECK(in_child([&] { return x.by_blas() == x.expected() && x.by_c_interface() == x.expected(); }));
}

TEST_CASE("a warning that nobody can be given changes nothing") {
  CHECK(in_child([] {
    if (dup2(open("/dev/full", O_WRONLY), STDERR_FILENO) < 0) return false;
    try {
      return *heptad::blas::backend("no/such/blas").path() != '\0';
    } catch (std::exception const&) {
      return false;
    }
  }));
}

TEST_CASE("the backend is never the drop-in, under any of its names") {
  for (char const* file : {HEPTAD_BLAS_LIBRARY, HEPTAD_BLAS_COMPLETE}) {
    INFO(file);
    heptad::blas::backend const found(file);
    std::string const path = found.path();
    REQUIRE_FALSE(path.empty());
    CHECK(path.find("heptad") == std::string::npos);
    CHECK(found.find("heptad_blas_mark") == nullptr);
  }
}

TEST_CASE("products use as many threads as the backend would") {
  auto const& real = heptad::blas::this_process().real;
  auto* const set = reinterpret_cast<void (*)(int)>(real.find("openblas_set_num_threads"));
  if (set == nullptr || real.threads() < 2) {
    WARN("skipped: the backend is no OpenBLAS of several threads");
    return;
  }
  integer_product const x(40, 40, 40);
  int const before = real.threads();
  set(1);
  (void)x.by_blas();
  CHECK(heptad_get_num_threads() == 1);
  set(before);
  (void)x.by_blas();
  CHECK(heptad_get_num_threads() == before);
}

TEST_CASE("every forwarded routine is one of the libraries' symbols, and leads to the backend") {
  void* const complete = dlopen(HEPTAD_BLAS_COMPLETE, RTLD_NOW | RTLD_LOCAL);
  REQUIRE(complete != nullptr);
  for (char const* name : {"ddot_", "zgemm_", "cblas_daxpy", "xerbla_", "lsame_", "dsyrk_", "cblas_strsm"}) {
    INFO(name);
    CHECK(dlsym(complete, name) != nullptr);
  }
  auto* const dot = reinterpret_cast<double (*)(int const*, double const*, int const*, double const*, int const*)>(
      dlsym(complete, "ddot_"));
  int const n = 3, one = 1;
  std::array const x{1.0, 2.0, 3.0}, y{4.0, 5.0, 6.0};
  CHECK(dot(&n, x.data(), &one, y.data(), &one) == 32);
}
