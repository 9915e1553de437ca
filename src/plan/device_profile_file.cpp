// SPDX-License-Identifier: BSD-3-Clause
// One list of fields serves loading and saving, so that they cannot differ.
#include "src/plan/device_profile_file.hpp"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <type_traits>

#include "src/plan/profile.hpp"
#include "src/plan/replace_file.hpp"

namespace heptad::cuda {
namespace {

using nlohmann::json;

template <typename Profile, typename Visit>
void for_each_number(Profile& p, Visit const& visit) {
  visit("cublas", p.cublas);
  visit("memory_bytes", p.memory_bytes);
  visit("multiprocessors", p.multiprocessors);
  visit("pass_gbytes", p.pass_gbytes);
  visit("pass_seconds", p.pass_seconds);
  visit("call_seconds", p.call_seconds);
  visit("load_gbytes", p.load_gbytes);
  visit("store_gbytes", p.store_gbytes);
  visit("staged_gbytes", p.staged_gbytes);
}
template <typename Cube, typename Visit>
requires requires(Cube c) { c.batched; }
void for_each_number(Cube& c, Visit const& visit) {
  visit("size", c.size);
  visit("single", c.single);
  visit("batched", c.batched);
}
template <typename Thin, typename Visit>
requires requires(Thin t) { t.k; }
void for_each_number(Thin& t, Visit const& visit) {
  visit("k", t.k);
  visit("tflops", t.tflops);
}
template <typename Fused, typename Visit>
requires requires(Fused f) { f.size, f.tflops; }
void for_each_number(Fused& f, Visit const& visit) {
  visit("size", f.size);
  visit("tflops", f.tflops);
}
template <typename Profile, typename Visit>
void for_each_rates(Profile& p, Visit const& visit) {
  visit("f64", p.f64);
  visit("f32", p.f32);
  visit("tf32", p.tf32);
  visit("bf16", p.bf16);
}

class reader {
public:
  explicit reader(std::string path) : path_(std::move(path)) {}

  [[noreturn]] void fail(std::string const& field, std::string const& rule) const {
    throw error(status::invalid_argument, fmt::format("device profiles {}: field '{}' {}", path_, field, rule));
  }

  json const& member(json const& object, std::string const& prefix, std::string const& name) const {
    if (!object.is_object()) fail(prefix, "must be an object");
    auto const found = object.find(name);
    if (found == object.end()) fail(prefix + "." + name, "is missing");
    return *found;
  }

  /// For the lists above: reads each number of `object`.
  auto numbers(json const& object, std::string const& prefix) const {
    return [this, &object, prefix](char const* name, auto& value) {
      using number = std::remove_reference_t<decltype(value)>;
      json const& found = member(object, prefix, name);
      if (std::is_integral_v<number> ? !found.is_number_integer() : !found.is_number())
        fail(prefix + "." + name, std::is_integral_v<number> ? "must be an integer" : "must be a number");
      double const read = found.get<double>();
      if (!(read > 0) || !(read < largest<number>()))
        fail(prefix + "." + name, fmt::format("= {} must be positive and finite", read));
      value = found.get<number>();
    };
  }

  std::string text(json const& object, std::string const& prefix, char const* name) const {
    json const& found = member(object, prefix, name);
    if (!found.is_string()) fail(prefix + "." + name, "must be a string");
    return found.get<std::string>();
  }

  /// Points in ascending order of their first number, at least `least`.
  template <typename Point>
  std::vector<Point> points(json const& rates, std::string const& prefix, char const* name, int Point::*key,
                            std::size_t least = 1) const {
    json const& list = member(rates, prefix, name);
    std::string const field = prefix + "." + name;
    if (!list.is_array()) fail(field, "must be an array");
    if (list.size() < least) fail(field, "must be a non-empty array");
    std::vector<Point> all;
    for (std::size_t i = 0; i < list.size(); ++i) {
      Point p{};
      for_each_number(p, numbers(list[i], fmt::format("{}[{}]", field, i)));
      if (!all.empty() && p.*key <= all.back().*key)
        fail(fmt::format("{}[{}]", field, i), "must be above the one before");
      all.push_back(p);
    }
    return all;
  }

