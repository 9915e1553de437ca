// SPDX-License-Identifier: BSD-3-Clause
// Walks the levels inwards for shapes and buffers, then outwards for seconds: a node costs its passes and its products,
// each of which overwrites what it is formed in or adds to it. Sizes are doubles: none overflows.
#include "src/plan/cost_model.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "src/matrix/limits.hpp"
#include "src/matrix/orientation.hpp"
#include "src/plan/level_price.hpp"
#include "src/plan/strip_grid.hpp"

namespace heptad {
namespace {

// Of the packed operands of any kernel set, at most: what whole tiles add to a block of A that takes half of the
// second-level cache, the columns of B.
constexpr double whole_tiles_bytes = 128 << 10, packed_b_bytes = 64 << 10;
// Few rows that meet columns contiguous along the depth are packed in blocks of one size.
constexpr double dots_bytes = 128 << 10;
// Between buffers, see workspace_pool.
constexpr double stagger_bytes = 320;

/// Workers that begin tasks of one length together do not end them together: how much of a task the last one is behind
/// the mean. Measured: 1.5 to 5 % on 2 workers, 20 to 35 % on the 16 of a shared virtual machine.
double lateness(int workers) {
  constexpr double of_two = 0.03;
  return of_two * std::log2(workers);
}

/// Of a node, by how it updates its C.
struct by_update {
  double overwrite = 0, accumulate = 0;
  [[nodiscard]] double of(bool overwrites) const noexcept { return overwrites ? overwrite : accumulate; }
};

constexpr int most_levels = 64;

/// The largest piece of a product below the task levels, in whole blocks of its levels.
extent strip_of(outline const& o, extent const& product) {
  if (o.strips == 1) return product;
  std::int64_t blocks_m = 1, blocks_n = 1;
  for (outline_level const& l : o.levels)
    if (l.kind != level_kind::task) blocks_m *= l.traffic().m, blocks_n *= l.traffic().n;
  strip_grid const grid = cut_into_grid(static_cast<std::int64_t>(product.m), static_cast<std::int64_t>(product.n),
                                        static_cast<std::int64_t>(product.k), o.strips);
  auto const largest = [](double extent, std::int64_t pieces, std::int64_t blocks) {
    return std::ceil(extent / static_cast<double>(pieces * blocks)) * static_cast<double>(blocks);
  };
  return {largest(product.m, grid.rows, blocks_m), largest(product.n, grid.cols, blocks_n), product.k};
}

/// The blocks of every level that is not fused, and the product below them with all fused levels as one.
struct level_blocks {
  extent blocks[most_levels];
  int outer = 0, task_levels = 0;
  extent product;
  level_counts fused;

  level_blocks(outline const& o, extent x) {
    bool cut = false;
    for (outline_level const& l : o.levels) {
      if (l.kind != level_kind::task && !std::exchange(cut, true)) x = strip_of(o, x);
      if (l.kind == level_kind::fused) {
        fused = fused_over(fused, l.traffic());
        continue;
      }
      blocks[outer++] = x = x.over(l.traffic());
      task_levels += l.kind == level_kind::task;
    }
    product = cut ? x : strip_of(o, x);
  }
};

level_passes const& passes_around(extent const& block, level_traffic const& t, problem const& shape, bool overwrite,
                                  bool independent) {
  return t.in(order_of(block, {shape.a_row_major, shape.b_row_major}, overwrite, independent));
}

distance operands_of(prices const& price, problem const& shape, int workers, outline const& o, level_blocks const& in) {
  for (int l = in.outer; l-- > 0;) {
    extent const& block = in.blocks[l];
    bool const independent = l < in.task_levels && o.independent;
    pass_prices const passes(passes_around(block, o.levels[l].traffic(), shape, false, independent), block,
                             price.element_bytes());
    if (passes.touched() > 0) return price.left_by_passes(passes.touched(), workers);
  }
  return distance::in_cache;
}

class model {
public:
  model(element_type type, problem const& shape, int workers, machine_profile const& machine, outline const& o,
        priced_passes& known)
      : type_(type),
        price_(type, machine),
        shape_(shape),
        workers_(workers),
        machine_(machine),
        o_(o),
        overwrites_(forms_in_C(shape, o.pads)),
        known_(known) {
    bool const cut = std::ranges::find(o.levels, level_kind::explicit_passes, &outline_level::kind) != o.levels.end();
    std::int64_t const strips = cut ? o.strips : 1;
    if (known_.levels == o.levels && known_.strips == strips && known_.pads == o.pads) return;
    known_.levels = o.levels;
    known_.strips = strips;
    known_.pads = o.pads;
    known_.nodes.assign(o.levels.size(), {});
  }

