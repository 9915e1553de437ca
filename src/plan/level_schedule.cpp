// SPDX-License-Identifier: BSD-3-Clause
#include "src/plan/level_schedule.hpp"

#include <algorithm>
#include <deque>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

namespace heptad {
namespace {

std::vector<int> support(coefficient_matrix const& X, int column) {
  std::vector<int> rows;
  for (int i = 0; i < X.rows; ++i)
    if (!X(i, column).is_zero()) rows.push_back(i);
  return rows;
}

/// Where each product finds one of its operands.
struct operand_use {
  place where;
  rational coefficient = 1;
};

struct operand_sums {
  scheduled_pass pass;
  std::vector<operand_use> uses;  // one a product
};

/// The program without the inputs that nothing uses; `kept` receives the numbers of the others.
additions_program drop_unused_inputs(additions_program const& program, std::vector<int>& kept) {
  std::vector<bool> used(program.inputs, false);
  auto const mark = [&](linear_term const& t) {
    if (t.value < program.inputs && !t.coefficient.is_zero()) used[t.value] = true;
  };
  for (auto const& step : program.steps) std::ranges::for_each(step, mark);
  std::ranges::for_each(program.outputs, mark);
  for (int i = 0; i < program.inputs; ++i)
    if (used[i]) kept.push_back(i);
  return without_inputs(program, used);
}

/// c with column r = c · column s of X; absent when they are not proportional.
std::optional<rational> ratio(coefficient_matrix const& X, int r, int s) {
  for (int i = 0; i < X.rows; ++i)  // without a vector of the support: most pairs differ early
    if (X(i, r).is_zero() != X(i, s).is_zero()) return std::nullopt;
  std::optional<rational> c;
  for (int i = 0; i < X.rows; ++i) {
    if (X(i, r).is_zero()) continue;
    if (!c) c = X(i, r) * rational(X(i, s).den(), X(i, s).num());
    else if (X(i, r) != *c * X(i, s)) return std::nullopt;
  }
  return c;
}

/// Products whose sums differ by a factor share one buffer, and the factors travel; not so in a batch.
operand_sums make_sums(coefficient_matrix const& X, additions_program const& sums, role made, bool batched) {
  operand_sums result;
  result.uses.resize(X.cols);
  std::vector<int> distinct;  // the products whose sums are formed
  for (int r = 0; r < X.cols; ++r) {
    auto const rows = support(X, r);
    bool const single = rows.size() == 1 && !batched;
    if (single) result.uses[r] = {{role::operand, rows.front()}, X(rows.front(), r)};
    if (rows.empty() || single) continue;
    std::size_t q = 0;
    std::optional<rational> factor;
    if (batched) q = distinct.size();
    while (q < distinct.size() && !(factor = ratio(X, r, distinct[q]))) ++q;
    if (!factor) distinct.push_back(r);
    result.uses[r] = {{made, static_cast<int>(q)}, factor.value_or(1)};
  }
  if (distinct.empty()) return result;

  additions_program const program = with_outputs(sums, distinct);
  std::vector<int> inputs;
  result.pass.program = drop_unused_inputs(program, inputs);
  for (int i : inputs) result.pass.sources.push_back({role::operand, i});
  for (int q = 0; q < static_cast<int>(distinct.size()); ++q)
    result.pass.targets.push_back({{made, q}, update::overwrite});
  return result;
}

}  // namespace

struct level_scheduler::parts {
  operand_sums A, B;
  std::vector<int> shared, direct;  // products
  additions_program to_C;           // shared products -> blocks of C

  parts(algorithm const& x, bool batched)
      : A(make_sums(x.U, x.sums_A, role::sum_of_A, batched)), B(make_sums(x.V, x.sums_B, role::sum_of_B, batched)) {
    std::vector<bool> is_shared(x.rank(), false);
    for (int r = 0; r < x.rank(); ++r) {
      if (!adds_to_C(x, r)) continue;
      is_shared[r] = nonzeros(x.W, r) > 1 || batched;
      (is_shared[r] ? shared : direct).push_back(r);
    }
    to_C = without_inputs(x.sums_C, is_shared);
  }
};

/// One order.
class level_scheduler::ordering {
public:
  ordering(algorithm const& x, parts const& p, schedule_options const& wishes)
      : x_(x),
        wishes_(wishes),
        in_place_(wishes.how == update::overwrite && !wishes.independent && !wishes.batched),
        A_(p.A),
        B_(p.B),
        shared_(p.shared),
        direct_(p.direct),
        to_C_(p.to_C),
        home_(x.rank()),
        written_(x.W.rows, false) {}

