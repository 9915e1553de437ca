// SPDX-License-Identifier: BSD-3-Clause
// JSON on standard output. Names of files and sources of algorithms are any bytes: those that are no UTF-8 are
// replaced.
#pragma once

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace heptad::tools {

inline void print_json(nlohmann::json const& value) {
  fmt::print("{}\n", value.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
}

}  // namespace heptad::tools
