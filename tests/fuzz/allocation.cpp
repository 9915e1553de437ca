// SPDX-License-Identifier: BSD-3-Clause
// Calls in which an allocation fails, for one after the other until none does: the result is right, or the call says
// that it is out of memory and C is untouched. In a child of its own also the first call of a process, which makes what
// later ones keep. Behind the drop-in's call the result is right in any case: the BLAS of the system computes it. The
// same call after it finds memory, and nothing that the failure left half-made: it is done, and right.
#include <oneapi/tbb/info.h>

#include <heptad/heptad.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <heptad/heptad.hpp>
#include <iterator>
#include <limits>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "src/api/decisions.hpp"
#include "tests/dropin/in_child.hpp"
#include "tests/fuzz/blas.hpp"
#include "tests/fuzz/failing_memory.hpp"
#include "tests/temporary_folder.hpp"

namespace {

using heptad::fuzz::failing_memory;
using heptad::fuzz::failure;

/// C := A B + C in small integers, which every algorithm computes exactly.
struct problem {
  static constexpr int m = 200, n = 180, k = 190;
  std::vector<double> A, B, C0, expected, C;
  int columns = n;  // of the product; the others stay as they are

  problem() : A(m * k), B(k * n), C0(m * n) {
    for (int i = 0; i < m * k; ++i) A[i] = i * 7 % 11 - 5;
    for (int i = 0; i < k * n; ++i) B[i] = i * 5 % 13 - 6;
    for (int i = 0; i < m * n; ++i) C0[i] = i % 17;
    C = expected = C0;
    for (int j = 0; j < n; ++j) {
      for (int l = 0; l < k; ++l) {
        for (int i = 0; i < m; ++i) expected[j * m + i] += A[l * m + i] * B[j * k + l];
      }
    }
  }
  /// Another shape for every number, more of them than plans are remembered.
  void begin(long number) {
    C = C0;
    columns = n - static_cast<int>(number % 101);
  }
  [[nodiscard]] bool right() const {
    auto const end = columns * m;
    return std::equal(C.begin(), C.begin() + end, expected.begin()) &&
           std::equal(C.begin() + end, C.end(), C0.begin() + end);
  }
  [[nodiscard]] bool untouched() const { return C == C0; }
};

/// Whether it did the product; the error that it threw is that there is no memory.
template <typename Call>
bool attempt(Call const& call) {
  try {
    call();
    return true;
  } catch (heptad::error const& e) {
    if (e.code() == heptad::status::out_of_memory) return false;
    throw;
  }
}

bool c_interface(problem& x) {
  int const status =
      heptad_dgemm('n', 'n', x.m, x.columns, x.k, 1, x.A.data(), x.m, x.B.data(), x.k, 1, x.C.data(), x.m);
  if (status != HEPTAD_SUCCESS && status != HEPTAD_OUT_OF_MEMORY)
    throw heptad::error(static_cast<heptad::status>(status), heptad_last_error());
  return status == HEPTAD_SUCCESS;
}

bool drop_in(problem& x) {
  double const one = 1;
  heptad::fuzz::dgemm_("N", "N", &x.m, &x.columns, &x.k, &one, x.A.data(), &x.m, x.B.data(), &x.k, &one, x.C.data(),
                       &x.m, 1, 1);
  return true;
}

void multiply_without_c(problem& x) {
  double const one = 1, zero = 0;
  heptad::fuzz::dgemm_("N", "N", &x.m, &x.columns, &x.k, &one, x.A.data(), &x.m, x.B.data(), &x.k, &zero, x.C.data(),
                       &x.m, 1, 1);
}

/// With a NaN where no sample of A has it: C is made, unless the call before had one too, and then again.
bool drop_in_made_again(problem& x) {
  x.columns = x.n;
  multiply_without_c(x);
  constexpr int row = x.m / 2, middle = row + x.k / 2 * x.m;
  double const kept = std::exchange(x.A[middle], std::numeric_limits<double>::quiet_NaN());
  multiply_without_c(x);
  x.A[middle] = kept;
  for (int i = 0; i < x.m * x.n; ++i) x.C[i] = i % x.m == row ? x.expected[i] : x.C[i] + x.C0[i];
  return true;
}

/// M x = b, large enough for two workers, with a known x.
struct linear_system {
  static constexpr int n = 280;
  std::vector<double> M0, b0, M, b;
  std::vector<int> pivots;

