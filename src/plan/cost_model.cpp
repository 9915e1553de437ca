// SPDX-License-Identifier: BSD-3-Clause
// The model of §5 of the design: seconds = arithmetic of the leaves + traffic of the levels + fringes + idle + tasks.
// Everything is per strip for plans without task levels, and in doubles: no size overflows.
#include "src/plan/cost_model.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "src/plan/strip_grid.hpp"

namespace heptad {
namespace {

// Blocks of the packed operands: the shortest k-block of the kernel sets decides how often products are updated, the
// longest one, with the largest block of A, how much scratch the packing may take.
constexpr double block_k = 256, longest_block_k = 512, block_n = 4096, packed_a_bytes = 576 << 10;

// Strips repeat the passes over the shared operand at the same time and balance nothing: measured on 2 workers, 5–9 %
// behind tasks where the model alone sees about 2 %.
constexpr double strip_loss = 1.05;
// Strips of the products of a task level pack operands that other workers have just written: measured up to 7 % behind
// the model with products of 512, and nothing with 1024.
constexpr double task_strip_loss = 1.03;

struct extent {
  double m = 0, n = 0, k = 0;
};

class model {
public:
  model(element_type type, problem const& shape, int workers, machine_profile const& machine, outline const& o)
      : type_(type),
        rates_(type == element_type::f64 ? machine.f64 : machine.f32),
        bytes_(type == element_type::f64 ? 8 : 4),
        shape_(shape),
        workers_(workers),
        machine_(machine),
        o_(o) {}

  estimate run() {
    core_sizes(o_, shape_, result_);
    if (shape_.m == 0 || shape_.n == 0) return result_;
    levels({static_cast<double>(result_.core_m), static_cast<double>(result_.core_n),
            static_cast<double>(result_.core_k)});
    fringes();
    result_.seconds += result_.tasks * machine_.task_seconds / workers_;
    if (workers_ > 1 && result_.tasks > 1) result_.seconds += machine_.call_seconds;
    return result_;
  }

private:
  [[nodiscard]] extent strip_of(extent const& product) const {
    std::int64_t blocks = 1;
    for (outline_level const& l : o_.levels) blocks *= l.kind == level_kind::task ? 1 : l.traffic->m;
    strip_grid const grid = cut_into_grid(static_cast<std::int64_t>(product.m), static_cast<std::int64_t>(product.n),
                                          o_.strips, blocks * resident_rows(type_, machine_));
    return {product.m / static_cast<double>(grid.rows), product.n / static_cast<double>(grid.cols), product.k};
  }

  // Gflop/s of one classical product. Its packing and updates cost in proportion to mk + kn + mn, so the harmonic mean
  // of the sides decides; thin products are anchored at (8, ∞, ∞), whose mean is 24.
  [[nodiscard]] double gflops(double size, double rate_table::leaf::*rate) const {
    constexpr double thin = 24;
    auto const& leaves = rates_.leaves;
    if (size <= thin) return rates_.fringe_gflops * size / thin;
    double before = thin, at_before = rates_.fringe_gflops;
    for (rate_table::leaf const& l : leaves) {
      if (size <= l.size) {
        double const t = std::log(size / before) / std::log(l.size / before);
        return at_before + t * (l.*rate - at_before);
      }
      before = l.size;
      at_before = l.*rate;
    }
    return leaves.empty() ? rates_.product_gflops : at_before;
  }

  [[nodiscard]] double product_seconds(extent const& x) const {
    if (x.m <= 0 || x.n <= 0 || x.k <= 0) return 0;
    double const size = 3 / (1 / x.m + 1 / x.n + 1 / x.k);
    double const arithmetic = 2e-9 * x.m * x.n * x.k / gflops(size, &rate_table::leaf::classical_gflops);
    double const traffic = 1e-9 * bytes_ * (x.m * x.k + x.k * x.n + 2 * x.m * x.n) / update_rate(footprint(x));
    return std::max(arithmetic, traffic);
  }

  [[nodiscard]] double footprint(extent const& x) const { return bytes_ * (x.m * x.k + x.k * x.n + x.m * x.n); }

