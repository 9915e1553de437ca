// SPDX-License-Identifier: BSD-3-Clause
// Builds of OpenBLAS and BLIS that are older than the processor fall back to kernels of an older one, several times
// slower; MKL takes its slow path on processors of other vendors. Each can be told otherwise by its environment. A
// short product decides which setting is fastest, so that every peer is met at its best.
#include "tools/bench/peers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
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

// The library that tells MKL that this is an Intel processor: beside the program, or where it is installed.
constexpr char const* mkl_preload_name = "libheptad_mkl_intel.so";
std::optional<fs::path> mkl_preload() {
  for (fs::path const& folder : {fs::read_symlink("/proc/self/exe").parent_path(), fs::path(HEPTAD_PRELOAD_DIR)})
    if (fs::path const file = folder / mkl_preload_name; fs::exists(file)) return file;
  return std::nullopt;
}

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

// GFLOP/s of dgemm at 1024 on one thread, the best of a few; 0 when the result is wrong.
double probe(worker_process& worker) {
  gemm_case const what{.type = 'd', .m = 1024, .n = 1024, .k = 1024, .threads = 1, .beta = 0};
  if (!worker.prepare(what).passed()) return 0;
  auto const timed = worker.run(0.15);
  static_cast<void>(worker.finish());
  return what.flops() / *std::min_element(timed.seconds.begin(), timed.seconds.end()) * 1e-9;
}

found_peer fastest(contestant who) {
  found_peer best{who, {}, nlohmann::json::array()};
  double best_speed = 0;
  std::string reason;
  for (environment const& settings : settings_to_try(who.name)) {
    who.settings = settings;
    try {
      worker_process worker(who, 1);
      double const speed = probe(worker);
      best.tried.push_back({{"settings", settings}, {"core", worker.info().core}, {"gflops", speed}});
      if (speed > best_speed * clear_win) {
        best.who = who;
        best.info = worker.info();
        best_speed = speed;
      }
    } catch (std::exception const& failure) {  // also a kernel that this processor cannot run
      if (reason.empty()) reason = failure.what();
      best.tried.push_back({{"settings", settings}, {"error", failure.what()}});
    }
  }
  if (best_speed == 0) throw std::runtime_error(reason.empty() ? "its results are wrong" : reason);
  return best;
}

}  // namespace

std::vector<found_peer> find_peers(std::vector<std::string> const& names, std::function<void(std::string const&)> say) {
  bool const all = names.size() == 1 && names.front() == "auto";
  std::vector<found_peer> found;
  if (names.size() == 1 && names.front() == "none") return found;
  for (std::string const& text : all ? std::vector<std::string>{"mkl", "openblas", "blis"} : names) {
    std::size_t const equals = text.find('=');
    contestant who;
    who.name = text.substr(0, equals);
    who.path = equals == std::string::npos ? default_path(who.name) : text.substr(equals + 1);
    try {
      say(fmt::format("looking for {} and its fastest settings", who.name));
      found.push_back(fastest(who));
      if (who.name == "mkl" && is_amd() && !mkl_preload())
        say(fmt::format("mkl takes its slow path: {} is neither beside this program nor in {}", mkl_preload_name,
                        HEPTAD_PRELOAD_DIR));
    } catch (std::exception const& reason) {
      if (!all) throw std::runtime_error(fmt::format("peer {}: {}", who.name, reason.what()));
      say(fmt::format("{} is left out: {}", who.name, reason.what()));
    }
  }
  return found;
}

}  // namespace heptad::bench
