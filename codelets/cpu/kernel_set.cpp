// SPDX-License-Identifier: BSD-3-Clause
// The registry of kernel sets: which there are, in order of preference, and which one this processor should use.
#include "codelets/cpu/kernel_set.hpp"

#include <algorithm>
#include <type_traits>

#include "codelets/cpu/kernel_sets_builtin.hpp"
#include "src/process/lasting.hpp"

namespace heptad::cpu {

namespace {

template <typename T>
kernel_set<T> const* choose(kernel_set<double> const& f64, kernel_set<float> const& f32) {
  if constexpr (std::is_same_v<T, double>) return &f64;
  else return &f32;
}

}  // namespace

template <typename T>
std::vector<kernel_set<T> const*> const& kernel_sets() {
  static constinit lasting<std::vector<kernel_set<T> const*> const> sets;
  return sets.get([] {
    return std::vector<kernel_set<T> const*> {
#if defined(__x86_64__)
      choose<T>(avx512_kernels_f64, avx512_kernels_f32), choose<T>(avx2_kernels_f64, avx2_kernels_f32),
#endif
#if defined(HEPTAD_WITH_BLIS)
          choose<T>(blis_kernels_f64, blis_kernels_f32),
#endif
          choose<T>(portable_kernels_f64, portable_kernels_f32),
    };
  });
}

template <typename T>
kernel_set<T> const* find_kernel_set(std::string const& name) {
  auto const& sets = kernel_sets<T>();
  auto const found = std::ranges::find_if(sets, [&](kernel_set<T> const* set) { return set->name == name; });
  return found == sets.end() ? nullptr : *found;
}

template <typename T>
kernel_set<T> const& best_kernel_set() {
  static constinit lasting<kernel_set<T> const* const> best;
  return *best.get([] {  // "portable" is always available
    return *std::ranges::find_if(kernel_sets<T>(), [](kernel_set<T> const* set) { return set->available(); });
  });
}

template std::vector<kernel_set<double> const*> const& kernel_sets<double>();
template std::vector<kernel_set<float> const*> const& kernel_sets<float>();
template kernel_set<double> const* find_kernel_set<double>(std::string const&);
template kernel_set<float> const* find_kernel_set<float>(std::string const&);
template kernel_set<double> const& best_kernel_set<double>();
template kernel_set<float> const& best_kernel_set<float>();

}  // namespace heptad::cpu
