// SPDX-License-Identifier: BSD-3-Clause
#include "tools/simulate/simulation.hpp"

#include <starpu.h>
#include <sys/mman.h>

#include <memory>

#include <heptad/heptad.hpp>

namespace heptad::tools {
namespace {

/// Addresses of a matrix that nobody touches.
class addresses {
public:
  explicit addresses(std::int64_t bytes)
      : bytes_(static_cast<std::size_t>(bytes)),
        begin_(mmap(nullptr, bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {
    if (begin_ == MAP_FAILED) throw error(status::internal_error, "no addresses for the operands of a simulation");
  }
  ~addresses() { munmap(begin_, bytes_); }
  addresses(addresses const&) = delete;
  addresses& operator=(addresses const&) = delete;
  [[nodiscard]] void* get() const noexcept { return begin_; }

private:
  std::size_t bytes_;
  void* begin_;
};

double seconds_of(timespec const& t) { return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec); }

void measure_workers(simulated_run& result) {
  for (unsigned id = 0; id < starpu_worker_get_count(); ++id) {
    starpu_profiling_worker_info info;
    starpu_profiling_worker_get_info(static_cast<int>(id), &info);
    result.idle.push_back(1 - seconds_of(info.executing_time) / result.seconds);
  }
}

void measure_transfers(simulated_run& result) {
  for (int bus = 0; bus < starpu_bus_get_count(); ++bus) {
    starpu_profiling_bus_info info;
    if (starpu_bus_get_profiling_info(bus, &info) != 0) continue;
    bool const from_host = starpu_bus_get_src(bus) == STARPU_MAIN_RAM,
               to_host = starpu_bus_get_dst(bus) == STARPU_MAIN_RAM;
    double& bytes = from_host ? result.bytes_to_devices : to_host ? result.bytes_to_host : result.bytes_between_devices;
    bytes += static_cast<double>(info.transferred_bytes);
  }
}

}  // namespace

int simulated_memory_nodes() { return STARPU_MAXNODES; }

simulated_run simulate_on(simulated_node const& node, std::string const& policy, graph const& g,
                          starpu::run_options const& how, double beta) {
  starpu_conf conf;
  starpu_conf_init(&conf);
  conf.ncpus = node.devices > 0 ? 0 : node.cpus;
  conf.ncuda = node.devices;
  conf.sched_policy_name = policy.c_str();
  if (int const answer = starpu_init(&conf); answer != 0)
    throw error(status::internal_error, "StarPU could not be started (" + std::to_string(answer) + ")");
  starpu_profiling_status_set(STARPU_PROFILING_ENABLE);

  dependencies const order = derive_dependencies(g, false);
  std::int64_t const element_bytes = g.type == element_type::f64 ? 8 : 4;
  addresses const A(g.m * g.k * element_bytes), B(g.k * g.n * element_bytes), C(g.m * g.n * element_bytes),
      workspace((g.workspace_elements + 1) * element_bytes);
  bound_product product;
  product.work = &g;
  product.order = &order;
  product.beta = beta;
  product.operands[space_A] = {A.get(), 1, g.m};
  product.operands[space_B] = {B.get(), 1, g.k};
  product.operands[space_C] = {C.get(), 1, g.m};
  if (!how.in_cells) product.workspace = static_cast<std::byte*>(workspace.get());

  simulated_run result;
  result.tasks = g.tasks.size();
  double const begin = starpu_timing_now();
  {
    starpu_data_handle_t const none[3] = {};
    starpu::graph_run one(product, none, how);
    one.prepare();
    one.submit([] {});
    starpu_task_wait_for_all();
  }
  result.seconds = 1e-6 * (starpu_timing_now() - begin);
  measure_workers(result);
  measure_transfers(result);
  starpu_shutdown();
  return result;
}

}  // namespace heptad::tools
