// SPDX-License-Identifier: BSD-3-Clause
#include "python/src/arrays.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

namespace heptad::python {
namespace {

std::string dtype_text(nb::dlpack::dtype const& type) {
  auto const kind = [&type] {
    switch (static_cast<nb::dlpack::dtype_code>(type.code)) {
      case nb::dlpack::dtype_code::Int:
        return "int";
      case nb::dlpack::dtype_code::UInt:
        return "uint";
      case nb::dlpack::dtype_code::Float:
        return "float";
      case nb::dlpack::dtype_code::Bfloat:
        return "bfloat";
      case nb::dlpack::dtype_code::Complex:
        return "complex";
      case nb::dlpack::dtype_code::Bool:
        return "bool";
      default:
        return "an element type of ";
    }
  }();
  return fmt::format("{}{}", kind, type.bits);
}

[[noreturn]] void reject_object(char const* name, nb::handle source) {
  nb::object const type = nb::getattr(source, "dtype", nb::none());
  if (nb::object const native = nb::getattr(type, "isnative", nb::none()); native.is(nb::bool_(false)))
    throw nb::type_error(
        fmt::format("{}.dtype = {} must be in the byte order of this machine", name, nb::str(type).c_str()).c_str());
  std::string what = nb::type_name(source.type()).c_str();
  for (char const* attribute : {"dtype", "shape", "strides", "device"}) {
    if (nb::object const value = nb::getattr(source, attribute, nb::none()); !value.is_none())
      what += fmt::format(", {} {}", attribute, nb::str(value).c_str());
  }
  throw nb::type_error(fmt::format("{} must be an array of float32 or float64 on the CPU, of NumPy or with DLPack, "
                                   "whose strides are whole elements: not {}",
                                   name, what)
                           .c_str());
}

operand view_of(char const* name, nb::ndarray<nb::ro> array, bool on_cuda = false) {
  int const device = array.device_type();
  if (on_cuda ? device != nb::device::cuda::value && device != nb::device::cuda_managed::value
              : device != nb::device::cpu::value)
    throw nb::type_error(fmt::format("{} must be on {}, not on DLPack's device type {}", name,
                                     on_cuda ? "a CUDA device" : "the CPU", device)
                             .c_str());
  if (array.ndim() != 2) {
    std::vector<std::size_t> shape;
    for (std::size_t i = 0; i < array.ndim(); ++i) shape.push_back(array.shape(i));
    throw nb::value_error(fmt::format("{}.shape = ({}{}) must have two dimensions", name, fmt::join(shape, ", "),
                                      shape.size() == 1 ? "," : "")
                              .c_str());
  }
  operand x;
  if (array.dtype() == nb::dtype<double>()) x.type = element_type::f64;
  else if (array.dtype() == nb::dtype<float>()) x.type = element_type::f32;
  else
    throw nb::type_error(
        fmt::format("{}.dtype = {} must be float32 or float64", name, dtype_text(array.dtype())).c_str());
  x.view = {array.data(), static_cast<std::int64_t>(array.shape(0)), static_cast<std::int64_t>(array.shape(1)),
            array.stride(0), array.stride(1)};
  x.array = std::move(array);
  return x;
}

bool has_zero_stride(operand const& x) {
  return (x.view.rows > 1 && x.view.row_stride == 0) || (x.view.cols > 1 && x.view.col_stride == 0);
}

}  // namespace

bool is_row_major(matrix_view<void const> const& x) noexcept { return x.row_stride != 1 && x.col_stride == 1; }

operand read_operand(char const* name, nb::handle source) {
  nb::ndarray<nb::ro> array;
  if (!nb::try_cast(source, array, false)) reject_object(name, source);
  operand x = view_of(name, std::move(array));
  if (!has_zero_stride(x)) return x;
  nb::object const copy = nb::module_::import_("numpy").attr("array")(source, nb::arg("order") = "C");
  return view_of(name, nb::cast<nb::ndarray<nb::ro>>(copy));
}

operand written_operand(char const* name, nb::handle source) {
  nb::ndarray<nb::ro> array;
  if (!nb::try_cast(source, array, false)) reject_object(name, source);
  if (nb::ndarray<> writable; !nb::try_cast(source, writable, false))
    throw nb::value_error(fmt::format("{} must not be read-only", name).c_str());
  return view_of(name, std::move(array));
}

operand device_operand(char const* name, nb::capsule const& source) {
  nb::ndarray<nb::ro> array;
  if (!nb::try_cast(source, array, false))
    throw nb::type_error(fmt::format("{} must be an array of float32 or float64 in a capsule of DLPack", name).c_str());
  return view_of(name, std::move(array), true);
}

void check_shapes(operand const& a, operand const& b, operand const& out) {
  if (b.type != a.type)
    throw nb::type_error(
        fmt::format("b.dtype = {} must be that of a, {}", dtype_name(b.type), dtype_name(a.type)).c_str());
  if (b.view.rows != a.view.cols)
    throw nb::value_error(fmt::format("b.shape = {} must have {} rows, as a.shape = {} has columns", shape_text(b),
                                      a.view.cols, shape_text(a))
                              .c_str());
  if (out.type != a.type)
    throw nb::type_error(
        fmt::format("out.dtype = {} must be that of a, {}", dtype_name(out.type), dtype_name(a.type)).c_str());
  if (out.view.rows != a.view.rows || out.view.cols != b.view.cols)
    throw nb::value_error(
        fmt::format("out.shape = {} must be ({}, {})", shape_text(out), a.view.rows, b.view.cols).c_str());
}

nb::object new_array(std::int64_t rows, std::int64_t cols, element_type type) {
  return nb::module_::import_("numpy").attr("empty")(nb::make_tuple(rows, cols), dtype_name(type));
}

char const* dtype_name(element_type type) { return type == element_type::f64 ? "float64" : "float32"; }

std::string shape_text(operand const& x) { return fmt::format("({}, {})", x.view.rows, x.view.cols); }

}  // namespace heptad::python
