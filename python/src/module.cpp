// SPDX-License-Identifier: BSD-3-Clause
// The extension heptad._heptad: products, plans, and the errors of both as Python's exceptions.
#include <fmt/format.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <exception>
#include <new>
#include <optional>
#include <string>
#include <utility>

#include <heptad/heptad.h>
#include <heptad/heptad.hpp>

#include "python/src/arrays.hpp"
#include "python/src/classes.hpp"
#include "python/src/plans.hpp"

namespace heptad::python {
namespace {

using namespace nb::literals;

template <typename T>
report multiply(context& workers, plan const* how, T alpha, operand const& a, operand const& b, T beta,
                operand const& out, options const& wishes) {
  auto const X = out.as<T>();
  matrix_view<T> const C{const_cast<T*>(X.data), X.rows, X.cols, X.row_stride, X.col_stride};
  nb::gil_scoped_release const others_may_run;
  if (how != nullptr) return gemm(workers, *how, alpha, a.as<T>(), b.as<T>(), beta, C);
  return gemm(workers, alpha, a.as<T>(), b.as<T>(), beta, C, wishes);
}

nb::tuple gemm_of_arrays(nb::handle a_array, nb::handle b_array, nb::object out_array, double alpha, double beta,
                         plan const* how, context* workers, options const& wishes) {
  operand const a = read_operand("a", a_array), b = read_operand("b", b_array);
  if (out_array.is_none()) {
    if (beta != 0) throw nb::value_error(fmt::format("beta = {} needs out, the matrix that it scales", beta).c_str());
    out_array = new_array(a.view.rows, b.view.cols, a.type);
  }
  operand const out = written_operand("out", out_array);
  check_shapes(a, b, out);
  std::optional<plan> as_run;
  if (how != nullptr) how = &as_run.emplace(plan_as_run(*how, a, b, beta, out));
  context& here = workers != nullptr ? *workers : default_context();
  report done = a.type == element_type::f64 ? multiply<double>(here, how, alpha, a, b, beta, out, wishes)
                                            : multiply<float>(here, how, static_cast<float>(alpha), a, b,
                                                              static_cast<float>(beta), out, wishes);
  if (is_row_major(out.view)) transpose(done.plan);
  return nb::make_tuple(out_array, std::move(done));
}

plan plan_of(std::int64_t m, std::int64_t n, std::int64_t k, std::string const& dtype, bool a_row_major,
             bool b_row_major, bool out_row_major, bool accumulate, context* workers, options const& wishes) {
  problem shape;
  shape.m = m, shape.n = n, shape.k = k;
  shape.a_row_major = a_row_major, shape.b_row_major = b_row_major, shape.c_row_major = out_row_major;
  shape.beta_zero = !accumulate;
  context& here = workers != nullptr ? *workers : default_context();
  plan made = dtype == "float64" ? make_plan<double>(here, shape, wishes) : make_plan<float>(here, shape, wishes);
  if (out_row_major) transpose(made);
  return made;
}

void set_num_threads(nb::handle threads) {
  if (heptad_set_num_threads(threads_of(threads)) != HEPTAD_SUCCESS)
    throw error(status::invalid_argument, heptad_last_error());
}

int get_num_threads() {
  int const threads = heptad_get_num_threads();
  if (threads == 0) throw error(status::invalid_argument, heptad_last_error());
  return threads;
}

}  // namespace
}  // namespace heptad::python

NB_MODULE(_heptad, m) {
  using namespace heptad::python;
  m.attr("version") = heptad::version();
  // Any other failure than a wrong argument and no memory; it says what became of out.
  static PyObject* const failure = PyErr_NewException("heptad._heptad.Error", PyExc_RuntimeError, nullptr);
  m.attr("Error") = nb::handle(failure);
  nb::register_exception_translator([](std::exception_ptr const& thrown, void*) {
    try {
      std::rethrow_exception(thrown);
    } catch (heptad::error const& e) {
      PyObject* const type = e.code() == heptad::status::invalid_argument ? PyExc_ValueError
                             : e.code() == heptad::status::out_of_memory  ? PyExc_MemoryError
                                                                          : failure;
      PyErr_SetString(type, e.what());
    }
  });
  add_classes(m);
  m.def("gemm", &gemm_of_arrays, "a"_a.none(), "b"_a.none(), "out"_a.none(), "alpha"_a, "beta"_a, "plan"_a.none(),
        "context"_a.none(), "options"_a,
        nb::sig("def gemm(a: object, b: object, out: object, alpha: float, "
                "beta: float, plan: Plan | None, context: Context | None, "
                "options: Options) -> tuple[object, Report]"));
  m.def("plan", &plan_of, "m"_a, "n"_a, "k"_a, "dtype"_a, "a_row_major"_a, "b_row_major"_a, "out_row_major"_a,
        "accumulate"_a, "context"_a.none(), "options"_a);
  m.def("set_num_threads", &set_num_threads, "threads"_a.none(), nb::sig("def set_num_threads(threads: int) -> None"),
        "Workers of the default context: at least 1, or 0 for all that the process may use.");
  m.def("get_num_threads", &get_num_threads, "Workers of the default context.");
  m.def(
      "release_workspace", [] { heptad_release_workspace(); },
      "The workspace of calls that have ended is kept for the next ones; this frees that of the default context.");
}
