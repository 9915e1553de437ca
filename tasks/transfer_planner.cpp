// SPDX-License-Identifier: BSD-3-Clause
#include "tasks/transfer_planner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <vector>

#include "src/plan/device_planner.hpp"

namespace heptad::cuda {
namespace {

// Blocks of multiples of 64 suit three levels of a ⟨2,2,2⟩ algorithm and cuBLAS's tiles.
constexpr std::int64_t least_block = 64;

std::int64_t round_up(std::int64_t value, std::int64_t step) { return (value + step - 1) / step * step; }
std::int64_t pieces(std::int64_t extent, std::int64_t piece) { return (extent + piece - 1) / piece; }

/// Extents that cut `extent` in 1, 2, 3, 4, 6, 8, 12, … almost equal parts, the largest first.
std::vector<std::int64_t> cuts(std::int64_t extent) {
  std::vector<std::int64_t> all{extent};
  for (std::int64_t parts = 2; parts <= extent;
       parts += parts & (parts - 1) ? parts / 3 : std::max(parts / 2, std::int64_t{1})) {
    std::int64_t const piece = round_up((extent + parts - 1) / parts, least_block);
    if (piece < all.back()) all.push_back(piece);
    if (piece <= least_block) break;
  }
  return all;
}

class chooser {
public:
  chooser(element_type type, problem const& shape, transfer_means const& means, device_profile const& device,
          options const& wishes)
      : type_(type),
        shape_(shape),
        means_(means),
        device_(device),
        wishes_(wishes),
        element_bytes_(type == element_type::f64 ? 8 : 4) {}

  transfer_plan run() {
    auto const m = cuts(shape_.m), n = cuts(shape_.n), k = cuts(shape_.k);
    // More and smaller blocks only while larger ones do not fit.
    for (double most = most_products_at_first; !best_; most *= 8) {
      bool complete = true;
      for (std::int64_t const bm : m)
        for (std::int64_t const bn : n) {
          // Long blocks of C need more of A and B for each product than square ones.
          bool const whole = bm == shape_.m || bn == shape_.n;
          if (!whole && std::max(bm, bn) > 4 * std::min(bm, bn)) continue;
          int deeper = 0;  // cutting k beyond what fits only shortens the first loads
          for (std::int64_t const bk : k) {
            double const products =
                double(pieces(shape_.m, bm)) * double(pieces(shape_.n, bn)) * double(pieces(shape_.k, bk));
            complete = complete && products <= most;
            if (products > most || deeper == 2) break;
            deeper += weigh(bm, bn, bk);
          }
        }
      if (complete && !best_)
        throw error(status::out_of_memory,
                    fmt::format("{} bytes of device memory are too few for blocks of {} x {}; nothing was queued",
                                means_.device_memory, least_block, least_block));
    }
    transfer_forecast const& f = best_->forecast;
    best_->reason = fmt::format(
        "blocks of {} x {} x {}: predicted {:.3f} s, of which the link needs {:.3f} and the products {:.3f}",
        best_->full.m, best_->full.n, best_->full.k, f.seconds, std::max(f.load_seconds, f.store_seconds),
        f.product_seconds);
    plan_edges(*best_);
    return std::move(*best_);
  }

private:
  static constexpr double most_products_at_first = 64;

  [[nodiscard]] double bytes_of(std::int64_t rows, std::int64_t cols, bool row_major) const {
    return double(layout_of_slot(rows, cols, row_major, type_).bytes);
  }

  /// Every sensible way to hold these blocks; false when none fits.
  bool weigh(std::int64_t m, std::int64_t n, std::int64_t k) {
    std::int64_t const rows = pieces(shape_.m, m), cols = pieces(shape_.n, n), depth = pieces(shape_.k, k);
    double const A = bytes_of(m, k, shape_.a_row_major), B = bytes_of(k, n, shape_.b_row_major);
    double const C = bytes_of(m, n, false);
    auto const count = [](std::int64_t x) { return static_cast<int>(std::min(x, std::int64_t{1} << 20)); };
    int const all_A = count(rows * depth), all_B = count(depth * cols),
              slots_C = count(std::min(rows * cols, std::int64_t{3}));
    auto const try_slots = [&](block_walk walk, int a, int b) {
      double const held = a * A + b * B + slots_C * C;
      if (held > double(means_.device_memory)) return false;
      consider({m, n, k, walk, a, b, slots_C}, static_cast<std::size_t>(held), a == all_A && b == all_B);
      return true;
    };
    if (try_slots(block_walk::shells, all_A, all_B)) return true;
    // A row or a column of blocks stays and one more is under way, or everything streams.
    int const line = count(depth + 1);
    bool fits = false;
    for (block_walk const walk : {block_walk::rows, block_walk::columns})
      for (int const a : std::set{all_A, std::min(line, all_A), std::min(2, all_A)})
        for (int const b : std::set{all_B, std::min(line, all_B), std::min(2, all_B)}) fits |= try_slots(walk, a, b);
    return fits;
  }

