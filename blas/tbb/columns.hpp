// SPDX-License-Identifier: BSD-3-Clause
// Columns that do not depend on each other, on the workers of the products. With the tasks that oneTBB's own headers
// spawn, as schedulers/tbb has them: its parallel_for waits for ever for what it had no memory to spawn.
#pragma once

#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <deque>
#include <new>

#include <heptad/tbb.hpp>

namespace heptad::blas {

/// Ranges of columns, each for the worker that asks first. Through the atomics helpers see what the caller wrote, and
/// the caller what they wrote, also in the eyes of a thread sanitizer that does not see into oneTBB.
template <typename Body>
class shared_columns {
public:
  shared_columns(std::int64_t count, std::int64_t grain, Body const& body)
      : count_(count), grain_(grain), body_(body) {}

  void work() noexcept {
    for (std::int64_t begin; (begin = next_.fetch_add(grain_)) < count_;)
      body_(begin, std::min(begin + grain_, count_));
  }

  /// With so many helpers, or with as many as there is memory for.
  void work_with(int helpers) {
    std::deque<helper> all;
    try {
      while (helpers-- > 0) all.emplace_back(*this).start();
    } catch (std::bad_alloc const&) {
    }
    work();
    oneapi::tbb::detail::d1::wait(running_, context_);
    static_cast<void>(done_.load());
  }

private:
  class helper final : public oneapi::tbb::detail::d1::task {
  public:
    explicit helper(shared_columns& columns) noexcept : columns_(columns) {}

    void start() {
      made_ = true;
      columns_.running_.reserve();
      try {
        oneapi::tbb::detail::d1::spawn(*this, columns_.context_);
      } catch (std::bad_alloc const&) {
        columns_.running_.release();
        throw;
      }
    }
    task* execute(oneapi::tbb::detail::d1::execution_data&) noexcept override {
      static_cast<void>(made_.load());
      shared_columns& columns = columns_;
      columns.work();
      ++columns.done_;
      columns.running_.release();  // the last use of both
      return nullptr;
    }
    task* cancel(oneapi::tbb::detail::d1::execution_data&) noexcept override {
      columns_.running_.release();
      return nullptr;
    }

  private:
    shared_columns& columns_;
    std::atomic<bool> made_{false};
  };

  std::int64_t const count_, grain_;
  Body const& body_;
  std::atomic<std::int64_t> next_{0};
  std::atomic<int> done_{0};
  oneapi::tbb::task_group_context context_{oneapi::tbb::task_group_context::isolated};
  oneapi::tbb::detail::d1::wait_context running_{0};
};

/// body(), which does not throw, where Heptad's products run: what it spawns finds the workers awake that a product has
/// just used, and the other way round. An arena of its own for each of them would cost LU 3 % of its time.
template <typename Body>
void among_products(int workers, Body const& body) {
  if (workers == 1) return body();
  bool begun = false;
  try {
    arena_of(default_context())->execute([&] {
      begun = true;
      body();
    });
  } catch (std::bad_alloc const&) {
    if (!begun) body();
  }
}

/// body(begin, end), which does not throw, once for each range of `grain` columns of 0 ≤ j < count. Inside
/// among_products.
template <typename Body>
void for_columns(int workers, std::int64_t count, std::int64_t grain, Body const& body) {
  if (workers == 1 || count <= grain) return body(0, count);
  shared_columns<Body> columns(count, grain, body);
  try {
    // Not what others have spawned there: that may take much longer.
    oneapi::tbb::this_task_arena::isolate([&] { columns.work_with(workers - 1); });
  } catch (std::bad_alloc const&) {
  }
  columns.work();  // what nobody has begun
}

}  // namespace heptad::blas
