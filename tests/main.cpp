// SPDX-License-Identifier: BSD-3-Clause
// The entry point of every test executable, compiled once. A case that cannot test here says so by
// WARN("skipped: why"): exit code 77 tells CTest, unless something failed. Where missing_here() names something, none
// is run; listing them needs nothing.
#include "tests/main.hpp"

#include <cstdio>

#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>

namespace {

constexpr int skipped_code = 77;

bool skipped = false;

struct skip_listener : Catch::TestEventListenerBase {
  using TestEventListenerBase::TestEventListenerBase;
  bool assertionEnded(Catch::AssertionStats const& ended) override {
    skipped |= ended.assertionResult.getMessage().starts_with("skipped: ");
    return false;
  }
};
CATCH_REGISTER_LISTENER(skip_listener)

bool lists(Catch::ConfigData const& asked) {
  return asked.listTests || asked.listTestNamesOnly || asked.listTags || asked.listReporters;
}

}  // namespace

[[gnu::weak]] char const* heptad::test::missing_here() { return nullptr; }

int main(int argc, char** argv) {
  Catch::Session session;
  if (int const wrong = session.applyCommandLine(argc, argv); wrong != 0) return wrong;
  if (char const* const what = lists(session.configData()) ? nullptr : heptad::test::missing_here()) {
    std::printf("skipped: no %s\n", what);
    return skipped_code;
  }
  int const failures = session.run();
  return failures != 0 ? 1 : skipped ? skipped_code : 0;  // 77 failures are no skip
}
