// SPDX-License-Identifier: BSD-3-Clause
// A JSON document as a table from paths such as "f64.terms[1].size" to values. There is no tree: those of nlohmann_json
// allocate when they are destroyed, which ends a process that is out of memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <istream>
#include <map>
#include <optional>
#include <string>

namespace heptad {

struct json_value {
  enum class kind { object, array, integer, real, text, other };
  kind is = kind::other;
  std::size_t size = 0;       // of an array
  double number = 0;          // of an integer or real
  std::uint64_t integer = 0;  // of an integer that is not negative
  std::string text;
};

/// The whole document is at "".
using json_leaves = std::map<std::string, json_value>;

/// "f64", "terms" → "f64.terms"; "", "cpu" → "cpu".
std::string json_path(std::string const& parent, std::string const& key);

/// Absent when it is not JSON, or nested deeper than any of our files.
std::optional<json_leaves> read_json_leaves(std::istream& from);

}  // namespace heptad
