// SPDX-License-Identifier: BSD-3-Clause
#include "src/plan/device_cost.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <mutex>
#include <vector>

#include "src/plan/find_or_make.hpp"
#include "src/plan/fused_tiles.hpp"

namespace heptad::cuda {

known_stage const& known(std::string const& name, int levels) {
  static std::mutex mutex;
  static auto& all = *new std::map<std::pair<std::string, int>, known_stage>;  // exit handlers may still multiply
  std::lock_guard const lock(mutex);
  return find_or_make(all, {name, levels}, [&] {
    auto const one = find_algorithm(name);
    auto composed = one;
    for (int l = 1; l < levels; ++l) composed = std::make_shared<algorithm const>(kronecker(*one, *composed));
    return known_stage{composed, traffic_of(*composed), accuracy_of(*one, level_kind::fused)};
  });
}

namespace {

/// Of the rate of fused products: for operands whose columns do not start at multiples of 16 bytes, and for A with k
/// contiguous, whose panels are transposed on their way.
constexpr double fused_unaligned = 0.5, fused_transposed = 0.93;

/// Of the rate of a pass over one level: passes over two and three have more blocks than a thread can ask for at a
/// time. Traces on an H200, 8192 (docs/gpu.md).
constexpr std::array<double, 3> f64_share{1, 0.96, 0.92}, f32_share{1, 0.96, 0.83};

template <typename Point>
double interpolate(std::vector<Point> const& points, double at, int Point::*size, double Point::*rate) {
  if (points.empty()) return 1;
  if (at <= points.front().*size) return points.front().*rate * at / points.front().*size;
  for (std::size_t i = 1; i < points.size(); ++i) {
    Point const &low = points[i - 1], &high = points[i];
    if (at > high.*size) continue;
    double const share = std::log(at / low.*size) / std::log(double(high.*size) / low.*size);
    return low.*rate + share * (high.*rate - low.*rate);
  }
  return points.back().*rate;
}

}  // namespace

double device_cost::product(extent const& x, bool batched) const {
  if (x.empty()) return 0;
  double const size = std::cbrt(x.m * x.n * x.k), least = std::min({x.m, x.n, x.k});
  double rate = cube_rate(size, batched);
  if (least < 0.6 * size) rate = std::min(rate, thin_rate(least));
  else if (!batched && !aligned(x)) rate *= rates_.unaligned;
  double const traffic = bytes_ * (x.m * x.k + x.k * x.n + 2 * x.m * x.n) / (device_.pass_gbytes * 1e9);
  return std::max(x.flops() / (rate * 1e12), traffic);
}

std::pair<double, double> device_cost::run() const {
  extent x{double(plan_.core_m), double(plan_.core_n), double(plan_.core_k)};
  double seconds = 0, held = 0, blocks = 1, adding = plan_.shape.beta_zero ? 0 : 1;
  for (stage const& s : plan_.stages) {
    if (s.fused) continue;
    level_traffic const& t = known(s.name, s.levels).traffic;
    x = {x.m / t.m, x.n / t.n, x.k / t.k};
    double const A = bytes_ * x.m * x.k, B = bytes_ * x.k * x.n, C = bytes_ * x.m * x.n;
    int const sums_A = s.batched ? t.rank : t.sums_A, sums_B = s.batched ? t.rank : t.sums_B;
    double const read_C = s.batched ? t.rank : t.shared, whole_C = t.m * t.n;
    double const written_C = s.batched ? whole_C : adding > 0 ? t.fed : t.fed - t.copies;
    double const update = (read_C + written_C + adding * (s.batched ? whole_C : t.fed)) * C;
    double const direct = s.batched ? 0 : (t.rank - t.shared) * C;  // these products read the blocks that they add to
    seconds += blocks * (pass((t.m * t.k + sums_A) * A, s.levels) + pass((t.k * t.n + sums_B) * B, s.levels) +
                         pass(update, s.levels) + direct / bandwidth(1));
    // In place the products of beta = 0 need no buffer but those beyond the blocks of C.
    double const in_place = adding > 0 ? t.shared : std::max(0.0, t.shared - whole_C);
    held += sums_A * A + sums_B * B + (s.batched ? t.rank : in_place) * C;
    blocks *= t.rank;
    if (!s.batched) adding = 1 - double(t.shared) / t.rank;
  }
  if (!plan_.stages.empty() && plan_.stages.back().fused) {
    auto const [products, counters] = fused(x);
    return {seconds + blocks * products + fringes(), held + counters};
  }
  bool const batched = !plan_.stages.empty() && plan_.stages.back().batched;
  seconds += batched ? blocks * product(x, true) + 3 * device_.call_seconds
                     : blocks * std::max(product(x, false), device_.call_seconds);
  return {seconds + fringes(), held};
}

double device_cost::fused_size(extent const& leaf) {
  return std::min(std::cbrt(leaf.m * leaf.n * leaf.k), 2 * std::min({leaf.m, leaf.n, leaf.k}));
}

/// Seconds of one fused level on blocks of these extents, and bytes of counters for all.
std::pair<double, double> device_cost::fused(extent const& x) const {
  level_traffic const& t = known(plan_.stages.back().name, plan_.stages.back().levels).traffic;
  extent const leaf{x.m / t.m, x.n / t.n, x.k / t.k};
  using point = product_rates::fused_cube;
  double rate = interpolate(rates_.fused, fused_size(leaf), &point::size, &point::tflops);
  if (!aligned(leaf)) rate *= fused_unaligned;
  if (plan_.shape.a_row_major) rate *= fused_transposed;
  fused_tile const tile = fused_tiles(plan_.type)[static_cast<std::size_t>(plan_.tile)];
  double const tiles = double(tile.count(std::int64_t(leaf.m), std::int64_t(leaf.n)));
  // Products that meet in C follow each other, and each begins on an idle device.
  if (plan_.accumulation == accumulation::streams) rate *= filled(tiles) / filled(t.rank * tiles);
  bool const counted = plan_.accumulation == accumulation::ordered;
  return {t.rank * leaf.flops() / (rate * 1e12) + 2 * device_.call_seconds,
          counted ? sizeof(unsigned) * (1 + t.m * t.n * tiles) : 0};
}

/// The share of the multiprocessors that so many tiles keep busy, until the last is done.
double device_cost::filled(double tiles) const {
  double const rounds = std::ceil(tiles / device_.multiprocessors);
  return tiles / (rounds * device_.multiprocessors);
}

/// As far as sizes tell: that leading dimensions are extents. Buffers are always aligned.
bool device_cost::aligned(extent const& x) const {
  double const step = 16 / bytes_;
  auto const fits = [step](bool row_major, double rows, double cols) {
    return std::fmod(row_major ? cols : rows, step) == 0;
  };
  return fits(plan_.shape.a_row_major, x.m, x.k) && fits(plan_.shape.b_row_major, x.k, x.n) && fits(false, x.m, x.n);
}

double device_cost::bandwidth(int levels) const {
  auto const& share = bytes_ == 8 ? f64_share : f32_share;
  return device_.pass_gbytes * 1e9 * share[static_cast<std::size_t>(std::clamp(levels, 1, 3) - 1)];
}

double device_cost::pass(double bytes, int levels) const { return device_.pass_seconds + bytes / bandwidth(levels); }

double device_cost::cube_rate(double size, bool batched) const {
  using cube = product_rates::cube;
  return interpolate(rates_.cubes, size, &cube::size, batched ? &cube::batched : &cube::single);
}

double device_cost::thin_rate(double k) const {
  using thin = product_rates::thin;
  return interpolate(rates_.thins, k, &thin::k, &thin::tflops);
}

double device_cost::fringes() const {
  problem const& s = plan_.shape;
  double const m = double(s.m), n = double(s.n), k = double(s.k);
  double const cm = double(plan_.core_m), cn = double(plan_.core_n), ck = double(plan_.core_k);
  double seconds = 0;
  for (extent const& f : {extent{cm, cn, k - ck}, {m, n - cn, k}, {m - cm, cn, k}})
    if (!f.empty()) seconds += std::max(product(f, false), 2 * device_.call_seconds);
  return seconds;
}

}  // namespace heptad::cuda
