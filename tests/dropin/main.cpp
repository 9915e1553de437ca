// SPDX-License-Identifier: BSD-3-Clause
// The drop-in reads its environment at the first call, so that is set before any test.
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>
#include <cstdlib>

int main(int argc, char** argv) {
  setenv("HEPTAD_BLAS_MIN_SIZE", "0", 1);
  setenv("HEPTAD_FORCE_LEVELS", "1", 1);
  return Catch::Session().run(argc, argv);
}
