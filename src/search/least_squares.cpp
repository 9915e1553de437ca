// SPDX-License-Identifier: BSD-3-Clause
#include "src/search/least_squares.hpp"

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "src/search/assemble.hpp"

namespace heptad::search {
namespace {

using matrix = Eigen::MatrixXd;
using vector = Eigen::VectorXd;

/// Where i goes when groups of `order` neighbours rotate, of `count` altogether.
int rotated(int i, int order, int count) {
  int const group = i / order * order;
  return group + order <= count ? group + (i - group + 1) % order : i;
}

/// Which coefficients are one unknown, as the symmetry maps one to the other.
class unknowns {
public:
  unknowns(shape const& what, int rank, int order) : shape_(what), rank_(rank), order_(order) {
    for (int f = 0; f < 3; ++f) at_[f] = Eigen::MatrixXi::Constant(rank, what.blocks(f), -1);
    for (int term = 0; term < rank; ++term)
      for (int f = 0; f < 3; ++f)
        for (int block = 0; block < what.blocks(f); ++block)
          if (at_[f](term, block) < 0) follow(f, term, block);
    times_ = vector::Zero(count());
    for (auto const& of_factor : at_)
      for (int const unknown : of_factor.reshaped()) times_(unknown) += 1;
  }

  [[nodiscard]] int count() const noexcept { return static_cast<int>(first_.size()); }
  [[nodiscard]] int at(int factor, int term, int block) const { return at_[factor](term, block); }

  struct coefficient {
    int factor, term, block;
  };
  /// One of the coefficients that are this unknown.
  [[nodiscard]] coefficient const& first(int unknown) const { return first_[unknown]; }
  /// How many coefficients each unknown is.
  [[nodiscard]] vector const& times() const noexcept { return times_; }

private:
  void follow(int f, int term, int block) {
    int const unknown = count();
    first_.push_back({f, term, block});
    int const rows = shape_.rows(f), columns = shape_.cols(f);
    while (at_[f](term, block) < 0) {
      at_[f](term, block) = unknown;
      term = rotated(term, order_, rank_);
      block = rotated(block / columns, order_, rows) * columns + rotated(block % columns, order_, columns);
    }
  }

  shape const shape_;
  int const rank_, order_;
  std::array<Eigen::MatrixXi, 3> at_;
  std::vector<coefficient> first_;
  vector times_;
};

/// Minimises Σ (errors of the equations)² + Σ weight · coefficient² over the unknowns that are not held.
class minimiser {
public:
  minimiser(shape const& what, int rank, unknowns const& all, vector start, keep_going const& may_step,
            keep_going const& may_go_on)
      : shape_(what),
        rank_(rank),
        all_(all),
        x_(std::move(start)),
        held_(all.count(), false),
        may_step_(may_step),
        may_go_on_(may_go_on) {}

  [[nodiscard]] double value(int unknown) const { return x_(unknown); }
  [[nodiscard]] bool held(int unknown) const { return held_[unknown]; }

  /// What hold() and minimise() change.
  struct state {
    vector x;
    std::vector<bool> held;
  };
  [[nodiscard]] state save() const { return {x_, held_}; }
  void restore(state const& saved) { x_ = saved.x, held_ = saved.held; }

  void set(int unknown, double value) { x_(unknown) = value; }
  void hold(int unknown, double value) {
    x_(unknown) = value;
    held_[unknown] = true;
  }