  level_schedule run() && {
    choose_order();
    choose_homes();
    level_schedule s;
    s.before_sums = products(before_sums_);
    s.before_update = products(before_update_);
    s.update_C = update_pass();
    s.after_update = products(after_update_);
    s.sums_A = A_.pass;
    s.sums_B = B_.pass;
    return s;
  }

private:
  [[nodiscard]] bool independent() const { return wishes_.independent || wishes_.batched; }

  [[nodiscard]] bool needs_sums(int r) const {
    return A_.uses[r].where.what != role::operand || B_.uses[r].where.what != role::operand;
  }

  /// Without place in C for the products, the shared ones that need no sums come late: by then other sums are free
  /// to hold them. A direct one then keeps the workers busy while the sums are made.
  void choose_order() {
    auto const add = [&](std::vector<int>& list, std::vector<int> const& from, bool with_sums) {
      std::ranges::copy_if(from, std::back_inserter(list), [&](int r) { return needs_sums(r) == with_sums; });
    };
    if (in_place_) {
      add(before_sums_, shared_, false);
      add(before_update_, shared_, true);
      after_update_ = spread(direct_);
      return;
    }
    add(before_sums_, direct_, false);
    bool const early = independent() || before_sums_.empty();
    if (early) add(before_sums_, shared_, false);
    add(before_update_, shared_, true);
    if (!early) add(before_update_, shared_, false);
    add(before_update_, spread(direct_), true);
  }

  /// Direct products of one block of C exclude each other, so neighbours in the order are of different blocks: always
  /// one of the block that has most left, but not of the same one twice in a row.
  [[nodiscard]] std::vector<int> spread(std::vector<int> const& direct) const {
    std::vector<std::deque<int>> left(x_.W.rows);
    for (int r : direct) left[support(x_.W, r).front()].push_back(r);
    std::vector<int> order;
    std::deque<int>* last = nullptr;
    while (order.size() < direct.size()) {
      auto const waiting = [&](auto const& block) { return &block == last ? 0 : block.size(); };
      auto most = std::ranges::max_element(left, {}, waiting);
      if (waiting(*most) > 0) last = &*most;
      order.push_back(last->front());
      last->pop_front();
    }
    return order;
  }

  /// Fills home_ of the shared products.
  void choose_homes() {
    if (in_place_) homes_in_C();
    std::vector<int> order = before_sums_;
    order.insert(order.end(), before_update_.begin(), before_update_.end());
    std::vector<place> free_sums;
    int temporaries = 0;
    for (std::size_t t = 0; t < order.size(); ++t) {
      int const r = order[t];
      if (std::ranges::find(shared_, r) != shared_.end() && !home_[r]) {
        if (!free_sums.empty()) {
          home_[r] = free_sums.front();
          free_sums.erase(free_sums.begin());
        } else {
          home_[r] = place{role::temporary, temporaries++};
        }
      }
      if (!independent()) release_sums(order, t, free_sums);
    }
  }

  /// The sums that product order[t] was the last one to use.
  void release_sums(std::vector<int> const& order, std::size_t t, std::vector<place>& free_sums) const {
    auto const release = [&](operand_sums const& sums, bool fits) {
      place const p = sums.uses[order[t]].where;
      auto const uses_p = [&](int r) { return sums.uses[r].where == p; };
      bool const used_later = std::any_of(order.begin() + static_cast<std::ptrdiff_t>(t) + 1, order.end(), uses_p) ||
                              std::ranges::any_of(after_update_, uses_p);
      if (fits && p.what != role::operand && !used_later) free_sums.push_back(p);
    };
    release(A_, wishes_.reuse_A);
    release(B_, wishes_.reuse_B);
  }