  device_profile profile(json const& entry, std::string const& prefix) const {
    device_profile p;
    p.name = text(entry, prefix, "name");
    p.version = text(entry, prefix, "version");
    for_each_number(p, numbers(entry, prefix));
    for_each_rates(p, [&](char const* type, product_rates& rates) {
      std::string const field = prefix + "." + type;
      json const& table = member(entry, prefix, type);
      rates.cubes = points(table, field, "cubes", &product_rates::cube::size);
      rates.thins = points(table, field, "thins", &product_rates::thin::k);
      rates.fused = points(table, field, "fused", &product_rates::fused_cube::size, 0);
      numbers(table, field)("unaligned", rates.unaligned);
    });
    p.measured = true;
    return p;
  }

  /// The entries; the last one was measured last.
  json entries() const {
    std::ifstream file(path_);
    if (!file) return json::array();
    json parsed = json::parse(file, nullptr, false);
    if (!parsed.is_array()) fail("(whole file)", "must be a JSON array");
    return parsed;
  }

private:
  template <typename Number>
  static constexpr double largest() {
    return std::is_same_v<Number, int> ? 0x1p30 : std::is_integral_v<Number> ? 0x1p62 : 1e300;
  }
  std::string path_;
};

template <typename Value>
json as_json(Value const& value) {
  json object = json::object();
  for_each_number(value, [&](char const* name, auto const& number) { object[name] = number; });
  return object;
}

json as_json_entry(device_profile const& p) {
  json entry = as_json(p);
  entry["name"] = p.name;
  entry["version"] = p.version;
  for_each_rates(p, [&](char const* type, product_rates const& rates) {
    json table = {
        {"cubes", json::array()}, {"thins", json::array()}, {"fused", json::array()}, {"unaligned", rates.unaligned}};
    for (auto const& point : rates.fused) table["fused"].push_back(as_json(point));
    for (auto const& cube : rates.cubes) table["cubes"].push_back(as_json(cube));
    for (auto const& thin : rates.thins) table["thins"].push_back(as_json(thin));
    entry[type] = table;
  });
  return entry;
}

}  // namespace

std::string device_profile_version() { return HEPTAD_VERSION "/2"; }

std::string device_profiles_path() {
  return (std::filesystem::path(profile_path()).parent_path() / "cuda-devices.json").string();
}

std::optional<device_profile> load_device_profile(std::string const& path, std::string const& name) {
  reader const read(path);
  json const all = read.entries();
  for (std::size_t i = all.size(); i-- > 0;) {
    std::string const prefix = fmt::format("[{}]", i);
    if (name.empty() || read.text(all[i], prefix, "name") == name) return read.profile(all[i], prefix);
  }
  return std::nullopt;
}

void save_device_profile(device_profile const& profile, std::string const& path) {
  reader const read(path);
  json all = json::array();
  json const before = read.entries();
  for (std::size_t i = 0; i < before.size(); ++i)
    if (read.text(before[i], fmt::format("[{}]", i), "name") != profile.name) all.push_back(before[i]);
  all.push_back(as_json_entry(profile));

  if (!replace_file(path, all.dump(2) + '\n'))
    throw error(status::invalid_argument, fmt::format("device profiles {}: cannot be written", path));
}

std::string stale_reason(device_profile const& profile, int cublas) {
  if (profile.version != device_profile_version())
    return fmt::format("measured by version {}, this is {}", profile.version, device_profile_version());
  if (cublas != 0 && profile.cublas != cublas)
    return fmt::format("measured with cuBLAS {}, {} is in use", profile.cublas, cublas);
  return {};
}

}  // namespace heptad::cuda
