// SPDX-License-Identifier: BSD-3-Clause
#include "tools/bench/record.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <hwloc.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>

#include "git_revision.hpp"
#include "src/api/median.hpp"

namespace heptad::bench {
namespace {

constexpr int schema_version = 1;

nlohmann::json machine() {
  hwloc_topology_t raw = nullptr;
  hwloc_topology_init(&raw);
  std::unique_ptr<hwloc_topology, decltype(&hwloc_topology_destroy)> const topology(raw, &hwloc_topology_destroy);
  hwloc_topology_load(raw);
  nlohmann::json result = {{"cores", hwloc_get_nbobjs_by_type(raw, HWLOC_OBJ_CORE)},
                           {"hardware_threads", hwloc_get_nbobjs_by_type(raw, HWLOC_OBJ_PU)},
                           {"memory_bytes", sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGE_SIZE)}};
  hwloc_obj_t package = hwloc_get_obj_by_type(raw, HWLOC_OBJ_PACKAGE, 0);
  for (auto const& [key, name] : {std::pair{"cpu", "CPUModel"}, std::pair{"cpu_vendor", "CPUVendor"},
                                  std::pair{"cpu_family", "CPUFamilyNumber"}, std::pair{"cpu_model", "CPUModelNumber"}})
    if (char const* value = package != nullptr ? hwloc_obj_get_info_by_name(package, name) : nullptr)
      result[key] = value;
  for (auto const& [key, type] : {std::pair{"l1d_bytes", HWLOC_OBJ_L1CACHE}, std::pair{"l2_bytes", HWLOC_OBJ_L2CACHE},
                                  std::pair{"l3_bytes", HWLOC_OBJ_L3CACHE}})
    if (hwloc_obj_t cache = hwloc_get_obj_by_type(raw, type, 0)) result[key] = cache->attr->cache.size;
  return result;
}

// Folders are the machine's own business; the names of the files say what was used.
nlohmann::json without_folders(environment const& settings) {
  nlohmann::json result = nlohmann::json::object();
  for (auto const& [name, value] : settings) result[name] = std::filesystem::path(value).filename().string();
  return result;
}

std::string file_name(std::string const& path) { return std::filesystem::path(path).filename().string(); }

}  // namespace

nlohmann::json record_origin(char const* kind) {
  auto const now = std::chrono::time_point_cast<std::chrono::seconds>(std::chrono::system_clock::now());
  return {{"schema", schema_version},
          {"kind", kind},
          {"date", fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(now))},
          {"commit", {{"hash", git_hash}, {"dirty", git_dirty}}},
          {"compiler", HEPTAD_COMPILER},
          {"machine", machine()}};
}

nlohmann::json record_header(library_info const& own, std::vector<found_peer> const& peers, effort const& how,
                             double beta, own_options const& wishes) {
  nlohmann::json libraries = {{{"name", own.name}, {"version", own.version}, {"options", wishes}}};
  for (found_peer const& peer : peers) {
    nlohmann::json tried = peer.tried;
    for (auto& one : tried) one["settings"] = without_folders(one.at("settings").get<environment>());
    libraries.push_back({{"name", peer.info.name},
                         {"version", peer.info.version},
                         {"core", peer.info.core},
                         {"file", file_name(peer.info.path)},
                         {"settings", without_folders(peer.who.settings)},
                         {"tried", tried}});
  }
  nlohmann::json record = record_origin("gemm");
  record["settings"] = {{"alpha", 1},
                        {"beta", beta},
                        {"layout", "column-major, no gaps between columns"},
                        {"data", "uniform in [-1, 1)"},
                        {"rounds", how.rounds},
                        {"min_seconds", how.min_seconds},
                        {"turn_seconds", how.turn_seconds},
                        {"pause_seconds", how.pause}};
  record["libraries"] = libraries;
  record["cases"] = nlohmann::json::array();
  return record;
}

nlohmann::json record_case(gemm_case const& what, std::vector<measured> const& results) {
  nlohmann::json rows = nlohmann::json::array();
  for (measured const& one : results) {
    nlohmann::json row = {{"library", one.library}, {"valid", one.valid()}};
    if (!one.failure.empty()) row["failure"] = one.failure;
    if (!one.seconds.empty()) {
      auto const [least, most] = std::minmax_element(one.seconds.begin(), one.seconds.end());
      row["seconds"] = {{"median", one.median_seconds()}, {"min", *least}, {"max", *most}};
      row["calls"] = one.seconds.size();
      row["gflops"] = what.flops() / one.median_seconds() * 1e-9;
      row["check"] = one.check;
    }
    if (!one.idle.empty()) row["idle_fraction"] = median(one.idle);
    if (!one.memory.is_null()) row["memory"] = one.memory;
    if (!one.last_call.is_null()) row["last_call"] = one.last_call;
    rows.push_back(row);
  }
  nlohmann::json result = {{"type", std::string(1, what.type)},
                           {"m", what.m},
                           {"n", what.n},
                           {"k", what.k},
                           {"transposes", what.transposes},
                           {"operand_sets", what.operand_sets},
                           {"threads", what.threads},
                           {"results", rows}};
  if (measured const* peer = best_peer(results)) result["best_peer"] = peer->library;
  if (auto const value = ratio(results)) result["ratio"] = *value;
  return result;
}

std::size_t available_memory() {
  std::ifstream info("/proc/meminfo");
  for (std::string word; info >> word;)
    if (std::size_t kib = 0; word == "MemAvailable:" && info >> kib) return kib * 1024;
  return 0;
}

}  // namespace heptad::bench
