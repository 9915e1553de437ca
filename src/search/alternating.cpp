// SPDX-License-Identifier: BSD-3-Clause
#include "src/search/alternating.hpp"

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "src/search/assemble.hpp"

namespace heptad::search {
namespace {

using matrix = Eigen::MatrixXd;
using vector = Eigen::VectorXd;

constexpr double solved = 1e-18;    // residual of what counts as a solution of the reals
constexpr double promising = 0.05;  // residual from which on the regularisation may vanish
constexpr int sweeps_a_look = 50;

/// The values that entries are held at.
constexpr std::array<double, 11> values{0, 1, -1, 0.5, -0.5, 2, -2, 0.25, -0.25, 0.125, -0.125};

double nearest_value(double x) {
  return *std::min_element(values.begin(), values.end(),
                           [x](double a, double b) { return std::abs(a - x) < std::abs(b - x); });
}

class alternation {
public:
  alternation(shape const& what, int rank, generator& random) : shape_(what), rank_(rank), random_(random) {
    for (int f = 0; f < 3; ++f) {
      factors_[f] = matrix(what.blocks(f), rank);
      held_[f].assign(static_cast<std::size_t>(what.blocks(f)) * rank, false);
      for (double& entry : factors_[f].reshaped()) entry = uniform();
    }
  }

  /// Until the equations hold, or nothing gets better.
  double solve(std::function<bool()> const& over) {
    double before = std::numeric_limits<double>::infinity(), now = residual();
    for (int look = 0; now > solved && !over(); ++look) {
      for (int i = 0; i < sweeps_a_look; ++i) sweep(now > promising ? 0.003 * std::sqrt(now) : 1e-3 * now);
      now = residual();
      constexpr int looks_a_check = 20;
      if (look % looks_a_check == looks_a_check - 1) {
        if (now > 0.9 * before) break;
        before = now;
      }
    }
    return now;
  }

  /// From a solution of the reals; nothing where no further entry can be held.
  std::optional<algorithm> make_exact(std::function<bool()> const& over) {
    scale();
    if (!solve_held(over)) return std::nullopt;
    for (bool const zeros : {true, false}) hold_all(zeros, over);
    return rounded();
  }

  [[nodiscard]] std::int64_t sweeps() const noexcept { return sweeps_; }

  [[nodiscard]] double residual() const {
    double sum = 0;
    matrix const& W = factors_[2];
    vector product(rank_), entry(W.rows());
    for (int a = 0; a < shape_.blocks(0); ++a)
      for (int b = 0; b < shape_.blocks(1); ++b) {
        product = factors_[0].row(a).cwiseProduct(factors_[1].row(b)).transpose();
        entry.noalias() = W * product;
        if (a % shape_.k == b / shape_.n) entry(a / shape_.k * shape_.n + b % shape_.n) -= 1;
        sum += entry.squaredNorm();
      }
    return sum;
  }

private:
  struct place {
    int factor, block, term;
    double value, distance;  // to be held at, and how far that is
  };

  double uniform() { return static_cast<double>(random_() >> 11) * 0x1p-52 - 1; }

  /// Solves for one factor after the other: rows x of it from (G + damping) x = b + damping · x_old, G the Gram matrix
  /// of the Khatri-Rao product of the other two.
  void sweep(double damping) {
    for (int f = 0; f < 3; ++f) {
      matrix const &first = factors_[(f + 1) % 3], &second = factors_[(f + 2) % 3];
      matrix const gram = (first.transpose() * first).cwiseProduct(second.transpose() * second);
      matrix right = matrix::Zero(rank_, factors_[f].rows());
      for (int i = 0; i < shape_.m; ++i)
        for (int j = 0; j < shape_.k; ++j)
          for (int l = 0; l < shape_.n; ++l) {
            std::array<int, 3> const at{i * shape_.k + j, j * shape_.n + l, i * shape_.n + l};
            right.col(at[f]) += first.row(at[(f + 1) % 3]).cwiseProduct(second.row(at[(f + 2) % 3])).transpose();
          }
      if (any_held_) solve_rows(f, gram, right, damping);
      else solve_all(f, gram, right, damping);
    }
    ++sweeps_;
  }

  void solve_all(int f, matrix gram, matrix const& right, double damping) {
    gram.diagonal().array() += damping + 1e-13;
    factors_[f] = gram.llt().solve(right).transpose();
  }