  // GB/s of one worker's passes over `bytes` of blocks.
  [[nodiscard]] double pass_rate(double bytes) const {
    if (bytes <= static_cast<double>(machine_.l2_bytes)) return machine_.pass_gbytes_l2;
    return in_l3(bytes) ? machine_.pass_gbytes_l3 : machine_.pass_gbytes;
  }
  [[nodiscard]] double update_rate(double bytes) const {
    if (bytes <= static_cast<double>(machine_.l2_bytes)) return machine_.pass_gbytes_l2;
    return in_l3(bytes) ? machine_.pass_gbytes_l3 : machine_.update_gbytes;
  }
  [[nodiscard]] bool in_l3(double bytes) const { return bytes * workers_ <= static_cast<double>(machine_.l3_bytes); }

  // One block with all the fused levels: the leaf products, the further operands that the packing reads, the further
  // destinations that the epilogue updates (at every k-block when nothing gathers the product).
  [[nodiscard]] double fused_by_traffic(extent const& block, level_traffic const& f, bool buffer) const {
    extent const leaf{block.m / f.m, block.n / f.n, block.k / f.k};
    double const blocks = buffer ? 1 : std::ceil(leaf.k / block_k);
    double const packing = bytes_ * ((f.terms_A - f.rank) * leaf.m * leaf.k + (f.terms_B - f.rank) * leaf.k * leaf.n);
    double const updates = 2 * bytes_ * (f.terms_C - f.rank) * leaf.m * leaf.n * blocks;
    double const where = footprint(block);
    double const pack_rate = in_l3(where) ? std::max(rates_.pack_gbytes, pass_rate(where)) : rates_.pack_gbytes;
    return f.rank * product_seconds(leaf) + 1e-9 * (packing / pack_rate + updates / update_rate(where));
  }

  // The same, corrected by what one level of Strassen on a cube of this size took, where that has been measured.
  [[nodiscard]] double fused_seconds(extent const& block, level_traffic const& f) const {
    double const size = 3 / (1 / block.m + 1 / block.n + 1 / block.k);
    double correction = 1;
    if (machine_.measured && !rates_.leaves.empty()) {
      static constexpr level_traffic strassen{2, 2, 2, 7, 12, 12, 12, 5, 5, 5, 4, 0};
      auto const limits = std::minmax_element(rates_.leaves.begin(), rates_.leaves.end(),
                                              [](auto const& a, auto const& b) { return a.size < b.size; });
      double const at = std::clamp(size, double(limits.first->size), double(limits.second->size));
      auto const rate = o_.product_buffer ? &rate_table::leaf::ab_gflops : &rate_table::leaf::abc_gflops;
      double const took = 2e-9 * at * at * at / gflops(at, rate);
      correction = std::clamp(took / fused_by_traffic({at, at, at}, strassen, o_.product_buffer), 0.6, 1.5);
    }
    return correction * fused_by_traffic(block, f, o_.product_buffer);
  }

  [[nodiscard]] double packing(extent const& x) const {
    double const depth = std::min(x.k, longest_block_k) + 16;
    double const a = std::min(packed_a_bytes, bytes_ * (x.m + 64) * depth);
    return a + bytes_ * (std::min(x.n, block_n) + 64) * depth + 16384;
  }

  // One level on one block: what its passes read and write, what one of them touches, what its sums and products hold.
  struct level_bytes {
    double traffic = 0, footprint = 0, held = 0;
  };

  // `s` is a block of the level; `accumulating` the share of such levels whose C is added to.
  [[nodiscard]] level_bytes bytes_of(level_traffic const& t, extent const& s, double accumulating,
                                     bool independent) const {
    double const A = bytes_ * s.m * s.k, B = bytes_ * s.k * s.n, C = bytes_ * s.m * s.n;
    double const pass_A = t.sums_A > 0 ? (t.m * t.k + t.sums_A) * A : 0;
    double const pass_B = t.sums_B > 0 ? (t.k * t.n + t.sums_B) * B : 0;
    double const added = (t.shared + 2 * t.fed) * C;
    double const in_place = independent ? added : (t.shared + t.fed - t.copies) * C;
    // Leading dimensions are padded and buffers set apart by a few cache lines.
    double const padding = 1 + 128 / (bytes_ * std::min({s.m, s.n, s.k}));
    double const temporaries = accumulating > 0 || independent ? t.shared : std::max(0, t.shared - t.m * t.n);
    return {pass_A + pass_B + accumulating * added + (1 - accumulating) * in_place, std::max({pass_A, pass_B, added}),
            padding * (t.sums_A * A + t.sums_B * B + temporaries * C)};
  }

