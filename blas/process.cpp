// SPDX-License-Identifier: BSD-3-Clause
// Deciding which products Heptad multiplies, on as many threads as the backend would use, and telling what was done.
#include "blas/process.hpp"

#include <fmt/format.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <exception>
#include <limits>
#include <map>
#include <mutex>
#include <new>
#include <string_view>
#include <tuple>
#include <utility>

#include <heptad/heptad.h>

#include "blas/blocks.hpp"
#include "blas/say.hpp"

namespace heptad::blas {

struct process::memo {
  std::mutex mutex;
  int threads = -1;             // that the default context was last given by us
  std::optional<error> broken;  // why the library cannot work here
  std::map<std::tuple<bool, std::int64_t, std::int64_t, std::int64_t, int>, promise> promises;
};

namespace {

constexpr std::size_t remembered_shapes = 4096;

// A plan with levels must promise this much over a classical product. The backend's is tuned for its machine, so a few
// percent of Heptad's own classical product are not yet a gain over it.
constexpr double least_gain = 1.1;
// Waking the workers must be worth it. Between calls of the backend it costs more: OpenBLAS's threads look for work for
// 2^26 cycles after a call before they sleep, and take turns with ours meanwhile; and what is left for the backend is
// cut into pieces that it is slower on. With a lower limit LU, Cholesky and syrk of 4096 and 8192 lost on two cores.
constexpr double least_saving_alone = 10e-3, least_saving_between = 100e-3;

settings settings_of_process() {
  try {
    return parse_settings([](char const* name) { return std::getenv(name); });
  } catch (bad_setting const& wrong) {
    say("{}; every call goes to the backend", wrong.what());
    settings how;
    how.disabled = true;
    return how;
  }
}

}  // namespace

process::process(settings given)
    : how(std::move(given)),
      real(how.backend),
      f64_(real),
      f32_(real),
      lapack_f64_(real),
      lapack_f32_(real),
      least_work_(how.disabled ? std::numeric_limits<double>::infinity() : std::pow(how.min_size, 3)),
      memo_(fresh_memo()) {}

process::memo* process::fresh_memo() noexcept {
  alignas(memo) static std::byte room[sizeof(memo)];
  return ::new (room) memo;
}

namespace {

constinit std::mutex making;
constinit std::atomic<process*> made{nullptr};

/// A fork waits for what another thread makes: the child could neither wait for it nor make it again.
[[maybe_unused]] int const registered = pthread_atfork([] { making.lock(); }, [] { making.unlock(); },
                                                       [] {
                                                         making.unlock();
                                                         if (process* const of_parent = made) of_parent->after_fork();
                                                       });

/// Never destroyed: exit handlers of the program may still multiply. It takes no memory, so that the first call can
/// always be passed on, but to read long values of variables.
process* make_process() noexcept {
  alignas(process) static std::byte room[sizeof(process)];
  try {
    return ::new (room) process(settings_of_process());
  } catch (std::bad_alloc const&) {
    say("no memory to find the backend with");
    std::abort();
  }
}

}  // namespace

process& this_process() {
  if (process* const known = made) return *known;
  std::lock_guard const lock(making);
  if (made == nullptr) {
    made = make_process();
    if (made.load()->how.verbose) std::atexit([] { made.load()->print_summary(); });
  }
  return *made;
}

void process::after_fork() noexcept {
  // A thread of the parent may have held the lock, which does not exist here, and have left the table half changed.
  memo_ = fresh_memo();
  for (auto& types : tallies_) {
    for (tally& t : types) t.calls = t.carried = t.nanoseconds = 0;
  }
  fast_products_ = 0;
  is_child_ = true;
}

int process::workers() const noexcept { return is_child_ ? 1 : std::max(1, heptad_get_num_threads()); }

void process::follow_threads() {
  if (how.own_threads) return;
  int const by_backend = real.threads();
  int const wanted = by_backend > 0 ? by_backend : how.threads;
  if (wanted == memo_->threads) return;
  if (heptad_set_num_threads(wanted) != HEPTAD_SUCCESS) return;  // it comes back when the plan is made
  memo_->threads = wanted;
  memo_->promises.clear();
}

template <typename T>
bool process::pays(problem const& shape, place where) {
  if (shape.m < 2 || shape.n < 2 || shape.k < 2) return false;
  double const work = static_cast<double>(shape.m) * static_cast<double>(shape.n) * static_cast<double>(shape.k);
  if (work < least_work_) return false;
  auto const promised = promise_of<T>(shape);
  return promised && pays(*promised, where);
}

bool process::pays(promise const& all, place where) const noexcept {
  if (how.forced_levels) return true;
  if (all.classical_seconds < least_gain * all.seconds) return false;
  // Without other threads there is nobody to wake and nobody to share a core with.
  double const least = where == place::between ? least_saving_between : least_saving_alone;
  return all.workers == 1 || all.classical_seconds - all.seconds >= least;
}

template <typename T>
std::optional<promise> process::promise_of(problem const& shape) {
  int const layout = shape.a_row_major + 2 * shape.b_row_major + 4 * shape.c_row_major + 8 * shape.beta_zero;
  std::tuple const key(sizeof(T) == sizeof(float), shape.m, shape.n, shape.k, layout);
  std::lock_guard const lock(memo_->mutex);
  if (memo_->broken) return std::nullopt;
  follow_threads();
  if (auto const known = memo_->promises.find(key); known != memo_->promises.end()) return known->second;
  try {
    plan const best = make_plan<T>(default_context(), shape);
    promise made{best.seconds, best.classical_seconds, best.workers};
    if (!pays(made, place::alone)) made.seconds = made.classical_seconds;  // see multiply
    if (memo_->promises.size() >= remembered_shapes) memo_->promises.clear();
    memo_->promises.emplace(key, made);
    return made;
  } catch (std::bad_alloc const&) {
  } catch (error const& e) {
    if (e.code() == status::out_of_memory) return std::nullopt;  // there may be some for the next call
    // A bad value of one of the library's variables.
    say("{}; every call goes to the backend", e.what());
    memo_->broken = e;
  } catch (std::exception const& e) {
    say("{}; every call goes to the backend", e.what());
    memo_->broken = error(status::internal_error, e.what());
  }
  return std::nullopt;
}

template <typename T>
bool process::multiply(T alpha, matrix_view<T const> const& A, matrix_view<T const> const& B, T beta,
                       matrix_view<T> const& C) {
  options wishes;
  // Small promises are seldom kept: the products of LU at 8192 that gain little cost it 3 %.
  if (!how.forced_levels && !pays<T>(product_shape(A, B, beta == T(0), C), place::alone)) wishes.max_levels = 0;
  try {
    report const done = gemm(default_context(), alpha, A, B, beta, C, wishes);
    fast_products_ += !done.plan.levels.empty();
    return true;
  } catch (error const& e) {
    bool const is_lost = e.code() == status::internal_error && beta != T(0);  // C may be partly updated
    if (how.verbose || is_lost) say("{}", e.what());
    if (is_lost) std::abort();  // nobody could tell the caller
    // A cancelled product belongs to a task group that its owner gave up.
    return e.code() == status::cancelled;
  } catch (std::exception const& e) {  // before C was touched: what fails later is one of the errors above
    if (how.verbose) say("{}", e.what());
    return false;
  }
}

template <typename T>
void process::multiply_by_backend(T alpha, matrix_view<T const> A, matrix_view<T const> B, T beta,
                                  matrix_view<T> C) const {
  if (storage_of(C).transposed) {
    std::swap(A, B);
    A = A.transposed();
    B = B.transposed();
    C = C.transposed();
  }
  auto const [at, lda] = storage_of(A);
  auto const [bt, ldb] = storage_of(B);
  backend_of<T>().gemm(transpose_flag(at), transpose_flag(bt), C.rows, C.cols, A.cols, alpha, A.data, lda, B.data, ldb,
                       beta, C.data, storage_of(C).ld);
}

void process::note(routine_id routine, bool is_float, call_shape const& shape, bool carried, double seconds,
                   std::uint64_t products) noexcept {
  tally& t = tallies_[static_cast<std::size_t>(routine)][is_float];
  ++t.calls;
  t.carried += carried;
  if (carried) t.nanoseconds += static_cast<std::uint64_t>(1e9 * seconds);
  // The library itself tells about every product that it carries.
  if (carried && routine == routine_id::gemm) return;
  fmt::memory_buffer sizes;  // the few digits need no memory
  for (auto const& [name, value] : {std::pair{'m', shape.m}, {'n', shape.n}, {'k', shape.k}}) {
    if (value > 0) fmt::format_to(fmt::appender(sizes), " {}={}", name, value);
  }
  char const type = is_float ? 's' : 'd';
  std::string_view const of_sizes(sizes.data(), sizes.size());
  if (carried) {
    say("{}{}{} seconds={:.6f}: {} products with fast levels", type, name_of(routine), of_sizes, seconds, products);
    return;
  }
  std::lock_guard const lock(memo_->mutex);
  say("{}{}{}: passed on, {}", type, name_of(routine), of_sizes,
      memo_->broken ? memo_->broken->what() : "no fast level pays or is possible");
}

void process::print_summary() const noexcept {
  say("backend {}", real.path());
  for (int r = 0; r < routine_count; ++r) {
    for (int type = 0; type < 2; ++type) {
      tally const& t = tallies_[static_cast<std::size_t>(r)][static_cast<std::size_t>(type)];
      std::uint64_t const calls = t.calls, carried = t.carried;
      if (calls == 0) continue;
      say("{}{} {} calls, {} by Heptad in {:.3f} s, {} passed on", "ds"[type], name_of(static_cast<routine_id>(r)),
          calls, carried, 1e-9 * static_cast<double>(t.nanoseconds), calls - carried);
    }
  }
  say("{} products with fast levels", fast_products_.load());
}

template bool process::pays<double>(problem const&, place);
template bool process::pays<float>(problem const&, place);
template std::optional<promise> process::promise_of<double>(problem const&);
template std::optional<promise> process::promise_of<float>(problem const&);
template bool process::multiply(double, matrix_view<double const> const&, matrix_view<double const> const&, double,
                                matrix_view<double> const&);
template bool process::multiply(float, matrix_view<float const> const&, matrix_view<float const> const&, float,
                                matrix_view<float> const&);
template void process::multiply_by_backend(double, matrix_view<double const>, matrix_view<double const>, double,
                                           matrix_view<double>) const;
template void process::multiply_by_backend(float, matrix_view<float const>, matrix_view<float const>, float,
                                           matrix_view<float>) const;

}  // namespace heptad::blas
