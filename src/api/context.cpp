// SPDX-License-Identifier: BSD-3-Clause
// Contexts: who works, and the one that the C interface uses.
#include "src/api/context.hpp"

#include <fmt/format.h>
#include <oneapi/tbb/info.h>
#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <utility>

#include <heptad/tbb.hpp>

#include "codelets/cpu/kernel_set.hpp"
#include "src/api/arguments.hpp"
#include "src/api/environment.hpp"
#include "src/api/no_memory.hpp"
#include "src/api/worker_group.hpp"

namespace heptad {
namespace {

int checked_threads(int n) {
  if (n < 0 || n > most_threads) {
    throw error(status::invalid_argument, fmt::format("threads = {} must be between 0 and {}", n, most_threads));
  }
  return n == 0 ? usable_cores() : n;
}

std::atomic<context*> process_context{nullptr};
std::atomic<bool> has_had_workers{false}, workers_are_lost{false};

/// In the child of a fork: oneTBB's workers are gone and cannot be had again, and another thread may have held a lock
/// of the default context, which is replaced.
void after_fork() {
  static std::atomic<context*> abandoned;  // still reachable
  workers_are_lost = has_had_workers.load();
  abandoned = process_context.exchange(nullptr);
}

/// When the library is loaded: another thread may make the first call while one forks.
[[maybe_unused]] int const registered = pthread_atfork(nullptr, nullptr, &after_fork);

}  // namespace

bool without_workers() noexcept { return workers_are_lost.load(std::memory_order_relaxed); }

int usable_cores() {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) == 0) return std::max(1, CPU_COUNT(&allowed));
  // More cores than a cpu_set_t holds.
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

worker_group::worker_group(int threads) : threads_(checked_threads(threads)) {
  has_had_workers = true;
  // The child of a fork uses no workers, and a thread of the parent may have held oneTBB's lock.
  if (!without_workers() && threads_ > oneapi::tbb::info::default_concurrency()) more_than_cores_.emplace(threads_);
  own_.emplace(threads_);
  arena_ = &*own_;
}

worker_group::worker_group(oneapi::tbb::task_arena& of_caller)
    : threads_(of_caller.max_concurrency()), arena_(&of_caller) {
  has_had_workers = true;
}

context::impl::impl(std::shared_ptr<worker_group const> group, options fill_in)
    : defaults(std::move(fill_in)), group_(std::move(group)) {}

std::shared_ptr<worker_group const> context::impl::workers() const {
  std::lock_guard const lock(mutex_);
  return group_;
}

void context::impl::set_threads(int n) {
  auto fresh = std::make_shared<worker_group const>(n);
  std::lock_guard const lock(mutex_);
  group_.swap(fresh);
}

machine_profile const& context::impl::machine() {
  std::lock_guard const lock(mutex_);
  if (machine_) return *machine_;
  // A cache file that cannot be used must not make a product fail: the defaults serve.
  try {
    std::string const path = profile_path();
    std::string stale;
    auto found = load_profile(path, &stale, cpu::best_kernel_set<double>().name);
    if (!found) {
      machine_source_ = fmt::format("defaults: no profile at {}; `heptad calibrate` makes one", path);
    } else if (!stale.empty()) {
      machine_source_ = fmt::format("defaults: {}", stale);
    } else {
      machine_source_ = path;
      machine_ = std::move(found);  // last: from now on it is not asked for again
    }
  } catch (error const& unusable) {
    machine_source_ = fmt::format("defaults: {}", unusable.what());
  }
  if (!machine_) machine_ = default_profile();
  return *machine_;
}

std::string const& context::impl::machine_source() {
  (void)machine();
  return machine_source_;
}

context::context(int threads)
    : impl_(or_no_memory(
          [threads] { return std::make_unique<impl>(std::make_shared<worker_group const>(threads), options{}); })) {}
context::context(std::unique_ptr<impl> state) noexcept : impl_(std::move(state)) {}
context::~context() = default;
context::context(context&&) noexcept = default;
context& context::operator=(context&&) noexcept = default;

int context::threads() const noexcept { return impl_->workers()->threads(); }
void context::release_workspace() noexcept { impl_->memory.release(); }

context make_context(oneapi::tbb::task_arena& arena) {
  return or_no_memory([&arena] {
    return context(std::make_unique<context::impl>(std::make_shared<worker_group const>(arena), options{}));
  });
}

std::shared_ptr<oneapi::tbb::task_arena> arena_of(context& workers) {
  auto const group = workers.state().workers();
  return {group, &group->arena()};
}

context* known_default_context() noexcept { return process_context.load(); }

context& default_context() {
  if (context* const known = known_default_context()) return *known;
  auto fresh = or_no_memory([] {
    environment const& env = process_environment();
    options const& defaults = usable_defaults(env);
    auto group = std::make_shared<worker_group const>(env.threads);
    return std::make_unique<context>(std::make_unique<context::impl>(std::move(group), defaults));
  });
  context* first = nullptr;
  // Never destroyed: the caller's own exit handlers may still multiply.
  return process_context.compare_exchange_strong(first, fresh.get()) ? *fresh.release() : *first;
}

char const* version() noexcept { return HEPTAD_VERSION; }

}  // namespace heptad
