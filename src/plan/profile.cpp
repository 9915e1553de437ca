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

namespace heptad {
namespace {

using nlohmann::json;

// Of the library and of the layout of the table: a profile of another one is measured again.
constexpr char const* profile_version = HEPTAD_VERSION "/2";

template <typename Profile, typename Visit>
void for_each_number(Profile& p, Visit const& visit) {
  visit("cores", p.cores);
  visit("memory_bytes", p.memory_bytes);
  visit("l2_bytes", p.l2_bytes);
  visit("l3_bytes", p.l3_bytes);
  visit("pass_gbytes_l2", p.pass_gbytes_l2);
  visit("pass_gbytes_l3", p.pass_gbytes_l3);
  visit("pass_gbytes", p.pass_gbytes);
  visit("pass_gbytes_all", p.pass_gbytes_all);
  visit("update_gbytes", p.update_gbytes);
  visit("task_seconds", p.task_seconds);
  visit("call_seconds", p.call_seconds);
}

template <typename Rates, typename Visit>
void for_each_rate(Rates& r, Visit const& visit) {
  visit("product_gflops", r.product_gflops);
  visit("pack_gbytes", r.pack_gbytes);
  visit("fringe_gflops", r.fringe_gflops);
}

template <typename Leaf, typename Visit>
void for_each_leaf_number(Leaf& l, Visit const& visit) {
  visit("size", l.size);
  visit("classical_gflops", l.classical_gflops);
  visit("ab_gflops", l.ab_gflops);
  visit("abc_gflops", l.abc_gflops);
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
      using number = std::remove_reference_t<decltype(value)>;
      json const& found = member(object, prefix, name);
      std::string const field = prefix.empty() ? name : prefix + "." + name;
      if (std::is_integral_v<number> && !found.is_number_integer()) fail(field, "must be an integer");
      if (!found.is_number()) fail(field, "must be a number");
      double const read = found.get<double>();
      if (!(read > 0) || !std::isfinite(read) || read > largest<number>())
        fail(field, fmt::format("= {} must be positive and finite", read));
      value = found.get<number>();
    };
  }

  rate_table rates(json const& profile, char const* type) const {
    rate_table result;
    json const& table = member(profile, "", type);
    for_each_rate(result, numbers(table, type));
    json const& leaves = member(table, type, "leaves");
    std::string const field = std::string(type) + ".leaves";
    if (!leaves.is_array() || leaves.empty()) fail(field, "must be a non-empty array");
    for (std::size_t i = 0; i < leaves.size(); ++i) {
      rate_table::leaf leaf{};
      for_each_leaf_number(leaf, numbers(leaves[i], fmt::format("{}[{}]", field, i)));
      if (i > 0 && leaf.size <= result.leaves.back().size)
        fail(fmt::format("{}[{}].size", field, i), fmt::format("= {} must be above the one before", leaf.size));
      result.leaves.push_back(leaf);
    }
    return result;
  }

  std::string text(json const& profile, char const* name) const {
    json const& found = member(profile, "", name);
    if (!found.is_string()) fail(name, "must be a string");
    return found.get<std::string>();
  }

private:
  template <typename Number>
  static constexpr double largest() {
    return std::is_same_v<Number, int> ? 0x1p30 : std::is_integral_v<Number> ? 0x1p62 : 1e300;
  }

  std::string path_;
};

json to_json(rate_table const& r) {
  json result = json::object();
  auto const write = [](json& into) { return [&into](char const* name, auto const& value) { into[name] = value; }; };
  for_each_rate(r, write(result));
  result["leaves"] = json::array();
  for (rate_table::leaf const& l : r.leaves) {
    json row = json::object();
    for_each_leaf_number(l, write(row));
    result["leaves"].push_back(row);
  }
  return result;
}

// Shape of the curve on AVX-512 server cores, as fractions of the rate of a large product.
constexpr double abc_to_ab = 0.98;
rate_table default_rates(double gflops) {
  rate_table r;
  r.product_gflops = gflops;
  r.fringe_gflops = gflops / 6;
  struct fraction {
    int size;
    double classical, ab;
  };
  for (fraction const f : {fraction{64, .50, .36},
                           {128, .74, .62},
                           {256, .88, .85},
                           {384, .92, .95},
                           {512, .94, .98},
                           {768, .96, 1.02},
                           {1024, .97, 1.05},
                           {2048, 1.0, 1.07}})
    r.leaves.push_back({f.size, f.classical * gflops, f.ab * gflops, abc_to_ab * f.ab * gflops});
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
  p.f32 = read.rates(parsed, "f32");
  p.f64 = read.rates(parsed, "f64");
  p.measured = true;
  if (stale != nullptr) *stale = stale_reason(p, kernel);
  return p;
}

void save_profile(machine_profile const& profile, std::string const& path) {
  json result = {{"cpu", profile.cpu}, {"version", profile.version}, {"kernel", profile.kernel}};
  for_each_number(profile, [&](char const* name, auto const& value) { result[name] = value; });
  result["f32"] = to_json(profile.f32);
  result["f64"] = to_json(profile.f64);

  std::filesystem::path const target(path);
  std::error_code failure;
  if (target.has_parent_path()) std::filesystem::create_directories(target.parent_path(), failure);
  std::string const fresh = path + ".new";
  std::ofstream file(fresh);
  file << result.dump(2) << '\n';
  file.close();
  if (file) std::filesystem::rename(fresh, path, failure);
  if (!file || failure) throw error(status::invalid_argument, fmt::format("profile {}: cannot be written", path));
}

}  // namespace heptad