  linear_system() : M0(n * n), b0(n), M(n * n), b(n), pivots(n) {
    std::mt19937 random(1);
    for (double& entry : M0) entry = static_cast<double>(random()) / static_cast<double>(random.max()) - 0.5;
    for (int j = 0; j < n; ++j) {
      for (int i = 0; i < n; ++i) b0[i] += M0[j * n + i] * (j % 5);
    }
  }
  bool solve() {
    std::copy(M0.begin(), M0.end(), M.begin());
    std::copy(b0.begin(), b0.end(), b.begin());
    int const order = n, columns = 1;
    int info = -1;
    heptad::fuzz::dgesv_(&order, &columns, M.data(), &order, pivots.data(), b.data(), &order, &info);
    for (int j = 0; j < n; ++j) {
      if (!(std::abs(b[j] - j % 5) < 1e-6)) return false;
    }
    return info == 0;
  }
};

heptad::report cpp_gemm(heptad::context& workers, problem& x, heptad::options const& wishes) {
  using namespace heptad;
  return gemm<double>(workers, 1, column_major<double const>(x.A.data(), x.m, x.k, x.m),
                      column_major<double const>(x.B.data(), x.k, x.columns, x.k), 1,
                      column_major(x.C.data(), x.m, x.columns, x.m), wishes);
}

std::function<bool(problem&)> with(heptad::options wishes) {
  wishes.force_levels = 2;
  return [wishes](problem& x) {
    return attempt([&] {
      heptad::context workers(2);
      (void)cpp_gemm(workers, x, wishes);
    });
  };
}

bool with_own_plan(problem& x) {
  using namespace heptad;
  return attempt([&] {
    context workers(2);
    heptad::problem shape;
    shape.m = x.m, shape.n = x.columns, shape.k = x.k;
    plan const how = make_plan<double>(workers, shape, {.force_levels = 2});
    (void)explain(how);
    (void)gemm<double>(workers, how, 1, column_major<double const>(x.A.data(), x.m, x.k, x.m),
                       column_major<double const>(x.B.data(), x.k, x.columns, x.k), 1,
                       column_major(x.C.data(), x.m, x.columns, x.m));
  });
}

heptad::context& lasting_context() {
  static heptad::context workers(2);
  return workers;
}

/// The same shape again and again: only what each call takes.
bool known_plan(problem& x) {
  heptad::context& workers = lasting_context();
  x.columns = x.n;
  return attempt([&] { (void)cpp_gemm(workers, x, {.force_levels = 2, .check = 1}); });
}

/// A NaN forbids levels once the operands are seen.
bool not_finite(problem& x) {
  heptad::context& workers = lasting_context();
  x.columns = x.n;
  double const kept = std::exchange(x.A[0], std::numeric_limits<double>::quiet_NaN());
  bool const done = attempt([&] { (void)cpp_gemm(workers, x, {.force_levels = 2}); });
  x.A[0] = kept;
  for (int j = 0; j < x.n && done; ++j) x.C[j * x.m] = x.expected[j * x.m];  // the row of NaN
  return done;
}

/// Calls that take turns between two plans until one is decided and kept, beside another decision; then one of a
/// context that finds it, as a later process would.
class refined_calls {
public:
  refined_calls() {
    setenv("HEPTAD_PROFILE_DIR", folder_.path().c_str(), 1);
    path_ = heptad::refined_path();
    problem x;
    if (multiply_in_turns(x, "winograd").plan.reason.find("measured") == std::string::npos)
      throw std::runtime_error("no plan was decided");
    std::ifstream file(path_);
    others_.assign(std::istreambuf_iterator<char>(file), {});
    if (others_.find("winograd") == std::string::npos) throw std::runtime_error("no decision was kept");
  }

  bool operator()(problem& x) const {
    std::FILE* const file = std::fopen(path_.c_str(), "w");
    std::fwrite(others_.data(), 1, others_.size(), file);
    std::fclose(file);
    return attempt([&] {
      (void)multiply_in_turns(x, "strassen");
      if (x.right()) (void)multiply_in_turns(x, "strassen", 1);
    });
  }

private:
  /// The last call. Ends at the first wrong result.
  static heptad::report multiply_in_turns(problem& x, char const* algorithm, int calls = 5) {
    x.C = x.C0;
    heptad::context workers(2);
    heptad::options wishes;
    wishes.algorithm = algorithm;
    wishes.force_levels = 1;
    wishes.refine = true;
    heptad::report told;
    for (int call = 1;; ++call) {
      told = cpp_gemm(workers, x, wishes);
      if (call == calls || !x.right()) return told;
      x.C = x.C0;
    }
  }

