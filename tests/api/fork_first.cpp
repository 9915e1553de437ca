// SPDX-License-Identifier: BSD-3-Clause
// A program that is forked before it makes any call: the child has its workers. Exit status 0 only where it has.
#include <sys/wait.h>
#include <unistd.h>

#include <vector>

#include <heptad/heptad.hpp>

namespace {

int workers_of_product() {
  constexpr std::int64_t n = 300;
  std::vector<double> const A(n * n, 1.0);
  std::vector<double> C(A.size());
  heptad::context workers(2);
  heptad::options forced;
  forced.force_levels = 1;
  auto const X = heptad::column_major(A.data(), n, n, n);
  heptad::report const done = heptad::gemm(workers, 1.0, X, X, 0.0, heptad::column_major(C.data(), n, n, n), forced);
  return static_cast<int>(done.busy_seconds.size());
}

}  // namespace

int main() {
  pid_t const child = fork();
  if (child == 0) _exit(workers_of_product() == 2 ? 0 : 1);
  int status = -1;
  return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : 2;
}