  estimate run() {
    core_sizes(o_, shape_, result_);
    if (shape_.m == 0 || shape_.n == 0) return result_;
    levels({static_cast<double>(result_.core_m), static_cast<double>(result_.core_n),
            static_cast<double>(result_.core_k)});
    fringes();
    if (!o_.levels.empty()) scan();
    result_.seconds += result_.tasks * machine_.task_seconds / workers_;
    if (workers_ > 1 && result_.tasks > 1) result_.seconds += machine_.call_seconds;
    return result_;
  }

private:
  [[nodiscard]] level_passes const& passes(level_traffic const& t, extent const& block, bool overwrite,
                                           bool independent) const {
    return passes_around(block, t, shape_, overwrite, independent);
  }

  priced_passes::node const& priced(int level, extent const& block, bool overwrite, bool independent) {
    priced_passes::node& x = known_.nodes[level][2 * independent + overwrite];
    if (x.seconds >= 0) return x;
    pass_prices const p(passes(o_.levels[level].traffic(), block, overwrite, independent), block,
                        price_.element_bytes());
    x.seconds = p.seconds(price_);
    x.bytes = p.bytes();
    if (p.touched() > double(machine_.l3_bytes) / workers_) x.moved = x.bytes;
    if (level == 0 && workers_ > 1) {
      x.shared_sums = p.shared_sums_seconds(price_, workers_);
      x.shared_update = p.shared_update_seconds(price_, workers_);
    }
    return x;
  }

  [[nodiscard]] product_setting setting() const { return {.product_buffer = o_.product_buffer, .operands = operands_}; }

  void levels(extent x) {
    level_blocks const in(o_, x);
    auto const& [blocks, outer, task_levels, product, fused] = in;
    operands_ = operands_of(price_, shape_, workers_, o_, in);
    double const leaf = leaf_seconds(price_, product, fused, setting());
    buffers(blocks, outer, task_levels);
    result_.packing = workers_ * packing(product.over(fused), o_.product_buffer && fused.rank > 1);

    // Outwards. Workers share the passes of the outermost task level, for which everything else waits.
    by_update node{leaf, leaf}, in_memory;
    double products = 1;
    auto const strips = static_cast<double>(o_.strips);
    auto const all_strips = [&] {
      for (by_update* sum : {&node, &in_memory}) sum->overwrite *= strips, sum->accumulate *= strips;
    };
    for (int l = outer; l-- > 0;) {
      if (l == task_levels - 1) all_strips();
      level_traffic const& t = o_.levels[l].traffic();
      bool const independent = l < task_levels && o_.independent;
      bool const shared = l == 0 && task_levels > 0 && workers_ > 1;
      by_update inner = node, inner_memory = in_memory;
      for (bool const overwrite : {true, false}) {
        level_passes const& p = passes(t, blocks[l], overwrite, independent);
        double const below = p.overwriting * inner.overwrite + p.accumulating * inner.accumulate;
        double const below_memory = p.overwriting * inner_memory.overwrite + p.accumulating * inner_memory.accumulate;
        priced_passes::node const& around = priced(l, blocks[l], overwrite, independent);
        (overwrite ? node.overwrite : node.accumulate) = below + (shared ? 0 : around.seconds);
        (overwrite ? in_memory.overwrite : in_memory.accumulate) = below_memory + (shared ? 0 : around.moved);
      }
      if (l < task_levels) {
        products *= t.rank;
        double nodes = 1;
        for (int i = 0; i < l; ++i) nodes *= o_.levels[i].traffic().rank;
        result_.tasks += nodes * pass_tasks(priced(l, blocks[l], overwrites_, independent).bytes);
      }
    }
    if (task_levels == 0) all_strips();
    result_.tasks += products * strips;
    double const work = node.of(overwrites_);
    if (workers_ == 1) {
      result_.seconds += work;
    } else if (task_levels == 0) {
      double const tasks_long = std::ceil(strips / workers_) + (strips == 1 ? 0 : lateness(workers_));
      result_.seconds += std::max(work / strips * tasks_long, by_memory(in_memory));
    } else {
      priced_passes::node const& outermost = priced(0, blocks[0], overwrites_, o_.independent);
      double const parallel = work_of_crew(blocks, task_levels, products * strips, work, outermost);
      result_.seconds += std::max(parallel, outermost.shared_sums + outermost.shared_update + by_memory(in_memory));
    }
  }

