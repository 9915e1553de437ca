// SPDX-License-Identifier: BSD-3-Clause
// Task levels become passes in tiles and products; a product below them is one serial sequence; the fringes are pieces
// of classical products. Tasks are emitted in program order: everything else follows from their accesses.
#include "tasks/gemm_graph.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <tuple>

#include "src/matrix/limits.hpp"
#include "src/plan/planner.hpp"
#include "src/plan/strip_grid.hpp"
#include "tasks/cell_grid.hpp"
#include "tasks/cost.hpp"
#include "tasks/cut.hpp"
#include "tasks/node.hpp"
#include "tasks/sequence.hpp"

namespace heptad {
namespace {

void require(bool holds, std::string const& what) {
  if (!holds) throw error(status::internal_error, "task graph: " + what + "; C is untouched");
}

/// The levels of a plan by kind.
struct sorted_levels {
  std::vector<algorithm const*> tasks;
  serial_levels serial;
  std::shared_ptr<algorithm const> fused;   // owns serial.fused
  std::int64_t m = 1, n = 1, k = 1;         // blocks of the whole in each dimension
  std::int64_t serial_m = 1, serial_n = 1;  // of a product below the task levels

  explicit sorted_levels(plan const& how) {
    auto last = level_kind::task;
    level_counts counts;  // of all fused levels
    for (plan_level const& level : how.levels) {
      require(level.coefficients != nullptr, "level " + level.name + " has no coefficients");
      require(level.kind >= last, "levels must be task levels, then explicit, then fused ones");
      last = level.kind;
      m *= level.coefficients->m, n *= level.coefficients->n, k *= level.coefficients->k;
      if (level.kind == level_kind::task) tasks.push_back(level.coefficients.get());
      else serial_m *= level.coefficients->m, serial_n *= level.coefficients->n;
      if (level.kind == level_kind::explicit_passes) serial.explicit_passes.push_back(level.coefficients.get());
      if (level.kind != level_kind::fused) continue;
      counts = fused_over(counts, know(level.coefficients).traffic);
      require(counts.widest() <= most_terms, "the fused levels sum too many blocks at once");
      fused = fused ? std::make_shared<algorithm const>(kronecker(*fused, *level.coefficients)) : level.coefficients;
    }
    serial.fused = fused.get();
  }
};

/// What a combine task touches. An output that is also an input is ordered as a write.
std::vector<access> accesses_of(combine_step const& step) {
  std::vector<access> list;
  for (block const& source : step.sources)
    if (std::ranges::find(step.targets, source, &target::where) == step.targets.end())
      list.push_back({source, access_mode::read});
  for (target const& t : step.targets) {
    bool const accumulates =
        t.how == update::accumulate && std::ranges::find(step.sources, t.where) == step.sources.end();
    list.push_back({t.where, accumulates ? access_mode::accumulate : access_mode::write});
  }
  return list;
}

class graph_builder : public node_visitor {
public:
  graph_builder(plan const& how, machine_profile const& machine, tiling tiles)
      : how_(how),
        tiling_(tiles),
        price_(how.type, machine),
        levels_(how),
        layout_{how.shape.a_row_major ? orientation::row_major : orientation::column_major,
                how.shape.b_row_major ? orientation::row_major : orientation::column_major, bytes_of(how.type)},
        pool_(g_.buffers, g_.workspace_elements, layout_.element_bytes),
        programs_(g_.programs) {
    g_.type = how.type;
    g_.product_buffer = how.product_buffer;
    g_.operands = operands_of(how.type, how.shape, how.workers, machine, outline_of(how));
    g_.m = how.shape.m, g_.n = how.shape.n, g_.k = how.shape.k;
    // Only one worker has the scratch of a serial sequence at hand again; a graph in cells may be run by any number.
    levels_.serial.opens = tiling_ == tiling::strips && levels_.tasks.empty() && how.strips == 1 && how.workers == 1;
  }