  void consider(transfer_tiling const& blocks, std::size_t held, bool resident) {
    std::size_t const room = means_.device_memory - held;
    problem full = shape_;
    full.m = blocks.m, full.n = blocks.n, full.k = blocks.k;
    full.beta_zero = shape_.beta_zero && full.k == shape_.k;
    plan const product = product_plan(full, room);
    transfer_plan p;
    p.type = type_;
    p.full = full;
    p.products = {product};
    p.block_bytes = held;
    p.workspace_bytes = product.workspace;
    p.resident = resident;
    p.overwrites = shape_.beta_zero;
    p.work = build_transfer_schedule(shape_, blocks);
    double const multiplies = double(full.m) * double(full.n) * double(full.k);
    p.forecast = simulate_transfers(p.work, {rate(device_.load_gbytes),
                                             rate(device_.store_gbytes),
                                             device_.call_seconds,
                                             multiplies / product.seconds,
                                             !means_.pinned,
                                             device_.line_seconds,
                                             {shape_.a_row_major, shape_.b_row_major, false}});
    if (!best_ || p.forecast.seconds < best_->forecast.seconds * (1 - 1e-9)) best_ = std::move(p);
  }

  /// The products of the schedule that are not full, and those that accumulate where a full one overwrites.
  void plan_edges(transfer_plan& p) {
    for (transfer_step const& step : p.work.steps) {
      auto const* const x = std::get_if<multiply_blocks>(&step);
      if (x == nullptr) continue;
      problem shape = p.full;
      shape.m = x->m, shape.n = x->n, shape.k = x->k;
      shape.beta_zero = x->first && p.overwrites;
      auto const known = std::ranges::find(p.products, shape, &plan::shape);
      if (known == p.products.end()) p.products.push_back(product_plan(shape, means_.device_memory - p.block_bytes));
    }
    for (plan const& product : p.products) p.workspace_bytes = std::max(p.workspace_bytes, product.workspace);
  }

  /// Elements per second over the link, or through pinned memory where the copying there is slower.
  [[nodiscard]] double rate(double gbytes) const {
    // Copying threads share the memory: eight of them were 3.5 times as fast as one.
    double const staged = device_.staged_gbytes * std::pow(means_.copy_threads, 0.6);
    return (means_.pinned ? gbytes : std::min(gbytes, staged)) * 1e9 / double(element_bytes_);
  }

  plan product_plan(problem const& shape, std::size_t room) {
    options wishes = wishes_;
    wishes.max_workspace = std::min(room, wishes_.max_workspace.value_or(room));
    for (plan const& known : plans_)
      if (known.shape == shape && known.workspace <= *wishes.max_workspace &&
          known.workspace_cap >= *wishes.max_workspace) {
        plan p = known;
        p.workspace_cap = *wishes.max_workspace;
        return p;
      }
    plans_.push_back(choose_device_plan(type_, shape, room, device_, wishes));
    return plans_.back();
  }

  element_type const type_;
  problem const shape_;
  transfer_means const means_;
  device_profile const& device_;
  options const& wishes_;
  std::size_t const element_bytes_;
  std::vector<plan> plans_;
  std::optional<transfer_plan> best_;
};

}  // namespace

transfer_plan choose_transfer_plan(element_type type, problem const& shape, transfer_means const& means,
                                   device_profile const& device, options const& wishes) {
  check_options(wishes);
  return chooser(type, shape, means, device, wishes).run();
}

std::string describe_blocks(plan const& of_block, std::size_t products, bool resident) {
  problem const& x = of_block.shape;
  return fmt::format("{}, {} products of at most {} x {} x {}{}", describe(of_block.stages), products, x.m, x.n, x.k,
                     resident ? "" : ", out of core");
}

}  // namespace heptad::cuda
