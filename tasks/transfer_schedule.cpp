// SPDX-License-Identifier: BSD-3-Clause
#include "tasks/transfer_schedule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

namespace heptad {
namespace {

/// Block (i, j) of C.
struct block_of_C {
  int i, j;
};

std::vector<block_of_C> walk_blocks(int rows, int cols, block_walk walk) {
  std::vector<block_of_C> order;
  switch (walk) {
    case block_walk::rows:
      for (int i = 0; i < rows; ++i)
        for (int j = 0; j < cols; ++j) order.push_back({i, i % 2 == 0 ? j : cols - 1 - j});
      break;
    case block_walk::columns:
      for (int j = 0; j < cols; ++j)
        for (int i = 0; i < rows; ++i) order.push_back({j % 2 == 0 ? i : rows - 1 - i, j});
      break;
    case block_walk::shells:
      for (int s = 0; s < std::max(rows, cols); ++s) {
        if (s < cols)
          for (int i = 0; i < std::min(s, rows); ++i) order.push_back({i, s});
        if (s < rows)
          for (int j = 0; j < std::min(s + 1, cols); ++j) order.push_back({s, j});
      }
      break;
  }
  return order;
}

/// The slots of one operand, and when each of its blocks is read.
class slot_set {
public:
  slot_set(int slots, int blocks)
      : held_(static_cast<std::size_t>(slots), -1),
        last_use_(static_cast<std::size_t>(slots), -1),
        reads_(static_cast<std::size_t>(blocks)),
        next_(static_cast<std::size_t>(blocks)) {}

  void will_read(int block, int product) { reads_[static_cast<std::size_t>(block)].push_back(product); }

  /// The slot for `block`, read by `product`; second: it has to be loaded.
  std::pair<int, bool> take(int block, int product) {
    auto const found = std::ranges::find(held_, block);
    bool const fresh = found == held_.end();
    std::size_t const slot = fresh ? victim(product) : static_cast<std::size_t>(found - held_.begin());
    held_[slot] = block;
    last_use_[slot] = product;
    return {static_cast<int>(slot), fresh};
  }

private:
  /// The block that is read again last, but not one that the product before reads: its slot would be waited for.
  std::size_t victim(int product) {
    std::size_t best = 0;
    std::int64_t worth = -1;
    for (std::size_t s = 0; s < held_.size(); ++s) {
      std::int64_t const reading = std::numeric_limits<int>::max();
      std::int64_t const when = held_[s] < 0 ? 2 * reading : next_read(held_[s], product);
      std::int64_t const score = last_use_[s] == product - 1 && held_[s] >= 0 ? 0 : when;
      if (score > worth) best = s, worth = score;
    }
    return best;
  }
  std::int64_t next_read(int block, int product) {
    auto const b = static_cast<std::size_t>(block);
    while (next_[b] < reads_[b].size() && reads_[b][next_[b]] < product) ++next_[b];
    return next_[b] < reads_[b].size() ? reads_[b][next_[b]] : std::numeric_limits<int>::max();
  }

  std::vector<int> held_, last_use_;
  std::vector<std::vector<int>> reads_;
  std::vector<std::size_t> next_;
};

int pieces(std::int64_t extent, std::int64_t piece) { return static_cast<int>((extent + piece - 1) / piece); }

class builder {
public:
  builder(problem const& shape, transfer_tiling const& blocks)
      : shape_(shape),
        blocks_(blocks),
        rows_(pieces(shape.m, blocks.m)),
        cols_(pieces(shape.n, blocks.n)),
        depth_(pieces(shape.k, blocks.k)),
        A_(blocks.slots_A, rows_ * depth_),
        B_(blocks.slots_B, depth_ * cols_) {}

