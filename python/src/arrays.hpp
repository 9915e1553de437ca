// SPDX-License-Identifier: BSD-3-Clause
// Python's arrays as matrix views: NumPy's, and all that speak DLPack or the buffer protocol. No element is copied.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <string>

#include <heptad/heptad.hpp>

namespace heptad::python {

namespace nb = nanobind;

/// A matrix in an array of Python's, which it keeps alive.
struct operand {
  nb::ndarray<nb::ro> array;
  element_type type = element_type::f64;
  matrix_view<void const> view;  // strides in elements

  template <typename T>
  [[nodiscard]] matrix_view<T const> as() const noexcept {
    return {static_cast<T const*>(view.data), view.rows, view.cols, view.row_stride, view.col_stride};
  }
};

/// Rows contiguous and columns not, as in problem::c_row_major.
bool is_row_major(matrix_view<void const> const& x) noexcept;

/// Throws TypeError or ValueError that names `name`, its value and the rule. An operand in which elements share an
/// address, as in those of numpy.broadcast_to, is copied once; `written` ones must not.
operand read_operand(char const* name, nb::handle source);
operand written_operand(char const* name, nb::handle source);

/// Of a capsule of DLPack's, in the memory of a CUDA device.
operand device_operand(char const* name, nb::capsule const& source);

/// Throws unless out = a b has the shapes and types for it.
void check_shapes(operand const& a, operand const& b, operand const& out);

/// numpy.empty((rows, cols), type)
nb::object new_array(std::int64_t rows, std::int64_t cols, element_type type);

char const* dtype_name(element_type type);
/// "(3, 4)"
std::string shape_text(operand const& x);

}  // namespace heptad::python
