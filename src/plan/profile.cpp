// SPDX-License-Identifier: BSD-3-Clause
// The machine profile as JSON. One list of fields serves loading and saving, so that they cannot differ; every number
// is a positive one, and an error names the field by its path.
#include "src/plan/profile.hpp"

#include <hwloc.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <type_traits>

#include <fmt/format.h>

#include <heptad/heptad.hpp>

#include "src/plan/json_leaves.hpp"
#include "src/plan/replace_file.hpp"

namespace heptad {
namespace {

using nlohmann::json;

// Of the library and of the layout of the table: a profile of another one is measured again.
constexpr char const* profile_version = HEPTAD_VERSION "/3";

template <typename Profile, typename Visit>
void for_each_number(Profile& p, Visit const& visit) {
  visit("cores", p.cores);
  visit("memory_bytes", p.memory_bytes);
  visit("l2_bytes", p.l2_bytes);
  visit("l3_bytes", p.l3_bytes);
  visit("update_gbytes", p.update_gbytes);
  visit("task_seconds", p.task_seconds);
  visit("call_seconds", p.call_seconds);
}

template <typename Terms, typename Visit>
void for_each_term_rate(Terms& t, Visit const& visit) {
  visit("size", t.size);
  visit("a_gbytes", t.a_gbytes);
  visit("b_gbytes", t.b_gbytes);
  visit("ab_gbytes", t.ab_gbytes);
  visit("abc_gbytes", t.abc_gbytes);
}

template <typename Pass, typename Visit>
void for_each_pass_number(Pass& p, Visit const& visit) {
  visit("bytes", p.bytes);
  visit("gbytes", p.gbytes);
  visit("gbytes_all", p.gbytes_all);
}

class reader {
public:
  reader(std::string path, json_leaves leaves) : path_(std::move(path)), leaves_(std::move(leaves)) {}

  [[noreturn]] void fail(std::string const& field, std::string const& rule) const {
    throw error(status::invalid_argument,
                fmt::format("profile {}: field '{}' {}", path_, field.empty() ? "(whole file)" : field, rule));
  }

  // For the visitors above: reads each number of the object `parent`.
  auto numbers(std::string const& parent) const {
    return [this, parent](char const* name, auto& value) {
      using type = std::remove_reference_t<decltype(value)>;
      value = number<type>(member(parent, name), json_path(parent, name));
    };
  }

  rate_table rates(std::string const& type) const {
    rate_table result;
    result.sides = list<int>(type, "sides");
    for (std::size_t i = 1; i < result.sides.size(); ++i)
      if (result.sides[i] <= result.sides[i - 1])
        fail(fmt::format("{}.sides[{}]", type, i), fmt::format("= {} must be above the one before", result.sides[i]));
    result.product_gflops = list<double>(type, "product_gflops");
    std::size_t const sides = result.sides.size();
    if (result.product_gflops.size() != sides * sides * sides)
      fail(type + ".product_gflops",
           fmt::format("must have {} numbers, one for each m, n and k", sides * sides * sides));
    result.terms = rows<rate_table::term_rates>(type, "terms", &rate_table::term_rates::size,
                                                [](auto& row, auto const& visit) { for_each_term_rate(row, visit); });
    return result;
  }

  std::vector<pass_rate> passes() const {
    return rows<pass_rate>("", "passes", &pass_rate::bytes,
                           [](auto& row, auto const& visit) { for_each_pass_number(row, visit); });
  }

  std::string text(char const* name) const {
    json_value const& found = member("", name);
    if (found.is != json_value::kind::text) fail(name, "must be a string");
    return found.text;
  }

private:
  json_value const& at(std::string const& path) const {
    auto const found = leaves_.find(path);
    if (found == leaves_.end()) fail(path, "is missing");
    return found->second;
  }

  json_value const& member(std::string const& parent, char const* name) const {
    if (at(parent).is != json_value::kind::object) fail(parent, "must be an object");
    return at(json_path(parent, name));
  }

  std::size_t length(std::string const& parent, char const* name) const {
    json_value const& found = member(parent, name);
    if (found.is != json_value::kind::array || found.size == 0)
      fail(json_path(parent, name), "must be a non-empty array");
    return found.size;
  }

  template <typename Number>
  std::vector<Number> list(std::string const& parent, char const* name) const {
    std::vector<Number> result;
    for (std::size_t i = 0, count = length(parent, name); i < count; ++i) {
      std::string const field = fmt::format("{}[{}]", json_path(parent, name), i);
      result.push_back(number<Number>(at(field), field));
    }
    return result;
  }

  /// A table of rows whose `key` ascends.
  template <typename Row, typename Key, typename ForEach>
  std::vector<Row> rows(std::string const& parent, char const* name, Key Row::*key, ForEach for_each) const {
    std::vector<Row> result;
    for (std::size_t i = 0, count = length(parent, name); i < count; ++i) {
      std::string const field = fmt::format("{}[{}]", json_path(parent, name), i);
      Row row{};
      for_each(row, numbers(field));
      if (!result.empty() && row.*key <= result.back().*key)
        fail(field, fmt::format("= {} must be above the one before", row.*key));
      result.push_back(row);
    }
    return result;
  }

  template <typename Number>
  Number number(json_value const& found, std::string const& field) const {
    bool const integer = found.is == json_value::kind::integer;
    if (std::is_integral_v<Number> && !integer) fail(field, "must be an integer");
    if (!integer && found.is != json_value::kind::real) fail(field, "must be a number");
    if (!(found.number > 0) || !std::isfinite(found.number) || found.number > largest<Number>())
      fail(field, fmt::format("= {} must be positive and finite", found.number));
    if constexpr (std::is_integral_v<Number>) return static_cast<Number>(found.integer);
    else return found.number;
  }

