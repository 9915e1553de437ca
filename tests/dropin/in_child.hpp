// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>

namespace heptad::dropin {

/// Runs `check` in a child; its result, or false when a signal ends it, as one does that has not returned after ten
/// minutes.
template <typename Check>
bool in_child(Check const& check) {
  pid_t const child = fork();
  if (child == 0) {
    alarm(600);
    _exit(check() ? 0 : 1);
  }
  int status = -1;
  if (waitpid(child, &status, 0) != child) return false;
  if (WIFSIGNALED(status)) std::fprintf(stderr, "the child was ended by signal %d\n", WTERMSIG(status));
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace heptad::dropin
