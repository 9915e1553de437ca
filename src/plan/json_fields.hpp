// SPDX-License-Identifier: BSD-3-Clause
// The fields of a JSON file, checked as they are read: every number is a positive one, and an error names the file and
// the field by its path.
#pragma once

#include <cmath>
#include <cstddef>
#include <ios>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <heptad/heptad.hpp>

#include "src/plan/json_leaves.hpp"

namespace heptad {

class json_fields {
public:
  /// file: in words, with its path, for errors. Throws error when it cannot be read, or is not JSON.
  json_fields(std::string file, std::istream& from) : file_(std::move(file)) {
    try {
      auto leaves = read_json_leaves(from);
      if (!leaves) fail("", "is not JSON");
      leaves_ = std::move(*leaves);
    } catch (std::ios_base::failure const&) {
      fail("", "cannot be read");
    }
  }

  [[noreturn]] void fail(std::string const& field, std::string const& rule) const {
    throw error(status::invalid_argument,
                fmt::format("{}: field '{}' {}", file_, field.empty() ? "(whole file)" : field, rule));
  }

  /// Elements of the file, which is an array.
  [[nodiscard]] std::size_t length() const {
    json_value const& whole = at("");
    if (whole.is != json_value::kind::array) fail("", "must be a JSON array");
    return whole.size;
  }

  /// Elements of an array in it, at least so many.
  [[nodiscard]] std::size_t length(std::string const& parent, char const* name, std::size_t least) const {
    json_value const& found = member(parent, name);
    if (found.is != json_value::kind::array || found.size < least)
      fail(json_path(parent, name), least > 0 ? "must be a non-empty array" : "must be an array");
    return found.size;
  }

  [[nodiscard]] std::string text(std::string const& parent, char const* name) const {
    json_value const& found = member(parent, name);
    if (found.is != json_value::kind::text) fail(json_path(parent, name), "must be a string");
    return found.text;
  }

  /// A visitor (name, number&) that reads the numbers of the object `parent`.
  [[nodiscard]] auto numbers(std::string const& parent) const {
    return [this, parent](char const* name, auto& value) {
      using type = std::remove_reference_t<decltype(value)>;
      value = number<type>(member(parent, name), json_path(parent, name));
    };
  }

  /// A list of numbers, at least one.
  template <typename Number>
  [[nodiscard]] std::vector<Number> list(std::string const& parent, char const* name) const {
    std::vector<Number> result;
    for (std::size_t i = 0, count = length(parent, name, 1); i < count; ++i) {
      std::string const field = fmt::format("{}[{}]", json_path(parent, name), i);
      result.push_back(number<Number>(at(field), field));
    }
    return result;
  }

  /// A table of rows whose `key` ascends, at least so many; for_each(row, visitor) names the numbers of a row.
  template <typename Row, typename Key, typename ForEach>
  [[nodiscard]] std::vector<Row> rows(std::string const& parent, char const* name, Key Row::*key, ForEach for_each,
                                      std::size_t least = 1) const {
    std::vector<Row> result;
    for (std::size_t i = 0, count = length(parent, name, least); i < count; ++i) {
      std::string const field = fmt::format("{}[{}]", json_path(parent, name), i);
      Row row{};
      for_each(row, numbers(field));
      if (!result.empty() && row.*key <= result.back().*key)
        fail(field, fmt::format("= {} must be above the one before", row.*key));
      result.push_back(row);
    }
    return result;
  }

private:
  [[nodiscard]] json_value const& at(std::string const& path) const {
    auto const found = leaves_.find(path);
    if (found == leaves_.end()) fail(path, "is missing");
    return found->second;
  }

  [[nodiscard]] json_value const& member(std::string const& parent, char const* name) const {
    if (at(parent).is != json_value::kind::object) fail(parent, "must be an object");
    return at(json_path(parent, name));
  }

  template <typename Number>
  [[nodiscard]] Number number(json_value const& found, std::string const& field) const {
    bool const integer = found.is == json_value::kind::integer;
    if (std::is_integral_v<Number> && !integer) fail(field, "must be an integer");
    if (!integer && found.is != json_value::kind::real) fail(field, "must be a number");
    constexpr bool index = std::is_same_v<Number, unsigned>;  // of a list; all else is a size, a count or a rate
    if (!(found.number > 0 || (index && found.number == 0)) || !std::isfinite(found.number) ||
        found.number > largest<Number>())
      fail(field, fmt::format("= {} must be {} and finite", found.number, index ? "0 or more" : "positive"));
    if constexpr (std::is_integral_v<Number>) return static_cast<Number>(found.integer);
    else return found.number;
  }

  template <typename Number>
  static constexpr double largest() {
    return std::is_same_v<Number, int> ? 0x1p30 : std::is_integral_v<Number> ? 0x1p62 : 1e300;
  }

  std::string const file_;
  json_leaves leaves_;
};

}  // namespace heptad
