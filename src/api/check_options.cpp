// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include "codelets/cpu/kernel_set.hpp"
#include "src/algorithm/algorithm.hpp"
#include "src/api/arguments.hpp"
#include "src/api/environment.hpp"
#include "src/matrix/reject.hpp"

namespace heptad {
namespace {

template <typename T>
bool runs_here(std::string const& kernel) {
  auto const* set = cpu::find_kernel_set<T>(kernel);
  return set != nullptr && set->available();
}

}  // namespace

void check_options(options const& wishes, element_type type) {
  if (!(wishes.max_error >= 1)) reject(fmt::format("max_error = {} must be at least 1", wishes.max_error));
  static_cast<void>(process_environment());  // HEPTAD_ALGORITHMS may name what is asked for
  if (wishes.algorithm != "auto" && find_algorithm(wishes.algorithm) == nullptr)
    reject(
        fmt::format("algorithm = '{}' must be auto, a name or a shape that `heptad info` lists, names joined by '*', "
                    "or the path of a file",
                    wishes.algorithm));
  if (wishes.check < 0) reject(fmt::format("check = {} must not be negative", wishes.check));
  if (wishes.kernel == "auto") return;
  bool const available = type == element_type::f64 ? runs_here<double>(wishes.kernel) : runs_here<float>(wishes.kernel);
  if (!available) reject(fmt::format("kernel = '{}' must be {}", wishes.kernel, kernel_rule()));
}

}  // namespace heptad
