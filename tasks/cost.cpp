// SPDX-License-Identifier: BSD-3-Clause
#include "tasks/cost.hpp"

#include <algorithm>
#include <cmath>

namespace heptad {
namespace {

constexpr double giga = 1e9;
constexpr std::int64_t thin_side = 32;  // of rate_table::fringe_gflops

double elements(block const& x) { return static_cast<double>(x.rows) * static_cast<double>(x.cols); }
double bytes_of(block const& x, element_type type) { return elements(x) * static_cast<double>(heptad::bytes_of(type)); }

double pass_rate(double footprint, machine_profile const& machine) {
  if (footprint <= static_cast<double>(machine.l2_bytes)) return machine.pass_gbytes_l2 * giga;
  if (footprint <= static_cast<double>(machine.l3_bytes)) return machine.pass_gbytes_l3 * giga;
  return machine.pass_gbytes * giga;
}

/// Flops a second of a classical m×k×n product: the measured leaves, interpolated in the cube root of m·n·k.
double product_rate(double m, double n, double k, rate_table const& rates) {
  if (std::min({m, n, k}) < static_cast<double>(thin_side)) return rates.fringe_gflops * giga;
  double const size = std::cbrt(m * n * k);
  auto const& leaves = rates.leaves;
  if (leaves.empty() || size >= leaves.back().size) return rates.product_gflops * giga;
  auto const above =
      std::ranges::find_if(leaves, [&](rate_table::leaf const& l) { return size < static_cast<double>(l.size); });
  if (above == leaves.begin()) return above->classical_gflops * giga;
  auto const below = std::prev(above);
  double const t = (size - below->size) / (above->size - below->size);
  return ((1 - t) * below->classical_gflops + t * above->classical_gflops) * giga;
}

}  // namespace

cost cost_of(combine_step const& step, graph const& g, machine_profile const& machine) {
  double read = 0;
  for (block const& source : step.sources) read += bytes_of(source, g.type);
  double footprint = read, traffic = read;
  for (target const& t : step.targets) {
    double const bytes = bytes_of(t.where, g.type);
    bool const in_place = std::ranges::find(step.sources, t.where) != step.sources.end();
    if (!in_place) footprint += bytes;
    traffic += t.how == update::overwrite ? bytes : 2 * bytes;
  }
  double const flops = elements(step.targets.front().where) * additions(g.programs[step.program]);
  return {flops, traffic, traffic / pass_rate(footprint, machine)};
}

cost cost_of(product_step const& step, graph const& g, machine_profile const& machine) {
  rate_table const& rates = g.type == element_type::f64 ? machine.f64 : machine.f32;
  block const &a = step.a.front().where, &b = step.b.front().where, &c = step.c.front().where;
  auto const m = static_cast<double>(c.rows), n = static_cast<double>(c.cols), k = static_cast<double>(a.cols);
  double const read = bytes_of(a, g.type) * static_cast<double>(step.a.size()) +
                      bytes_of(b, g.type) * static_cast<double>(step.b.size());
  double const more_read = read - bytes_of(a, g.type) - bytes_of(b, g.type);
  double const updated = 2 * bytes_of(c, g.type) * static_cast<double>(step.c.size());
  double const more_updated = updated - 2 * bytes_of(c, g.type);
  double const flops = 2 * m * n * k;
  return {flops, read + updated,
          flops / product_rate(m, n, k, rates) + more_read / (rates.pack_gbytes * giga) +
              more_updated / (machine.update_gbytes * giga)};
}

cost cost_of(scale_step const& step, graph const& g, machine_profile const& machine) {
  double const bytes = bytes_of(step.where, g.type);
  return {elements(step.where), 2 * bytes, 2 * bytes / pass_rate(bytes, machine)};
}

cost cost_of(sequence const& s, graph const& g, machine_profile const& machine) {
  cost total;
  for (step const& one : s.steps) {
    cost const c = std::visit([&](auto const& body) { return cost_of(body, g, machine); }, one);
    total.flops += c.flops;
    total.bytes += c.bytes;
    total.seconds += c.seconds;
  }
  return total;
}

}  // namespace heptad
