// SPDX-License-Identifier: BSD-3-Clause
// One list of fields serves loading and saving, so that they cannot differ.
#include "src/plan/device_profile_file.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "src/plan/fused_tiles.hpp"
#include "src/plan/json_fields.hpp"
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
  visit("line_seconds", p.line_seconds);
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
  visit("tile", f.tile);
}
template <typename Profile, typename Visit>
void for_each_rates(Profile& p, Visit const& visit) {
  visit("f64", p.f64);
  visit("f32", p.f32);
  visit("tf32", p.tf32);
  visit("bf16", p.bf16);
}

/// The file is an array of profiles; the last one was measured last.
std::string entry(std::size_t i) { return fmt::format("[{}]", i); }

device_profile read_profile(json_fields const& from, std::string const& at) {
  auto const numbers = [](auto& row, auto const& visit) { for_each_number(row, visit); };
  device_profile p;
  p.name = from.text(at, "name");
  p.version = from.text(at, "version");
  for_each_number(p, from.numbers(at));
  for_each_rates(p, [&](char const* type, product_rates& rates) {
    std::string const table = json_path(at, type);
    rates.cubes = from.rows<product_rates::cube>(table, "cubes", &product_rates::cube::size, numbers);
    rates.thins = from.rows<product_rates::thin>(table, "thins", &product_rates::thin::k, numbers);
    rates.fused = from.rows<product_rates::fused_cube>(table, "fused", &product_rates::fused_cube::size, numbers, 0);
    auto const tiles = fused_tiles(&rates == &p.f64 ? element_type::f64 : element_type::f32).size();
    for (std::size_t i = 0; i < rates.fused.size(); ++i)
      if (rates.fused[i].tile >= tiles)
        from.fail(fmt::format("{}[{}].tile", json_path(table, "fused"), i),
                  fmt::format("= {} must be below {}", rates.fused[i].tile, tiles));
    from.numbers(table)("unaligned", rates.unaligned);
  });
  p.measured = true;
  return p;
}

std::string in_words(std::string const& path) { return "device profiles " + path; }

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

std::string device_profile_version() { return HEPTAD_VERSION "/5"; }

std::string device_profiles_path() {
  return (std::filesystem::path(profile_path()).parent_path() / "cuda-devices.json").string();
}

std::optional<device_profile> load_device_profile(std::string const& path, std::string const& name) {
  std::ifstream file(path);
  if (!file) return std::nullopt;
  json_fields const read(in_words(path), file);
  for (std::size_t i = read.length(); i-- > 0;)
    if (name.empty() || read.text(entry(i), "name") == name) return read_profile(read, entry(i));
  return std::nullopt;
}

void save_device_profile(device_profile const& profile, std::string const& path) {
  json all = json::array();
  if (std::ifstream file(path); file) {
    json_fields const read(in_words(path), file);
    json const before = json::parse(std::ifstream(path));
    for (std::size_t i = 0; i < read.length(); ++i)
      if (read.text(entry(i), "name") != profile.name) all.push_back(before[i]);
  }
  all.push_back(as_json_entry(profile));

  if (!replace_file(path, all.dump(2) + '\n'))
    throw error(status::invalid_argument, in_words(path) + ": cannot be written");
}

std::string stale_reason(device_profile const& profile, int cublas) {
  if (profile.version != device_profile_version())
    return fmt::format("measured by version {}, this is {}", profile.version, device_profile_version());
  if (cublas != 0 && profile.cublas != cublas)
    return fmt::format("measured with cuBLAS {}, {} is in use", profile.cublas, cublas);
  return {};
}

}  // namespace heptad::cuda
