// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sys/wait.h>
#include <unistd.h>

namespace heptad::dropin {

/// Runs `check` in a child; its result, or false when it does not return within a minute.
template <typename Check>
bool in_child(Check const& check) {
  pid_t const child = fork();
  if (child == 0) {
    alarm(60);
    _exit(check() ? 0 : 1);
  }
  int status = -1;
  return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace heptad::dropin
