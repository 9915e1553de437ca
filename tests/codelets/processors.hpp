// SPDX-License-Identifier: BSD-3-Clause
// The processors whose ways kernels know, on any of which a test can have a kernel set follow them.
#pragma once

#include "codelets/cpu/processor.hpp"

namespace heptad::test {

/// For kernel_set::processor.
inline constexpr cpu::microarchitecture (*every_processor[])() = {
    [] { return cpu::microarchitecture::other; }, [] { return cpu::microarchitecture::intel; },
    [] { return cpu::microarchitecture::amd_up_to_zen4; }, [] { return cpu::microarchitecture::amd_from_zen5; }};

}  // namespace heptad::test