  [[nodiscard]] double by_memory(by_update const& moved) const {
    return 1e-9 * moved.of(overwrites_) / machine_.memory_gbytes();
  }

  [[nodiscard]] product_waits const& waits_at(extent const* blocks, int level, bool overwrite) const {
    operand_layouts const layouts{shape_.a_row_major, shape_.b_row_major};
    return waits_of(*o_.levels[level].algorithm, order_of(blocks[level], layouts, overwrite, o_.independent));
  }

  /// Seconds of all workers on the products below the task levels, one worker's `work`, and on the outermost passes.
  [[nodiscard]] double work_of_crew(extent const* blocks, int task_levels, double tasks, double work,
                                    priced_passes::node const& outermost) {
    double const task = work / tasks, in_tasks = workers_ / task;
    if (task_levels > 1) {
      double const idle =
          o_.slots == 1 ? one_by_one(blocks, task_levels - 1, tasks, task) : in_slots(blocks, task_levels - 1, tasks);
      return outermost.shared_sums + outermost.shared_update + work / workers_ * idle;
    }
    double const tasks_long =
        level_time(waits_at(blocks, 0, overwrites_), {.workers = workers_,
                                                      .strips = o_.strips,
                                                      .sums = outermost.shared_sums * in_tasks,
                                                      .update = outermost.shared_update * in_tasks});
    return task * (tasks_long + lateness(workers_));
  }

  /// Rounds in which the nodes around the innermost task level run, as many at once as there are slots: those after the
  /// update of C wait for all before.
  [[nodiscard]] double rounds_around(extent const* blocks, int innermost) const {
    double const slots = o_.slots;
    double around = 1;
    for (int l = 0; l < innermost; ++l) {
      product_waits const& level = waits_at(blocks, l, overwrites_);
      around *= std::max<double>(std::ceil(level.before_update / slots) + std::ceil(level.after_update() / slots),
                                 level.chain);
    }
    return around;
  }

  /// 1 + idle share of the workers where one node of the innermost task level follows the other: in independent order
  /// nothing but products that need neither sums nor C fills the gap.
  [[nodiscard]] double one_by_one(extent const* blocks, int innermost, double all_tasks, double task) {
    if (o_.independent) {
      product_waits const& inner = waits_at(blocks, innermost, overwrites_);
      auto const waiting = static_cast<double>(inner.products.size()) - inner.before_sums;
      double const in_rounds = std::ceil(waiting * static_cast<double>(o_.strips) / workers_);
      double const needed = all_tasks / workers_;
      return std::max(1.0, rounds_around(blocks, innermost) * std::max<double>(inner.chain, in_rounds) / needed);
    }
    double overwrites = overwrites_ ? 1 : 0;  // share of the nodes
    for (int l = 0; l < innermost; ++l) {
      auto const inside = [&](bool overwrite) {
        level_passes const& p = passes(o_.levels[l].traffic(), blocks[l], overwrite, false);
        return static_cast<double>(p.overwriting) / (p.overwriting + p.accumulating);
      };
      overwrites = overwrites * inside(true) + (1 - overwrites) * inside(false);
    }
    double time = 0;
    for (bool const overwrite : {true, false}) {
      double const share = overwrite ? overwrites : 1 - overwrites;
      if (share == 0) continue;
      product_waits const& waits = waits_at(blocks, innermost, overwrite);
      double const tasks = static_cast<double>(waits.products.size()) * static_cast<double>(o_.strips);
      // Of the time of a task, as it is counted here, its share of the node's passes is not its own.
      double const node_passes = priced(innermost, blocks[innermost], overwrite, false).seconds / task;
      double const own = std::max(0.5, 1 - node_passes / tasks);
      time += share * own * workers_ / tasks *
              level_time(waits, {.workers = workers_, .strips = o_.strips, .sums = node_passes / own});
    }
    return time;
  }

  /// The same with several slots. Nodes run in rounds of them, in each of which products wait for each other: the time
  /// of this chain, over that which the workers need for all products, is `chain`; how both combine fits dry runs.
  [[nodiscard]] double in_slots(extent const* blocks, int innermost, double tasks) const {
    double const w = workers_;
    double const chain =
        rounds_around(blocks, innermost) * waits_at(blocks, innermost, overwrites_).chain / (tasks / w);
    double const tail = 1 + (w - 1) / 2 / tasks;
    return tail * std::pow(1 + std::pow(chain, 8), 1.0 / 8);
  }

