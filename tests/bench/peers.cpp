// SPDX-License-Identifier: BSD-3-Clause
// Where `heptad bench` looks for what belongs to it.
#include "tools/bench/peers.hpp"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "tests/temporary_folder.hpp"

TEST_CASE("MKL's preload is found beside the program, and from there in the folder of an installation that was moved") {
  heptad::test::temporary_folder const place;
  auto const program = place.path() / "bin/heptad";
  auto const installed = place.path() / HEPTAD_LIBRARY_FOLDER / "heptad/libheptad_mkl_intel.so";
  auto const beside = place.path() / "bin/libheptad_mkl_intel.so";
  create_directories(program.parent_path());
  create_directories(installed.parent_path());
  CHECK_FALSE(heptad::bench::find_mkl_preload(program));
  std::ofstream(installed) << "installed";
  CHECK(heptad::bench::find_mkl_preload(program) == installed);
  std::ofstream(beside) << "beside";
  CHECK(heptad::bench::find_mkl_preload(program) == beside);
}