  graph build() && {
    if (g_.m == 0 || g_.n == 0) return std::move(g_);
    node const whole = part(0, 0, g_.m, g_.n, g_.k);
    if (g_.k == 0) {
      scale_step const step{whole.c};
      g_.tasks.push_back({"scale C", step, {{step.where, access_mode::write}}, cost_of(step, g_, price_)});
    } else if (how_.levels.empty()) {
      classical_strips("product", whole, how_.strips);
    } else {
      if (tiling_ == tiling::cells) draw_grid();
      core();
      fringes();
    }
    set_priorities();
    return std::move(g_);
  }

  /// A task level cuts the node into tasks; below them it is one task for each of its strips.
  void product(node v) override {
    if (auto const depth = static_cast<std::size_t>(v.depth); depth < levels_.tasks.size())
      expand(v, *levels_.tasks[depth],
             {.independent = how_.independent,
              .slots = how_.slots,
              .longest_chains_first = true,
              .of_sums = reuse_of_sums()},
             layout_, pool_, programs_, *this);
    else strips(v.path.empty() ? "product" : "product " + v.path, v, how_.strips, levels_.serial);
  }

  /// Tiles are cut across the contiguous dimension: each streams whole columns (or rows).
  void pass(node const& parent, pass_kind kind, combine_step step) override {
    step.opening = parent.depth == 0 && kind != pass_kind::update_of_C;
    if (tiling_ == tiling::cells) return pass_in_cells(parent, kind, step);
    bool const by_columns = writes_columns(kind);
    block const first = step.targets.front().where;
    std::int64_t const extent = by_columns ? first.cols : first.rows;
    cost const whole = cost_of(step, g_, price_);
    auto const boundaries = cut(extent, tiles_of(whole, parent.depth));
    for (std::size_t i = 0; i + 1 < boundaries.size(); ++i) {
      std::int64_t const begin = boundaries[i], size = boundaries[i + 1] - begin;
      auto const tile_of = [&](block const& x) {
        return by_columns ? x.sub(0, begin, x.rows, size) : x.sub(begin, 0, size, x.cols);
      };
      combine_step tile = step;
      for (block& source : tile.sources) source = tile_of(source);
      for (target& t : tile.targets) t.where = tile_of(t.where);
      // The tiles together cost what the whole pass does: where its blocks lie decides, not how it is cut.
      double const part = static_cast<double>(size) / static_cast<double>(extent);
      add_pass(pass_name(parent, kind) + piece_name(i, boundaries.size() - 1), std::move(tile), share_of(whole, part));
    }
  }

private:
  // Traffic of a tile: long against the overhead of a task, short against the time of a product.
  static constexpr double tile_bytes = 4e6, least_tile_bytes = 256e3;
  // Bounds the graph of a pass over gigabytes; so many tiles balance any number of workers.
  static constexpr int most_tiles_per_worker = 32;
  // A strip with less work than this costs more than it brings.
  static constexpr double least_strip_flops = 2.0 * 96 * 96 * 96;

  static std::string pass_name(node const& parent, pass_kind kind) {
    static constexpr char const* names[] = {"sums of A", "sums of B", "update of C"};
    return names[static_cast<int>(kind)] + (parent.path.empty() ? "" : " " + parent.path);
  }

  /// Whether columns of what the pass writes are contiguous, or rows.
  [[nodiscard]] bool writes_columns(pass_kind kind) const {
    orientation const order = kind == pass_kind::sums_of_A   ? layout_.a
                              : kind == pass_kind::sums_of_B ? layout_.b
                                                             : orientation::column_major;
    return order == orientation::column_major;
  }

  static cost share_of(cost const& whole, double part) {
    return {part * whole.flops, part * whole.bytes, part * whole.seconds};
  }

  void add_pass(std::string name, combine_step tile, cost const& costs) {
    auto accesses = accesses_of(tile);
    g_.tasks.push_back({std::move(name), std::move(tile), std::move(accesses), costs});
  }

