// SPDX-License-Identifier: BSD-3-Clause
#include "tools/bench/accuracy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "src/api/diagnostics.hpp"
#include "tools/bench/operands.hpp"

namespace heptad::bench {
namespace {

constexpr std::uint64_t seed_a = 11, seed_b = 12, seed_rows = 13, seed_cols = 14;
constexpr std::int64_t grid = 64;

/// Powers of ten between 10^-decades and 10^decades.
std::vector<double> powers(std::int64_t count, double decades, std::uint64_t seed) {
  matrix<double> random(count, 1);
  random.fill(seed);
  std::vector<double> result;
  for (std::int64_t i = 0; i < count; ++i) result.push_back(std::pow(10.0, decades * random(i, 0)));
  return result;
}

template <typename T>
class measurement {
public:
  explicit measurement(accuracy_case const& what)
      : what_(what), A_(what.n, what.n), B_(what.n, what.n), C_(what.n, what.n) {
    A_.fill(seed_a);
    B_.fill(seed_b);
    std::int64_t const n = what.n;
    bool const rows = what.data == data_kind::rows, inner = what.data == data_kind::inner;
    std::vector<double> const p = powers(n,
                                         rows    ? 6
                                         : inner ? 4
                                                 : 0,
                                         seed_rows),
                              q = powers(n, rows ? 6 : 0, seed_cols);
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t i = 0; i < n; ++i) {
        T &a = A_(i, j), &b = B_(i, j);
        if (what.data == data_kind::positive) a = std::abs(a), b = std::abs(b);
        if (rows) a = static_cast<T>(a * p[i]), b = static_cast<T>(b * q[j]);
        if (inner) a = static_cast<T>(a * p[j]), b = static_cast<T>(b / p[i]);
        largest_A_ = std::max(largest_A_, std::abs(static_cast<double>(a)));
        largest_B_ = std::max(largest_B_, std::abs(static_cast<double>(b)));
      }
    make_reference();
  }

  nlohmann::json row(accuracy_contestant const& who) {
    options wishes;
    wishes.force_levels = who.levels;
    wishes.scaling = who.scaling;
    if (who.levels > 0) wishes.algorithm = who.algorithm;
    std::int64_t const n = what_.n;
    report const r =
        gemm<T>(workers_, T(1), column_major<T const>(A_.data(), n, n, n), column_major<T const>(B_.data(), n, n, n),
                T(0), column_major<T>(C_.data(), n, n, n), wishes);
    long double most = 0, sum = 0, squares = 0, relative = 0;
    for (std::int64_t j = 0; j < grid; ++j)
      for (std::int64_t i = 0; i < grid; ++i) {
        auto const place = static_cast<std::size_t>(j * grid + i);
        long double const error = std::abs(exact_[place] - C_(index(i), index(j)));
        most = std::max(most, error);
        sum += error;
        squares += error * error;
        relative = std::max(relative, error / size_[place]);
      }
    double const u = std::numeric_limits<T>::epsilon() / 2;
    return {{"type", std::string(1, what_.type)},
            {"n", n},
            {"data", data_name(what_.data)},
            {"algorithm", who.levels > 0 ? who.algorithm : "classical"},
            {"levels", r.plan.levels.size()},
            {"plan", describe_levels(r.plan)},
            {"scaling", static_cast<int>(r.scaling)},
            {"max_error", static_cast<double>(most)},
            {"mean_error", static_cast<double>(sum / (grid * grid))},
            {"rms_error", static_cast<double>(std::sqrt(squares / (grid * grid)))},
            {"relative_error", static_cast<double>(relative)},
            {"expected_growth", r.plan.growth},
            {"likely_bound", r.plan.likely_bound * u * largest_A_ * largest_B_},
            {"bound", r.plan.bound * u * largest_A_ * largest_B_}};
  }

private:
  [[nodiscard]] std::int64_t index(std::int64_t i) const { return (i + 1) * what_.n / grid - 1; }

  // Σ a b and Σ |a b| of the elements of the grid.
  void make_reference() {
    std::int64_t const n = what_.n;
    std::vector<long double> row(static_cast<std::size_t>(n));
    exact_.resize(grid * grid);
    size_.resize(grid * grid);
    for (std::int64_t i = 0; i < grid; ++i) {
      for (std::int64_t l = 0; l < n; ++l) row[l] = A_(index(i), l);
      for (std::int64_t j = 0; j < grid; ++j) {
        long double sum = 0, size = 0;
        for (std::int64_t l = 0; l < n; ++l) {
          long double const term = row[l] * B_(l, index(j));
          sum += term;
          size += std::abs(term);
        }
        exact_[static_cast<std::size_t>(j * grid + i)] = sum;
        size_[static_cast<std::size_t>(j * grid + i)] = size;
      }
    }
  }

  accuracy_case const what_;
  matrix<T> A_, B_, C_;
  double largest_A_ = 0, largest_B_ = 0;
  std::vector<long double> exact_, size_;
  context workers_{1};
};

template <typename T>
nlohmann::json measure(accuracy_case const& what, std::vector<accuracy_contestant> const& who,
                       std::function<void(std::string const&)> const& say) {
  measurement<T> data(what);
  nlohmann::json rows = nlohmann::json::array();
  nlohmann::json const classical = data.row({"classical", 0, scaling_kind::none});
  rows.push_back(classical);
  for (accuracy_contestant const& one : who) {
    say(fmt::format("{}gemm {} {}: {} x {}", what.type, what.n, data_name(what.data), one.levels, one.algorithm));
    nlohmann::json row = data.row(one);
    if (row["levels"] == one.levels) rows.push_back(std::move(row));  // the shape may not allow so many
  }
  for (nlohmann::json& row : rows) {
    row["growth"] = row["max_error"].get<double>() / classical["max_error"].get<double>();
    row["rms_growth"] = row["rms_error"].get<double>() / classical["rms_error"].get<double>();
  }
  return rows;
}

}  // namespace

char const* data_name(data_kind kind) {
  static constexpr char const* names[] = {"uniform", "positive", "rows", "inner"};
  return names[static_cast<int>(kind)];
}

nlohmann::json measure_accuracy(accuracy_case const& what, std::vector<accuracy_contestant> const& who,
                                std::function<void(std::string const&)> const& say) {
  return what.type == 'd' ? measure<double>(what, who, say) : measure<float>(what, who, say);
}

}  // namespace heptad::bench
