// SPDX-License-Identifier: BSD-3-Clause
// The machine profile as JSON. One list of fields serves loading and saving, so that they cannot differ; every number
// is a positive one, and an error names the field by its path.
#include "src/plan/profile.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include <fmt/format.h>

#include <heptad/heptad.hpp>

#include "src/plan/json_fields.hpp"
#include "src/plan/replace_file.hpp"
#include "src/plan/this_machine.hpp"

namespace heptad {
namespace {

using nlohmann::json;

// Of the library and of the layout of the table: a profile of another one is measured again.
constexpr char const* profile_version = HEPTAD_VERSION "/10";

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
  visit("fetch_gbytes", t.fetch_gbytes);
  visit("fused_fetch_gbytes", t.fused_fetch_gbytes);
  visit("ragged_gbytes", t.ragged_gbytes);
}

template <typename Pass, typename Visit>
void for_each_pass_number(Pass& p, Visit const& visit) {
  visit("bytes", p.bytes);
  visit("gbytes", p.gbytes);
  visit("gbytes_all", p.gbytes_all);
  visit("scan_gbytes", p.scan_gbytes);
}

template <typename Width, typename Visit>
void for_each_width_number(Width& w, Visit const& visit) {
  visit("blocks", w.blocks);
  visit("slower", w.slower);
}

rate_table read_rates(json_fields const& from, std::string const& type) {
  rate_table result;
  result.sides = from.list<int>(type, "sides");
  for (std::size_t i = 1; i < result.sides.size(); ++i)
    if (result.sides[i] <= result.sides[i - 1])
      from.fail(fmt::format("{}.sides[{}]", type, i),
                fmt::format("= {} must be above the one before", result.sides[i]));
  result.product_gflops = from.list<double>(type, "product_gflops");
  std::size_t const sides = result.sides.size();
  if (result.product_gflops.size() != sides * sides * sides)
    from.fail(type + ".product_gflops",
              fmt::format("must have {} numbers, one for each m, n and k", sides * sides * sides));
  result.terms =
      from.rows<rate_table::term_rates>(type, "terms", &rate_table::term_rates::size,
                                        [](auto& row, auto const& visit) { for_each_term_rate(row, visit); });
  from.numbers(type)("vector_rows", result.vector_rows);
  return result;
}

auto writer(json& into) {
  return [&into](char const* name, auto const& value) { into[name] = value; };
}

json to_json(rate_table const& r) {
  json result = {{"sides", r.sides},
                 {"product_gflops", r.product_gflops},
                 {"terms", json::array()},
                 {"vector_rows", r.vector_rows}};
  for (rate_table::term_rates const& t : r.terms) for_each_term_rate(t, writer(result["terms"].emplace_back()));
  return result;
}

// Shape of the curves on AVX-512 server cores: a product reaches h / (h + 45) of its best rate, with h the harmonic
// mean of its sides.
rate_table default_rates(double gflops, int vector_rows) {
  rate_table r;
  r.sides = {8, 32, 96, 256, 512, 1024, 2048};
  r.product_gflops.clear();
  for (int const m : r.sides)
    for (int const n : r.sides)
      for (int const k : r.sides) {
        double const mean = 3 / (1. / m + 1. / n + 1. / k);
        r.product_gflops.push_back(gflops * mean / (mean + 45));
      }
  r.terms = {
      {128, 33, 30, 250, 250, 50, 50, 200}, {512, 15, 26, 150, 150, 80, 40, 200}, {2048, 12, 20, 40, 40, 500, 40, 200}};
  r.vector_rows = vector_rows;
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
  p.passes = {{256e3, 60, 60, 60}, {4e6, 35, 50, 50}, {256e6, 30, 50, 25}};
  p.widths = {{6, 1.2}, {20, 1.3}, {50, 1.5}};
  p.f64 = default_rates(65, 8);
  p.f32 = default_rates(130, 16);

  if (machine_facts const* const here = this_machine()) {
    p.cpu = here->cpu;
    p.cores = here->cores;
    p.memory_bytes = here->memory_bytes;
    if (here->l2_bytes > 0) p.l2_bytes = here->l2_bytes;
    p.l3_bytes = here->l3_bytes > 0 ? here->l3_bytes : p.l2_bytes;
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
  json_fields const read("profile " + path, file);

  machine_profile p;
  p.cpu = read.text("", "cpu");
  p.version = read.text("", "version");
  p.kernel = read.text("", "kernel");
  for_each_number(p, read.numbers(""));
  p.passes = read.rows<pass_rate>("", "passes", &pass_rate::bytes,
                                  [](auto& row, auto const& visit) { for_each_pass_number(row, visit); });
  p.widths = read.rows<pass_width>("", "widths", &pass_width::blocks,
                                   [](auto& row, auto const& visit) { for_each_width_number(row, visit); });
  p.f32 = read_rates(read, "f32");
  p.f64 = read_rates(read, "f64");
  p.measured = true;
  if (stale != nullptr) *stale = stale_reason(p, kernel);
  return p;
}

void save_profile(machine_profile const& profile, std::string const& path) {
  json result = {{"cpu", profile.cpu}, {"version", profile.version}, {"kernel", profile.kernel}};
  for_each_number(profile, writer(result));
  for (pass_rate const& p : profile.passes) for_each_pass_number(p, writer(result["passes"].emplace_back()));
  for (pass_width const& w : profile.widths) for_each_width_number(w, writer(result["widths"].emplace_back()));
  result["f32"] = to_json(profile.f32);
  result["f64"] = to_json(profile.f64);

  if (!replace_file(path, result.dump(2) + '\n'))
    throw error(status::invalid_argument, fmt::format("profile {}: cannot be written", path));
}

}  // namespace heptad
