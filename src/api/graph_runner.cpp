// SPDX-License-Identifier: BSD-3-Clause
#include "src/api/graph_runner.hpp"

#include <oneapi/tbb/task_group.h>

#include <type_traits>

#include "schedulers/sequential/sequential.hpp"
#include "schedulers/starpu/backend.hpp"
#include "schedulers/tbb/tbb_scheduler.hpp"
#include "src/api/worker_group.hpp"

namespace heptad {
namespace {

template <typename T>
location place_of(matrix_view<T> const& X) {
  return {const_cast<std::remove_const_t<T>*>(X.data), X.row_stride, X.col_stride};
}

template <typename T>
bound_product bind(prepared_plan const& p, executor const& work, operands<T> const& x, workspace const& memory) {
  bound_product product;
  product.work = &p.work;
  product.in_cells = p.cut == tiling::cells;
  product.order = &p.order;
  product.body = &work;
  product.operands[space_A] = place_of(x.A), product.orders[space_A] = orientation_of(x.A);
  product.operands[space_B] = place_of(x.B), product.orders[space_B] = orientation_of(x.B);
  product.operands[space_C] = place_of(x.C), product.orders[space_C] = orientation_of(x.C);
  product.workspace = memory.shared();
  product.scratch = [&memory](int lane) { return memory.scratch(lane); };
  product.ordered = p.how.deterministic;
  product.alpha = x.alpha;
  product.beta = x.beta;
  return product;
}

/// The look at A and B on StarPU's workers, where A and B are.
bound_product bind_scan(prepared_plan const& p, executor const& work, workspace const& memory) {
  bound_product product;
  product.work = &p.scan.work;
  product.order = &p.scan_order;
  product.body = &work;
  product.scratch = [&memory](int lane) { return memory.scratch(lane); };
  return product;
}

}  // namespace

bool graph_runner::opens() const { return scheduler != scheduler_kind::starpu; }

bool graph_runner::alone() const { return scheduler == scheduler_kind::sequential || without_workers(); }

run_result graph_runner::run_on_arena(graph const& g, dependencies const& order, executor const& work, int workers,
                                      workspace const& memory, std::pmr::memory_resource* notes) const {
  // One worker's one task is the caller's own: waking the scheduler for it took 1 % of 256 x 256 x 256.
  if (workers == 1 && g.tasks.size() == 1 && !oneapi::tbb::is_current_task_group_canceling())
    return run_sequential(g, work, memory.scratch(0), notes);
  return run_tbb(
      g, order, work, group.arena(), workers, [&memory](int worker, std::size_t) { return memory.scratch(worker); },
      notes);
}

template <typename T>
run_result graph_runner::multiply(prepared_plan const& p, executor const& work, operands<T> const& x,
                                  workspace const& memory, std::pmr::memory_resource* notes) const {
  if (alone()) return run_sequential(p.work, work, memory.scratch(0), notes);
  if (scheduler == scheduler_kind::starpu) return find_starpu_backend().run(bind<T>(p, work, x, memory));
  return run_on_arena(p.work, p.order, work, p.how.workers, memory, notes);
}

run_result graph_runner::look(prepared_plan const& p, executor const& work, workspace const& memory,
                              std::pmr::memory_resource* notes) const {
  if (alone()) return run_sequential(look_of(p).work, work, memory.scratch(0), notes);
  if (scheduler == scheduler_kind::starpu) return find_starpu_backend().run(bind_scan(p, work, memory));
  return run_on_arena(p.opening.work, p.opening_order, work, p.how.workers, memory, notes);
}

#define HEPTAD_FOR(T)                                                                                   \
  template run_result graph_runner::multiply(prepared_plan const&, executor const&, operands<T> const&, \
                                             workspace const&, std::pmr::memory_resource*) const;
HEPTAD_FOR(double)
HEPTAD_FOR(float)
#undef HEPTAD_FOR

}  // namespace heptad
