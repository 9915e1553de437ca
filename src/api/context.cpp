// SPDX-License-Identifier: BSD-3-Clause
// Contexts: who works, and the one that the C interface uses.
#include "src/api/context.hpp"

#include <fmt/format.h>
#include <oneapi/tbb/info.h>
#include <sched.h>

#include <algorithm>
#include <thread>
#include <utility>

#include <heptad/tbb.hpp>

#include "codelets/cpu/kernel_set.hpp"
#include "src/api/environment.hpp"

namespace heptad {
namespace {

int checked_threads(int n) {
  // As many workers as a machine may have cores; beyond that a caller has passed something else.
  constexpr int most = 1 << 14;
  if (n < 0 || n > most) {
    throw error(status::invalid_argument, fmt::format("threads = {} must be between 0 and {}", n, most));
  }
  return n == 0 ? usable_cores() : n;
}

}  // namespace

int usable_cores() {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) == 0) return std::max(1, CPU_COUNT(&allowed));
  // More cores than a cpu_set_t holds.
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

worker_group::worker_group(int threads) : threads_(checked_threads(threads)) {
  if (threads_ > oneapi::tbb::info::default_concurrency()) {
    more_than_cores_.emplace(oneapi::tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(threads_));
  }
  own_.emplace(threads_);
  arena_ = &*own_;
}

worker_group::worker_group(oneapi::tbb::task_arena& of_caller)
    : threads_(of_caller.max_concurrency()), arena_(&of_caller) {}

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
    machine_ = load_profile(path, &stale, cpu::best_kernel_set<double>().name);
    if (!machine_) {
      machine_source_ = fmt::format("defaults: no profile at {}; `heptad calibrate` makes one", path);
    } else if (!stale.empty()) {
      machine_.reset();
      machine_source_ = fmt::format("defaults: {}", stale);
    } else {
      machine_source_ = path;
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
    : impl_(std::make_unique<impl>(std::make_shared<worker_group const>(threads), options{})) {}
context::context(std::unique_ptr<impl> state) noexcept : impl_(std::move(state)) {}
context::~context() = default;
context::context(context&&) noexcept = default;
context& context::operator=(context&&) noexcept = default;

int context::threads() const noexcept { return impl_->workers()->threads(); }

context make_context(oneapi::tbb::task_arena& arena) {
  return context(std::make_unique<context::impl>(std::make_shared<worker_group const>(arena), options{}));
}

context& default_context() {
  // Never destroyed: the caller's own exit handlers may still multiply.
  static context& workers = *[] {
    environment const& env = process_environment();
    auto group = std::make_shared<worker_group const>(env.threads);
    return new context(std::make_unique<context::impl>(std::move(group), env.defaults));
  }();
  return workers;
}

char const* version() noexcept { return HEPTAD_VERSION; }

}  // namespace heptad
