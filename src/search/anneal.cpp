// SPDX-License-Identifier: BSD-3-Clause
#include "src/search/anneal.hpp"

#include <cmath>
#include <type_traits>
#include <utility>

namespace heptad::search {
namespace {

int nonzeros(bits x) { return std::popcount(x); }
int nonzeros(ternary const& x) { return x.nonzeros(); }

template <typename Vector>
int nonzeros(scheme_over<Vector> const& x) {
  int count = 0;
  for (auto const& factor : x.factors)
    for (Vector const& vector : factor) count += nonzeros(vector);
  return count;
}

/// Σ over the rotations of ln e, with a power mean in place of e = max, which would make plateaus.
template <typename Vector>
double instability(scheme_over<Vector> const& x) {
  constexpr double power = 8;
  double sum = 0;
  for (int f = 0; f < 3; ++f) {
    int const g = (f + 1) % 3, h = (f + 2) % 3;
    std::array<double, most_blocks> e{};
    for (int r = 0; r < x.rank(); ++r) {
      double const product = nonzeros(x.factors[g][r]) * nonzeros(x.factors[h][r]);
      for (bits rest = support(x.factors[f][r]); rest != 0; rest &= rest - 1) e[std::countr_zero(rest)] += product;
    }
    double mean = 0;
    for (int i = 0; i < x.shape.blocks(f); ++i) {
      double const square = e[i] * e[i], fourth = square * square;
      mean += fourth * fourth;
    }
    sum += std::log(mean / x.shape.blocks(f)) / power;
  }
  return sum;
}

/// How energies compare to the temperatures below, which are those of nonzeros.
constexpr double units_of_instability = 25;

template <typename Vector>
double energy_of(scheme_over<Vector> const& x, aim what) {
  return what == aim::sparse ? nonzeros(x) : units_of_instability * instability(x) + 0.02 * nonzeros(x);
}

constexpr double hottest = 2.0, coldest = 0.2;

/// One flip of terms i and j whose factor x is the same up to sign.
struct flip {
  int x, i, j, y, z, sign;
};

template <typename Vector>
class annealing {
public:
  using scheme = scheme_over<Vector>;

  annealing(scheme start, aim what, generator& random)
      : x_(std::move(start)), what_(what), random_(random), energy_(energy_of(x_, what)), best_(x_), least_(energy_) {}

  annealed<scheme> run(std::int64_t moves, keep_going const& may_go_on) {
    constexpr std::int64_t moves_a_question = 256;
    std::int64_t i = 0;
    for (; i < moves && (i % moves_a_question != 0 || may_go_on()); ++i) {
      double const done = static_cast<double>(i) / static_cast<double>(moves);
      temperature_ = hottest * std::pow(coldest / hottest, done);
      constexpr int flips_a_basis_change = 24;
      if (random_() % flips_a_basis_change == 0) change_basis();
      else flip_pair();
    }
    return {best_, least_, i};
  }

private:
  int pick(int count) { return static_cast<int>((random_() >> 32) * static_cast<bits>(count) >> 32); }

  bool accept(double next) {
    double const rise = next - energy_;
    if (rise > 0 && static_cast<double>(random_() >> 11) * 0x1p-53 >= std::exp(-rise / temperature_)) return false;
    energy_ = next;
    if (energy_ < least_) best_ = x_, least_ = energy_;
    return true;
  }