  /// Bytes of a buffer of `rows` contiguous elements by `cols`.
  [[nodiscard]] double held(double rows, double cols) const {
    auto const bytes = static_cast<std::int64_t>(price_.element_bytes());
    auto const ld = padded_leading_dimension(static_cast<std::int64_t>(rows), bytes);
    return static_cast<double>(ld * bytes) * std::floor(cols) + stagger_bytes;
  }

  /// Sums and temporaries of one node at a level; `temporaries` the most that any of its nodes has.
  [[nodiscard]] double held(level_passes const& p, extent const& s, int temporaries) const {
    return p.sums_A * (shape_.a_row_major ? held(s.k, s.m) : held(s.m, s.k)) +
           p.sums_B * (shape_.b_row_major ? held(s.n, s.k) : held(s.k, s.n)) + temporaries * held(s.m, s.n);
  }

  /// The buffers of a level are those of its slots, or of the one sequence in a worker's scratch.
  void buffers(extent const* blocks, int outer, int task_levels) {
    struct occurring {
      bool overwrite, accumulate;
    };
    auto const inside = [&](int l, occurring at, bool independent) {
      occurring next{false, false};
      for (bool const overwrite : {true, false}) {
        if (!(overwrite ? at.overwrite : at.accumulate)) continue;
        level_passes const& p = passes(o_.levels[l].traffic(), blocks[l], overwrite, independent);
        next.overwrite |= p.overwriting > 0;
        next.accumulate |= p.accumulating > 0;
      }
      return next;
    };
    auto const held_at = [&](int l, occurring at, bool independent) {
      int temporaries = 0;
      for (bool const overwrite : {true, false})
        if (overwrite ? at.overwrite : at.accumulate)
          temporaries =
              std::max(temporaries, passes(o_.levels[l].traffic(), blocks[l], overwrite, independent).temporaries);
      return held(passes(o_.levels[l].traffic(), blocks[l], false, independent), blocks[l], temporaries);
    };
    occurring at{overwrites_, !overwrites_};
    double slots = 1;
    for (int l = 0; l < task_levels; ++l) {
      result_.buffers += slots * held_at(l, at, o_.independent);
      slots *= std::min(o_.slots, o_.levels[l].traffic().rank);
      at = inside(l, at, o_.independent);
    }
    // A worker's scratch is that of the larger sequence: the one that overwrites or the one that adds.
    double scratch = 0;
    for (bool const overwrite : {true, false}) {
      if (!(overwrite ? at.overwrite : at.accumulate)) continue;
      occurring in{overwrite, !overwrite};
      double bytes = 0;
      for (int l = task_levels; l < outer; ++l) {
        bytes += held_at(l, in, false);
        in = inside(l, in, false);
      }
      scratch = std::max(scratch, bytes);
    }
    result_.buffers += workers_ * scratch;
  }

  [[nodiscard]] double packing(extent const& x, bool gathers) const {
    double const bytes = price_.element_bytes();
    double const depth = std::min<double>(x.k, most_k_block) + 16;
    double const block = static_cast<double>(machine_.l2_bytes) / 2 + whole_tiles_bytes;
    bool const keeps = keeps_packed_b(static_cast<double>(machine_.l2_bytes), bytes_of(type_));
    auto const packed = [&](double rows, double columns) {
      double const a = std::min(block, bytes * (rows + 64) * depth);
      double const b = packed_b_bytes + (keeps ? std::min<double>(kept_b_bytes, bytes * columns * depth) : 0);
      double const gathered = gathers && x.k > most_k_block ? bytes * (1.1 * rows + 64) * (columns + 64) : 0;
      return a + b + gathered;
    };
    double const transposed = std::min(x.m, x.n) < most_transposed + 1 ? packed(x.n, x.m) : 0;
    // Beside an operand in place: all of the other one's short side, in deep blocks.
    auto const beside = [&](double side) {
      if (side * bytes > 4 * thin_side) return 0.0;
      double const step = bytes * (side + 64);
      return std::min(step * (x.k + least_k_block),
                      std::max(step * static_cast<double>(most_thin_k_block), few_rows_part * block));
    };
    auto const copied = [&](double rows, double columns) {
      if (columns > most_columns_beside_copy) return 0.0;
      return bytes * (columns + 64) * depth + std::min<double>(copied_bytes, bytes * (rows + 64) * depth);
    };
    return std::max({packed(x.m, x.n), transposed, beside(x.m) + beside(x.n), copied(x.m, x.n), copied(x.n, x.m),
                     dots_bytes}) +
           16384;
  }

