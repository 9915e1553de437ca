// SPDX-License-Identifier: BSD-3-Clause
// What fused levels take longer than as many plain products of their shape is the price of their sums and updates.
#include "src/api/calibrate_products.hpp"

#include <array>
#include <cmath>
#include <functional>
#include <iterator>

#include "src/api/product_bench.hpp"
#include "src/api/term_fit.hpp"
#include "src/plan/known_algorithms.hpp"
#include "src/plan/level_price.hpp"

namespace heptad {
namespace {

// Plans are told apart by a few percent, and a shared machine may lose more than that for seconds: what others add is
// left out (undisturbed), and what is compared is measured one right after the other (time_beyond).
// Of levels in each turn, fused ones of operands that are not too large for it.
constexpr int repeats = 2, most_repeated_size = 1024;

// A fused level whose terms are priced, and the shape of the operands that it cuts, in halves of their size: cubes, and
// shapes in which two operands are larger than the third.
struct fused_sample {
  char const* algorithm;
  extents halves;
};
constexpr extents cube{2, 2, 2};
constexpr fused_sample of_large_c{"strassen", {3, 3, 1}};
constexpr fused_sample fused_samples[] = {
    {"strassen", cube},  of_large_c,          {"strassen", {3, 1, 3}},     {"strassen", {1, 3, 3}},
    {"sparse333", cube}, {"sparse343", cube}, {"strassen*strassen", cube},
};

// The sizes of operands whose fused levels are measured: those of the settings, and among them the first one that
// passes write to memory, since smaller ones are found in a cache.
template <typename T>
std::vector<int> sizes_of_operands(calibration_settings const& settings) {
  constexpr int granule = 64;
  std::vector<int> sizes = settings.fused_sizes;
  int const streamed = (static_cast<int>(std::sqrt(streaming_bytes / sizeof(T))) / granule + 1) * granule;
  auto const after = std::ranges::lower_bound(sizes, streamed);
  if (after != sizes.begin() && after != sizes.end() && *after != streamed) sizes.insert(after, streamed);
  return sizes;
}

// Of how many blocks of C the updates are measured by themselves: in fused levels they come with sums of A and B, in
// much the same proportions whatever the level.
constexpr int most_updated = 4;

// Products whose columns of C are not whole cache lines have so many rows less than those of the first level.
constexpr int ragged_by[] = {6, 3};

// Levels whose passes go over more and more blocks. Those over fewer, as Winograd's, add so little to their products
// that it cannot be told from noise: they are priced as the first of these.
constexpr char const* level_samples[] = {"sparse333", "sparse424", "strassen*strassen"};

// Of the products that the level makes of operands of about this size: whole cache lines.
extents block_of(fused_sample const& s, algorithm const& x, int size) {
  auto const part = [size](std::int64_t halves, std::int64_t parts) {
    return std::max<std::int64_t>((halves * size / 2 / parts + 4) / 8 * 8, 8);
  };
  return {part(s.halves.m, x.m), part(s.halves.n, x.n), part(s.halves.k, x.k)};
}

// Of a product whose updates of C are measured by themselves.
extents updated_block(int size) { return block_of(of_large_c, *find_algorithm(of_large_c.algorithm), size); }

// For a level whose products are of such blocks.
void add_level(bench_room& room, algorithm const& x, extents const& block) {
  room.operands.push_back({x.m * block.m, x.n * block.n, x.k * block.k});
}
bench_room room_for_rates(calibration_settings const& settings, std::vector<int> const& sizes_of_operands) {
  bench_room room;
  for (int const m : settings.sides)
    for (int const n : settings.sides)
      for (int const k : settings.sides) room.products.push_back({m, n, k});
  room.operands = room.products;
  for (int const size : sizes_of_operands) {
    room.fetched.push_back({size, size, size});
    for (fused_sample const& s : fused_samples) {
      algorithm const& x = *find_algorithm(s.algorithm);
      room.products.push_back(block_of(s, x, size));
      add_level(room, x, room.products.back());
    }
    auto const [m, n, k] = updated_block(size);
    room.operands.push_back({2 * m, 2 * n, k});
  }
  room.products.insert(room.products.end(), room.fetched.begin(), room.fetched.end());
  return room;
}
bench_room room_for_levels(std::vector<int> const& sizes_of_blocks) {
  bench_room room;
  for (int const size : sizes_of_blocks) {
    room.fetched.push_back({size, size, size});
    for (char const* const name : level_samples) add_level(room, *find_algorithm(name), {size, size, size});
  }
  room.products = room.fetched;
  return room;
}

double ratio_in_turns(std::vector<double> const& some, std::vector<double> const& others) {
  std::vector<double> ratios(some.size());
  std::ranges::transform(some, others, ratios.begin(), std::divides());
  auto const middle = ratios.begin() + static_cast<std::ptrdiff_t>(ratios.size() / 2);
  std::ranges::nth_element(ratios, middle);
  return *middle;
}

// Of a block of C by a product of so many k-steps that is not gathered.
double times_updated(std::int64_t k) { return std::ceil(double(k) / most_k_block); }

// Seconds beyond those of `count` others: from turn to turn the machine changes its speed by more than this, within one
// by less.
double time_beyond(std::vector<double> const& others, double count, std::vector<double> const& some) {
  return (ratio_in_turns(some, others) - count) * undisturbed(others);
}

// Seconds in each turn: of a plain product, and of a level whose products are gathered in a buffer or not.
struct fused_times {
  std::vector<double> plain, ab, abc;
};
// Of operands of one size.
struct times_of_size {
  std::array<fused_times, std::size(fused_samples)> levels;
  std::vector<double> updating_one, updating_all;  // blocks of C
  // Plain products, and the first level, on operands in caches and on others; none of operands that are in no cache.
  std::vector<double> here, fetched, fused_here, fused_fetched;
  std::array<std::vector<double>, std::size(ragged_by)> ragged;  // the first level, with fewer rows

