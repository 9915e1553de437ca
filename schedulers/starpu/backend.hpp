// SPDX-License-Identifier: BSD-3-Clause
// What libheptad and libheptad_starpu know of each other, without StarPU: a product that is ready to run, and the table
// of functions that run it. The table is found by name at run time, so that libheptad needs no StarPU.
#pragma once

#include <functional>

#include "schedulers/cuda/backend.hpp"
#include "schedulers/scheduler.hpp"

namespace heptad {

/// A graph with all that its tasks need. Everything outlives the run.
struct bound_product {
  graph const* work = nullptr;
  bool in_cells = false;  ///< the graph, see tiling: its blocks can be moved
  dependencies const* order = nullptr;
  executor const* body = nullptr;
  stream_tasks const* on_devices = nullptr;  ///< what CUDA workers take; null: nothing
  bool only_on_devices = false;              ///< and nobody else takes that
  double alpha = 1, beta = 0;                ///< as `body` knows them
  location operands[3];                      ///< A, B, C; data null: where a handle of the runtime says
  orientation orders[3] = {};
  std::byte* workspace = nullptr;  ///< of the graph's buffers; null: none, or the runtime allocates them
  std::function<std::byte*(int lane)> scratch;
  bool ordered = false;  ///< accumulates run in program order
};

struct starpu_backend {
  char const* version;  ///< of the Heptad that it was built with
  /// The CPU workers of StarPU, which is started with at most `wanted` of them when nobody has. Throws error.
  int (*workers)(int wanted);
  /// Whether StarPU, once started, has other memory than main memory: then graphs had better be in cells.
  bool (*moves_data)();
  /// Blocking. Lanes 0 … workers − 1 are used. Not from inside a StarPU task: throws error{invalid_argument}.
  run_result (*run)(bound_product const& product);
};

/// The backend of libheptad_starpu, loaded at the first call. Throws error{invalid_argument} that says what is missing.
starpu_backend const& find_starpu_backend();

}  // namespace heptad

/// In libheptad_starpu.
extern "C" [[gnu::weak]] heptad::starpu_backend const* heptad_starpu_backend() noexcept;
