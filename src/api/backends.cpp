// SPDX-License-Identifier: BSD-3-Clause
// Finds libheptad_starpu and libheptad_cuda at run time: linked into the program, or loaded from beside libheptad or
// the library path.
#include <dlfcn.h>
#include <fmt/format.h>

#include <mutex>
#include <string>

#include <heptad/heptad.hpp>

#include "schedulers/cuda/backend.hpp"
#include "schedulers/starpu/backend.hpp"
#include "src/process/fork_safe.hpp"
#include "src/process/lasting.hpp"

namespace heptad {
namespace {

[[noreturn]] void fail_without(std::string const& what, char const* library, std::string const& why) {
  throw error(status::invalid_argument, fmt::format("{} needs {}: {}", what, library, why));
}

// The child of a fork would find a library half loaded.
constinit std::mutex loading;
fork_safe<loading> const in_forks;

/// What `linked` gives where the program brings the library itself, else what the loaded one's `symbol` does.
template <typename Backend>
Backend* find(std::string const& what, char const* library, Backend* (*linked)(), char const* symbol) {
  if (linked != nullptr) return linked();
  std::lock_guard const lock(loading);
  void* const loaded = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (loaded == nullptr) fail_without(what, library, dlerror());
  auto* const entry = reinterpret_cast<Backend* (*)()>(dlsym(loaded, symbol));
  if (entry == nullptr) fail_without(what, library, dlerror());
  return entry();
}

void check_version(std::string const& what, char const* library, std::string const& its) {
  if (its != version()) fail_without(what, library, fmt::format("it is of version {}, not {}", its, version()));
}

}  // namespace

starpu_backend const& find_starpu_backend() {
  constexpr char const *what = "scheduler = starpu", *library = HEPTAD_STARPU_LIBRARY;
  static constinit lasting<starpu_backend const* const> once;
  auto const* const found =
      once.get([] { return find(what, library, heptad_starpu_backend, "heptad_starpu_backend"); });
  check_version(what, library, found->version);
  return *found;
}

device_backend& find_cuda_backend() {
  constexpr char const *what = "a CUDA device", *library = HEPTAD_CUDA_LIBRARY;
  static constinit lasting<device_backend* const> once;
  device_backend* const found =
      once.get([] { return find(what, library, heptad_cuda_backend, "heptad_cuda_backend"); });
  check_version(what, library, found->version());
  return *found;
}

}  // namespace heptad
