// SPDX-License-Identifier: BSD-3-Clause
// The entry point of every test executable, compiled once. A case that cannot test here says so by
// WARN("skipped: why"): exit code 77 tells CTest, unless something failed.
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>

namespace {

bool skipped = false;

struct skip_listener : Catch::TestEventListenerBase {
  using TestEventListenerBase::TestEventListenerBase;
  bool assertionEnded(Catch::AssertionStats const& ended) override {
    skipped |= ended.assertionResult.getMessage().starts_with("skipped: ");
    return false;
  }
};
CATCH_REGISTER_LISTENER(skip_listener)

}  // namespace

int main(int argc, char** argv) {
  int const failures = Catch::Session().run(argc, argv);
  return failures != 0 ? 1 : skipped ? 77 : 0;  // 77 failures are no skip
}