  // Walks the levels inwards; `x` is the block of the current one.
  void levels(extent x) {
    auto const strips = static_cast<double>(o_.strips);
    double blocks = 1, task_products = 1;
    double accumulating = shape_.beta_zero ? 0 : 1;
    double burst = 0, work = 0;  // seconds: of the passes beside which nothing runs, and of one worker for all the rest
    double in_memory = 0, shared = 0, scratch = 0;  // bytes
    int task_levels = 0, explicit_levels = 0, fused_levels = 0;
    level_traffic fused;
    bool cut = false;
    auto const cut_into_strips = [&] {  // what is below the task levels
      if (std::exchange(cut, true)) return;
      x = strip_of(x);
      blocks *= strips;
    };
    for (outline_level const& l : o_.levels) {
      level_traffic const& t = *l.traffic;
      if (l.kind != level_kind::task) cut_into_strips();
      if (l.kind == level_kind::fused) {
        fused = fused_over(fused, t);
        ++fused_levels;
        continue;
      }
      x = {x.m / t.m, x.n / t.n, x.k / t.k};
      bool const is_task = l.kind == level_kind::task, outermost = is_task && task_levels == 0;
      level_bytes const level = bytes_of(t, x, accumulating, is_task && o_.independent);
      double const where = level.footprint / (is_task ? workers_ : 1);
      double const rate = pass_rate(where);
      double const all = in_l3(where) ? workers_ * rate : std::min(workers_ * rate, machine_.pass_gbytes_all);
      if (outermost) burst += 1e-9 * level.traffic / all;
      else work += 1e-9 * blocks * level.traffic / rate;
      if (!in_l3(where)) in_memory += blocks * level.traffic;

      if (is_task) {
        shared += level.held * std::min(std::pow(o_.slots, task_levels), blocks);
        result_.tasks += blocks * pass_tasks(level.traffic);
        task_products *= t.rank;
        ++task_levels;
      } else {
        scratch += level.held;
        ++explicit_levels;
      }
      blocks *= t.rank;
      accumulating = 1 - static_cast<double>(t.shared) / t.rank;
    }

    cut_into_strips();
    extent const leaf{x.m / fused.m, x.n / fused.n, x.k / fused.k};
    work += blocks * (fused_levels > 0 ? fused_seconds(x, fused) : product_seconds(x));
    if (fused_levels > 0 && o_.product_buffer && leaf.k > block_k)
      scratch += bytes_ * (leaf.m + 256) * (std::min(leaf.n, block_n) + 64);
    result_.workspace = shared + workers_ * (scratch + packing(leaf));
    result_.tasks += task_products * strips;
    double const loss = strips == 1 ? 1 : task_levels > 0 ? task_strip_loss : explicit_levels > 0 ? strip_loss : 1;
    double const parallel = loss * (task_levels > 0 ? work / workers_ * idle_factor(task_levels, task_products)
                                                    : work / strips * std::ceil(strips / workers_));
    double const by_memory = 1e-9 * in_memory / machine_.pass_gbytes_all;
    result_.seconds += burst + (workers_ > 1 ? std::max(parallel, by_memory) : parallel);
  }

  // Two fused levels as one: the coefficients of the Kronecker product multiply.
  static level_traffic fused_over(level_traffic const& outer, level_traffic const& inner) {
    level_traffic both;
    both.m = outer.m * inner.m;
    both.k = outer.k * inner.k;
    both.n = outer.n * inner.n;
    both.rank = outer.rank * inner.rank;
    both.terms_A = outer.terms_A * inner.terms_A;
    both.terms_B = outer.terms_B * inner.terms_B;
    both.terms_C = outer.terms_C * inner.terms_C;
    return both;
  }

