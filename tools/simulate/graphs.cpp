// SPDX-License-Identifier: BSD-3-Clause
#include "tools/simulate/graphs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include "src/plan/device_blocks.hpp"
#include "src/plan/device_planner.hpp"

namespace heptad::tools {
namespace {

constexpr std::int64_t smallest_block = 4096, largest_block = 32768;

block const& product_result(task const& t) {
  auto const* const product = std::get_if<sequence_step>(&t.body);
  if (product == nullptr) throw error(status::internal_error, "task " + t.name + " is no product of blocks");
  return product->c;
}

}  // namespace

int owner_of_block(task const& t, int devices) {
  block const& c = product_result(t);
  return device_grid(devices).owner(c.row / c.rows, c.col / c.cols);
}

void finish_in_turn(graph& g) {
  struct block_of_C {
    std::size_t number = 0;  // by first appearance
    std::size_t products = 0;
  };
  std::map<std::pair<std::int64_t, std::int64_t>, block_of_C> blocks;
  std::vector<std::pair<block_of_C const*, std::size_t>> places;  // of every task: its block, and which product of it
  for (task const& t : g.tasks) {
    block const& c = product_result(t);
    block_of_C& of = blocks.try_emplace({c.row, c.col}, block_of_C{blocks.size(), 0}).first->second;
    places.emplace_back(&of, of.products++);
  }
  auto const turn = [&places](std::size_t t) {
    auto const [of, round] = places[t];
    return 2 * round < of->products ? std::tuple(0, round, of->number) : std::tuple(1, of->number, round);
  };
  std::vector<std::size_t> order(g.tasks.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, turn);
  std::vector<task> tasks;
  tasks.reserve(order.size());
  for (std::size_t const t : order) tasks.push_back(std::move(g.tasks[t]));
  g.tasks = std::move(tasks);
}

cuda::plan plan_of_product(element_type type, problem const& shape, std::size_t workspace, bool classical,
                           cuda::device_profile const& device) {
  cuda::options wishes;
  wishes.max_workspace = workspace;
  if (classical) wishes.max_levels = 0;
  return cuda::choose_device_plan(type, shape, device.memory_bytes, device, wishes);
}

double device_seconds::operator()(task const& t) const {
  auto const* const product = std::get_if<sequence_step>(&t.body);
  if (product == nullptr) return device_.pass_seconds + t.cost.bytes / (device_.pass_gbytes * 1e9);
  problem shape;
  shape.m = product->c.rows, shape.n = product->c.cols, shape.k = product->a.cols;
  shape.beta_zero = g_.sequences[static_cast<std::size_t>(product->sequence)].how == update::overwrite;
  static std::map<std::tuple<element_type, std::int64_t, std::int64_t, std::int64_t, bool, bool, std::size_t>, double>
      known;
  auto const [found, fresh] =
      known.try_emplace({g_.type, shape.m, shape.n, shape.k, shape.beta_zero, classical_, workspace_}, 0.0);
  if (fresh) found->second = plan_of_product(g_.type, shape, workspace_, classical_, device_).seconds;
  return found->second;
}

std::vector<device_graph> device_graphs(element_type type, problem const& shape, int devices, std::size_t workspace,
                                        cuda::device_profile const& device) {
  std::vector<device_graph> all;
  for (std::int64_t block = smallest_block; block <= largest_block; block *= 2)
    for (int above = 0; above <= 1; ++above) {
      block_counts const counts = counts_for(block, shape, above);
      bool const again = block > smallest_block && counts == counts_for(block / 2, shape, above);
      if (again || counts.products() < 2 * devices || counts.products() > 2000) continue;
      plan const how = plan_in_blocks(type, shape, counts, devices);
      problem const of_product = product_of(how, counts);
      std::string const blocks = fmt::format("blocks of {}x{}x{}", of_product.m, of_product.k, of_product.n);
      for (bool const classical : {true, false}) {
        if (classical && above > 0) continue;
        cuda::plan const inside = plan_of_product(type, of_product, workspace, classical, device);
        if (!classical && above == 0 && inside.stages.empty()) continue;
        device_graph g{(above > 0 ? "winograd over " : "") + blocks, !classical, above == 0, how, "cuBLAS"};
        if (!inside.stages.empty()) g.inside.clear();
        for (cuda::stage const& s : inside.stages)
          g.inside += fmt::format("{}{}x{}{}", g.inside.empty() ? "" : " ", s.name, s.levels, s.batched ? "b" : "");
        all.push_back(std::move(g));
      }
    }
  return all;
}

}  // namespace heptad::tools