  heptad::test::temporary_folder const folder_;
  std::string path_, others_;
};

struct scenario {
  char const* name;
  std::function<bool(problem&)> call;
  bool always_done = false;
};

enum class outcome { nothing_failed, right, refused, wrong };

outcome run_once(scenario const& s, problem& x, long number, failure how) {
  x.begin(number);
  bool done = false;
  std::string message;
  auto const call = [&] {
    try {
      done = s.call(x);
    } catch (std::exception const& e) {
      heptad::fuzz::remaining = -1;
      message = e.what();
    }
  };
  auto const wrong = [&](char const* what) {
    std::printf("%s: allocation %ld fails%s: %s: %s, C is %s %s\n", s.name, number,
                how == failure::one ? "" : ", and all later ones", what, done ? "done" : "refused",
                x.untouched() ? "untouched"
                : x.right()   ? "right"
                              : "wrong",
                message.c_str());
    return outcome::wrong;
  };
  {
    failing_memory const memory(number, how);
    call();
  }
  bool const failed = heptad::fuzz::failures > 0;
  if (!message.empty() || !(done ? x.right() : x.untouched() && failed && !s.always_done)) return wrong("this call");
  if (!failed) return outcome::nothing_failed;
  outcome const result = done ? outcome::right : outcome::refused;
  x.begin(number);
  call();
  if (!message.empty() || !done || !x.right()) return wrong("the next call");
  return result;
}

/// In a child, so that it is the first call of a process.
outcome run_in_child(scenario const& s, problem& x, long number, failure how) {
  int const result = heptad::dropin::result_in_child([&] { return run_once(s, x, number, how); });
  if (result >= 0) return static_cast<outcome>(result);
  std::printf("%s: allocation %ld fails%s: the process is ended by a signal\n", s.name, number,
              how == failure::one ? "" : ", and all later ones");
  return outcome::wrong;
}

// Calls cost ten times as much there.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool sanitized = true;
#else
constexpr bool sanitized = false;
#endif

using runner = outcome (*)(scenario const&, problem&, long, failure);

/// Every allocation of the first `all`, further ones at distances that grow by a `1 / all`-th.
bool holds(runner run, scenario const& s, problem& x, long all) {
  for (failure const how : {failure::one, failure::all_from_there}) {
    long calls = 0, refused = 0, number = 0;
    for (;; number += 1 + number / all) {
      outcome const result = run(s, x, number, how);
      if (result == outcome::wrong) return false;
      if (result == outcome::nothing_failed) break;
      ++calls;
      refused += result == outcome::refused;
    }
    std::printf("%-40s %s: up to %ld allocations, %ld calls, %ld refused\n", s.name,
                how == failure::one ? "one fails " : "all of them", number, calls, refused);
  }
  return true;
}

}  // namespace

int main() {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  setenv("HEPTAD_FORCE_LEVELS", "2", 1);
  setenv("HEPTAD_BLAS_MIN_SIZE", "0", 1);
  setenv("HEPTAD_NUM_THREADS", "2", 1);
  setenv("HEPTAD_TRACE", "/dev/null", 1);
  // oneTBB asks for the machine's topology once, and waits for ever when that found no memory.
  (void)oneapi::tbb::info::default_concurrency();
  problem x;
  bool good = true;
  for (scenario const& s : {scenario{"first call of the C interface", c_interface},
                            {"first call of the drop-in", drop_in, true},
                            {"first plan", with_own_plan}}) {
    good = holds(run_in_child, s, x, sanitized ? 3 : 24) && good;
  }
  good = heptad::dropin::in_child([&x] {
           setenv("HEPTAD_FORCE_LEVELS", "1", 1);  // a fused one
           (void)drop_in_made_again(x);            // what it makes is kept
           return holds(run_once, {"drop-in, C is made again", drop_in_made_again, true}, x, sanitized ? 12 : 1 << 20);
         }) &&
         good;
  linear_system system;
  auto const solved = [&system](problem& of_product) {
    if (system.solve())
      std::copy_n(of_product.expected.begin(), of_product.columns * of_product.m, of_product.C.begin());
    return true;
  };
  // Ninety thousand allocations a call, which no other scenario comes near.
  good = holds(run_once, {"drop-in, LU; a right solution stands for C", solved, true}, x, sanitized ? 3 : 12) && good;
  refined_calls const refined;
  using heptad::scaling_kind;
  using heptad::scheduler_kind;
  for (scenario const& s :
       {scenario{"C interface", c_interface},
        {"drop-in", drop_in, true},
        {"C++", with({})},
        {"C++ sequential, scaled, checked",
         with({.scheduler = scheduler_kind::sequential, .scaling = scaling_kind::both, .check = 1})},
        {"C++ deterministic", with({.deterministic = true})},
        {"refined", std::cref(refined)},
        {"plan, explain, run", with_own_plan}}) {
    good = holds(run_once, s, x, sanitized ? 5 : 24) && good;
  }
  x.begin(0);
  (void)known_plan(x);  // what it makes is kept
  for (scenario const& s : {scenario{"plan from the cache", known_plan}, {"A is not finite", not_finite}})
    good = holds(run_once, s, x, 1 << 20) && good;
  return good ? 0 : 1;
}