  /// The same for the entries that are free, drawn to where they are.
  void solve_rows(int f, matrix const& gram, matrix const& right, double damping) {
    std::vector<int> open;
    for (int i = 0; i < factors_[f].rows(); ++i) {
      open.clear();
      for (int r = 0; r < rank_; ++r)
        if (!held_[f][static_cast<std::size_t>(i) * rank_ + r]) open.push_back(r);
      if (open.empty()) continue;
      vector const old = factors_[f].row(i).transpose();
      vector const missing = (right.col(i) - gram * old)(open);
      matrix small = gram(open, open);
      small.diagonal().array() += damping + 1e-11;
      vector const step = small.llt().solve(missing);
      for (std::size_t q = 0; q < open.size(); ++q) factors_[f](i, open[q]) += step(static_cast<int>(q));
    }
  }

  /// Scales every term so that the largest entries of two of its vectors are 1, and holds them there.
  void scale() {
    for (int r = 0; r < rank_; ++r)
      for (int f = 0; f < 2; ++f) {
        int at = 0;
        factors_[f].col(r).cwiseAbs().maxCoeff(&at);
        double const largest = factors_[f](at, r);
        factors_[f].col(r) /= largest;
        factors_[2].col(r) *= largest;
        hold({f, at, r, 1, 0});
      }
  }

  /// Holds entries at 0, or at the nearest value, as many as the equations allow: half of those that are near first,
  /// then fewer.
  void hold_all(bool zeros, std::function<bool()> const& over) {
    std::vector<place> refused;
    while (!over()) {
      std::vector<place> candidates = free_places(zeros, refused);
      if (candidates.empty()) return;
      for (std::size_t count = std::max<std::size_t>(1, near_count(candidates) / 2);;
           count = std::max<std::size_t>(1, count / 4)) {
        auto const saved = factors_;
        candidates.resize(count);
        for (place const& p : candidates) hold(p);
        if (solve_held(over)) break;
        factors_ = saved;
        for (place const& p : candidates) release(p);
        if (count > 1) continue;
        refused.push_back(candidates.front());
        break;
      }
    }
  }

  std::vector<place> free_places(bool zeros, std::vector<place> const& refused) const {
    constexpr double not_zero = 0.9;
    std::vector<place> list;
    for (int f = 0; f < 3; ++f)
      for (int i = 0; i < factors_[f].rows(); ++i)
        for (int r = 0; r < rank_; ++r) {
          bool const known = std::any_of(refused.begin(), refused.end(),
                                         [&](place const& p) { return p.factor == f && p.block == i && p.term == r; });
          if (known || held_[f][static_cast<std::size_t>(i) * rank_ + r]) continue;
          double const x = factors_[f](i, r), value = zeros ? 0 : nearest_value(x);
          if (!zeros || std::abs(x) < not_zero) list.push_back({f, i, r, value, std::abs(x - value)});
        }
    std::sort(list.begin(), list.end(), [](place const& a, place const& b) { return a.distance < b.distance; });
    return list;
  }

  static std::size_t near_count(std::vector<place> const& sorted) {
    constexpr double near = 0.05;
    return static_cast<std::size_t>(
        std::count_if(sorted.begin(), sorted.end(), [](place const& p) { return p.distance < near; }));
  }

  void hold(place const& p) {
    any_held_ = true;
    held_[p.factor][static_cast<std::size_t>(p.block) * rank_ + p.term] = true;
    factors_[p.factor](p.block, p.term) = p.value;
  }
  void release(place const& p) { held_[p.factor][static_cast<std::size_t>(p.block) * rank_ + p.term] = false; }

  bool solve_held(std::function<bool()> const& over) {
    constexpr double close = 1e-14;
    constexpr int looks_a_check = 8;
    double now = residual(), before = now;
    for (int look = 1; now > close && !over(); ++look) {
      for (int i = 0; i < sweeps_a_look; ++i) sweep(1e-3 * std::min(now, 1.0));
      now = residual();
      if (look % looks_a_check != 0) continue;
      if (now > 0.5 * before) return false;
      before = now;
    }
    return now <= close;
  }

  [[nodiscard]] std::optional<algorithm> rounded() const {
    algorithm x = assemble(shape_, rank_, [this](int f, int block, int term) {
      return rational(std::lround(8 * nearest_value(factors_[f](block, term))), 8);
    });
    return verifies(x) ? std::optional(std::move(x)) : std::nullopt;
  }

  shape const shape_;
  int const rank_;
  generator& random_;
  std::array<matrix, 3> factors_;          // a row a block, a column a term
  std::array<std::vector<bool>, 3> held_;  // the same, row-major
  bool any_held_ = false;
  std::int64_t sweeps_ = 0;
};

}  // namespace

alternating_report alternate(shape const& what, int rank, generator& random,
                             std::function<bool(std::int64_t)> const& over) {
  alternation search(what, rank, random);
  auto const ends = [&] { return over(search.sweeps()); };
  alternating_report report;
  report.residual = search.solve(ends);
  if (report.residual <= solved) report.exact = search.make_exact(ends);
  report.sweeps = search.sweeps();
  return report;
}

}  // namespace heptad::search
