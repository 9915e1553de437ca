// SPDX-License-Identifier: BSD-3-Clause
// Which micro-architecture this is, for the few choices that depend on more than its instruction sets.
#pragma once

namespace heptad::cpu {

enum class microarchitecture {
  other,
  intel,           // measured on those that have AVX-512
  amd_up_to_zen4,  // families up to 25; those that have AVX-512 compute a vector of it in two turns
  amd_from_zen5    // family 26 and later
};

microarchitecture this_microarchitecture();

}  // namespace heptad::cpu