  template <typename Number>
  static constexpr double largest() {
    return std::is_same_v<Number, int> ? 0x1p30 : std::is_integral_v<Number> ? 0x1p62 : 1e300;
  }

  std::string path_;
  json_leaves leaves_;
};

auto writer(json& into) {
  return [&into](char const* name, auto const& value) { into[name] = value; };
}

json to_json(rate_table const& r) {
  json result = {{"sides", r.sides}, {"product_gflops", r.product_gflops}, {"terms", json::array()}};
  for (rate_table::term_rates const& t : r.terms) for_each_term_rate(t, writer(result["terms"].emplace_back()));
  return result;
}

// Shape of the curves on AVX-512 server cores: a product reaches h / (h + 45) of its best rate, with h the harmonic
// mean of its sides.
rate_table default_rates(double gflops) {
  rate_table r;
  r.sides = {8, 32, 96, 256, 512, 1024, 2048};
  r.product_gflops.clear();
  for (int const m : r.sides)
    for (int const n : r.sides)
      for (int const k : r.sides) {
        double const mean = 3 / (1. / m + 1. / n + 1. / k);
        r.product_gflops.push_back(gflops * mean / (mean + 45));
      }
  r.terms = {{64, 60, 60, 60, 60}, {1024, 50, 50, 40, 40}};
  return r;
}

std::string stale_reason(machine_profile const& p, std::string const& kernel) {
  machine_profile const here = default_profile();
  if (p.cpu != here.cpu) return fmt::format("measured on CPU '{}', this one is '{}'", p.cpu, here.cpu);
  if (p.version != here.version) return fmt::format("measured by version {}, this is {}", p.version, here.version);
  if (!kernel.empty() && p.kernel != kernel)
    return fmt::format("measured with kernel set '{}', '{}' is in use", p.kernel, kernel);
  return {};
}

}  // namespace

machine_profile default_profile() {
  machine_profile p;
  p.version = profile_version;
  p.passes = {{256e3, 60, 60}, {4e6, 35, 50}, {256e6, 30, 50}};
  p.f64 = default_rates(65);
  p.f32 = default_rates(130);

  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) return p;
  std::unique_ptr<hwloc_topology, decltype(&hwloc_topology_destroy)> const topology(raw, &hwloc_topology_destroy);
  if (hwloc_topology_load(raw) != 0) return p;
  p.cores = std::max(1, hwloc_get_nbobjs_by_type(raw, HWLOC_OBJ_CORE));
  hwloc_obj_t const root = hwloc_get_root_obj(raw);
  p.memory_bytes = static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  if (hwloc_obj_t const l2 = hwloc_get_obj_by_type(raw, HWLOC_OBJ_L2CACHE, 0)) p.l2_bytes = l2->attr->cache.size;
  hwloc_obj_t const l3 = hwloc_get_obj_by_type(raw, HWLOC_OBJ_L3CACHE, 0);
  p.l3_bytes = l3 != nullptr ? l3->attr->cache.size : p.l2_bytes;
  for (hwloc_obj_t const where : {hwloc_get_obj_by_type(raw, HWLOC_OBJ_PACKAGE, 0), root})
    if (char const* model = where != nullptr ? hwloc_obj_get_info_by_name(where, "CPUModel") : nullptr) {
      p.cpu = model;
      break;
    }
  return p;
}

std::string profile_path() {
  auto const folder = [](char const* variable) -> std::filesystem::path {
    char const* value = std::getenv(variable);
    return value != nullptr ? value : "";
  };
  std::filesystem::path where = folder("HEPTAD_PROFILE_DIR");
  if (where.empty() && !folder("XDG_CACHE_HOME").empty()) where = folder("XDG_CACHE_HOME") / "heptad";
  if (where.empty() && !folder("HOME").empty()) where = folder("HOME") / ".cache" / "heptad";
  if (where.empty())
    throw error(status::invalid_argument,
                "no place for the machine profile: set HEPTAD_PROFILE_DIR, XDG_CACHE_HOME or HOME");
  return where / "profile.json";
}

std::optional<machine_profile> load_profile(std::string const& path, std::string* stale, std::string const& kernel) {
  if (stale != nullptr) stale->clear();
  std::ifstream file(path);
  if (!file) return std::nullopt;
  auto leaves = read_json_leaves(file);
  reader const read(path, leaves ? std::move(*leaves) : json_leaves{});
  if (!leaves) read.fail("", "must be JSON");

  machine_profile p;
  p.cpu = read.text("cpu");
  p.version = read.text("version");
  p.kernel = read.text("kernel");
  for_each_number(p, read.numbers(""));
  p.passes = read.passes();
  p.f32 = read.rates("f32");
  p.f64 = read.rates("f64");
  p.measured = true;
  if (stale != nullptr) *stale = stale_reason(p, kernel);
  return p;
}

void save_profile(machine_profile const& profile, std::string const& path) {
  json result = {{"cpu", profile.cpu}, {"version", profile.version}, {"kernel", profile.kernel}};
  for_each_number(profile, writer(result));
  for (pass_rate const& p : profile.passes) for_each_pass_number(p, writer(result["passes"].emplace_back()));
  result["f32"] = to_json(profile.f32);
  result["f64"] = to_json(profile.f64);

  if (!replace_file(path, result.dump(2) + '\n'))
    throw error(status::invalid_argument, fmt::format("profile {}: cannot be written", path));
}

}  // namespace heptad