  /// At most so many steps, each with weights of its own, told the step and the values so far; until the residual, the
  /// first sum, is as small as `enough`, or nothing gets better. Returns the residual.
  template <typename Weights>
  double minimise(int most, double enough, Weights const& weights_at) {
    double damping = 1, growth = 2;
    point here = point_at(x_);
    std::vector<int> const open = open_unknowns();
    if (open.empty()) return here.residual;
    vector const times = all_.times()(open);
    for (int i = 0; i < most && here.residual > enough && may_step_(); ++i) {
      vector const weights = weights_at(i, here.x).cwiseProduct(all_.times());
      matrix hessian = half_hessian(here.full);
      if (!may_go_on_()) break;  // the hessian is not whole, and its factorization takes longest
      if (static_cast<int>(open.size()) < all_.count()) hessian = hessian(open, open).eval();
      vector const slope = (half_gradient(here) + weights.cwiseProduct(here.x))(open);
      hessian.diagonal() += weights(open) + damping * times;
      vector const change = Eigen::LLT<Eigen::Ref<matrix>>(hessian).solve(-slope);
      vector next = here.x;
      for (std::size_t q = 0; q < open.size(); ++q) next(open[q]) += change(static_cast<int>(q));
      point there = point_at(std::move(next));
      double const gain = here.residual + here.weighted(weights) - there.residual - there.weighted(weights),
                   expected = change.dot(damping * change.cwiseProduct(times) - slope), ratio = gain / expected;
      if (gain > 0 && std::isfinite(there.residual)) {
        here = std::move(there);
        damping *= std::max(1.0 / 3, 1 - std::pow(2 * std::min(ratio, 1.0) - 1, 3));
        growth = 2;
      } else {
        damping *= growth;
        growth = std::min(2 * growth, 64.0);
        if (damping > most_damping) break;
      }
      damping = std::max(damping, least_damping);
    }
    x_ = std::move(here.x);
    return here.residual;
  }

private:
  using factors = std::array<matrix, 3>;  // a row a term, a column a block
  static constexpr double least_damping = 1e-11, most_damping = 1e9;

  /// Values of the unknowns, the coefficients that they are, and how far the equations are from holding.
  struct point {
    vector x;
    factors full;
    matrix errors;  // of each equation, a column for each pair of blocks of A and B
    double residual;

    [[nodiscard]] double weighted(vector const& weights) const { return x.dot(weights.cwiseProduct(x)); }
  };

  [[nodiscard]] point point_at(vector x) const {
    factors full = spread(x);
    matrix errors = errors_of(full);
    double const residual = errors.squaredNorm();
    return {std::move(x), std::move(full), std::move(errors), residual};
  }

  [[nodiscard]] factors spread(vector const& x) const {
    factors full;
    for (int f = 0; f < 3; ++f)
      full[f] = matrix::NullaryExpr(rank_, shape_.blocks(f), [&](Eigen::Index term, Eigen::Index block) {
        return x(all_.at(f, static_cast<int>(term), static_cast<int>(block)));
      });
    return full;
  }

  [[nodiscard]] std::vector<int> open_unknowns() const {
    std::vector<int> open;
    for (int i = 0; i < all_.count(); ++i)
      if (!held_[i]) open.push_back(i);
    return open;
  }

  [[nodiscard]] matrix errors_of(factors const& full) const {
    auto const& [U, V, W] = full;
    matrix errors(W.cols(), U.cols() * V.cols());
    for (Eigen::Index a = 0; a < U.cols(); ++a)
      for (Eigen::Index b = 0; b < V.cols(); ++b) {
        auto column = errors.col(a * V.cols() + b);
        column.noalias() = W.transpose() * U.col(a).cwiseProduct(V.col(b));
        if (a % shape_.k == b / shape_.n) column(a / shape_.k * shape_.n + b % shape_.n) -= 1;
      }
    return errors;
  }

  [[nodiscard]] vector half_gradient(point const& at) const {
    auto const& [U, V, W] = at.full;
    factors slope{matrix::Zero(U.rows(), U.cols()), matrix::Zero(V.rows(), V.cols()), matrix::Zero(W.rows(), W.cols())};
    for (Eigen::Index a = 0; a < U.cols(); ++a)
      for (Eigen::Index b = 0; b < V.cols(); ++b) {
        auto const error = at.errors.col(a * V.cols() + b);
        vector const along = W * error;
        slope[0].col(a) += V.col(b).cwiseProduct(along);
        slope[1].col(b) += U.col(a).cwiseProduct(along);
        slope[2].noalias() += U.col(a).cwiseProduct(V.col(b)) * error.transpose();
      }
    vector sum = vector::Zero(all_.count());
    for (int f = 0; f < 3; ++f)
      for (int block = 0; block < shape_.blocks(f); ++block)
        for (int term = 0; term < rank_; ++term) sum(all_.at(f, term, block)) += slope[f](term, block);
    return sum;
  }

