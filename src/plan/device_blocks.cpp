// SPDX-License-Identifier: BSD-3-Clause
#include "src/plan/device_blocks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "src/algorithm/algorithm.hpp"
#include "src/plan/device_planner.hpp"
#include "src/plan/planner.hpp"

namespace heptad {
namespace {

// Below, a device is not worth its transfers.
constexpr std::int64_t least_dimension = 2048;

/// The definition of the product in blocks, ⟨m,k,n;mkn⟩.
std::shared_ptr<algorithm const> classical_blocks(int m, int k, int n, int devices) {
  device_grid const grid(devices);
  auto x = std::make_shared<algorithm>();
  x->name = fmt::format("classical{}x{}x{}", m, k, n);
  x->source = "the definition of the matrix product";
  x->m = m, x->k = k, x->n = n;
  int const rank = m * k * n;
  auto const zeros = [rank](int rows) {
    return coefficient_matrix{rows, rank, std::vector<rational>(static_cast<std::size_t>(rows) * rank)};
  };
  x->U = zeros(m * k), x->V = zeros(k * n), x->W = zeros(m * n);
  int r = 0;
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j)
      for (int q = 0; q < k; ++q, ++r) {
        int const p = (q + grid.owner(i, j) * k / devices) % k;
        x->U(i * k + p, r) = x->V(p * n + j, r) = x->W(i * n + j, r) = rational(1);
      }
  set_plain_programs(*x);
  return x;
}

/// The levels that a device would choose for one product.
int levels_inside(element_type type, problem const& product, options const& wishes) {
  auto const device = cuda::default_device_profile();
  cuda::options of_product;
  of_product.max_error = wishes.max_error;
  of_product.guaranteed = wishes.guaranteed;
  of_product.max_levels = wishes.max_levels;
  int levels = 0;
  for (cuda::stage const& s : cuda::choose_device_plan(type, product, device.memory_bytes, device, of_product).stages)
    levels += s.levels;
  return levels;
}

/// What the plan says of accuracy, with so many levels inside its products.
void judge_with(plan& how, int levels) {
  plan whole = how;
  for (int l = 0; l < levels; ++l)
    whole.levels.push_back({"winograd", level_kind::explicit_passes, find_algorithm("winograd")});
  judge_accuracy(whole);
  how.bound = whole.bound, how.bound_of_C = whole.bound_of_C, how.growth = whole.growth;
  how.largest_A = whole.largest_A, how.largest_B = whole.largest_B, how.largest_product = whole.largest_product;
}

}  // namespace

device_grid::device_grid(int devices) {
  for (int r = 1; r * r <= devices; ++r)
    if (devices % r == 0) rows = r, cols = devices / r;
}

block_counts counts_for(std::int64_t block, problem const& shape, int above) {
  auto const count = [&](std::int64_t extent) {
    return static_cast<int>(std::max<std::int64_t>(1, ((extent >> above) + block - 1) / block));
  };
  return {count(shape.m), count(shape.k), count(shape.n), above};
}

plan plan_in_blocks(element_type type, problem const& shape, block_counts const& counts, int devices) {
  auto const& [m, k, n, above] = counts;
  plan how;
  how.type = type;
  how.shape = shape;
  auto const winograd = find_algorithm("winograd");
  for (int l = 0; l < above; ++l) how.levels.push_back({"winograd", level_kind::task, winograd});
  if (m * k * n > 1) {
    auto const blocks = classical_blocks(m, k, n, devices);
    how.levels.push_back({blocks->name, level_kind::task, blocks});
  }
  auto const divided = [above = above](std::int64_t extent, int parts) {
    std::int64_t const unit = std::int64_t{parts} << above;
    return extent / unit * unit;
  };
  how.core_m = divided(shape.m, m), how.core_k = divided(shape.k, k), how.core_n = divided(shape.n, n);
  how.workers = devices;
  how.independent = above > 0;
  how.slots = above > 0 ? winograd->rank() : 1;
  how.kernel = "auto";
  return how;
}

problem product_of(plan const& in_blocks, block_counts const& counts) {
  problem p;
  p.m = in_blocks.core_m / (std::int64_t{counts.m} << counts.above);
  p.k = in_blocks.core_k / (std::int64_t{counts.k} << counts.above);
  p.n = in_blocks.core_n / (std::int64_t{counts.n} << counts.above);
  return p;
}

std::optional<device_task_plan> plan_for_devices(element_type type, problem const& shape, int devices,
                                                 options const& wishes) {
  bool const set = wishes.deterministic || wishes.force_levels >= 0 || wishes.algorithm != "auto";
  if (devices < 1 || set || std::min({shape.m, shape.n, shape.k}) < least_dimension) return std::nullopt;
  std::int64_t block = largest_block;
  while (devices > 1 && block > least_dimension && counts_for(block, shape, 0).products() < 2 * devices) block /= 2;
  block_counts const counts = counts_for(block, shape, 0);
  device_task_plan x{plan_in_blocks(type, shape, counts, devices)};
  problem const product = product_of(x.how, counts);
  x.levels = levels_inside(type, product, wishes);
  judge_with(x.how, x.levels);
  x.how.reason =
      fmt::format("{} products of {}x{}x{} on {} CUDA device{}, each with {} levels of Winograd at most",
                  counts.products(), product.m, product.k, product.n, devices, devices > 1 ? "s" : "", x.levels);
  return x;
}

}  // namespace heptad
