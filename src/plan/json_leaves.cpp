// SPDX-License-Identifier: BSD-3-Clause
#include "src/plan/json_leaves.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

namespace heptad {
namespace {

using nlohmann::json;
using kind = json_value::kind;

/// What nlohmann_json calls as it reads; false ends it.
class collector {
public:
  json_leaves leaves;

  bool null() { return add({}); }
  bool boolean(bool) { return add({}); }
  bool binary(json::binary_t&) { return add({}); }
  bool number_integer(std::int64_t x) { return add({kind::integer, 0, static_cast<double>(x), 0, {}}); }
  bool number_unsigned(std::uint64_t x) { return add({kind::integer, 0, static_cast<double>(x), x, {}}); }
  bool number_float(double x, std::string const&) { return add({kind::real, 0, x, 0, {}}); }
  bool string(std::string& x) { return add({kind::text, 0, 0, 0, x}); }
  bool start_object(std::size_t) { return open(kind::object); }
  bool start_array(std::size_t) { return open(kind::array); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }
  bool key(std::string& name) {
    open_.back().key = name;
    return true;
  }
  bool parse_error(std::size_t, std::string const&, json::exception const&) { return false; }

private:
  static constexpr std::size_t deepest = 8;
  struct container {
    std::string path;
    json_value* value;
    std::string key;  // of the next member
  };

  std::string next_path() {
    if (open_.empty()) return {};
    container const& in = open_.back();
    if (in.value->is == kind::object) return json_path(in.path, in.key);
    return fmt::format("{}[{}]", in.path, in.value->size++);
  }
  bool add(json_value value) {
    leaves.insert_or_assign(next_path(), std::move(value));
    return true;
  }
  bool open(kind what) {
    if (open_.size() == deepest) return false;
    std::string path = next_path();
    json_value& value = leaves.insert_or_assign(path, json_value{what, 0, 0, 0, {}}).first->second;
    open_.push_back({std::move(path), &value, {}});
    return true;
  }
  bool close() {
    open_.pop_back();
    return true;
  }

  std::vector<container> open_;  // outermost first
};

}  // namespace

std::string json_path(std::string const& parent, std::string const& key) {
  return parent.empty() ? key : parent + "." + key;
}

std::optional<json_leaves> read_json_leaves(std::istream& from) {
  collector into;
  if (!json::sax_parse(from, &into)) return std::nullopt;
  return std::move(into.leaves);
}

}  // namespace heptad