  /// Of the equations' errors as linear functions of the unknowns. Each coefficient of an unknown has the same row, but
  /// for the order: one is formed, and what belongs to one unknown in it is added up.
  [[nodiscard]] matrix half_hessian(factors const& at) const {
    std::array<matrix, 3> gram;
    for (int f = 0; f < 3; ++f) gram[f].noalias() = at[f] * at[f].transpose();
    matrix sum = matrix::Zero(all_.count(), all_.count());
    for (int i = 0; i < all_.count() && may_go_on_(); ++i) {
      auto const& [f, term, block] = all_.first(i);
      auto column = sum.col(i);
      for (int g = 0; g < 3; ++g) {
        if (g == f) {
          vector const both = gram[(f + 1) % 3].col(term).cwiseProduct(gram[(f + 2) % 3].col(term));
          for (int s = 0; s < rank_; ++s) column(all_.at(f, s, block)) += both(s);
          continue;
        }
        vector const one = gram[3 - f - g].col(term).cwiseProduct(at[f].col(block));
        for (int other = 0; other < shape_.blocks(g); ++other)
          for (int s = 0; s < rank_; ++s) column(all_.at(g, s, other)) += one(s) * at[g](term, other);
      }
      column *= all_.times()(i);
    }
    return sum;
  }

  shape const shape_;
  int const rank_;
  unknowns const& all_;
  vector x_;
  std::vector<bool> held_;
  keep_going const &may_step_, &may_go_on_;
};

/// What a coefficient is held at: the nearest of a few fractions.
double nearest_value(double x) {
  constexpr std::array<double, 11> values{0, 1, -1, 0.5, -0.5, 2, -2, 0.25, -0.25, 0.125, -0.125};
  return *std::min_element(values.begin(), values.end(),
                           [x](double a, double b) { return std::abs(a - x) < std::abs(b - x); });
}

/// From a random start to an exact algorithm, stage by stage.
class attempt {
public:
  attempt(shape const& what, int rank, int symmetry, generator& random, keep_going const& may_step,
          keep_going const& may_go_on)
      : shape_(what),
        rank_(rank),
        all_(what, rank, symmetry),
        now_(what, rank, all_, random_values(random), may_step, may_go_on),
        may_go_on_(may_go_on) {}

  /// Whether the equations hold in the end.
  bool solve() {
    // One that stays above 1 misses whole products by then, and what is still above 2 on the way is not worth the rest.
    constexpr int half_way = 100, last = 240;  // steps
    constexpr double hopeful_half_way = 2, hopeful = 0.9;
    if (fade(0, half_way) > hopeful_half_way || fade(half_way, last) > hopeful) return false;
    // What comes near only with coefficients that grow without bound (the border rank is lower) fails where weights
    // keep them small.
    constexpr double near = 1e-3, small_weight = 1e-4;
    return steps_with(small_weight, 300) <= near && steps_with(0, 100) <= solved;
  }

  /// From where the equations hold; nothing where coefficients are left that are no fractions of the few.
  std::optional<algorithm> make_exact() {
    favour_zeros();
    hold_zeros();
    scale();
    hold_fractions();
    return rounded();
  }

private:
  static constexpr double solved = 1e-22;  // residual
  static constexpr int finest = 64;        // denominator of what counts as a fraction

  struct place {
    int unknown;
    double value, distance;  // to be held at, and how far that is
  };

  [[nodiscard]] vector random_values(generator& random) const {
    return vector::NullaryExpr(all_.count(), [&] { return static_cast<double>(random() >> 11) * 0x1p-52 - 1; });
  }
  [[nodiscard]] vector uniform(double weight) const { return vector::Constant(all_.count(), weight); }

  double steps_with(double weight, int most) {
    return now_.minimise(most, solved, [&](int, vector const&) { return uniform(weight); });
  }

  /// Steps from one to another of a row whose weights fade.
  double fade(int from, int to) {
    return now_.minimise(to - from, solved, [this, from](int step, vector const&) {
      constexpr double most = 3e-3, factor = 0.95;
      constexpr int full = 20, without = 220;  // steps
      int const now = from + step;
      return uniform(now < full ? most : now < without ? most * std::pow(factor, now - full) : 0);
    });
  }

