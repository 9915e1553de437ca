// SPDX-License-Identifier: BSD-3-Clause
// The environment of every test in this program, set before StarPU or Heptad reads it: StarPU keeps its files in the
// build folder, and a few workers that share their cores with the other tests.
#include <cstdlib>

namespace {

[[maybe_unused]] int const set_before_main = [] {
  setenv("STARPU_SILENT", "1", 1);
  setenv("STARPU_HOME", HEPTAD_TEST_STARPU_HOME, 1);
  setenv("STARPU_NCPU", "2", 1);
  setenv("STARPU_NOPENCL", "0", 1);
  setenv("STARPU_WORKERS_NOBIND", "1", 1);
  setenv("STARPU_BACKOFF_MAX", "64", 1);
  return setenv("HEPTAD_SCHEDULER", "starpu", 1);
}();

}  // namespace