  // Pass tiles are sized by bytes; about four per worker at the least.
  [[nodiscard]] double pass_tasks(double bytes) const {
    return std::max<double>(3 * std::min(workers_ * 4, 16), std::ceil(bytes / 16e6));
  }

  // 1 + idle share of the workers. One level runs in rounds of the workers, in two halves when products are formed in
  // place, before and after the update. More levels run in rounds of the slots, one within the other: the chain that
  // these make, over the time that the workers need, is `chain`. Its cube, a third of it, fits dry runs of the graphs
  // on 2 to 64 workers.
  [[nodiscard]] double idle_factor(int task_levels, double products) const {
    level_traffic const& t = *o_.levels[task_levels - 1].traffic;
    double const w = workers_;
    bool const halves = shape_.beta_zero && !o_.independent;
    auto const rounds = [&](double at_once) {
      return halves ? std::ceil(t.shared / at_once) + std::ceil((t.rank - t.shared) / at_once)
                    : std::ceil(t.rank / at_once);
    };
    auto const strips = static_cast<double>(o_.strips);
    if (task_levels == 1) return rounds(w / strips) * (w / strips) / t.rank;
    double const chain = std::pow(rounds(o_.slots), task_levels - 1) * rounds(t.rank) * w / (products * strips);
    double const tail = 1 + (w - 1) / 2 / (products * strips);
    return tail * (chain <= 1 ? 1 + chain * chain * chain / 3 : chain + 1 / (3 * chain * chain));
  }

  // Three thin products around the core, in tasks that share the workers.
  void fringes() {
    double const m = double(shape_.m), n = double(shape_.n), k = double(shape_.k);
    double const cm = double(result_.core_m), cn = double(result_.core_n), ck = double(result_.core_k);
    double seconds = 0;
    for (extent const& f : {extent{cm, cn, k - ck}, {m, n - cn, k}, {m - cm, cn, k}})
      if (f.m > 0 && f.n > 0 && f.k > 0) {
        seconds += product_seconds(f);
        result_.tasks += workers_;
      }
    result_.seconds += seconds / workers_;
  }

  element_type const type_;
  rate_table const& rates_;
  double const bytes_;
  problem const& shape_;
  int const workers_;
  machine_profile const& machine_;
  outline const& o_;
  estimate result_;
};

}  // namespace

level_traffic traffic_of(algorithm const& x) {
  level_traffic t;
  t.m = x.m;
  t.k = x.k;
  t.n = x.n;
  t.rank = x.rank();
  t.terms_A = t.terms_B = t.terms_C = 0;
  auto const column_terms = [](coefficient_matrix const& X, int r) {
    int count = 0;
    for (int i = 0; i < X.rows; ++i) count += !X(i, r).is_zero();
    return count;
  };
  for (int r = 0; r < t.rank; ++r) {
    int const a = column_terms(x.U, r), b = column_terms(x.V, r), c = column_terms(x.W, r);
    t.terms_A += a;
    t.terms_B += b;
    t.terms_C += c;
    t.sums_A += a > 1;
    t.sums_B += b > 1;
    t.shared += c > 1;
  }
  for (int p = 0; p < x.W.rows; ++p) {
    int shared = 0;
    for (int r = 0; r < t.rank; ++r) shared += column_terms(x.W, r) > 1 && !x.W(p, r).is_zero();
    t.fed += shared > 0;
    t.copies += shared == 1;
  }
  return t;
}

void core_sizes(outline const& o, problem const& shape, estimate& result) {
  std::int64_t m = 1, n = 1, k = 1;
  for (outline_level const& l : o.levels) {
    m *= l.traffic->m;
    n *= l.traffic->n;
    k *= l.traffic->k;
  }
  result.core_m = shape.m - shape.m % m;
  result.core_n = shape.n - shape.n % n;
  result.core_k = shape.k - shape.k % k;
}

estimate predict(element_type type, problem const& shape, int workers, machine_profile const& machine,
                 outline const& o) {
  return model(type, shape, workers, machine, o).run();
}

}  // namespace heptad
