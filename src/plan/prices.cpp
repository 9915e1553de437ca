// SPDX-License-Identifier: BSD-3-Clause
// Measured tables, interpolated in the logarithm of the size: of the three sides for products, of the bytes for passes.
#include "src/plan/prices.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "src/matrix/limits.hpp"

namespace heptad {
namespace {

constexpr double giga = 1e9;
// Products of so many k-steps hide what their updates of a far C take as well as those that were measured do; of fewer,
// a part of it, the less the fewer they are. Without, plans with such products of 48 to 80 k-steps took 1.12 to 1.19
// times as long as predicted in the mean, one of 32 k-steps 1.3 to 1.5 times (measured on a Zen 4).
constexpr double hiding_steps = 128;

/// Where a value lies in an ascending table: between `below` and the next one, at `part` of the way.
struct position {
  std::size_t below = 0;
  double part = 0;
};

/// log2 of a positive normal number and a constant, within 0.008, without leaving its order: the exponent and the
/// mantissa read as one integer, and a parabola for what the logarithm bends between powers of two. A plan asks for so
/// many prices that std::log2 would be a tenth of its time.
double octaves(double x) {
  auto const bits = std::bit_cast<std::uint64_t>(x);
  double const linear = static_cast<double>(static_cast<std::int64_t>(bits)) * 0x1p-52;
  double const fraction = static_cast<double>(bits & ((std::uint64_t{1} << 52) - 1)) * 0x1p-52;
  return linear + 0.344 * fraction * (1 - fraction);
}

template <typename Table, typename Size>
position find(Table const& table, Size size, double x) {
  position p;
  std::size_t const last = table.size() - 1;
  while (p.below < last && x >= static_cast<double>(size(table[p.below + 1]))) ++p.below;
  auto const low = static_cast<double>(size(table[p.below]));
  if (p.below == last || x <= low) return p;
  double const first = octaves(low);
  p.part = (octaves(x) - first) / (octaves(static_cast<double>(size(table[p.below + 1]))) - first);
  return p;
}

/// value() of the entries on both sides of x, by where it lies between their sizes.
template <typename Table, typename Size, typename Value>
double interpolated(Table const& table, Size size, Value value, double x) {
  position const at = find(table, size, x);
  double const below = value(table[at.below]);
  return at.part > 0 ? below + at.part * (value(table[at.below + 1]) - below) : below;
}

/// Flop/s of a classical product with sides within those of the table.
double product_rate(rate_table const& rates, double m, double n, double k) {
  auto const side = [](int s) { return s; };
  position const at[] = {find(rates.sides, side, m), find(rates.sides, side, n), find(rates.sides, side, k)};
  std::size_t const sides = rates.sides.size();
  double rate = 0;
  for (unsigned corner = 0; corner < 8; ++corner) {
    double weight = 1;
    std::size_t index = 0;
    for (unsigned d = 0; d < 3; ++d) {
      bool const next = (corner >> d & 1) != 0;
      weight *= next ? at[d].part : 1 - at[d].part;
      index = index * sides + at[d].below + (next ? 1 : 0);
    }
    if (weight > 0) rate += weight * rates.product_gflops[index];
  }
  return rate * giga;
}

}  // namespace

double prices::seconds_per_byte(double size, double rate_table::term_rates::*what) const {
  return interpolated(
      rates_.terms, [](auto const& t) { return t.size; }, [what](auto const& t) { return 1 / (giga * t.*what); }, size);
}

distance prices::left_by_passes(double touched, int workers) const noexcept {
  if (touched <= 0) return distance::in_cache;
  bool const kept = workers == 1 || touched <= static_cast<double>(machine_.l3_bytes) / 2;
  return kept ? distance::passed : distance::in_memory;
}

rate_table::term_rates const* prices::first_streamed(rate_table const& rates, double element_bytes) noexcept {
  auto const streams = [&](auto const& t) { return element_bytes * t.size * t.size >= streaming_bytes; };
  auto const first = std::ranges::find_if(rates.terms, streams);
  return first == rates.terms.end() ? nullptr : &*first;
}

double prices::fetching(double m, double n, double k, bool fused, distance from) const {
  if (from == distance::in_cache) return 0;
  auto const rate = fused ? &rate_table::term_rates::fused_fetch_gbytes : &rate_table::term_rates::fetch_gbytes;
  double const elements = m * k + k * n + m * n;
  double const size = std::sqrt(elements / 3);
  double each = seconds_per_byte(size, rate);
  if (from == distance::in_memory && first_streamed_ != nullptr && size < first_streamed_->size)
    each = std::max(each, 1 / (giga * first_streamed_->*rate));
  return bytes_ * elements * each;
}

double prices::products(double m, double n, double k, double count, product_terms total,
                        product_setting const& how) const {
  if (m <= 0 || n <= 0 || k <= 0) return 0;
  // A side below the least one costs as much as that: registers are filled or not.
  double const least = rates_.sides.front();
  auto const whole = static_cast<std::int64_t>(m);  // the search divides what is only peeled off in the end
  std::int64_t const beyond = whole % rates_.vector_rows, filled = beyond > 0 ? rates_.vector_rows - beyond : 0;
  double const rows = m <= least ? least : m + static_cast<double>(filled);
  double const flops = 2 * rows * std::max(n, least) * std::max(k, least);
  double const A = bytes_ * m * k, B = bytes_ * k * n, C = bytes_ * m * n;
  double const by_memory = (A + B + 2 * C) / (machine_.update_gbytes * giga);
  bool const in_memory = A + B + C > static_cast<double>(machine_.l3_bytes);
  double one = std::max(flops / product_rate(rates_, m, n, k), in_memory ? by_memory : 0.0);
  fused_blocks const& f = how.fused;
  double seconds = count * one + ragged_updates(m, n, k, count, how);
  seconds += count / f.rank * fetching(m * f.m, n * f.n, k * f.k, f.rank > 1, how.operands);
  if (f.rank == 1 && total.a <= count && total.b <= count && total.c <= count) return seconds;
  return seconds + further_sums(m, n, k, count, total, f) + further_updates(m, n, k, count, total, how);
}

double prices::further_sums(double m, double n, double k, double count, product_terms total,
                            fused_blocks const& f) const {
  double const A = m * k, B = k * n;
  return (total.a - count) * bytes_ * A *
             seconds_per_byte(std::sqrt(A * f.m * f.k), &rate_table::term_rates::a_gbytes) +
         (total.b - count) * bytes_ * B * seconds_per_byte(std::sqrt(B * f.k * f.n), &rate_table::term_rates::b_gbytes);
}

double prices::further_updates(double m, double n, double k, double count, product_terms total,
                               product_setting const& how) const {
  auto const rate = gathers(k, how) ? &rate_table::term_rates::ab_gbytes : &rate_table::term_rates::abc_gbytes;
  double const C = m * n, whole = C * how.fused.m * how.fused.n;
  double const beside = updates(C, k, total.c - count, how, rate) + ragged_updates(m, n, k, total.c - count, how);
  // The first block, too, comes from memory, and in so few k-steps nothing else is done meanwhile.
  bool const far = 4 * bytes_ * whole > static_cast<double>(machine_.l3_bytes);
  double const shown = far ? std::max(1 - k / hiding_steps, 0.0) : 0;
  return beside + shown * 2 * total.c * bytes_ * C / (machine_.update_gbytes * giga);
}

bool prices::gathers(double k, product_setting const& how) noexcept { return how.product_buffer && k > most_k_block; }

double prices::updates(double C, double k, double count, product_setting const& how,
                       double rate_table::term_rates::*rate) const {
  double const times = gathers(k, how) ? 1 : std::ceil(k / most_k_block);
  return 2 * count * times * bytes_ * C * seconds_per_byte(std::sqrt(C * how.fused.m * how.fused.n), rate);
}

double prices::ragged_updates(double m, double n, double k, double count, product_setting const& how) const {
  auto const column = static_cast<std::int64_t>(m) * static_cast<std::int64_t>(bytes_);  // bytes of whole rows
  if (column % cache_line == 0) return 0;
  return updates(m * n, k, count, how, &rate_table::term_rates::ragged_gbytes);
}

double prices::rate_of(double bytes, double pass_rate::*what) const {
  return interpolated(
      machine_.passes, [](auto const& p) { return p.bytes; }, [what](auto const& p) { return p.*what; }, bytes);
}

double prices::pass(double traffic, double footprint, int blocks) const {
  return traffic * seconds_per_byte_of_pass(footprint, blocks, 1);
}

double prices::seconds_per_byte_of_pass(double footprint, int blocks, int workers) const {
  // Of more blocks, or of fewer, those of the same footprint may be stored in another way than the measured 8.
  bool const streams = footprint >= double(blocks) * streaming_bytes;
  double const each = footprint / workers;
  double const alike = streams ? std::max(each, least_streamed_bytes) : std::min(each, most_stored_bytes);
  double const slower = interpolated(
      machine_.widths, [](auto const& w) { return w.blocks; }, [](auto const& w) { return w.slower; }, blocks);
  return slower / (rate_of(alike, workers == 1 ? &pass_rate::gbytes : &pass_rate::gbytes_all) * giga);
}

double prices::scan(double bytes, double operand, int workers) const {
  double const alone = bytes / (rate_of(operand, &pass_rate::scan_gbytes) * giga);
  return workers == 1 ? alone : std::max(alone / workers, bytes / (machine_.memory_gbytes() * giga));
}

double prices::shared_pass(double traffic, double footprint, int blocks, int workers) const {
  double const alone = pass(traffic, footprint, blocks) / workers;
  return std::max({alone, traffic * seconds_per_byte_of_pass(footprint, blocks, workers),
                   traffic / (machine_.memory_gbytes() * giga)});
}

}  // namespace heptad
