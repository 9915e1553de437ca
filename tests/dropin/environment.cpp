// SPDX-License-Identifier: BSD-3-Clause
// The drop-in reads its environment at the first call, so that is set before any test.
#include <cstdlib>

namespace {

[[maybe_unused]] bool const is_set =
    setenv("HEPTAD_BLAS_MIN_SIZE", "0", 1) == 0 && setenv("HEPTAD_FORCE_LEVELS", "1", 1) == 0;

}  // namespace
