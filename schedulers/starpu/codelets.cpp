// SPDX-License-Identifier: BSD-3-Clause
#include "schedulers/starpu/codelets.hpp"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <span>

#include "schedulers/starpu/graph_run.hpp"
#include "schedulers/starpu/product_opencl.hpp"

namespace heptad::starpu {
namespace {

location place_in_memory(slot const& s, void* buffers[], std::int64_t element_bytes) {
  if (s.buffer < 0) return s.fixed;
  void* const matrix = buffers[s.buffer];
  bool const by_columns = s.order == orientation::column_major;
  auto const ld = static_cast<std::int64_t>(STARPU_MATRIX_GET_LD(matrix));
  std::int64_t const rs = by_columns ? 1 : ld, cs = by_columns ? ld : 1;
  auto* const first = reinterpret_cast<std::byte*>(STARPU_MATRIX_GET_PTR(matrix));
  return {first + (s.row * rs + s.col * cs) * element_bytes, rs, cs};
}

using places_of_task = std::array<location, most_places>;

std::span<location const> find_places(task_argument const& x, void* buffers[], places_of_task& places) {
  for (std::size_t i = 0; i < x.slots.size(); ++i)
    places[i] = place_in_memory(x.slots[i], buffers, x.run->element_bytes());
  return {places.data(), x.slots.size()};
}

void run_on_cpu(void* buffers[], void* cl_arg) {
  task_argument const& x = argument_of(cl_arg);
  bound_product const& product = x.run->product();
  std::byte* const scratch = product.scratch(x.run->lane());
  if (x.slots.empty()) return x.run->timed(x, [&] { product.body->run(x.run->task_of(x), scratch); });
  places_of_task places;
  std::span<location const> const found = find_places(x, buffers, places);
  x.run->timed(x, [&] { product.body->run_at(x.placed.local, found, scratch); });
}

#if defined(STARPU_USE_CUDA) && !defined(STARPU_SIMGRID)
/// Returns when the work is queued on the worker's stream. A worker has no caller to tell of a failure: StarPU's own
/// answer to a device that fails is to end the process.
void run_on_cuda(void* buffers[], void* cl_arg) {
  task_argument const& x = argument_of(cl_arg);
  bound_product const& product = x.run->product();
  places_of_task places;
  x.run->begin(x);
  try {
    product.on_devices->queue_at(x.placed.local, find_places(x, buffers, places), product.alpha, product.beta,
                                 starpu_cuda_get_local_stream());
  } catch (std::exception const& e) {
    std::fprintf(stderr, "heptad: %s\n", e.what());
    std::abort();
  }
}
#endif

std::uint32_t footprint(starpu_task* t) {
  task_argument const& x = argument_of(t->cl_arg);
  return footprint_of(x.run->task_of(x), *x.run->product().work);
}

#if defined(STARPU_USE_OPENCL) && !defined(STARPU_SIMGRID)
constexpr auto product_opencl = product_on_opencl;
#else
constexpr void (*product_opencl)(void*[], void*) = nullptr;
#endif

#ifdef STARPU_SIMGRID
double simulated_microseconds(starpu_task* t, unsigned, unsigned) {
  task_argument const& x = argument_of(t->cl_arg);
  return 1e6 * x.run->options().seconds(x.run->task_of(x));
}
#endif

/// A codelet with its model: StarPU keeps pointers to both.
struct modelled_codelet {
  starpu_perfmodel model{};
  starpu_codelet codelet{};

  modelled_codelet(char const* name, unsigned color, [[maybe_unused]] void (*opencl)(void*[], void*) = nullptr) {
    model.type = STARPU_HISTORY_BASED;
    model.symbol = name;
    model.footprint = footprint;
    starpu_codelet_init(&codelet);
    codelet.cpu_funcs[0] = run_on_cpu;
    codelet.cpu_funcs_name[0] = "run_on_cpu";
    codelet.nbuffers = STARPU_VARIABLE_NBUFFERS;
    codelet.model = &model;
    codelet.name = name;
    codelet.color = color;
#if defined(STARPU_USE_OPENCL) && !defined(STARPU_SIMGRID)
    codelet.opencl_funcs[0] = opencl;
#endif
#if defined(STARPU_USE_CUDA) && !defined(STARPU_SIMGRID)
    codelet.cuda_funcs[0] = run_on_cuda;
    codelet.cuda_flags[0] = STARPU_CUDA_ASYNC;
#endif
#ifdef STARPU_SIMGRID
    // Only the time of tasks is simulated: no function is ever called.
    model.type = STARPU_PER_WORKER;
    model.worker_cost_function = simulated_microseconds;
    codelet.cuda_funcs[0] = run_on_cpu;
    codelet.cuda_flags[0] = STARPU_CUDA_ASYNC;
#endif
  }
};

}  // namespace

starpu_codelet& codelet_of(task const& t) {
  static modelled_codelet combine("heptad_combine", 0x5b9bd5), scale("heptad_scale", 0xa5a5a5),
      scan("heptad_scan", 0xffc000), product("heptad_product", 0x70ad47, product_opencl);
  if (std::holds_alternative<combine_step>(t.body)) return combine.codelet;
  if (std::holds_alternative<scale_step>(t.body)) return scale.codelet;
  if (std::holds_alternative<scan_step>(t.body)) return scan.codelet;
  return product.codelet;
}

starpu_codelet& empty_codelet() {
  static starpu_codelet codelet = [] {
    starpu_codelet c;
    starpu_codelet_init(&c);
    c.where = STARPU_NOWHERE;
    c.nbuffers = STARPU_VARIABLE_NBUFFERS;
    c.name = "heptad_access";
    return c;
  }();
  return codelet;
}

starpu_codelet& allocating_codelet() {
  static starpu_codelet codelet = [] {
    starpu_codelet c;
    starpu_codelet_init(&c);
    c.cpu_funcs[0] = [](void*[], void*) {};
    c.nbuffers = STARPU_VARIABLE_NBUFFERS;
    c.name = "heptad_allocate";
    return c;
  }();
  return codelet;
}

}  // namespace heptad::starpu