  /// Weights like 1 / |x| make the sum of the squares one of the absolute values, which is least where many are zero.
  void favour_zeros() {
    constexpr int steps = 120;
    now_.minimise(steps, 0, [](int step, vector const& x) -> vector {
      constexpr double strength = 1e-3, most = 0.3, least = 1e-4;
      double const blur = most * std::pow(least / most, step / double{steps});
      return strength * (x.array().square() + blur * blur).rsqrt();
    });
  }

  /// Holds as many of the first of these as the equations allow, all or a quarter, a quarter of that, …
  std::size_t hold_first(std::vector<place> const& places, std::size_t count) {
    constexpr int most_to_hold = 60;  // steps
    for (; count > 0; count /= 4) {
      if (!may_go_on_()) return 0;
      auto const saved = now_.save();
      for (std::size_t i = 0; i < count; ++i) now_.hold(places[i].unknown, places[i].value);
      if (steps_with(0, most_to_hold) <= solved) break;
      now_.restore(saved);
    }
    return count;
  }

  template <typename Value>
  [[nodiscard]] std::vector<place> open_places(Value const& value_for) const {
    std::vector<place> list;
    for (int i = 0; i < all_.count(); ++i)
      if (!now_.held(i))
        list.push_back({i, value_for(now_.value(i)), std::abs(now_.value(i) - value_for(now_.value(i)))});
    std::sort(list.begin(), list.end(), [](place const& a, place const& b) { return a.distance < b.distance; });
    return list;
  }
  static std::size_t within(std::vector<place> const& sorted, double distance) {
    return static_cast<std::size_t>(
        std::count_if(sorted.begin(), sorted.end(), [&](place const& p) { return p.distance < distance; }));
  }

  void hold_zeros() {
    constexpr double vanishing = 0.01;
    auto const places = open_places([](double) { return 0.0; });
    hold_first(places, within(places, vanishing));
  }

  /// Scales every term so that the largest coefficients of two of its vectors are 1, and holds them there.
  void scale() {
    for (int term = 0; term < rank_; ++term)
      for (int f = 0; f < 2; ++f) {
        std::vector<int> const own = unknowns_of(f, term), last = unknowns_of(2, term);
        int const largest = *std::max_element(
            own.begin(), own.end(), [this](int a, int b) { return std::abs(now_.value(a)) < std::abs(now_.value(b)); });
        if (now_.held(largest)) continue;  // by a term that the symmetry maps to this one
        double const by = now_.value(largest);
        for (int const i : own) now_.set(i, now_.value(i) / by);
        for (int const i : last) now_.set(i, now_.value(i) * by);
        now_.hold(largest, 1);
      }
  }

  [[nodiscard]] std::vector<int> unknowns_of(int f, int term) const {
    std::vector<int> list;
    for (int block = 0; block < shape_.blocks(f); ++block) list.push_back(all_.at(f, term, block));
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
    return list;
  }

  /// First what is a fraction already; then one that is free to become one, after which others are.
  void hold_fractions() {
    constexpr double exact = 1e-7;
    while (true) {
      auto places = open_places([](double x) { return std::round(finest * x) / finest; });
      if (places.empty()) return;
      if (hold_first(places, within(places, exact)) > 0) continue;
      places = open_places(nearest_value);
      if (std::none_of(places.begin(), places.end(), [this](place const& p) { return hold_first({p}, 1) == 1; }))
        return;
    }
  }

  [[nodiscard]] std::optional<algorithm> rounded() const {
    algorithm x = assemble(shape_, rank_, [this](int f, int block, int term) {
      return rational(std::lround(finest * now_.value(all_.at(f, term, block))), finest);
    });
    return verifies(x) ? std::optional(std::move(x)) : std::nullopt;
  }

  shape const shape_;
  int const rank_;
  unknowns const all_;
  minimiser now_;
  keep_going const& may_go_on_;
};

}  // namespace

fit_report fit(shape const& what, int rank, int symmetry, generator& random, keep_going const& may_step,
               keep_going const& may_go_on) {
  attempt from_here(what, rank, symmetry, random, may_step, may_go_on);
  fit_report report;
  report.solved = from_here.solve();
  if (report.solved) report.exact = from_here.make_exact();
  return report;
}

}  // namespace heptad::search