  /// The lines that the task levels and the strips of their products draw, and those of the fringes.
  void draw_grid() {
    std::int64_t m = 1, n = 1, k = 1;
    for (algorithm const* level : levels_.tasks) m *= level->m, n *= level->n, k *= level->k;
    grid_.leaf_m = how_.core_m / m, grid_.leaf_n = how_.core_n / n, grid_.leaf_k = how_.core_k / k;
    std::tie(grid_.leaf_rows, grid_.leaf_cols) =
        strip_lines(grid_.leaf_m, grid_.leaf_n, grid_.leaf_k, how_.strips, levels_.serial);
    auto const with_fringe = [](std::vector<std::int64_t> lines, std::int64_t extent) {
      if (lines.back() < extent) lines.push_back(extent);
      return lines;
    };
    grid_.rows = with_fringe(grid_.rows_within(how_.core_m), g_.m);
    grid_.cols = with_fringe(grid_.cols_within(how_.core_n), g_.n);
    grid_.depth = with_fringe(grid_.depth_within(how_.core_k), g_.k);
  }

  /// In what strips of products read and write as a whole.
  void pass_in_cells(node const& parent, pass_kind kind, combine_step const& step) {
    block const whole = step.targets.front().where;
    auto const rows = kind == pass_kind::sums_of_B ? grid_.depth_within(whole.rows) : grid_.rows_within(whole.rows);
    auto const cols = kind == pass_kind::sums_of_A ? grid_.depth_within(whole.cols) : grid_.cols_within(whole.cols);
    std::size_t const count = (rows.size() - 1) * (cols.size() - 1);
    cost const costs = cost_of(step, g_, price_);
    double const elements = static_cast<double>(whole.rows) * static_cast<double>(whole.cols);
    bool const by_columns = writes_columns(kind);
    std::int64_t const extent = by_columns ? whole.rows : whole.cols;
    std::size_t number = 0;
    for (std::size_t j = 0; j + 1 < cols.size(); ++j)
      for (std::size_t i = 0; i + 1 < rows.size(); ++i) {
        auto const cell = [&](block const& x) {
          return x.sub(rows[i], cols[j], rows[i + 1] - rows[i], cols[j + 1] - cols[j]);
        };
        combine_step tile = step;
        for (block& source : tile.sources) source = cell(source);
        for (target& t : tile.targets) t.where = cell(t.where);
        // A stream fills the last line of a column or row, of which the rest is the next cell's.
        std::int64_t const end = by_columns ? rows[i + 1] : cols[j + 1];
        tile.streaming = step.streaming && (end == extent || end * layout_.element_bytes % cache_line == 0);
        block const& piece = tile.targets.front().where;
        double const part = static_cast<double>(piece.rows) * static_cast<double>(piece.cols) / elements;
        add_pass(pass_name(parent, kind) + piece_name(number++, count), std::move(tile), share_of(costs, part));
      }
  }

  /// A product that ends in a sum brings its cells there.
  [[nodiscard]] reuse reuse_of_sums() const {
    if (tiling_ == tiling::strips) return reuse::where_it_fits;
    bool const cubes = grid_.leaf_m == grid_.leaf_k && grid_.leaf_n == grid_.leaf_k;
    bool const uncut = grid_.leaf_rows.size() == 2 && grid_.leaf_cols.size() == 2;
    return cubes && uncut ? reuse::where_it_fills : reuse::never;
  }

  /// C(row.., col..) of shape m×n, and the rows of A and columns of B that make it.
  [[nodiscard]] node part(std::int64_t row, std::int64_t col, std::int64_t m, std::int64_t n, std::int64_t k) const {
    node v;
    v.a = {space_A, row, 0, m, k};
    v.b = {space_B, 0, col, k, n};
    v.c = {space_C, row, col, m, n};
    v.how = forms_in_C(how_.shape, how_.pads) ? update::overwrite : update::scaled;
    return v;
  }

