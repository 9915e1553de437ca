// SPDX-License-Identifier: BSD-3-Clause
// NumPy's .npy files (format versions 1, 2 and 3) as matrices: read in place through a memory map, written in one step.
// Strict: what is not a two-dimensional little-endian float32 or float64 array is an error that says what it is
// instead.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include <heptad/heptad.hpp>

namespace heptad::tools {

/// What the header of a file says. Shapes are checked against the size of the file by npy_file only.
struct npy_header {
  element_type type = element_type::f64;
  bool fortran_order = false;
  std::int64_t rows = 0, cols = 0;
  std::size_t data_offset = 0;  // bytes from the start of the file
};

/// Throws heptad::error naming the file and what is wrong. `bytes` is the file, or its beginning.
npy_header parse_npy_header(std::span<char const> bytes, std::string const& file_name);

/// A matrix file mapped read-only. The views live as long as the object.
class npy_file {
public:
  explicit npy_file(std::string const& file_name);
  ~npy_file();
  npy_file(npy_file&& other) noexcept;
  npy_file(npy_file const&) = delete;
  npy_file& operator=(npy_file const&) = delete;

  [[nodiscard]] npy_header const& header() const noexcept { return header_; }
  /// T must be the type that the header says.
  template <typename T>
  [[nodiscard]] matrix_view<T const> view() const noexcept {
    auto const* data = reinterpret_cast<T const*>(map_ + header_.data_offset);
    return header_.fortran_order ? column_major(data, header_.rows, header_.cols, header_.rows)
                                 : row_major(data, header_.rows, header_.cols, header_.cols);
  }

private:
  char const* map_ = nullptr;
  std::size_t size_ = 0;
  npy_header header_;
};

/// Writes a dense matrix (column-major with ld = rows, or row-major with ld = cols), whole or not at all
/// (tools/output_file.hpp).
template <typename T>
void write_npy(std::string const& file_name, matrix_view<T const> const& X);

}  // namespace heptad::tools
