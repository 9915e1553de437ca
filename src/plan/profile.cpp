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
  explicit reader(std::string path) : path_(std::move(path)) {}

  [[noreturn]] void fail(std::string const& field, std::string const& rule) const {
    throw error(status::invalid_argument, fmt::format("profile {}: field '{}' {}", path_, field, rule));
  }

  json const& member(json const& object, std::string const& prefix, char const* name) const {
    if (!object.is_object()) fail(prefix, "must be an object");
    auto const found = object.find(name);
    if (found == object.end()) fail(prefix.empty() ? name : prefix + "." + name, "is missing");
    return *found;
  }

  // For the visitors above: reads each number of `object`, whose own path is `prefix`.
  auto numbers(json const& object, std::string const& prefix) const {
    return [this, &object, prefix](char const* name, auto& value) {
      using type = std::remove_reference_t<decltype(value)>;
      value = number<type>(member(object, prefix, name), path_of(prefix, name));
    };
  }

  rate_table rates(json const& profile, char const* type) const {
    rate_table result;
    json const& table = member(profile, "", type);
    std::string const prefix = type;
    result.sides = list<int>(table, prefix, "sides");
    for (std::size_t i = 1; i < result.sides.size(); ++i)
      if (result.sides[i] <= result.sides[i - 1])
        fail(fmt::format("{}.sides[{}]", type, i), fmt::format("= {} must be above the one before", result.sides[i]));
    result.product_gflops = list<double>(table, prefix, "product_gflops");
    std::size_t const sides = result.sides.size();
    if (result.product_gflops.size() != sides * sides * sides)
      fail(prefix + ".product_gflops",
           fmt::format("must have {} numbers, one for each m, n and k", sides * sides * sides));
    result.terms = rows<rate_table::term_rates>(table, prefix, "terms", &rate_table::term_rates::size,
                                                [](auto& row, auto const& visit) { for_each_term_rate(row, visit); });
    return result;
  }

  std::vector<pass_rate> passes(json const& profile) const {
    return rows<pass_rate>(profile, "", "passes", &pass_rate::bytes,
                           [](auto& row, auto const& visit) { for_each_pass_number(row, visit); });
  }

  std::string text(json const& profile, char const* name) const {
    json const& found = member(profile, "", name);
    if (!found.is_string()) fail(name, "must be a string");
    return found.get<std::string>();
  }

private:
  json const& array(json const& object, std::string const& prefix, char const* name) const {
    json const& found = member(object, prefix, name);
    if (!found.is_array() || found.empty()) fail(path_of(prefix, name), "must be a non-empty array");
    return found;
  }

  template <typename Number>
  std::vector<Number> list(json const& object, std::string const& prefix, char const* name) const {
    std::vector<Number> result;
    for (json const& entry : array(object, prefix, name))
      result.push_back(number<Number>(entry, fmt::format("{}[{}]", path_of(prefix, name), result.size())));
    return result;
  }

  /// A table of rows whose `key` ascends.
  template <typename Row, typename Key, typename ForEach>
  std::vector<Row> rows(json const& object, std::string const& prefix, char const* name, Key Row::*key,
                        ForEach for_each) const {
    std::vector<Row> result;
    for (json const& entry : array(object, prefix, name)) {
      std::string const field = fmt::format("{}[{}]", path_of(prefix, name), result.size());
      Row row{};
      for_each(row, numbers(entry, field));
      if (!result.empty() && row.*key <= result.back().*key)
        fail(field, fmt::format("= {} must be above the one before", row.*key));
      result.push_back(row);
    }
    return result;
  }

  static std::string path_of(std::string const& prefix, char const* name) {
    return prefix.empty() ? name : prefix + "." + name;
  }

  template <typename Number>
  Number number(json const& found, std::string const& field) const {
    if (std::is_integral_v<Number> && !found.is_number_integer()) fail(field, "must be an integer");
    if (!found.is_number()) fail(field, "must be a number");
    double const read = found.get<double>();
    if (!(read > 0) || !std::isfinite(read) || read > largest<Number>())
      fail(field, fmt::format("= {} must be positive and finite", read));
    return found.get<Number>();
  }

  template <typename Number>
  static constexpr double largest() {
    return std::is_same_v<Number, int> ? 0x1p30 : std::is_integral_v<Number> ? 0x1p62 : 1e300;
  }

  std::string path_;
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
  json const parsed = json::parse(file, nullptr, false);
  reader const read(path);
  if (parsed.is_discarded() || !parsed.is_object()) read.fail("(whole file)", "must be a JSON object");

  machine_profile p;
  p.cpu = read.text(parsed, "cpu");
  p.version = read.text(parsed, "version");
  p.kernel = read.text(parsed, "kernel");
  for_each_number(p, read.numbers(parsed, ""));
  p.passes = read.passes(parsed);
  p.f32 = read.rates(parsed, "f32");
  p.f64 = read.rates(parsed, "f64");
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
