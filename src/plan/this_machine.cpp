// SPDX-License-Identifier: BSD-3-Clause
#include "src/plan/this_machine.hpp"

#include <hwloc.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <mutex>

#include <fmt/format.h>

#include "src/process/fork_safe.hpp"
#include "src/process/lasting.hpp"

namespace heptad {
namespace {

// hwloc keeps a lock of its own, which must be open in the child of a fork too.
constinit std::mutex in_hwloc;
fork_safe<in_hwloc> const in_forks;

struct no_topology {};

// Empty where hwloc knows no name. Virtual machines call unlike processors the same: the numbers tell them apart.
std::string cpu_of(hwloc_obj_t where) {
  auto const text = [where](char const* key) { return hwloc_obj_get_info_by_name(where, key); };
  char const *const name = text("CPUModel"), *const family = text("CPUFamilyNumber"),
                    *const model = text("CPUModelNumber");
  if (name == nullptr) return {};
  if (family == nullptr || model == nullptr) return name;
  return fmt::format("{} (family {}, model {})", name, family, model);
}

machine_facts ask_hwloc() {
  std::lock_guard const lock(in_hwloc);
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) throw no_topology{};
  std::unique_ptr<hwloc_topology, decltype(&hwloc_topology_destroy)> const topology(raw, &hwloc_topology_destroy);
  if (hwloc_topology_load(raw) != 0) throw no_topology{};
  machine_facts here;
  here.cores = std::max(1, hwloc_get_nbobjs_by_type(raw, HWLOC_OBJ_CORE));
  here.memory_bytes =
      static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  auto const cache = [raw](hwloc_obj_type_t level) -> std::size_t {
    hwloc_obj_t const first = hwloc_get_obj_by_type(raw, level, 0);
    return first != nullptr ? first->attr->cache.size : 0;
  };
  here.l2_bytes = cache(HWLOC_OBJ_L2CACHE), here.l3_bytes = cache(HWLOC_OBJ_L3CACHE);
  for (hwloc_obj_t const where : {hwloc_get_obj_by_type(raw, HWLOC_OBJ_PACKAGE, 0), hwloc_get_root_obj(raw)})
    if (here.cpu.empty() && where != nullptr) here.cpu = cpu_of(where);
  return here;
}

}  // namespace

machine_facts const* this_machine() {
  static constinit lasting<machine_facts const> found;
  try {
    return &found.get(ask_hwloc);
  } catch (no_topology const&) {  // of want of memory: another time it may be there
    return nullptr;
  }
}

}  // namespace heptad
