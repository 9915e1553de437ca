// SPDX-License-Identifier: BSD-3-Clause
// A plan in words, for people.
#include <fmt/format.h>

#include <array>
#include <iterator>

#include <heptad/heptad.hpp>

#include "src/api/diagnostics.hpp"
#include "src/api/no_memory.hpp"
#include "src/plan/counted.hpp"

namespace heptad {
namespace {

std::string bytes_text(std::size_t bytes) {
  constexpr std::array<char const*, 4> units{"B", "KiB", "MiB", "GiB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; value >= 1024 && unit + 1 < units.size(); ++unit) value /= 1024;
  return fmt::format("{:.4g} {}", value, units[unit]);
}

std::string seconds_text(double seconds) {
  if (seconds < 1e-3) return fmt::format("{:.1f} µs", seconds * 1e6);
  if (seconds < 1) return fmt::format("{:.2f} ms", seconds * 1e3);
  return fmt::format("{:.3f} s", seconds);
}

char const* order_text(bool row_major) { return row_major ? "row-major" : "column-major"; }

char const* kind_text(level_kind kind) {
  switch (kind) {
    case level_kind::task:
      return "tasks";
    case level_kind::explicit_passes:
      return "explicit passes";
    case level_kind::fused:
      return "fused";
  }
  return "";
}

double gflops(problem const& x, double seconds) {
  double const flops = 2.0 * static_cast<double>(x.m) * static_cast<double>(x.n) * static_cast<double>(x.k);
  return seconds > 0 ? flops / seconds / 1e9 : 0;
}

}  // namespace

std::string describe_levels(plan const& how) {
  if (how.levels.empty()) return "classical";
  std::string text;
  for (plan_level const& level : how.levels) {
    if (!text.empty()) text += ", ";
    text += fmt::format("{} ({})", level.name, kind_text(level.kind));
  }
  return text;
}

std::string explain(plan const& how) try {
  std::string text;
  auto const line = [&text](char const* label, std::string const& value) {
    fmt::format_to(std::back_inserter(text), "{:<12}{}\n", label, value);
  };
  problem const& x = how.shape;
  line("product",
       fmt::format("{} {} x {} x {} (m x n x k{}), A {}, B {}, C {}{}{}",
                   how.type == element_type::f64 ? "dgemm" : "sgemm", x.m, x.n, x.k, x.c_row_major ? "" : ", as run",
                   order_text(x.a_row_major), order_text(x.b_row_major), order_text(x.c_row_major),
                   x.beta_zero ? ", beta = 0" : "", x.c_row_major ? ", run as Cᵀ = Bᵀ Aᵀ" : ""));
  line("levels", fmt::format("{}: {}", how.levels.size(), describe_levels(how)));
  if (!how.levels.empty()) {
    bool const padded = how.core_m > x.m || how.core_n > x.n || how.core_k > x.k;
    bool const cut = how.core_m < x.m || how.core_n < x.n || how.core_k < x.k;
    line("core",
         fmt::format("{} x {} x {}{}{}", how.core_m, how.core_n, how.core_k,
                     padded ? ", what is beyond A, B and C counts as zeros" : "", cut ? ", fringes classical" : ""));
  }
  line("variant", how.product_buffer ? "AB: products gathered in a buffer" : "ABC: products straight into C");
  line("order", fmt::format("{}, {}{}{}", how.independent ? "independent products" : "in place where beta = 0",
                            counted(how.slots, "slot"), how.strips > 1 ? fmt::format(", {} strips", how.strips) : "",
                            how.deterministic ? ", deterministic" : ""));
  line("kernel", how.kernel);
  line("workers", fmt::format("{}", how.workers));
  line("tasks", fmt::format("{}", how.tasks));
  line("workspace", fmt::format("{}, cap {}", bytes_text(how.workspace), bytes_text(how.workspace_cap)));
  line("bound", fmt::format("|C - computed C|max <= u ({:.4g} |alpha| |A|max |B|max{}), proved", how.bound,
                            x.beta_zero ? "" : fmt::format(" + {:.4g} |beta| |C|max", how.bound_of_C)));
  line("likely",
       fmt::format("{:.4g} instead of {:.4g} for independent entries of mean zero", how.likely_bound, how.bound));
  line("growth", fmt::format("{:.3g} times the error of the classical product, expected", how.growth));
  if (how.seconds > 0) {  // what is too small to be planned is not priced
    line("predicted", fmt::format("{}, {:.1f} GFLOP/s", seconds_text(how.seconds), gflops(x, how.seconds)));
    line("classical",
         fmt::format("{}, {:.1f} GFLOP/s", seconds_text(how.classical_seconds), gflops(x, how.classical_seconds)));
  }
  line("reason", how.reason);
  for (candidate const& other : how.candidates) {
    line("considered",
         fmt::format("{}: {}, {}, growth {:.3g}, bound {:.3g}; {}", other.description, seconds_text(other.seconds),
                     bytes_text(other.workspace), other.growth, other.bound, other.verdict));
  }
  return text;
} catch (std::bad_alloc const&) {
  throw no_memory;
}

}  // namespace heptad