  // Pass tiles are sized by bytes; about four per worker at the least.
  [[nodiscard]] double pass_tasks(double bytes) const {
    return std::max<double>(3 * std::min(workers_ * 4, 16), std::ceil(bytes / 4e6));
  }

  // Three thin products around the core, in tasks that share the workers.
  void fringes() {
    double const m = double(shape_.m), n = double(shape_.n), k = double(shape_.k);
    double const cm = std::min(m, double(result_.core_m)), cn = std::min(n, double(result_.core_n));
    double const ck = double(result_.core_k);
    double seconds = 0;
    for (extent const& f : {extent{cm, cn, k - ck}, {cm, n - cn, k}, {m - cm, n, k}})
      if (f.m > 0 && f.n > 0 && f.k > 0) {
        seconds += price_.product(f.m, f.n, f.k, setting());
        result_.tasks += workers_;
        result_.packing = std::max(result_.packing, workers_ * packing(f, o_.product_buffer));
      }
    result_.seconds += seconds / workers_;
  }

  // A and B are looked at before levels may run on them: by the outermost passes over them, at next to no cost, and by
  // scans where those leave blocks out or are several workers' own.
  void scan() {
    outline_level const& outermost = o_.levels.front();
    bool const opens = outermost.kind == level_kind::task ||
                       (outermost.kind == level_kind::explicit_passes && workers_ == 1 && o_.strips == 1);
    level_traffic const& t = outermost.traffic();
    level_passes const& p = t.passes.front();
    double const m = double(shape_.m), n = double(shape_.n), k = double(shape_.k);
    double const core_m = double(result_.core_m), core_n = double(result_.core_n), core_k = double(result_.core_k);
    // Of the blocks that the passes read, those in the last row and column lack what reaches beyond the operand.
    double const lacks_m = std::max(0.0, core_m - m), lacks_n = std::max(0.0, core_n - n);
    double const lacks_k = std::max(0.0, core_k - k);
    auto const looked_at = [opens](blocks_read const& read, double rows, double cols, double lacks_rows,
                                   double lacks_cols) {
      if (!opens) return 0.0;
      return read.all * rows * cols - read.last_row * lacks_rows * cols - read.last_col * rows * lacks_cols +
             read.corner * lacks_rows * lacks_cols;
    };
    double const looked_at_A = looked_at(p.of_A, core_m / t.m, core_k / t.k, lacks_m, lacks_k);
    double const looked_at_B = looked_at(p.of_B, core_k / t.k, core_n / t.n, lacks_k, lacks_n);
    for (auto const& [elements, looked] : {std::pair{m * k, looked_at_A}, {k * n, looked_at_B}}) {
      double const operand = price_.element_bytes() * elements;
      double const bytes = price_.element_bytes() * (elements - looked);
      double const scan = price_.scan(bytes, operand, workers_);
      result_.seconds += outermost.kind == level_kind::fused ? prices::look_of_fused(scan, shape_.beta_zero) : scan;
    }
  }

  element_type const type_;
  prices const price_;
  problem const& shape_;
  int const workers_;
  machine_profile const& machine_;
  outline const& o_;
  bool const overwrites_;  // the whole node
  priced_passes& known_;
  distance operands_{};
  estimate result_;
};

}  // namespace

void core_sizes(outline const& o, problem const& shape, estimate& result) {
  std::int64_t m = 1, n = 1, k = 1;
  for (outline_level const& l : o.levels) {
    m *= l.traffic().m;
    n *= l.traffic().n;
    k *= l.traffic().k;
  }
  auto const core = [](std::int64_t side, std::int64_t blocks, bool pads) {
    return (pads ? side + blocks - 1 : side) / blocks * blocks;
  };
  result.core_m = core(shape.m, m, o.pads.m);
  result.core_n = core(shape.n, n, o.pads.n);
  result.core_k = core(shape.k, k, o.pads.k);
}

distance operands_of(element_type type, problem const& shape, int workers, machine_profile const& machine,
                     outline const& o) {
  estimate e;
  core_sizes(o, shape, e);
  level_blocks const in(o, {double(e.core_m), double(e.core_n), double(e.core_k)});
  return operands_of(prices(type, machine), shape, workers, o, in);
}

estimate predict(element_type type, problem const& shape, int workers, machine_profile const& machine, outline const& o,
                 priced_passes& passes) {
  return model(type, shape, workers, machine, o, passes).run();
}

estimate predict(element_type type, problem const& shape, int workers, machine_profile const& machine,
                 outline const& o) {
  priced_passes passes;
  return predict(type, shape, workers, machine, o, passes);
}

}  // namespace heptad
