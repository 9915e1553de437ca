// SPDX-License-Identifier: BSD-3-Clause
#include "codelets/cpu/processor.hpp"

#include "src/process/lasting.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace heptad::cpu {

#if defined(__x86_64__)

namespace {

microarchitecture find() {
  constexpr unsigned zen5_family = 26;
  if (__builtin_cpu_is("intel") != 0) return microarchitecture::intel;
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  if (__builtin_cpu_is("amd") == 0 || __get_cpuid(1, &eax, &ebx, &ecx, &edx) == 0) return microarchitecture::other;
  unsigned const base = eax >> 8 & 0xf, extended = eax >> 20 & 0xff;  // 15 and the rest, in all of today's
  return base + extended >= zen5_family ? microarchitecture::amd_from_zen5 : microarchitecture::amd_up_to_zen4;
}

}  // namespace

microarchitecture this_microarchitecture() {
  static constinit lasting<microarchitecture const> found;
  return found.get(find);
}

#else

microarchitecture this_microarchitecture() { return microarchitecture::other; }

#endif

}  // namespace heptad::cpu
