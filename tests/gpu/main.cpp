// SPDX-License-Identifier: BSD-3-Clause
// Without a device a test is skipped: exit code 77 tells CTest so. Listing the tests needs none.
#define CATCH_CONFIG_RUNNER
#include <cuda_runtime_api.h>
#include <catch2/catch.hpp>

#include <cstddef>
#include <cstdio>

#include "tests/gpu/skip.hpp"

namespace {

std::size_t cases = 0;

struct counter : Catch::TestEventListenerBase {
  using TestEventListenerBase::TestEventListenerBase;
  void testCaseStarting(Catch::TestCaseInfo const&) override { ++cases; }
};

}  // namespace

CATCH_REGISTER_LISTENER(counter)

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
  if (session.run() != 0) return 1;  // 77 failures are no skip
  return heptad::test::skipped > 0 && heptad::test::skipped == cases ? 77 : 0;
}
