// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>

namespace heptad::dropin {

/// Runs `task` in a child; the number that it returns, from 0 to 255, or -1 when a signal ends it, as one does that has
/// not returned after ten minutes.
template <typename Task>
int result_in_child(Task const& task) {
  pid_t const child = fork();
  if (child == 0) {
    alarm(600);
    _exit(static_cast<int>(task()));
  }
  int status = -1;
  if (waitpid(child, &status, 0) != child) return -1;
  if (WIFSIGNALED(status)) std::fprintf(stderr, "the child was ended by signal %d\n", WTERMSIG(status));
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/// Whether `check`, run in a child, returns true.
template <typename Check>
bool in_child(Check const& check) {
  return result_in_child([&check] { return check() ? 0 : 1; }) == 0;
}

}  // namespace heptad::dropin