  void turn(auto const& bench, int size, double budget) {
    bool const may_stay = bench.may_stay({size, size, size});
    if (may_stay) {
      here.push_back(bench.plain({size, size, size}, budget));
      fetched.push_back(bench.plain({size, size, size}, budget, true));
    }
    for (std::size_t i = 0; i < levels.size(); ++i) {
      auto const x = find_algorithm(fused_samples[i].algorithm);
      extents const block = block_of(fused_samples[i], *x, size);
      levels[i].plain.push_back(bench.plain(block, budget));
      levels[i].abc.push_back(bench.fused(x, block, false, budget));
      if (block.k > most_k_block) levels[i].ab.push_back(bench.fused(x, block, true, budget));
      if (i > 0) continue;
      for (std::size_t r = 0; r < ragged.size(); ++r)
        ragged[r].push_back(bench.fused(x, {block.m - ragged_by[r], block.n, block.k}, false, budget));
      if (!may_stay) continue;
      fused_here.push_back(bench.fused(x, block, false, budget));
      fused_fetched.push_back(bench.fused(x, block, false, budget, true));
    }
    updating_one.push_back(bench.updating(updated_block(size), 1, budget));
    updating_all.push_back(bench.updating(updated_block(size), most_updated, budget));
  }
};

// GB/s at which so many bytes take so long. Prefetching may hide nearly all of it: far more than any memory's rate says
// nothing.
constexpr double most_gbytes = 500;
double gbytes(double bytes, double seconds) {
  return std::clamp(1e-9 * bytes / std::max(seconds, 1e-12), 2.0, most_gbytes);
}

// Of updates of C in columns that are not whole cache lines: what the first level takes longer with them, beside the
// same one with whole lines, than by the vectors that its rows fill.
double ragged_gbytes(int size, double element_bytes, times_of_size const& times, int vector_rows) {
  fused_sample const& s = fused_samples[0];
  auto const x = find_algorithm(s.algorithm);
  auto const [m, n, k] = block_of(s, *x, size);
  auto const vectors = [vector_rows](std::int64_t rows) { return std::ceil(double(rows) / vector_rows); };
  double bytes = 0, seconds = 0;
  for (std::size_t r = 0; r < times.ragged.size(); ++r) {
    std::int64_t const rows = m - ragged_by[r];
    bytes += 2 * element_bytes * know(x).traffic.terms_C * double(rows * n) * times_updated(k);
    seconds += time_beyond(times.levels[0].abc, vectors(rows) / vectors(m), times.ragged[r]);
  }
  return gbytes(bytes, seconds);
}

/// `smaller`: what was found for the size before, if there is one.
rate_table::term_rates term_rates(int size, double element_bytes, times_of_size const& times, int vector_rows,
                                  rate_table::term_rates const* smaller) {
  double const elements = double(size) * double(size), bytes = element_bytes * elements;
  std::vector<term_sample> samples;
  for (std::size_t i = 0; i < times.levels.size(); ++i) {
    fused_sample const& s = fused_samples[i];
    auto const x = find_algorithm(s.algorithm);
    level_traffic const& t = know(x).traffic;
    auto const [m, n, k] = block_of(s, *x, size);
    // Elements of the blocks that the products have beyond the plain ones', in operands of this size.
    auto const further = [&](double terms, std::int64_t rows, std::int64_t cols) {
      return (terms - t.rank) * double(rows * cols) / elements;
    };
    double const a = further(t.terms_A, m, k), b = further(t.terms_B, k, n), c = further(t.terms_C, m, n);
    fused_times const& measured = times.levels[i];
    samples.push_back({{a, b, 0, c * times_updated(k)}, time_beyond(measured.plain, t.rank, measured.abc)});
    if (!measured.ab.empty()) samples.push_back({{a, b, c, 0}, time_beyond(measured.plain, t.rank, measured.ab)});
  }
  auto const [m, n, k] = updated_block(size);
  double const updates = (most_updated - 1) * double(m) * double(n) / elements * times_updated(k);
  samples.push_back({{0, 0, 0, updates}, time_beyond(times.updating_one, 1, times.updating_all)});
  // What blocks of A cost apart from those of B, and updates of one kind apart from the other, is a small part of what
  // was measured: without evidence they cost the same.
  samples.push_back({{1, -1, 0, 0}, 0});
  samples.push_back({{0, 0, 1, -1}, 0});
  // A byte never costs less than in smaller operands, which are nearer: the larger the products, the smaller a part of
  // them is the price of their terms, and the easier it is lost in noise.
  per_term least{};
  if (smaller != nullptr)
    least = {1e-9 * bytes / smaller->a_gbytes, 1e-9 * bytes / smaller->b_gbytes, 2e-9 * bytes / smaller->ab_gbytes,
             2e-9 * bytes / smaller->abc_gbytes};
  per_term const seconds = fit_terms(samples, least);
  return {size,
          gbytes(bytes, seconds[0]),
          gbytes(bytes, seconds[1]),
          gbytes(2 * bytes, seconds[2]),
          gbytes(2 * bytes, seconds[3]),
          times.here.empty() ? most_gbytes : gbytes(3 * bytes, time_beyond(times.here, 1, times.fetched)),
          times.here.empty() ? most_gbytes : gbytes(3 * bytes, time_beyond(times.fused_here, 1, times.fused_fetched)),
          ragged_gbytes(size, element_bytes, times, vector_rows)};
}

}  // namespace

template <typename T>
struct rates_bench<T>::samples {
  std::vector<std::vector<double>> products;  // seconds, for every three sides
  std::vector<times_of_size> levels;
};

template <typename T>
rates_bench<T>::rates_bench(calibration_settings const& settings, std::string kernel)
    : settings_(settings),
      kernel_(std::move(kernel)),
      sizes_(sizes_of_operands<T>(settings)),
      samples_(std::make_unique<samples>()) {
  std::size_t const sides = settings.sides.size();
  samples_->products.resize(sides * sides * sides);
  samples_->levels.resize(sizes_.size());
}

template <typename T>
rates_bench<T>::~rates_bench() = default;

template <typename T>
int rates_bench<T>::steps() const {
  return static_cast<int>(settings_.sides.size() + sizes_.size());
}

template <typename T>
void rates_bench<T>::turn(progress_steps& progress) {
  constexpr double product_budget = 0.01, level_budget = 0.02;
  char const* const name = sizeof(T) == 8 ? "f64" : "f32";
  product_bench<T> const bench(kernel_, settings_.clocks, room_for_rates(settings_, sizes_));
  auto product = samples_->products.begin();
  for (int const m : settings_.sides) {
    progress.next(fmt::format("{} products with {} rows", name, m));
    for (int const n : settings_.sides)
      for (int const k : settings_.sides) (product++)->push_back(bench.plain({m, n, k}, product_budget));
  }
  for (std::size_t s = 0; s < sizes_.size(); ++s) {
    int const size = sizes_[s];
    progress.next(fmt::format("{} sums and updates in operands of {}", name, size));
    for (int i = 0; i < (size > most_repeated_size ? 1 : repeats); ++i)
      samples_->levels[s].turn(bench, size, level_budget);
  }
}

template <typename T>
rate_table rates_bench<T>::rates() const {
  rate_table r;
  r.sides = settings_.sides;
  r.product_gflops.clear();
  auto product = samples_->products.begin();
  for (int const m : r.sides)
    for (int const n : r.sides)
      for (int const k : r.sides) r.product_gflops.push_back(2e-9 * m * n * k / undisturbed(*product++));
  cpu::kernel_set<T> const& kernels = *cpu::find_kernel_set<T>(kernel_);
  r.vector_rows = kernels.unpacked_rows > 0 ? kernels.unpacked_rows : kernels.blocks().mr;
  r.terms.clear();
  for (std::size_t s = 0; s < sizes_.size(); ++s)
    r.terms.push_back(
        term_rates(sizes_[s], sizeof(T), samples_->levels[s], r.vector_rows, s > 0 ? &r.terms.back() : nullptr));
  return r;
}

widths_bench::widths_bench(calibration_settings const& settings, std::string kernel)
    : settings_(settings),
      kernel_(std::move(kernel)),
      within_(std::size(level_samples) * settings.level_sizes.size()),
      alone_(within_.size()) {}

void widths_bench::turn(progress_steps& progress) {
  progress.next("levels with few and many blocks");
  constexpr double budget = 0.02;
  std::size_t const sizes = settings_.level_sizes.size();
  product_bench<double> const bench(kernel_, settings_.clocks, room_for_levels(settings_.level_sizes));
  // A level, and its blocks' products alone: by a fused level, as most are.
  auto const inner = find_algorithm("strassen");
  for (int repeat = 0; repeat < repeats; ++repeat)
    for (std::size_t i = 0; i < within_.size(); ++i) {
      int const size = settings_.level_sizes[i % sizes];
      auto const x = find_algorithm(level_samples[i / sizes]);
      extents const leaf{size / inner->m, size / inner->n, size / inner->k};
      plan_level const fused{inner->name, level_kind::fused, inner};
      alone_[i].push_back(bench.levels({fused}, leaf, false, budget, true));
      within_[i].push_back(bench.levels({{x->name, level_kind::explicit_passes, x}, fused}, leaf, false, budget));
    }
}

std::vector<pass_width> widths_bench::widths(machine_profile const& machine) const {
  machine_profile by_bytes = machine;
  by_bytes.widths = {{1, 1}};
  prices const price(element_type::f64, by_bytes);
  std::size_t const sizes = settings_.level_sizes.size();
  std::vector<pass_width> widths;
  for (std::size_t l = 0; l < std::size(level_samples); ++l) {
    auto const coefficients = find_algorithm(level_samples[l]);
    level_traffic const& t = know(coefficients).traffic;
    double expected = 0, measured = 0;
    int blocks = 0;
    for (std::size_t s = 0; s < sizes; ++s) {
      double const size = settings_.level_sizes[s];
      extent const block{size, size, size};
      pass_prices const passes(t.in(order_of(block, {}, true, false)), block, sizeof(double));
      expected += passes.seconds(price);
      measured += time_beyond(alone_[l * sizes + s], t.rank, within_[l * sizes + s]);
      blocks = (passes.blocks_A + passes.blocks_B + passes.blocks_C) / 3;
    }
    widths.push_back({blocks, std::clamp(measured / expected, 1.0, 4.0)});
  }
  return widths;
}

template class rates_bench<float>;
template class rates_bench<double>;

}  // namespace heptad
