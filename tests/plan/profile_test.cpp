// SPDX-License-Identifier: BSD-3-Clause
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <tuple>
#include <vector>

#include <heptad/heptad.hpp>

#include "src/plan/profile.hpp"
#include "tests/environment_variable.hpp"
#include "tests/plan/machines.hpp"

using namespace heptad;
using nlohmann::json;

namespace {

struct scratch_folder : test::temporary_folder {
  [[nodiscard]] std::string file() const { return (path() / "deeper" / "profile.json").string(); }
};

/// No number is a default, and no two of a row are alike.
machine_profile of_this_machine() {
  machine_profile p = test::zen4();
  p.cpu = default_profile().cpu;
  p.version = default_profile().version;
  p.measured = true;
  p.l2_bytes = 3 << 20, p.l3_bytes = 48 << 20;
  p.task_seconds = 3e-6, p.call_seconds = 7e-6;
  p.passes[1] = {4e6, 45, 60, 70};
  p.f64.vector_rows = 4, p.f32.vector_rows = 16;
  p.f64.terms[1] = {448, 51, 52, 53, 54, 55, 56, 57};
  p.f32.terms[1] = {448, 61, 62, 63, 64, 65, 66, 67};
  return p;
}

// All fields: a new one does not compile until it is here.
auto fields(pass_rate const& x) {
  auto const& [bytes, gbytes, gbytes_all, scan_gbytes] = x;
  return std::tuple(bytes, gbytes, gbytes_all, scan_gbytes);
}
auto fields(pass_width const& x) {
  auto const& [blocks, slower] = x;
  return std::tuple(blocks, slower);
}
auto fields(rate_table::term_rates const& x) {
  auto const& [size, a, b, ab, abc, fetch, fused_fetch, ragged] = x;
  return std::tuple(size, a, b, ab, abc, fetch, fused_fetch, ragged);
}
template <typename Row>
auto fields(std::vector<Row> const& rows) {
  std::vector<decltype(fields(rows.front()))> all;
  for (Row const& row : rows) all.push_back(fields(row));
  return all;
}
auto fields(rate_table const& x) {
  auto const& [sides, product_gflops, terms, vector_rows] = x;
  return std::tuple(sides, product_gflops, fields(terms), vector_rows);
}
auto fields(machine_profile const& x) {
  auto const& [cpu, version, kernel, cores, memory, l2, l3, passes, widths, update, task, call, f32, f64, measured] = x;
  return std::tuple(cpu, version, kernel, cores, memory, l2, l3, fields(passes), fields(widths), update, task, call,
                    fields(f32), fields(f64), measured);
}

json read(std::string const& path) {
  std::ifstream file(path);
  return json::parse(file);
}

std::string failure_after(std::string const& path, json const& changed) {
  std::ofstream(path) << changed.dump();
  try {
    load_profile(path);
  } catch (error const& e) {
    CHECK(e.code() == status::invalid_argument);
    return e.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("a profile comes back as it was saved") {
  scratch_folder const folder;
  std::string const again = (folder.path() / "again.json").string();
  machine_profile const saved = of_this_machine();
  save_profile(saved, folder.file());
  std::string stale = "?";
  auto const loaded = load_profile(folder.file(), &stale, saved.kernel);
  REQUIRE(loaded);
  CHECK(stale.empty());
  CHECK((fields(*loaded) == fields(saved)));
  save_profile(*loaded, again);
  CHECK(json::diff(read(folder.file()), read(again)) == json::array());
}

TEST_CASE("there is no profile where there is no file") { CHECK_FALSE(load_profile("/nonexistent/profile.json")); }

TEST_CASE("a profile that cannot be read is refused with its path") {
  scratch_folder const folder;
  for (std::string const& path : {folder.path().string(), std::string("/proc/self/mem")})
    CHECK_THROWS_WITH(load_profile(path), "profile " + path + ": field '(whole file)' cannot be read");
}

TEST_CASE("a malformed profile is refused with the name of the field") {
  scratch_folder const folder;
  std::string const path = folder.file();
  save_profile(of_this_machine(), path);
  json const good = read(path);
  using Catch::Matchers::Contains;

  json bad = good;
  bad.erase("l2_bytes");
  CHECK_THAT(failure_after(path, bad), Contains("l2_bytes") && Contains("missing"));
  bad = good;
  bad["update_gbytes"] = -3;
  CHECK_THAT(failure_after(path, bad), Contains("update_gbytes") && Contains("-3"));
  bad = good;
  bad["cores"] = 1.5;
  CHECK_THAT(failure_after(path, bad), Contains("cores") && Contains("integer"));
  bad = good;
  bad["cpu"] = 7;
  CHECK_THAT(failure_after(path, bad), Contains("cpu") && Contains("string"));
  bad = good;
  bad["f32"]["sides"][3] = 1;
  CHECK_THAT(failure_after(path, bad), Contains("f32.sides[3]") && Contains("above"));
  bad = good;
  bad["f64"]["product_gflops"].erase(0);
  CHECK_THAT(failure_after(path, bad), Contains("f64.product_gflops") && Contains("512 numbers"));
  bad = good;
  bad["f64"]["product_gflops"][7] = 0;
  CHECK_THAT(failure_after(path, bad), Contains("f64.product_gflops[7]"));
  bad = good;
  bad["f64"]["terms"] = json::array();
  CHECK_THAT(failure_after(path, bad), Contains("f64.terms"));
  bad = good;
  bad["passes"][1]["bytes"] = 1;
  CHECK_THAT(failure_after(path, bad), Contains("passes[1]") && Contains("above"));
  bad = good;
  bad["widths"][1]["slower"] = 0;
  CHECK_THAT(failure_after(path, bad), Contains("widths[1]") && Contains("slower"));
  bad = good;
  bad["f64"] = "fast";
  CHECK_THAT(failure_after(path, bad), Contains("f64"));
  CHECK_THAT(failure_after(path, json::array()), Contains(path));
  for (std::string const& text : {std::string("{\"cpu\": "), std::string(100000, '[')}) {
    std::ofstream(path) << text;
    CHECK_THROWS_AS(load_profile(path), error);
  }
}

TEST_CASE("a profile of another CPU, version or kernel set is stale and says why") {
  scratch_folder const folder;
  using Catch::Matchers::Contains;
  auto const reason = [&](machine_profile const& p, char const* kernel) {
    save_profile(p, folder.file());
    std::string stale;
    CHECK(load_profile(folder.file(), &stale, kernel));
    return stale;
  };
  machine_profile other = of_this_machine();
#if defined(__x86_64__)
  CHECK_THAT(other.cpu, Contains("(family ") && Contains(", model "));
#endif
  other.cpu = "Z80";
  CHECK_THAT(reason(other, ""), Contains("Z80"));
  other = of_this_machine();
  other.version = "0.0/0";
  CHECK_THAT(reason(other, ""), Contains("0.0/0"));
  CHECK_THAT(reason(of_this_machine(), "portable"), Contains("portable"));
  CHECK(reason(of_this_machine(), "") == "");
}

TEST_CASE("the profile lies where the environment says") {
  test::environment_variable const xdg("XDG_CACHE_HOME", "/x"), home("HOME", "/h");
  {
    test::environment_variable const own("HEPTAD_PROFILE_DIR", "/p");
    CHECK(profile_path() == "/p/profile.json");
  }
  test::environment_variable const none("HEPTAD_PROFILE_DIR", nullptr);
  CHECK(profile_path() == "/x/heptad/profile.json");
  test::environment_variable const no_xdg("XDG_CACHE_HOME", nullptr);
  CHECK(profile_path() == "/h/.cache/heptad/profile.json");
  test::environment_variable const no_home("HOME", nullptr);
  CHECK_THROWS_AS(profile_path(), error);
}

TEST_CASE("the default profile knows the machine it is on") {
  machine_profile const p = default_profile();
  CHECK(p.cores >= 1);
  CHECK(p.memory_bytes > 0);
  CHECK(p.l2_bytes > 0);
  CHECK_FALSE(p.measured);
  CHECK(p.memory_gbytes() > 0);
  for (rate_table const* r : {&p.f64, &p.f32}) {
    std::size_t const sides = r->sides.size();
    REQUIRE(r->product_gflops.size() == sides * sides * sides);
    for (std::size_t i = 1; i < r->product_gflops.size(); ++i)
      if (i % sides != 0) CHECK(r->product_gflops[i] > r->product_gflops[i - 1]);  // deeper is faster
  }
}