  /// u⊗v⊗w + u⊗v'⊗w' = u⊗(v ± v')⊗w + u⊗v'⊗(w' ∓ w)
  void flip_pair() {
    int const rank = x_.rank(), x = pick(3), i = pick(rank), from = pick(rank);
    auto const& shared = x_.factors[x];
    int j = -1;
    for (int t = 0; t < rank && j < 0; ++t) {
      int const candidate = (from + t) % rank;
      if (candidate != i && (shared[candidate] == shared[i] || shared[candidate] == negated(shared[i]))) j = candidate;
    }
    if (j < 0) return;
    bits const coin = random_();
    int const y = (x + 1 + static_cast<int>(coin & 1)) % 3, z = 3 - x - y;
    bool const minus = (coin & 2) != 0, opposite = !(shared[j] == shared[i]);
    Vector& v = x_.factors[y][i];
    Vector& w = x_.factors[z][j];
    Vector const added = minus ? negated(x_.factors[y][j]) : x_.factors[y][j];
    Vector const taken = minus == opposite ? negated(x_.factors[z][i]) : x_.factors[z][i];
    if (!can_add(v, added) || !can_add(w, taken)) return;
    Vector const old_v = v, old_w = w;
    v = add(v, added);
    w = add(w, taken);
    if (support(v) == 0 || support(w) == 0 || !accept(next_energy(old_v, v, old_w, w))) {
      v = old_v;
      w = old_w;
    }
  }

  double next_energy(Vector old_v, Vector v, Vector old_w, Vector w) const {
    if (what_ != aim::sparse) return energy_of(x_, what_);
    return energy_ + nonzeros(v) - nonzeros(old_v) + nonzeros(w) - nonzeros(old_w);
  }

  /// The rows or columns `from` of a factor, times ±1, added to those at `to`; false where that leaves −1, 0, 1.
  static bool add_line(scheme& x, int factor, bool rows, int from, int to, bool minus) {
    int const cols = x.shape.cols(factor);
    int const step = rows ? cols : 1;
    bits line = 0;  // the blocks of line 0
    for (int i = 0; i < (rows ? cols : x.shape.rows(factor)); ++i) line |= bits{1} << (rows ? i : i * cols);
    auto const move = [&](bits x) { return (x >> (from * step) & line) << (to * step); };
    for (Vector& vector : x.factors[factor]) {
      Vector moved;
      if constexpr (std::is_same_v<Vector, bits>) moved = move(vector);
      else moved = {move(vector.plus), move(vector.minus)};
      if (minus) moved = negated(moved);
      if (!can_add(vector, moved)) return false;
      vector = add(vector, moved);
    }
    return true;
  }

  /// U → (G⊗I) U and W → (G⁻ᵀ⊗I) W for G = I ± e_q e_pᵀ, and likewise for the other two pairs.
  void change_basis() {
    struct lines {
      int factor;
      bool rows;
    };
    static constexpr std::array<std::pair<lines, lines>, 3> pairs{
        {{{0, true}, {2, true}}, {{0, false}, {1, true}}, {{1, false}, {2, false}}}};
    auto const& [first, second] = pairs[pick(3)];
    int const size = first.rows ? x_.shape.rows(first.factor) : x_.shape.cols(first.factor);
    int const p = pick(size), q = pick(size);
    if (p == q) return;
    bool const minus = pick(2) != 0;
    scheme next = x_;
    if (!add_line(next, first.factor, first.rows, p, q, minus) ||
        !add_line(next, second.factor, second.rows, q, p, !minus))
      return;
    std::swap(x_, next);
    if (!accept(energy_of(x_, what_))) std::swap(x_, next);
  }

  scheme x_;
  aim what_;
  generator& random_;
  double energy_, temperature_ = hottest;
  scheme best_;
  double least_;
};

}  // namespace

double energy(ternary_scheme const& x, aim what) { return energy_of(x, what); }

annealed<ternary_scheme> anneal(ternary_scheme x, aim what, std::int64_t moves, generator& random,
                                keep_going const& may_go_on) {
  return annealing<ternary>(std::move(x), what, random).run(moves, may_go_on);
}

annealed<binary_scheme> sparsify(binary_scheme x, std::int64_t moves, generator& random, keep_going const& may_go_on) {
  return annealing<bits>(std::move(x), aim::sparse, random).run(moves, may_go_on);
}

}  // namespace heptad::search
