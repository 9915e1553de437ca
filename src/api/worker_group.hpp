// SPDX-License-Identifier: BSD-3-Clause
// The workers of a context. Apart from context.hpp, as few files need oneTBB's headers, which take seconds to compile.
#pragma once

#include <oneapi/tbb/task_arena.h>

#include <optional>

#include "src/api/worker_limit.hpp"

namespace heptad {

/// An arena and how many workers of it a call may use.
class worker_group {
public:
  explicit worker_group(int threads);                         // an arena of its own
  explicit worker_group(oneapi::tbb::task_arena& of_caller);  // must outlive the group

  [[nodiscard]] oneapi::tbb::task_arena& arena() const noexcept { return *arena_; }
  [[nodiscard]] int threads() const noexcept { return threads_; }

private:
  int threads_;
  std::optional<worker_limit> more_than_cores_;
  std::optional<oneapi::tbb::task_arena> own_;
  oneapi::tbb::task_arena* arena_;
};

}  // namespace heptad
