// SPDX-License-Identifier: BSD-3-Clause
// Which instruction sets the combine steps were compiled for, which of them this processor runs, and how it is asked
// for what lies far away.
#include <span>
#include <type_traits>

#include "codelets/cpu/combine_steps.hpp"
#include "codelets/cpu/processor.hpp"
#include "src/process/lasting.hpp"

namespace heptad::cpu {

#if defined(__x86_64__)
extern step_kernels<double> const combine_avx512_double;
extern step_kernels<float> const combine_avx512_float;
extern step_kernels<double> const combine_avx2_double;
extern step_kernels<float> const combine_avx2_float;
#endif
extern step_kernels<double> const combine_baseline_double;
extern step_kernels<float> const combine_baseline_float;

// Of static arrays, and the best of them kept without an allocation: tasks ask, and may not lack memory.
template <typename T>
std::span<step_kernels<T> const* const> combine_kernels() {
  if constexpr (std::is_same_v<T, double>) {
    static constexpr step_kernels<T> const* all[] = {
#if defined(__x86_64__)
      &combine_avx512_double,
      &combine_avx2_double,
#endif
      &combine_baseline_double
    };
    return all;
  } else {
    static constexpr step_kernels<T> const* all[] = {
#if defined(__x86_64__)
      &combine_avx512_float,
      &combine_avx2_float,
#endif
      &combine_baseline_float
    };
    return all;
  }
}

template <typename T>
step_kernels<T> const& best_combine_kernels() {
  static constinit lasting<step_kernels<T> const* const> best;
  return *best.get([] {
    for (auto const* kernels : combine_kernels<T>())
      if (kernels->available()) return kernels;
    return combine_kernels<T>().back();
  });
}

far_access const& best_far_access() {
  switch (this_microarchitecture()) {
    case microarchitecture::amd_up_to_zen4:
      return through_second_level;
    case microarchitecture::amd_from_zen5:
      return early_through_first_level;
    case microarchitecture::intel:
    case microarchitecture::other:
      break;
  }
  return through_first_level;
}

template std::span<step_kernels<double> const* const> combine_kernels<double>();
template std::span<step_kernels<float> const* const> combine_kernels<float>();
template step_kernels<double> const& best_combine_kernels<double>();
template step_kernels<float> const& best_combine_kernels<float>();

}  // namespace heptad::cpu