  void core() {
    bool const divides = how_.core_m % levels_.m == 0 && how_.core_n % levels_.n == 0 && how_.core_k % levels_.k == 0;
    auto const fits = [this](std::int64_t core, std::int64_t side, std::int64_t blocks, bool pads) {
      return 0 < core && (core <= side || (pads && core < side + blocks && tiling_ == tiling::strips));
    };
    bool const inside = fits(how_.core_m, g_.m, levels_.m, how_.pads.m) &&
                        fits(how_.core_n, g_.n, levels_.n, how_.pads.n) &&
                        fits(how_.core_k, g_.k, levels_.k, how_.pads.k);
    require(divides && inside, "the core must lie in the problem and be divisible by the levels");
    product(part(0, 0, how_.core_m, how_.core_n, how_.core_k));
  }

  /// The rows and columns of C beyond the core get their whole sum at once, the core what lies beyond core_k. Along a
  /// side that is padded there is no fringe.
  void fringes() {
    std::int64_t const m = std::min(how_.core_m, g_.m), n = std::min(how_.core_n, g_.n), k = how_.core_k;
    std::int64_t const pieces = how_.workers > 1 ? 2 * how_.workers : 1;
    if (m < g_.m) classical_strips("fringe of m", part(m, 0, g_.m - m, g_.n, g_.k), pieces);
    if (n < g_.n) classical_strips("fringe of n", part(0, n, m, g_.n - n, g_.k), pieces);
    if (k < g_.k) {
      node v = part(0, 0, m, n, g_.k);
      v.a = v.a.sub(0, k, m, g_.k - k);
      v.b = v.b.sub(k, 0, g_.k - k, n);
      v.how = update::accumulate;
      classical_strips("fringe of k", v, pieces);
    }
  }

  /// Classical products for pieces of C, at most so many.
  void classical_strips(std::string const& name, node const& v, std::int64_t pieces) {
    if (!grid_.rows.empty()) return classical_cells(name, v);
    double const flops =
        2.0 * static_cast<double>(v.c.rows) * static_cast<double>(v.c.cols) * static_cast<double>(v.a.cols);
    strips(name, v, std::clamp<std::int64_t>(static_cast<std::int64_t>(flops / least_strip_flops), 1, pieces), {});
  }

  /// Whole register tiles of every kernel set (48 is a multiple of them all), unless that unbalances the pieces. Eight
  /// elements at the least: vectors of the next piece would not lie in whole cache lines.
  static std::int64_t tiles_unit(std::int64_t extent, std::int64_t pieces) {
    return extent >= 32 * 48 * pieces ? 48 : 8;
  }

  /// One product for each cell of C and each piece of k; the first one applies the node's update.
  void classical_cells(std::string const& name, node const& v) {
    int number = 0;
    each_piece(grid_.cols, v.c.col, v.c.cols, [&](std::int64_t col, std::int64_t n) {
      each_piece(grid_.rows, v.c.row, v.c.rows, [&](std::int64_t row, std::int64_t m) {
        each_piece(grid_.depth, v.a.col, v.a.cols, [&](std::int64_t first, std::int64_t k) {
          node cell = v;
          cell.a = {space_A, row, first, m, k};
          cell.b = {space_B, first, col, k, n};
          cell.c = {space_C, row, col, m, n};
          if (first > v.a.col) cell.how = update::accumulate;
          add_product(name + " " + std::to_string(++number), cell, {});
        });
      });
    });
  }

  /// How an m×n block of C of k k-steps is cut into pieces, in whole blocks of the levels.
  [[nodiscard]] std::pair<std::vector<std::int64_t>, std::vector<std::int64_t>> strip_lines(
      std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t pieces, serial_levels const& levels) const {
    bool const classical = is_classical(levels);
    strip_grid const grid = cut_into_grid(m, n, k, pieces);
    return {cut(m, grid.rows, classical ? tiles_unit(m, grid.rows) : levels_.serial_m),
            cut(n, grid.cols, classical ? tiles_unit(n, grid.cols) : levels_.serial_n)};
  }

