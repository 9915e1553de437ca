// SPDX-License-Identifier: BSD-3-Clause
// The state behind a context: its workers, their memory, the plans of recent calls and what is known of the machine.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include <heptad/heptad.hpp>

#include "src/api/learned_rates.hpp"
#include "src/api/memory.hpp"
#include "src/api/plan_cache.hpp"
#include "src/api/refine.hpp"
#include "src/plan/profile.hpp"

namespace heptad {

class worker_group;

struct [[gnu::visibility("hidden")]] context::impl {
  impl(std::shared_ptr<worker_group const> group, options fill_in);

  /// The workers, which live as long as the call that asked.
  [[nodiscard]] std::shared_ptr<worker_group const> workers() const;
  /// n ≥ 1, or 0 for all that the process may use. Calls in progress keep their workers. Throws error.
  void set_threads(int n);

  /// The profile of this machine, read at the first use: the calibrated one, or the default.
  machine_profile const& machine();
  /// Where that profile comes from, in words.
  std::string const& machine_source();

  options const defaults;  // for the options that a caller leaves untouched
  memory_pool memory;
  plan_cache plans;
  refinements refined;
  learned_rates learned;

private:
  mutable std::mutex mutex_;
  std::shared_ptr<worker_group const> group_;
  std::optional<machine_profile> machine_;
  std::string machine_source_;
};

/// This process is the child of a fork after the parent had workers: products run on the calling thread alone.
bool without_workers() noexcept;

/// The default context, or null where nothing has asked for it yet.
context* known_default_context() noexcept;

/// Cores that the process may run on (its CPU affinity).
int usable_cores();

}  // namespace heptad
