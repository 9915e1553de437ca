// SPDX-License-Identifier: BSD-3-Clause
// Finds libheptad_starpu at run time: linked into the program, or loaded from beside libheptad or the library path.
#include <dlfcn.h>
#include <fmt/format.h>

#include <string>

#include <heptad/heptad.hpp>

#include "schedulers/starpu/backend.hpp"

namespace heptad {
namespace {

constexpr char const* library = HEPTAD_STARPU_LIBRARY;

[[noreturn]] void reject(std::string const& why) {
  throw error(status::invalid_argument, fmt::format("scheduler = starpu needs {}: {}", library, why));
}

starpu_backend const* load() {
  if (heptad_starpu_backend != nullptr) return heptad_starpu_backend();
  void* const loaded = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (loaded == nullptr) reject(dlerror());
  auto* const entry = reinterpret_cast<starpu_backend const* (*)()>(dlsym(loaded, "heptad_starpu_backend"));
  if (entry == nullptr) reject(dlerror());
  return entry();
}

}  // namespace

starpu_backend const& find_starpu_backend() {
  static starpu_backend const* const found = load();
  if (std::string(found->version) != version())
    reject(fmt::format("it is of version {}, not {}", found->version, version()));
  return *found;
}

}  // namespace heptad
