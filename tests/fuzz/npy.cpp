// SPDX-License-Identifier: BSD-3-Clause
// The reader of .npy files: headers, and files whose elements are there or not.
#include "tools/npy.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include "tests/fuzz/target.hpp"

std::vector<std::string> heptad::fuzz::seeds() {
  auto const file = [](char version, std::string header, std::size_t elements) {
    std::string text = "\x93NUMPY";
    text += {version, '\0'};
    text += {static_cast<char>(header.size()), '\0'};
    if (version > 1) text += {'\0', '\0'};
    return text + header + std::string(elements, '\1');
  };
  return {file(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }       \n", 48),
          file(1, "{'descr': '<f4', 'fortran_order': True, 'shape': (3, 1), }\n", 12),
          file(2, "{'shape': (0, 5), 'fortran_order': True, 'descr': \"<f4\"}\n", 0),
          file(3, "{'descr': '<f8', 'fortran_order': False, 'shape': (1, 1), }\n", 8)};
}

int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  static int const file = memfd_create("npy", 0);
  bool const written = ftruncate(file, 0) == 0 && pwrite(file, data, size, 0) == static_cast<ssize_t>(size);
  heptad::fuzz::require(written, "the file can be written");
  return heptad::fuzz::take_or_refuse([&] {
    heptad::tools::npy_file const matrix("/proc/self/fd/" + std::to_string(file));
    auto const& header = matrix.header();
    std::size_t const element = header.type == heptad::element_type::f64 ? 8 : 4;
    std::size_t const bytes = static_cast<std::size_t>(header.rows) * static_cast<std::size_t>(header.cols) * element;
    heptad::fuzz::require(header.data_offset + bytes == size, "elements fill the file");
    if (bytes == 0) return;
    auto const* const first = reinterpret_cast<char const*>(matrix.view<float>().data);
    // Both ends are mapped: a read beyond would end the program.
    (void)*static_cast<char const volatile*>(first);
    (void)*static_cast<char const volatile*>(first + bytes - 1);
  });
}