  transfer_schedule run() {
    list_products();
    for (int p = 0; p < count(); ++p) {
      A_.will_read(products_[at(p)].i * depth_ + products_[at(p)].l, p);
      B_.will_read(products_[at(p)].l * cols_ + products_[at(p)].j, p);
    }
    result_.blocks = blocks_;
    result_.products = products_.size();
    slots_of_.resize(products_.size());
    // Loads are queued one product ahead, stores as late as the slots of C allow: what queues the steps may have to
    // wait at a store, and the device should have work then.
    load_for(0);
    for (int p = 0; p < count(); ++p) {
      multiply(p);
      if (p + 1 < count()) load_for(p + 1);
    }
    while (!unstored_.empty()) store_oldest();
    return std::move(result_);
  }

private:
  struct product {
    int i, j, l;
    bool first, last;  // of its block of C
  };
  struct slots {
    int a, b, c;
  };

  static std::size_t at(int p) { return static_cast<std::size_t>(p); }
  [[nodiscard]] int count() const { return static_cast<int>(products_.size()); }

  void list_products() {
    bool forth = true;
    for (block_of_C const& c : walk_blocks(rows_, cols_, blocks_.walk)) {
      for (int t = 0; t < depth_; ++t)
        products_.push_back({c.i, c.j, forth ? t : depth_ - 1 - t, t == 0, t == depth_ - 1});
      forth = !forth;
    }
  }

  [[nodiscard]] block_position position(matrix_name of, int row, int col) const {
    auto const cut = [](int index, std::int64_t piece, std::int64_t extent) {
      return std::pair(index * piece, std::min(piece, extent - index * piece));
    };
    auto const [r, rows] = of == matrix_name::B ? cut(row, blocks_.k, shape_.k) : cut(row, blocks_.m, shape_.m);
    auto const [c, cols] = of == matrix_name::A ? cut(col, blocks_.k, shape_.k) : cut(col, blocks_.n, shape_.n);
    return {of, r, c, rows, cols};
  }

  void load(block_position const& what, int slot) {
    result_.steps.emplace_back(load_block{what, slot});
    result_.loaded += what.rows * what.cols;
  }

  void load_for(int p) {
    product const& x = products_[at(p)];
    auto const [a, fresh_a] = A_.take(x.i * depth_ + x.l, p);
    auto const [b, fresh_b] = B_.take(x.l * cols_ + x.j, p);
    if (x.first) {
      if (static_cast<int>(unstored_.size()) == blocks_.slots_C) store_oldest();
      slot_C_ = next_C_++ % blocks_.slots_C;
    }
    slots_of_[at(p)] = {a, b, slot_C_};
    if (fresh_a) load(position(matrix_name::A, x.i, x.l), a);
    if (fresh_b) load(position(matrix_name::B, x.l, x.j), b);
    if (x.first && !shape_.beta_zero) load(position(matrix_name::C, x.i, x.j), slot_C_);
    if (x.first) unstored_.push_back({position(matrix_name::C, x.i, x.j), slot_C_});
  }

  void multiply(int p) {
    product const& x = products_[at(p)];
    block_position const a = position(matrix_name::A, x.i, x.l), b = position(matrix_name::B, x.l, x.j);
    result_.steps.emplace_back(
        multiply_blocks{a.rows, b.cols, a.cols, slots_of_[at(p)].a, slots_of_[at(p)].b, slots_of_[at(p)].c, x.first});
  }

  void store_oldest() {
    result_.steps.emplace_back(unstored_.front());
    result_.stored += unstored_.front().what.rows * unstored_.front().what.cols;
    unstored_.erase(unstored_.begin());
  }

