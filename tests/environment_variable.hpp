// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdlib>
#include <optional>
#include <string>

#include "tests/temporary_folder.hpp"

namespace heptad::test {

/// While it lives, a variable of the environment has this value; null: none.
class environment_variable {
public:
  environment_variable(char const* name, char const* value) : name_(name) {
    if (char const* old = std::getenv(name)) before_ = old;
    set(value);
  }
  ~environment_variable() { set(before_ ? before_->c_str() : nullptr); }
  environment_variable(environment_variable const&) = delete;
  environment_variable& operator=(environment_variable const&) = delete;

private:
  void set(char const* value) const {
    if (value != nullptr) setenv(name_, value, 1);
    else unsetenv(name_);
  }

  char const* name_;
  std::optional<std::string> before_;
};

/// A folder of the test's own for the machine profile and what lies beside it.
struct profile_folder {
  temporary_folder const folder;
  environment_variable const variable{"HEPTAD_PROFILE_DIR", folder.path().c_str()};
};

}  // namespace heptad::test