  /// One task a piece of C.
  void strips(std::string const& name, node const& v, std::int64_t pieces, serial_levels const& levels) {
    auto const [rows, cols] = strip_lines(v.c.rows, v.c.cols, v.a.cols, pieces, levels);
    std::size_t const count = (rows.size() - 1) * (cols.size() - 1);
    std::size_t number = 0;
    for (std::size_t j = 0; j + 1 < cols.size(); ++j)
      for (std::size_t i = 0; i + 1 < rows.size(); ++i) {
        std::int64_t const m = rows[i + 1] - rows[i], n = cols[j + 1] - cols[j];
        node piece = v;
        piece.a = v.a.sub(rows[i], 0, m, v.a.cols);
        piece.b = v.b.sub(0, cols[j], v.b.rows, n);
        piece.c = v.c.sub(rows[i], cols[j], m, n);
        add_product(name + piece_name(number++, count), piece, levels);
      }
  }

  /// Nodes of one depth that have slots of their own run side by side: each has its share of the workers.
  [[nodiscard]] std::int64_t tiles_of(cost const& pass, int depth) const {
    double const most =
        std::min(pass.bytes / least_tile_bytes, static_cast<double>(most_tiles_per_worker * how_.workers));
    double const wanted = std::max(pass.bytes / tile_bytes, how_.workers / std::pow(how_.slots, depth));
    return static_cast<std::int64_t>(std::min(wanted, most));
  }

  static std::string piece_name(std::size_t i, std::size_t pieces) {
    return pieces == 1 ? "" : " [" + std::to_string(i + 1) + "/" + std::to_string(pieces) + "]";
  }

  void add_product(std::string name, node const& v, serial_levels const& levels) {
    auto const& [index, costs] = sequence_for(v, levels);
    auto const mode = v.how == update::accumulate ? access_mode::accumulate : access_mode::write;
    g_.tasks.push_back({std::move(name),
                        sequence_step{index, v.a, v.b, v.c, v.coefficient},
                        {{v.a, access_mode::read}, {v.b, access_mode::read}, {v.c, mode}},
                        costs});
  }

  static bool is_classical(serial_levels const& levels) {
    return levels.explicit_passes.empty() && levels.fused == nullptr;
  }

  /// One sequence for all products of one shape, levels and update.
  std::pair<int, cost> const& sequence_for(node const& v, serial_levels const& levels) {
    auto const [found, fresh] = sequences_.try_emplace({v.c.rows, v.c.cols, v.a.cols, v.how, is_classical(levels)});
    if (fresh) {
      g_.sequences.push_back(build_sequence(levels, v.c.rows, v.c.cols, v.a.cols, v.how, layout_, programs_));
      found->second = {static_cast<int>(g_.sequences.size()) - 1, cost_of(g_.sequences.back(), g_, price_)};
    }
    return found->second;
  }

  /// Program order: see prioritize().
  void set_priorities() {
    int left = static_cast<int>(g_.tasks.size());
    for (task& t : g_.tasks) t.priority = left--;
  }

  plan const& how_;
  tiling const tiling_;
  prices const price_;
  sorted_levels levels_;
  layouts const layout_;
  graph g_;
  workspace_pool pool_;
  program_table programs_;
  cell_grid grid_;  // empty: in strips, or without levels
  std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t, update, bool>, std::pair<int, cost>> sequences_;
};

}  // namespace

graph build_gemm_graph(plan const& how, machine_profile const& machine, tiling cut) {
  require(!how.shape.c_row_major, "C must be column-major");
  require(how.slots >= 1 && how.workers >= 1, "a plan has at least one slot and one worker");
  return graph_builder(how, machine, cut).build();
}

std::size_t workspace_bytes(graph const& g, int workers, std::size_t packing_bytes) {
  std::int64_t scratch = 0;
  for (sequence const& s : g.sequences) scratch = std::max(scratch, s.scratch_elements);
  auto const element = static_cast<std::size_t>(bytes_of(g.type));
  return static_cast<std::size_t>(g.workspace_elements) * element +
         static_cast<std::size_t>(workers) * (static_cast<std::size_t>(scratch) * element + packing_bytes);
}

}  // namespace heptad