  problem const& shape_;
  transfer_tiling const blocks_;
  int const rows_, cols_, depth_;
  slot_set A_, B_;
  std::vector<product> products_;
  std::vector<slots> slots_of_;
  std::vector<store_block> unstored_;  // oldest first
  int slot_C_ = 0, next_C_ = 0;
  transfer_schedule result_;
};

}  // namespace

transfer_schedule build_transfer_schedule(problem const& shape, transfer_tiling const& blocks) {
  if (std::min({blocks.m, blocks.n, blocks.k}) < 1 || std::min({blocks.slots_A, blocks.slots_B, blocks.slots_C}) < 1)
    throw error(status::invalid_argument,
                fmt::format("blocks of {} x {} x {} (m x n x k) in {}, {} and {} slots: all must be at "
                            "least 1",
                            blocks.m, blocks.n, blocks.k, blocks.slots_A, blocks.slots_B, blocks.slots_C));
  return builder(shape, blocks).run();
}

transfer_forecast simulate_transfers(transfer_schedule const& work, engine_times const& rates) {
  transfer_forecast f;
  double loads = 0, products = 0, stores = 0;  // when each engine is free
  struct slot {
    double filled = 0, used = 0, stored = 0;
  };
  std::array<std::vector<slot>, 3> slots{std::vector<slot>(static_cast<std::size_t>(work.blocks.slots_A)),
                                         std::vector<slot>(static_cast<std::size_t>(work.blocks.slots_B)),
                                         std::vector<slot>(static_cast<std::size_t>(work.blocks.slots_C))};
  auto const slot_of = [&slots](matrix_name of, int index) -> slot& {
    return slots[static_cast<std::size_t>(of)][static_cast<std::size_t>(index)];
  };
  auto const seconds_of = [&rates](block_position const& b, double rate) {
    double const whole = double(b.rows) * double(b.cols) / rate;
    double const lines = double(rates.row_major[static_cast<std::size_t>(b.of)] ? b.rows : b.cols);
    return rates.step_seconds + std::max(whole, lines * rates.line_seconds + 0.75 * whole);
  };
  for (transfer_step const& step : work.steps) {
    if (auto const* const load = std::get_if<load_block>(&step)) {
      slot& s = slot_of(load->what.of, load->slot);
      double const took = seconds_of(load->what, rates.load_rate);
      s.filled = loads = std::max({loads, s.used, s.stored}) + took;
      f.load_seconds += took;
    } else if (auto const* const multiply = std::get_if<multiply_blocks>(&step)) {
      slot &a = slot_of(matrix_name::A, multiply->a), &b = slot_of(matrix_name::B, multiply->b),
           &c = slot_of(matrix_name::C, multiply->c);
      double const took = double(multiply->m) * double(multiply->n) * double(multiply->k) / rates.product_rate;
      products = std::max({products, a.filled, b.filled, c.filled, c.stored}) + took;
      a.used = b.used = c.used = products;
      f.product_seconds += took;
    } else {
      auto const& store = std::get<store_block>(step);
      slot& s = slot_of(matrix_name::C, store.slot);
      double const took = seconds_of(store.what, rates.store_rate);
      s.stored = stores = std::max(stores, s.used) + took;
      if (rates.one_copier) loads += took;
      f.store_seconds += took;
    }
  }
  f.seconds = std::max({loads, products, stores});
  return f;
}

double covered_share(std::vector<interval> x, std::vector<interval> y) {
  auto const merged = [](std::vector<interval>& all) {
    std::ranges::sort(all, {}, &interval::begin);
    std::vector<interval> out;
    for (interval const& i : all) {
      if (!out.empty() && i.begin <= out.back().end) out.back().end = std::max(out.back().end, i.end);
      else out.push_back(i);
    }
    all = std::move(out);
  };
  merged(x);
  merged(y);
  double total = 0, both = 0;
  for (std::size_t i = 0, j = 0; i < x.size(); ++i) {
    total += x[i].end - x[i].begin;
    while (j < y.size() && y[j].end <= x[i].begin) ++j;
    for (std::size_t t = j; t < y.size() && y[t].begin < x[i].end; ++t)
      both += std::min(x[i].end, y[t].end) - std::max(x[i].begin, y[t].begin);
  }
  return total > 0 ? both / total : 1;
}

}  // namespace heptad
