// SPDX-License-Identifier: BSD-3-Clause
// Heptad inside the caller's oneTBB arena: the products of a batch run as the caller's tasks, and the tasks of each
// product join them in the same arena. No further thread is started.
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>

#include <atomic>
#include <heptad/tbb.hpp>
#include <iostream>
#include <vector>

int main() {
  std::int64_t const n = 300;
  int const batch = 6;
  std::vector<std::vector<double>> a(batch), b(batch), c(batch);
  for (int i = 0; i < batch; ++i) {
    a[i].assign(n * n, i + 1.0);
    b[i].assign(n * n, 1.0);
    c[i].resize(n * n);
  }

  oneapi::tbb::task_arena arena(2);
  heptad::context workers = heptad::make_context(arena);  // the arena must outlive it
  std::atomic<int> wrong{0};
  arena.execute([&] {
    oneapi::tbb::parallel_for(0, batch, [&](int i) {
      heptad::gemm(workers, 1.0, heptad::column_major<double const>(a[i].data(), n, n, n),
                   heptad::column_major<double const>(b[i].data(), n, n, n), 0.0,
                   heptad::column_major(c[i].data(), n, n, n));
      if (c[i][0] != static_cast<double>(n) * (i + 1)) ++wrong;
    });
  });
  std::cout << batch << " products on " << workers.threads() << " workers, " << wrong << " wrong\n";
  return wrong == 0 ? 0 : 1;
}
