// SPDX-License-Identifier: BSD-3-Clause
// A plan with its graph and its workspace; when the workspace cannot be had, a smaller plan.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "src/api/context.hpp"
#include "src/api/memory.hpp"
#include "src/api/plan_cache.hpp"

namespace heptad {

/// A prepared plan and the memory of one call: the shared workspace, then the scratch of every worker.
struct workspace {
  std::shared_ptr<prepared_plan const> prepared;
  memory_pool::lease memory;
  bool fell_back = false;
  std::size_t shared_bytes = 0;  // in `memory`: what the plan needs, or nothing

  [[nodiscard]] std::byte* shared() const noexcept { return memory.data(); }
  [[nodiscard]] std::byte* scratch(int worker) const noexcept {
    return memory.data() + shared_bytes + prepared->scratch_bytes * static_cast<std::size_t>(worker);
  }
};

/// The plan and the graph of a key, from the cache when they are there.
std::shared_ptr<prepared_plan const> prepare(context::impl& state, plan_key const& key);

/// What a call wants in its lease, beside the scratch of the plan's own workers.
struct lease_wishes {
  int lanes = 0;            // scratch for at least so many workers: for runtimes that decide themselves who works
  bool with_shared = true;  // false: the buffers of the graph live elsewhere
};

/// Bytes of such a lease.
std::size_t bytes_for(prepared_plan const& p, lease_wishes const& lease);

/// Leases what the prepared plan of a key needs. Without memory it plans again with half of the workspace, and so on
/// down to the classical algorithm on one worker; throws error{out_of_memory} when not even that one's packing scratch
/// can be had.
workspace with_memory(context::impl& state, plan_key key, std::shared_ptr<prepared_plan const> prepared,
                      lease_wishes const& lease);
/// Prepares and leases.
workspace get_workspace(context::impl& state, plan_key key, lease_wishes const& lease = {});
/// The same for a plan that the caller brought, on at most `threads` workers, by the scheduler of `wishes`, which are
/// those of the plans that take its place where memory is short.
workspace get_workspace(context::impl& state, plan const& how, int threads, options const& wishes,
                        lease_wishes const& lease = {});
/// Of a plan whose wishes are not known: no plan that takes its place may be less accurate.
options wishes_of(plan const& how);
/// The same for the classical plan of a product that another plan must not compute.
workspace get_classical_workspace(context::impl& state, plan const& instead_of, scheduler_kind scheduler,
                                  lease_wishes const& lease = {});

/// Bytes of workspace as they count against a cap: of a deterministic plan those of the machine's cores, as its bits
/// follow from what fits, and must not from who works.
std::size_t counted_bytes(prepared_plan const& p, machine_profile const& machine);

/// The workspace of every candidate, to the byte: builds their graphs.
void measure_candidates(context::impl& state, plan& p, scheduler_kind scheduler);

/// Whether the graph of a plan keeps to the plan's cap. Needs the memory that preparing the plan will.
bool keeps_to_cap(plan const& p, machine_profile const& machine, scheduler_kind scheduler);

/// The plan that would be chosen and others, as rank_plans gives them, but for those whose graphs exceed the cap on
/// workspace. Not for deterministic products: their plan must not follow from a clock.
std::vector<plan> alternatives(context::impl& state, plan_key const& key, std::size_t most, std::size_t variants);

/// Throws error{invalid_argument} when the plan is not one for this product, or not a plan.
void check_plan(plan const& how, element_type type, problem const& shape);

}  // namespace heptad
