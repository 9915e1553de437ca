// SPDX-License-Identifier: BSD-3-Clause
// heptad gemm A.npy B.npy -o C.npy: one product of two files, with its report and, on request, its error.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <initializer_list>
#include <limits>
#include <memory>
#include <new>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include <heptad/heptad.hpp>

#include "src/api/arguments.hpp"
#include "src/api/median.hpp"
#include "src/api/present.hpp"
#include "tools/bounds.hpp"
#include "tools/commands.hpp"
#include "tools/npy.hpp"
#include "tools/output_file.hpp"
#include "tools/print_json.hpp"
#include "tools/settings.hpp"

namespace heptad::tools {
namespace {

struct gemm_arguments {
  std::string a, b, c, c0;
  double alpha = 1, beta = 0;
  int repeat = 1;
  std::string check = "none";
  settings common;
};

/// A dense matrix of one's own.
template <typename T>
struct matrix {
  std::vector<T> elements;
  matrix_view<T> view;

  matrix(char const* name, std::int64_t rows, std::int64_t cols, bool fortran_order) try
      : elements(static_cast<std::size_t>(rows * cols)),
        view(fortran_order ? column_major(elements.data(), rows, cols, rows)
                           : row_major(elements.data(), rows, cols, cols)) {
  } catch (std::bad_alloc const&) {
    throw error(status::out_of_memory, fmt::format("no memory for {}: {} x {} elements, {} bytes", name, rows, cols,
                                                   static_cast<std::size_t>(rows * cols) * sizeof(T)));
  }
};

template <typename T>
double largest(matrix_view<T const> const& X) {
  double most = 0;
  for (std::int64_t i = 0; i < X.rows; ++i) {
    for (std::int64_t j = 0; j < X.cols; ++j) {
      most = std::max(most, std::abs(double{X.data[i * X.row_stride + j * X.col_stride]}));
    }
  }
  return most;
}

/// What is multiplied by 0 is not read: infinity times 0 is 0.
double product_of(std::initializer_list<double> magnitudes) {
  double product = 1;
  for (double const x : magnitudes) {
    if (x == 0) return 0;
    product *= x;
  }
  return product;
}

struct check_result {
  double max_error = 0, bound = 0;
  [[nodiscard]] bool passed() const noexcept { return max_error <= bound; }
};

/// The largest difference of C from the classical product, and what the proved bounds of both allow.
template <typename T>
check_result compare(gemm_arguments const& given, report const& r, matrix_view<T const> A, matrix_view<T const> B,
                     std::optional<npy_file> const& c0, matrix<T> const& C) {
  bool const fortran_order = C.view.row_stride == 1 && C.view.col_stride == C.view.rows;
  matrix<T> reference("the classical product that C is compared with", C.view.rows, C.view.cols, fortran_order);
  if (c0) std::copy_n(c0->view<T>().data, C.elements.size(), reference.elements.data());
  options classical;
  classical.max_levels = 0;
  classical.kernel = given.common.wishes.kernel;
  report const exact = gemm<T>(default_context(), static_cast<T>(given.alpha), A, B, static_cast<T>(given.beta),
                               reference.view, classical);
  check_result result;
  for (std::size_t i = 0; i < C.elements.size(); ++i) {
    double const difference = std::abs(double{C.elements[i]} - double{reference.elements[i]});
    // A NaN in only one of the two is an infinite error, in both it is none.
    if (std::isnan(C.elements[i]) != std::isnan(reference.elements[i])) result.max_error = HUGE_VAL;
    if (difference > result.max_error) result.max_error = difference;
  }
  double const unit = std::numeric_limits<T>::epsilon() / 2;
  double const product = product_of({r.plan.bound + exact.plan.bound, std::abs(given.alpha), largest(A), largest(B)});
  double const updates = r.plan.bound_of_C + exact.plan.bound_of_C;
  double const scaled = c0 ? product_of({updates, std::abs(given.beta), largest(c0->view<T>())}) : 0;
  result.bound = unit * (product + scaled);
  return result;
}

template <typename T>
void print(gemm_arguments const& given, operands<T> const& x, report const& r, std::vector<double> const& seconds,
           std::optional<check_result> const& check) {
  double const usual = median(seconds);
  if (given.common.json) {
    nlohmann::json out = to_json(r);
    out.update({{"m", x.C.rows}, {"n", x.C.cols}, {"k", x.A.cols}, {"output", given.c}});
    out["plan"]["run_as"] = present(x).transposed ? "C^T = B^T A^T" : "C = A B";
    out["runs"] = seconds;
    out["median_seconds"] = usual;
    if (check) {
      out["check"] = {{"max_error", check->max_error}, {"bound", check->bound}, {"passed", check->passed()}};
    }
    print_json(out);
    return;
  }
  fmt::print("{}", to_text(r));
  if (seconds.size() > 1) fmt::print("{:<12}{:.6f} s over {} runs\n", "median", usual, seconds.size());
  if (check) {
    bool const both_classical = r.plan.levels.empty() || !r.precaution.empty();
    fmt::print("{:<12}max |C - classical| = {:.3e}, bound {:.3e}: {}{}\n", "check", check->max_error, check->bound,
               check->passed() ? "passed" : "FAILED", both_classical ? "; C is a classical product, too" : "");
  }
  fmt::print("{:<12}{}\n", "written", given.c);
}

/// The option's value as an element, which must not become infinite, or zero if it is not.
template <typename T>
T as_element(char const* option, double value) {
  if (std::abs(value) > std::numeric_limits<T>::max() || (value != 0 && static_cast<T>(value) == T(0)))
    throw CLI::ValidationError(fmt::format("{} = {}: elements are float32, where this is {}", option, value,
                                           std::abs(value) > 1 ? "infinite" : "0"));
  return static_cast<T>(value);
}

template <typename T>
void multiply_files(gemm_arguments const& given, npy_file const& a, npy_file const& b,
                    std::optional<npy_file> const& c0) {
  T const alpha = as_element<T>("--alpha", given.alpha), beta = as_element<T>("--beta", given.beta);
  auto const A = a.view<T>(), B = b.view<T>();
  if (B.rows != A.cols)
    throw error(status::invalid_argument, fmt::format("{}: {} x {} elements, must have {} rows, the columns of {}",
                                                      given.b, B.rows, B.cols, A.cols, given.a));
  if (c0 && (c0->header().rows != A.rows || c0->header().cols != B.cols)) {
    throw error(status::invalid_argument, fmt::format("{}: {} x {} elements, must be {} x {}", given.c0,
                                                      c0->header().rows, c0->header().cols, A.rows, B.cols));
  }
  check_problem({A.rows, B.cols, A.cols}, sizeof(T));
  matrix<T> C("C", A.rows, B.cols, c0 && c0->header().fortran_order);
  require_writable(given.c);
  report r;
  std::vector<double> seconds;
  for (int run = 0; run < given.repeat; ++run) {
    if (c0) std::copy_n(c0->view<T>().data, C.elements.size(), C.elements.data());
    r = gemm<T>(default_context(), alpha, A, B, beta, C.view, given.common.wishes);
    seconds.push_back(r.seconds);
  }
  write_npy<T>(given.c, C.view);
  std::optional<check_result> check;
  if (given.check == "full") check = compare<T>(given, r, A, B, c0, C);
  print<T>(given, {alpha, A, B, beta, C.view}, r, seconds, check);
  if (check && !check->passed())
    throw error(status::internal_error, "C differs from the classical product by more than its bound");
  if (r.check && !r.check->passed)
    throw error(status::internal_error, "C differs from A B on random vectors by more than its bound");
}

void require_type_of(std::string const& first_name, npy_file const& first, std::string const& name,
                     npy_file const& file) {
  auto const word = [](npy_file const& x) { return x.header().type == element_type::f64 ? "float64" : "float32"; };
  if (file.header().type != first.header().type)
    throw error(status::invalid_argument,
                fmt::format("{}: elements are {}, must be {} as in {}", name, word(file), word(first), first_name));
}

void run(gemm_arguments& given) {
  if (given.check == "sampled") given.common.wishes.check = 2;
  if (given.beta != 0 && given.c0.empty()) throw CLI::ValidationError(fmt::format("--beta {} needs --c0", given.beta));
  given.common.apply();
  npy_file const a(given.a), b(given.b);
  std::optional<npy_file> c0;
  if (!given.c0.empty()) c0.emplace(given.c0);
  require_type_of(given.a, a, given.b, b);
  if (c0) require_type_of(given.a, a, given.c0, *c0);
  if (a.header().type == element_type::f64) multiply_files<double>(given, a, b, c0);
  else multiply_files<float>(given, a, b, c0);
}

}  // namespace

void add_gemm_command(CLI::App& app) {
  auto const given = std::make_shared<gemm_arguments>();
  auto* const command = app.add_subcommand("gemm", "C := alpha A B + beta C0, of .npy files");
  command->add_option("A", given->a, "m x k matrix, .npy, float32 or float64")->required();
  command->add_option("B", given->b, "k x n matrix")->required();
  command->add_option("-o,--output", given->c, "the file for C")->required()->check(file_name());
  command->add_option("--alpha", given->alpha, "factor of the product")->check(finite_number())->capture_default_str();
  auto* const beta =
      command->add_option("--beta", given->beta, "factor of C0")->check(finite_number())->capture_default_str();
  command->add_option("--c0", given->c0, "the matrix C0, m x n")->needs(beta)->check(file_name());
  command->add_option("--repeat", given->repeat, "multiply so many times")->check(at_least(1))->capture_default_str();
  command
      ->add_flag("--check{full}", given->check,
                 "compare with the classical product; --check=sampled: by random vectors; exit code 1 beyond the bound")
      ->check(CLI::IsMember({"none", "full", "sampled"}));
  given->common.add_to(*command);
  command->callback([given] { run(*given); });
}

}  // namespace heptad::tools
