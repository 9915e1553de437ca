// SPDX-License-Identifier: BSD-3-Clause
#include "schedulers/starpu/device_room.hpp"

#include <algorithm>
#include <limits>

namespace heptad::starpu {
namespace {

std::int64_t least_memory(starpu_worker_archtype kind) {
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  for (int i = 0, worker = 0; (worker = starpu_worker_get_by_type(kind, i)) >= 0; ++i)
    // Negative: StarPU does not know.
    if (std::int64_t const total =
            starpu_memory_get_total(starpu_worker_get_memory_node(static_cast<unsigned>(worker)));
        total >= 0)
      least = std::min(least, total);
  return least;
}

}  // namespace

device_room::device_room() : opencl(least_memory(STARPU_OPENCL_WORKER)), cuda(least_memory(STARPU_CUDA_WORKER)) {}

int device_room::kinds_with(std::int64_t bytes, int where) const {
  if (bytes > opencl) where &= ~STARPU_OPENCL;
  if (bytes > cuda) where &= ~STARPU_CUDA;
  return where;
}

}  // namespace heptad::starpu
