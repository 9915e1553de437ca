// SPDX-License-Identifier: BSD-3-Clause
// planted_faults NAME: makes the fault of this name, on purpose, and exits with 0 where nothing stops it.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <string_view>

int main(int count, char** arguments) {
  if (count != 2) return 2;
  std::string_view const fault = arguments[1];
  int const volatile one = 1;
  auto bytes = std::make_unique<char[]>(16);
  std::memset(bytes.get(), 0, 16);
  int volatile seen = 0;
  if (fault == "overflow") seen = std::numeric_limits<int>::max() + one;
  if (fault == "misaligned") seen = *reinterpret_cast<int*>(bytes.get() + one);
  if (fault == "beyond") seen = bytes[static_cast<std::size_t>(16 * one)];
  if (fault == "leak") seen = *bytes.release();
  return seen == 7 ? 3 : EXIT_SUCCESS;
}
