// SPDX-License-Identifier: BSD-3-Clause
// Without a device a test is skipped: exit code 77 tells CTest so. Listing the tests needs none.
#define CATCH_CONFIG_RUNNER
#include <cuda_runtime_api.h>
#include <catch2/catch.hpp>

#include <cstdio>

int main(int argc, char** argv) {
  Catch::Session session;
  if (int const wrong = session.applyCommandLine(argc, argv); wrong != 0) return wrong;
  auto const& asked = session.configData();
  bool const listing = asked.listTests || asked.listTestNamesOnly || asked.listTags || asked.listReporters;
  int devices = 0;
  if (!listing && (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0)) {
    std::puts("skipped: no CUDA device");
    return 77;
  }
  return session.run() == 0 ? 0 : 1;  // 77 failures are no skip
}
