// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace heptad::test {

/// What no case of this executable can be run without and is not here, or null. Executables that need something define
/// it.
char const* missing_here();

}  // namespace heptad::test
