// SPDX-License-Identifier: BSD-3-Clause
// What `heptad simulate` starts: a program of its own, because StarPU's simulation is another libstarpu. Each graph is
// simulated in a process of its own, so that none finds what another one has left on the devices.
#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include <heptad/heptad.hpp>

#include "src/api/context.hpp"
#include "src/api/diagnostics.hpp"
#include "src/api/environment.hpp"
#include "src/api/prepare.hpp"
#include "tasks/gemm_graph.hpp"
#include "tools/commands.hpp"
#include "tools/print_json.hpp"
#include "tools/simulate/arguments.hpp"
#include "tools/simulate/graphs.hpp"
#include "tools/simulate/measured_tasks.hpp"
#include "tools/simulate/node.hpp"
#include "tools/simulate/simulation.hpp"

#undef main  // starpu.h renames it

namespace heptad::tools {
namespace {

using nlohmann::json;

struct arguments : simulate_arguments {
  [[nodiscard]] problem shape() const {
    problem p;
    p.m = m, p.n = n, p.k = k;
    p.beta_zero = !accumulate;
    return p;
  }
  [[nodiscard]] element_type element() const { return type == 'd' ? element_type::f64 : element_type::f32; }
  [[nodiscard]] double flops() const {
    return 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  }
};

/// The files of the node, for the time of this process.
class platform_folder {
public:
  explicit platform_folder(simulated_node const& node) {
    std::string name = (std::filesystem::temp_directory_path() / "heptad-simulate-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw error(status::invalid_argument, name + " could not be made");
    path_ = name;
    write_platform(node, path_, simulated_memory_nodes());
    setenv("STARPU_PERF_MODEL_DIR", path_.c_str(), 1);
    setenv("STARPU_HOME", path_.c_str(), 1);
    setenv("STARPU_HOSTNAME", node.name.c_str(), 1);
    setenv("STARPU_SILENT", "1", 1);
  }
  ~platform_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  platform_folder(platform_folder const&) = delete;
  platform_folder& operator=(platform_folder const&) = delete;

private:
  std::filesystem::path path_;
};

std::string text_of(std::FILE* file) {
  std::rewind(file);
  std::string text(std::size_t{1} << 14, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), file));
  return text;
}

std::function<void()> simulated;  // the body of starpu_main

/// The main() of libstarpu: it starts the simulation, and calls starpu_main() inside it, in a light context. (A program
/// whose main() StarPU renames cannot say before that where the platform is.)
void enter_simulation() {
  auto* const main_of_starpu = reinterpret_cast<int (*)(int, char**)>(dlsym(RTLD_NEXT, "main"));
  if (main_of_starpu == nullptr)
    throw error(status::internal_error, "libstarpu has no main(): it is not one of SimGrid");
  char name[] = "heptad-simulate";
  char* words[] = {name, nullptr};
  main_of_starpu(1, words);
}

/// What `simulate` returns, computed in a child of this process. Throws error{internal_error} when it fails, with all
/// that StarPU and SimGrid have said on the way: when it does not, that is of no interest.
json in_a_child(std::function<json()> const& simulate) {
  int ends[2];
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> const said(std::tmpfile(), std::fclose);
  if (said == nullptr || pipe(ends) != 0) throw error(status::internal_error, "no temporary file or no pipe");
  std::fflush(nullptr);
  pid_t const child = fork();
  if (child < 0) throw error(status::internal_error, "fork() failed");
  if (child == 0) {
    dup2(fileno(said.get()), STDERR_FILENO);
    simulated = [&] {
      json answer;
      try {
        answer = simulate();
      } catch (std::exception const& e) {
        answer = {{"error", e.what()}};
      }
      std::string const text = answer.dump();
      auto const written = write(ends[1], text.data(), text.size());
      _exit(written == static_cast<ssize_t>(text.size()) ? 0 : 1);  // less than a pipe holds
    };
    enter_simulation();
    _exit(1);
  }
  close(ends[1]);
  std::string text(std::size_t{1} << 16, '\0');
  std::size_t length = 0;
  for (ssize_t got = 1; got > 0; length += static_cast<std::size_t>(std::max<ssize_t>(got, 0)))
    got = read(ends[0], text.data() + length, text.size() - length);
  close(ends[0]);
  int ended = 0;
  waitpid(child, &ended, 0);
  json const answer = json::parse(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(length), nullptr, false);
  if (answer.is_discarded())
    throw error(status::internal_error, "the simulation ended without a result: " + text_of(said.get()));
  if (answer.contains("error")) throw error(status::internal_error, answer["error"].get<std::string>());
  return answer;
}

json to_json(simulated_run const& r, double flops) {
  return {{"seconds", r.seconds},
          {"tflops", flops / r.seconds / 1e12},
          {"tasks", r.tasks},
          {"idle", r.idle},
          {"gbytes_to_devices", r.bytes_to_devices / 1e9},
          {"gbytes_to_host", r.bytes_to_host / 1e9},
          {"gbytes_between_devices", r.bytes_between_devices / 1e9}};
}

json on_devices(arguments const& given, simulated_node const& node, std::size_t workspace) {
  auto const device = cuda::default_device_profile();
  json runs = json::array();
  for (device_graph const& one : device_graphs(given.element(), given.shape(), node.devices, workspace, device)) {
    graph g = build_gemm_graph(one.how, default_profile(), tiling::cells);
    double const bytes = static_cast<double>(g.m * g.k + g.k * g.n + g.m * g.n + g.workspace_elements) *
                         (g.type == element_type::f64 ? 8 : 4);
    if (!one.owned && bytes > 0.9 * node.devices * static_cast<double>(node.device_memory)) continue;
    bool const owned = one.owned && !given.free;
    if (owned) finish_in_turn(g);
    json run = in_a_child([&] {
      starpu::run_options how;
      how.in_cells = true;
      how.seconds = device_seconds(g, device, workspace, !one.fast);
      if (owned) how.worker = [&node](task const& t) { return owner_of_block(t, node.devices); };
      return to_json(simulate_on(node, given.policy, g, how, given.accumulate ? 1 : 0), given.flops());
    });
    run["graph"] = one.description;
    run["inside"] = one.inside;
    run["fast"] = one.fast;
    run["placed_by"] = owned ? "owner" : given.policy;
    runs.push_back(run);
  }
  return runs;
}

/// What a blocking product runs on StarPU's CPU workers, without the look at A and B before it.
json on_cores(arguments const& given, simulated_node const& node, std::optional<measured_tasks> const& measured) {
  context::impl& state = default_context().state();
  json runs = json::array();
  for (bool const fast : {false, true}) {
    options wishes;
    if (!fast) wishes.max_levels = 0;
    plan_key const key{given.element(), given.shape(), node.cpus, with_defaults(wishes, state.defaults)};
    auto const prepared = prepare(state, key);
    json run = in_a_child([&] {
      starpu::run_options how;
      how.seconds = [&](task const& t) { return measured ? measured->seconds(t) : t.cost.seconds; };
      return to_json(simulate_on(node, given.policy, prepared->work, how, given.accumulate ? 1 : 0), given.flops());
    });
    run["graph"] = describe_levels(prepared->how);
    run["inside"] = "one core";
    run["placed_by"] = given.policy;
    run["fast"] = fast;
    if (double const makespan = measured ? measured->makespan(prepared->work) : 0; makespan > 0) {
      run["measured_seconds"] = makespan;
      run["simulated_over_measured"] = run["seconds"].get<double>() / makespan;
    }
    runs.push_back(run);
  }
  return runs;
}

/// The fastest run of the kind, or null.
json const* best(json const& runs, bool fast) {
  json const* found = nullptr;
  for (json const& r : runs)
    if (r["fast"] == fast && (found == nullptr || r["seconds"] < (*found)["seconds"])) found = &r;
  return found;
}

json assumptions(simulated_node const& node, std::size_t workspace, std::optional<measured_tasks> const& measured) {
  json list{{"source", node.source}};
  if (node.devices == 0) {
    list["tasks"] = "predicted from the profile of this machine: " + default_context().state().machine_source();
    if (measured) list["corrected_by"] = measured->assumptions();
    return list;
  }
  auto const device = cuda::default_device_profile();
  list["device"] = device.name + ": rates of cuBLAS and of passes as measured (bench/results/gpu)";
  list["operands"] = "A, B and C begin in pinned main memory, and C ends there";
  list["memory_of_a_device_gbytes"] = static_cast<double>(node.device_memory) / 1e9;
  list["of_these_workspace_of_products_gbytes"] = static_cast<double>(workspace) / 1e9;
  list["pass_gbytes_a_second"] = device.pass_gbytes;
  list["to_one_device_gbytes_a_second"] = node.to_device / 1e9;
  list["to_all_devices_gbytes_a_second"] = node.to_devices / 1e9;
  list["from_one_device_gbytes_a_second"] = node.to_host / 1e9;
  list["from_all_devices_gbytes_a_second"] = node.from_devices / 1e9;
  list["between_two_devices_gbytes_a_second"] = node.to_peer / 1e9;
  list["host_latency_microseconds"] = node.host_latency * 1e6;
  list["peer_latency_microseconds"] = node.peer_latency * 1e6;
  list["placed_by"] = "owner: a product runs where its block of C lives; otherwise StarPU's policy places every task";
  list["cpu_cores"] = "submit and schedule; they multiply nothing";
  return list;
}

void print(json const& out) {
  fmt::print("{} with StarPU's policy {}, {} {} {} {}\n", out["platform"].get<std::string>(),
             out["policy"].get<std::string>(), out["type"].get<std::string>(), out["m"].dump(), out["n"].dump(),
             out["k"].dump());
  for (auto const& [key, value] : out["assumptions"].items())
    fmt::print("  {}: {}\n", key, value.is_string() ? value.get<std::string>() : value.dump());
  fmt::print("{:<58}{:<26}{:<9}{:>7}{:>10}{:>9}{:>7}{:>9}{:>9}{:>9}\n", "graph", "products", "placed by", "tasks",
             "seconds", "TFLOP/s", "idle %", "in GB", "out GB", "peer GB");
  for (json const& r : out["runs"]) {
    double idle = 0;
    for (double const x : r["idle"]) idle += 100 * x / static_cast<double>(r["idle"].size());
    fmt::print("{:<58}{:<26}{:<9}{:>7}{:>10.4f}{:>9.1f}{:>7.1f}{:>9.1f}{:>9.1f}{:>9.1f}\n",
               r["graph"].get<std::string>(), r["inside"].get<std::string>(), r["placed_by"].get<std::string>(),
               r["tasks"].get<int>(), r["seconds"].get<double>(), r["tflops"].get<double>(), idle,
               r["gbytes_to_devices"].get<double>(), r["gbytes_to_host"].get<double>(),
               r["gbytes_between_devices"].get<double>());
  }
  for (json const& r : out["runs"])
    if (r.contains("measured_seconds"))
      fmt::print("{}: measured {:.4f} s in the trace, simulated {:.3f} times that\n", r["graph"].get<std::string>(),
                 r["measured_seconds"].get<double>(), r["simulated_over_measured"].get<double>());
  if (out.contains("fast_over_classical"))
    fmt::print("the best graph with fast multiplication is {:.3f} times as fast as the best classical one\n",
               out["fast_over_classical"].get<double>());
}

void run(arguments const& given) {
  simulated_node node;
  check_usage([&] { node = find_node(given.platform); });
  std::size_t const workspace = node.device_memory / 5;
  std::optional<measured_tasks> measured;
  if (!given.measured.empty()) {
    if (node.devices > 0)
      throw CLI::ValidationError("--measured", "needs --platform cpuxN, where this machine's tasks run");
    measured.emplace(given.measured,
                     traced_call{given.type == 'd' ? "f64" : "f32", given.m, given.n, given.k, node.cpus});
  }
  json out{{"platform", node.name},
           {"policy", given.policy},
           {"type", given.type == 'd' ? "f64" : "f32"},
           {"m", given.m},
           {"n", given.n},
           {"k", given.k},
           {"beta_zero", !given.accumulate},
           {"assumptions", assumptions(node, workspace, measured)}};
  node.device_memory -= workspace;
  platform_folder const files(node);
  out["runs"] = node.devices > 0 ? on_devices(given, node, workspace) : on_cores(given, node, measured);
  json const *const fast = best(out["runs"], true), *const classical = best(out["runs"], false);
  if (fast != nullptr && classical != nullptr)
    out["fast_over_classical"] = (*classical)["seconds"].get<double>() / (*fast)["seconds"].get<double>();
  if (given.as_json) print_json(out);
  else print(out);
}

}  // namespace
}  // namespace heptad::tools

extern "C" [[gnu::visibility("default")]] int starpu_main(int, char**) {
  heptad::tools::simulated();
  return 1;
}

int main(int argc, char** argv) {
  CLI::App app("A product on a machine that is not here, by StarPU's simulation.", "heptad simulate");
  heptad::tools::arguments given;
  heptad::tools::add_options(app, given);
  try {
    app.parse(argc, argv);
    heptad::tools::run(given);
    return 0;
  } catch (CLI::ParseError const& e) {
    if (e.get_exit_code() == 0) return app.exit(e);
    fmt::print(stderr, "heptad: {}\n", e.what());
    return 2;
  } catch (std::exception const& e) {
    fmt::print(stderr, "heptad: {}\n", e.what());
    return 1;
  }
}