  /// At most one product a block. Best where the block ends up as just that product: nothing is left to write.
  void homes_in_C() {
    std::vector<bool> taken(x_.W.rows, false);
    auto const settle = [&](int input, int p) {
      home_[shared_[input]] = place{role::result, p};
      taken[p] = true;
    };
    for (int p = 0; p < x_.W.rows; ++p) {
      int const value = to_C_.outputs[p].value;
      if (is_copy_of_input(p) && !home_[shared_[value]]) settle(value, p);
    }
    for (bool fed_only : {true, false})
      for (int input = 0; input < static_cast<int>(shared_.size()); ++input)
        for (int p = 0; p < x_.W.rows && !home_[shared_[input]]; ++p)
          if (!taken[p] && (!fed_only || !x_.W(p, shared_[input]).is_zero())) settle(input, p);
  }

  [[nodiscard]] bool is_copy_of_input(int p) const {
    auto const& output = to_C_.outputs[p];
    return output.value < to_C_.inputs && output.coefficient == rational(1);
  }

  /// The first writer of a block of C, in program order, applies the caller's beta.
  update first_or_next(int p) {
    bool const first = !written_[p];
    written_[p] = true;
    return first ? wishes_.how : update::accumulate;
  }

  std::vector<scheduled_product> products(std::vector<int> const& numbers) {
    std::vector<scheduled_product> list;
    for (int r : numbers) {
      scheduled_product p{r, A_.uses[r].where, B_.uses[r].where, {}, 1, update::overwrite};
      rational coefficient = A_.uses[r].coefficient * B_.uses[r].coefficient;
      if (home_[r]) {
        p.c = *home_[r];
      } else {
        int const block = support(x_.W, r).front();
        p.c = {role::result, block};
        p.how = first_or_next(block);
        coefficient = coefficient * x_.W(block, r);
      }
      p.coefficient = coefficient.value();
      list.push_back(p);
    }
    return list;
  }

  scheduled_pass update_pass() {
    std::vector<int> written;
    for (int p = 0; p < x_.W.rows; ++p) {
      auto const& output = to_C_.outputs[p];
      if (output.coefficient.is_zero()) continue;  // direct products only
      if (in_place_ && is_copy_of_input(p) && home_[shared_[output.value]] == place{role::result, p})
        written_[p] = true;
      else written.push_back(p);
    }
    scheduled_pass pass;
    if (written.empty()) return pass;
    std::vector<int> inputs;
    pass.program = drop_unused_inputs(with_outputs(to_C_, written), inputs);
    for (int i : inputs) pass.sources.push_back(*home_[shared_[i]]);
    for (int p : written) pass.targets.push_back({{role::result, p}, first_or_next(p)});
    return pass;
  }

  algorithm const& x_;
  schedule_options const wishes_;
  bool const in_place_;
  operand_sums const &A_, &B_;
  std::vector<int> const &shared_, &direct_;
  additions_program const& to_C_;
  std::vector<std::optional<place>> home_;  // of the shared products
  std::vector<bool> written_;               // blocks of C, so far in program order
  std::vector<int> before_sums_, before_update_, after_update_;
};

level_scheduler::level_scheduler(algorithm const& x, bool batched)
    : x_(x), batched_(batched), parts_(std::make_unique<parts const>(x, batched)) {}
level_scheduler::~level_scheduler() = default;

level_schedule level_scheduler::schedule(schedule_options wishes) const {
  wishes.batched = batched_;
  return ordering(x_, *parts_, wishes).run();
}

level_schedule schedule_level(algorithm const& x, schedule_options const& wishes) {
  return level_scheduler(x, wishes.batched).schedule(wishes);
}

bool waits(scheduled_product const& later, scheduled_product const& earlier) {
  return earlier.c == later.c || earlier.a == later.c || earlier.b == later.c;
}

void put_longest_chains_first(std::vector<scheduled_product>& products) {
  std::vector<std::pair<int, scheduled_product>> chains;  // products that wait for this one, one after the other
  for (auto earlier = products.rbegin(); earlier != products.rend(); ++earlier) {
    int longest = 0;
    for (auto const& [length, later] : chains)
      if (waits(later, *earlier)) longest = std::max(longest, length + 1);
    chains.emplace_back(longest, *earlier);
  }
  std::ranges::reverse(chains);
  std::ranges::stable_sort(chains, std::greater<>(), &std::pair<int, scheduled_product>::first);
  std::ranges::transform(chains, products.begin(), &std::pair<int, scheduled_product>::second);
}

}  // namespace heptad
