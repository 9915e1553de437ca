// SPDX-License-Identifier: BSD-3-Clause
#include "src/plan/level_traffic.hpp"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

namespace heptad {
namespace {

blocks_read read_of(scheduled_pass const& pass, int rows, int cols) {
  blocks_read read;
  for (place const& p : pass.sources) {
    bool const last_row = p.index / cols == rows - 1, last_col = p.index % cols == cols - 1;
    ++read.all;
    read.last_row += last_row, read.last_col += last_col, read.corner += last_row && last_col;
  }
  return read;
}

level_passes count(algorithm const& x, level_schedule const& s) {
  level_passes c;
  c.of_A = read_of(s.sums_A, x.m, x.k);
  c.of_B = read_of(s.sums_B, x.k, x.n);
  c.sums_A = static_cast<int>(s.sums_A.targets.size());
  c.sums_B = static_cast<int>(s.sums_B.targets.size());
  c.read_C = c.touched_C = static_cast<int>(s.update_C.sources.size());
  for (scheduled_target const& t : s.update_C.targets) {
    ++(t.how == update::overwrite ? c.overwritten_C : c.accumulated_C);
    c.touched_C += std::ranges::find(s.update_C.sources, t.where) == s.update_C.sources.end();
  }
  std::set<int> temporaries;
  for (auto const* list : {&s.before_sums, &s.before_update, &s.after_update})
    for (scheduled_product const& p : *list) {
      ++(p.how == update::overwrite ? c.overwriting : c.accumulating);
      if (p.c.what == role::temporary) temporaries.insert(p.c.index);
    }
  c.temporaries = static_cast<int>(temporaries.size());
  return c;
}

}  // namespace

level_traffic traffic_of(algorithm const& x) {
  level_traffic t;
  t.m = x.m, t.k = x.k, t.n = x.n;
  t.rank = x.rank();
  t.terms_A = t.terms_B = t.terms_C = 0;
  std::vector<int> feeding(x.W.rows, 0);  // shared products that feed a block of C
  for (int r = 0; r < t.rank; ++r) {
    int const a = nonzeros(x.U, r), b = nonzeros(x.V, r), c = nonzeros(x.W, r);
    t.terms_A += a, t.terms_B += b, t.terms_C += c;
    t.widest_A = std::max(t.widest_A, a), t.widest_B = std::max(t.widest_B, b), t.widest_C = std::max(t.widest_C, c);
    t.sums_A += a > 1, t.sums_B += b > 1, t.shared += c > 1;
    for (int p = 0; p < x.W.rows; ++p) feeding[p] += c > 1 && !x.W(p, r).is_zero();
  }
  t.fed = static_cast<int>(std::ranges::count_if(feeding, [](int products) { return products > 0; }));
  t.copies = static_cast<int>(std::ranges::count(feeding, 1));
  return t;
}

std::array<level_passes, 16> passes_of(algorithm const& x) {
  std::array<level_passes, 16> passes;
  level_scheduler const of_x(x);
  for (int i = 0; i < 16; ++i) {
    level_order const order{(i & 8) != 0, (i & 4) != 0, (i & 2) != 0, (i & 1) != 0};
    passes[order.number()] = count(x, of_x.schedule(order.wishes()));
  }
  return passes;
}

level_counts fused_over(level_counts const& outer, level_counts const& inner) {
  level_counts both;
  both.m = outer.m * inner.m;
  both.k = outer.k * inner.k;
  both.n = outer.n * inner.n;
  both.rank = outer.rank * inner.rank;
  both.terms_A = outer.terms_A * inner.terms_A;
  both.terms_B = outer.terms_B * inner.terms_B;
  both.terms_C = outer.terms_C * inner.terms_C;
  both.widest_A = outer.widest_A * inner.widest_A;
  both.widest_B = outer.widest_B * inner.widest_B;
  both.widest_C = outer.widest_C * inner.widest_C;
  return both;
}

}  // namespace heptad
