// SPDX-License-Identifier: BSD-3-Clause
// Builds of OpenBLAS and BLIS that are older than the processor fall back to kernels of an older one, several times
// slower; MKL takes its slow path on processors of other vendors. Each can be told otherwise by its environment. A
// short product decides which setting is fastest, so that every peer is met at its best.
#include "tools/bench/peers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <optional>
#include <stdexcept>

namespace heptad::bench {
namespace {

namespace fs = std::filesystem;

// A setting other than the default must win by this much.
constexpr double clear_win = 1.05;

bool has_avx512() {
#ifdef __x86_64__
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
#else
  return false;
#endif
}

bool has_avx2() {
#ifdef __x86_64__
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
  return false;
#endif
}

bool is_amd() {
#ifdef __x86_64__
  return __builtin_cpu_is("amd");
#else
  return false;
#endif
}

constexpr char const* mkl_preload_name = "libheptad_mkl_intel.so";
std::optional<fs::path> mkl_preload() { return find_mkl_preload(fs::read_symlink("/proc/self/exe")); }

// $HEPTAD_MKL_DIR, or where scripts/install-peers.sh unpacks the wheel, or the loader's path.
std::string default_path(std::string const& name) {
  if (name != "mkl") return "";
  std::vector<fs::path> folders;
  if (char const* folder = std::getenv("HEPTAD_MKL_DIR")) folders.emplace_back(folder);
  if (char const* cache = std::getenv("XDG_CACHE_HOME")) folders.push_back(fs::path(cache) / "heptad/peers/mkl");
  if (char const* home = std::getenv("HOME")) folders.push_back(fs::path(home) / ".cache/heptad/peers/mkl");
  for (fs::path const& folder : folders)
    for (char const* file : {"libmkl_rt.so.2", "libmkl_rt.so.1", "libmkl_rt.so"})
      if (fs::exists(folder / file)) return folder / file;
  return "libmkl_rt.so.2";
}

std::vector<environment> settings_to_try(std::string const& name) {
  std::vector<environment> tries{{}};
  if (name == "openblas") {
    if (has_avx512()) tries.push_back({{"OPENBLAS_CORETYPE", "SkylakeX"}});
    if (has_avx2()) tries.push_back({{"OPENBLAS_CORETYPE", "Haswell"}});
  } else if (name ==
             "blis") {  // BLIS 0.9 takes the number of the type (arch_t in bli_type_defs.h), later ones its name
    if (has_avx512()) tries.push_back({{"BLIS_ARCH_TYPE", "0"}});
    if (has_avx512()) tries.push_back({{"BLIS_ARCH_TYPE", "skx"}});
    if (has_avx2()) tries.push_back({{"BLIS_ARCH_TYPE", "3"}});
    if (has_avx2()) tries.push_back({{"BLIS_ARCH_TYPE", "haswell"}});
  } else if (name == "mkl" && is_amd()) {
    if (auto const preload = mkl_preload()) tries.push_back({{"LD_PRELOAD", preload->string()}});
  }
  return tries;
}

// What one setting reaches in dgemm at 1024 on one thread.
struct probe {
  contestant who;
  std::size_t place;  // in the list of those tried
  worker_process worker;
  double seconds = std::numeric_limits<double>::infinity();  // the best of all turns
};

// All settings, in turns: a moment in which somebody else uses the machine is none's alone.
found_peer fastest(contestant who) {
  constexpr int turns = 5;
  constexpr double seconds_a_turn = 0.05;
  gemm_case const what{.type = 'd', .m = 1024, .n = 1024, .k = 1024, .threads = 1, .beta = 0};
  nlohmann::json tried = nlohmann::json::array();
  std::vector<probe> probes;
  std::string reason;
  for (environment const& settings : settings_to_try(who.name)) {
    who.settings = settings;
    tried.push_back({{"settings", settings}});
    try {
      worker_process worker(who, 1);
      tried.back()["core"] = worker.info().core;
      if (!worker.prepare(what).passed()) throw std::runtime_error("its results are wrong");
      probes.push_back({who, tried.size() - 1, std::move(worker)});
    } catch (std::exception const& failure) {  // also a kernel that this processor cannot run
      if (reason.empty()) reason = failure.what();
      tried.back()["error"] = failure.what();
    }
  }
  if (probes.empty()) throw std::runtime_error(reason);
  for (int turn = 0; turn < turns; ++turn)
    for (probe& one : probes)
      one.seconds = std::min(one.seconds, std::ranges::min(one.worker.run(seconds_a_turn).seconds));
  probe const* best = &probes.front();
  for (probe const& one : probes) {
    tried[one.place]["gflops"] = what.flops() / one.seconds * 1e-9;
    if (one.seconds * clear_win < best->seconds) best = &one;
  }
  return {best->who, best->worker.info(), std::move(tried)};
}

}  // namespace

std::optional<fs::path> find_mkl_preload(fs::path const& program) {
  fs::path const beside = program.parent_path();
  for (fs::path const& folder : {beside, beside / HEPTAD_PRELOAD_FOLDER})
    if (fs::path const file = folder / mkl_preload_name; fs::exists(file)) return file.lexically_normal();
  return std::nullopt;
}

std::vector<found_peer> find_peers(std::vector<std::string> const& names, std::function<void(std::string const&)> say) {
  bool const all = names.size() == 1 && names.front() == "auto";
  std::vector<found_peer> found;
  if (names.size() == 1 && names.front() == "none") return found;
  for (std::string const& text : all ? std::vector<std::string>(peer_names.begin(), peer_names.end()) : names) {
    std::size_t const equals = text.find('=');
    contestant who;
    who.name = text.substr(0, equals);
    who.path = equals == std::string::npos ? default_path(who.name) : text.substr(equals + 1);
    try {
      say(fmt::format("looking for {} and its fastest settings", who.name));
      found.push_back(fastest(who));
      if (who.name == "mkl" && is_amd() && !mkl_preload())
        say(fmt::format("mkl takes its slow path: {} is neither beside this program nor in {} from there",
                        mkl_preload_name, HEPTAD_PRELOAD_FOLDER));
    } catch (std::exception const& reason) {
      if (!all) throw std::runtime_error(fmt::format("peer {}: {}", who.name, reason.what()));
      say(fmt::format("{} is left out: {}", who.name, reason.what()));
    }
  }
  return found;
}

}  // namespace heptad::bench
