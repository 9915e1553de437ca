// SPDX-License-Identifier: BSD-3-Clause
// A program that loads the library, multiplies on four threads and closes it again, three times: unload LIBRARY.
#include <dlfcn.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <thread>
#include <vector>

namespace {

using set_threads = int(int);
using dgemm = int(char, char, std::int64_t, std::int64_t, std::int64_t, double, double const*, std::int64_t,
                  double const*, std::int64_t, double, double*, std::int64_t);

bool multiplies(void* library) {
  auto* const set = reinterpret_cast<set_threads*>(dlsym(library, "heptad_set_num_threads"));
  auto* const gemm = reinterpret_cast<dgemm*>(dlsym(library, "heptad_dgemm"));
  if (set == nullptr || gemm == nullptr || set(4) != 0) return false;
  int const n = 1300;
  std::vector<double> const A(static_cast<std::size_t>(n) * n, 1.0);
  std::vector<double> C(A.size());
  if (gemm('n', 'n', n, n, n, 1, A.data(), n, A.data(), n, 0, C.data(), n) != 0) return false;
  for (double const c : C)
    if (c != n) return false;
  return true;
}

}  // namespace

int main(int count, char** arguments) {
  for (int i = 0; i < 3; ++i) {
    void* const library = count == 2 ? dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL) : nullptr;
    if (library == nullptr || !multiplies(library)) return std::puts("it did not multiply"), 1;
    dlclose(library);
    std::this_thread::sleep_for(std::chrono::milliseconds(100));  // its workers are about to sleep
  }
}
