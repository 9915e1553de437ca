// SPDX-License-Identifier: BSD-3-Clause
// Products of the codelet on operands that they find where the run before left them, and whole fused levels through the
// executor: what these take longer than as many plain products of their shape is the price of their sums and updates.
#include "src/api/calibrate_products.hpp"

#include <array>
#include <cmath>
#include <iterator>
#include <memory>

#include "codelets/cpu/product.hpp"
#include "schedulers/executor.hpp"
#include "src/algorithm/algorithm.hpp"
#include "src/api/term_fit.hpp"
#include "src/plan/known_algorithms.hpp"
#include "src/plan/level_price.hpp"
#include "tasks/gemm_graph.hpp"

namespace heptad {
namespace {

// Plans are told apart by a few percent, and a shared machine may lose more than that for seconds: everything is
// measured in turns that are far apart, and what others add is left out (undisturbed), of levels as of the plain
// products that they are compared with.
constexpr int turns = 5;

struct extents {
  std::int64_t m, n, k;
};

// A fused level whose terms are priced, and the shape of its products in halves of their size: cubes, and shapes in
// which two operands are larger than the third.
struct fused_sample {
  char const* algorithm;
  extents halves;
  int largest = 1 << 20;  // size that it is measured at
};
constexpr extents cube{2, 2, 2};
constexpr fused_sample fused_samples[] = {
    {"strassen", cube},      {"strassen", {3, 3, 1}}, {"strassen", {3, 1, 3}},
    {"strassen", {1, 3, 3}}, {"sparse333", cube},     {"strassen*strassen", cube, 512},
};

// Products with ragged edges beside this one, whose columns of C are whole cache lines.
constexpr int aligned_size = 256;
constexpr int ragged_sizes[] = {247, 250, 253};

// Levels whose passes go over more and more blocks. Those over fewer, as Winograd's, add so little to their products
// that it cannot be told from noise: they are priced as the first of these.
constexpr char const* level_samples[] = {"sparse333", "sparse424", "strassen*strassen"};

extents shape_of(fused_sample const& s, int size) {
  return {s.halves.m * size / 2, s.halves.n * size / 2, s.halves.k * size / 2};
}

template <typename T>
class product_bench {
public:
  product_bench(calibration_settings const& settings, std::string const& kernel)
      : kernel_(kernel),
        kernels_(*cpu::find_kernel_set<T>(kernel)),
        clocks_(settings.clocks),
        operands_(most_elements(settings)),
        scratch_(static_cast<double>(most_scratch(kernels_, settings))) {}

  /// Seconds of C += A B, on operands where the run before left them; or, fetched, on others each time, of so many that
  /// none is in an inner cache any more.
  [[nodiscard]] double plain(extents const& e, double budget, bool fetched = false) const {
    std::int64_t const lda = padded_leading_dimension(e.m, sizeof(T)), ldb = padded_leading_dimension(e.k, sizeof(T));
    std::int64_t const all = lda * (e.k + e.n) + ldb * e.n;
    std::int64_t const sets = fetched ? std::max<std::int64_t>(2, fetched_elements() / all) : 1;
    std::int64_t next = 0;
    cpu::term<T> A{nullptr, T(1)}, B{nullptr, T(1)};
    cpu::destination<T> C{nullptr, T(1), T(1)};
    cpu::product_call<T> const call{.m = e.m,
                                    .n = e.n,
                                    .k = e.k,
                                    .a = {&A, 1},
                                    .a_rs = 1,
                                    .a_cs = lda,
                                    .b = {&B, 1},
                                    .b_rs = 1,
                                    .b_cs = ldb,
                                    .c = {&C, 1},
                                    .c_rs = 1,
                                    .c_cs = lda};
    auto const run = [&] {
      T* const operands = operands_.data() + all * (next++ % sets);
      A.data = operands, B.data = operands + lda * e.k, C.data = operands + lda * e.k + ldb * e.n;
      cpu::product(kernels_, call, cpu::variant::abc, scratch_.data());
    };
    return seconds_of(clocks_, run, budget);
  }

  /// Seconds of C := A B by one level with blocks of such sizes, for each of its products.
  [[nodiscard]] double level(std::shared_ptr<algorithm const> const& x, level_kind kind, extents const& block,
                             bool product_buffer, double budget) const {
    plan how;
    how.type = sizeof(T) == 8 ? element_type::f64 : element_type::f32;
    how.kernel = kernel_;
    how.product_buffer = product_buffer;
    how.levels = {{x->name, kind, x}};
    std::int64_t const m = how.shape.m = how.core_m = x->m * block.m;
    std::int64_t const n = how.shape.n = how.core_n = x->n * block.n;
    std::int64_t const k = how.shape.k = how.core_k = x->k * block.k;
    how.shape.beta_zero = true;
    graph const g = build_gemm_graph(how, machine_);
    std::int64_t const lda = padded_leading_dimension(m, sizeof(T)), ldb = padded_leading_dimension(k, sizeof(T));
    T* const A = operands_.data();
    T* const B = A + lda * k;
    gemm_operands<T> const operands{1, column_major<T const>(A, m, k, lda), column_major<T const>(B, k, n, ldb), 0,
                                    column_major(B + ldb * n, m, n, lda)};
    auto const work = make_executor<T>(g, how, operands, nullptr);
    filled_memory<std::byte> const scratch(static_cast<double>(work->scratch_bytes()));
    auto const run = [&] {
      for (task const& t : g.tasks) work->run(t, scratch.data());
    };
    return seconds_of(clocks_, run, budget) / x->rank();
  }

private:
  // Far more than the second-level cache has room for.
  [[nodiscard]] std::int64_t fetched_elements() const {
    return static_cast<std::int64_t>(6 * machine_.l2_bytes / sizeof(T));
  }

  [[nodiscard]] double most_elements(calibration_settings const& settings) const {
    auto const held = [](algorithm const& x, extents const& block) {
      extents const e{x.m * block.m, x.n * block.n, x.k * block.k};
      std::int64_t const lda = padded_leading_dimension(e.m, sizeof(T)), ldb = padded_leading_dimension(e.k, sizeof(T));
      return static_cast<double>(lda * (e.k + e.n) + ldb * e.n);
    };
    int const side = settings.sides.back();
    double most = std::max(held(*find_algorithm("classical"), {side, side, side}), double(fetched_elements()));
    for (int const size : settings.term_sizes) {
      most = std::max(most, 2 * held(*find_algorithm("classical"), {size, size, size}));
      for (fused_sample const& s : fused_samples)
        if (size <= s.largest) most = std::max(most, held(*find_algorithm(s.algorithm), shape_of(s, size)));
    }
    most = std::max(most, held(*find_algorithm("strassen"), {aligned_size, aligned_size, aligned_size}));
    for (int const size : settings.level_sizes) {
      most = std::max(most, 2 * held(*find_algorithm("classical"), {size, size, size}));
      for (char const* const name : level_samples)
        most = std::max(most, held(*find_algorithm(name), {size, size, size}));
    }
    return most;
  }

  static std::size_t most_scratch(cpu::kernel_set<T> const& kernels, calibration_settings const& settings) {
    std::size_t most = 0;
    auto const needs = [&](extents const& e) {
      most = std::max(most, cpu::product_scratch(kernels, e.m, e.n, e.k, cpu::variant::abc));
    };
    for (int const m : settings.sides)
      for (int const n : settings.sides)
        for (int const k : settings.sides) needs({m, n, k});
    for (int const size : settings.term_sizes)
      for (fused_sample const& s : fused_samples) needs(shape_of(s, size));
    for (int const size : settings.level_sizes) needs({size, size, size});
    needs({aligned_size, aligned_size, aligned_size});
    return most;
  }

  std::string const kernel_;
  cpu::kernel_set<T> const& kernels_;
  calibration_clocks const& clocks_;
  machine_profile const machine_ = default_profile();  // for graphs whose costs are not asked for
  filled_memory<T> const operands_;
  filled_memory<std::byte> const scratch_;
};

// Seconds of the products of one size and shape, in each turn: of plain ones, and of those of levels.
struct fused_times {
  std::vector<double> plain, ab, abc;
};
struct times_of_size {
  std::array<fused_times, std::size(fused_samples)> levels;
  std::vector<double> here, fetched;  // plain products on operands in caches, and on others
};

// GB/s at which so many bytes take so long. Prefetching may hide nearly all of it: far more than any memory's rate says
// nothing.
double gbytes(double bytes, double seconds) { return std::clamp(1e-9 * bytes / std::max(seconds, 1e-12), 2.0, 500.0); }

/// `smaller`: what was found for the size before, if there is one.
rate_table::term_rates term_rates(int size, double element_bytes, times_of_size const& times,
                                  rate_table::term_rates const* smaller) {
  double const block_bytes = element_bytes * size * size;
  std::vector<term_sample> samples;
  for (std::size_t i = 0; i < times.levels.size(); ++i) {
    fused_sample const& s = fused_samples[i];
    if (size > s.largest) continue;
    auto const x = find_algorithm(s.algorithm);
    level_traffic const& t = know(x).traffic;
    // Blocks of size × size that a product has beyond the plain one's.
    auto const further = [&](double terms, std::int64_t rows, std::int64_t cols) {
      return (terms / t.rank - 1) * double(rows * cols) / double(cube.m * cube.n);
    };
    auto const [m, n, k] = s.halves;
    double const a = further(t.terms_A, m, k), b = further(t.terms_B, k, n), c = further(t.terms_C, m, n);
    fused_times const& measured = times.levels[i];
    double const plain = undisturbed(measured.plain);
    samples.push_back({{a, b, c, 0}, undisturbed(measured.ab) - plain});
    samples.push_back({{a, b, 0, c}, undisturbed(measured.abc) - plain});
  }
  // What blocks of A cost apart from those of B, and updates of one kind apart from the other, is a small part of what
  // was measured: without evidence they cost the same.
  samples.push_back({{1, -1, 0, 0}, 0});
  samples.push_back({{0, 0, 1, -1}, 0});
  // A byte never costs less than in smaller blocks, which are nearer: the larger the products, the smaller a part of
  // them is the price of their terms, and the easier it is lost in noise.
  per_term least{};
  if (smaller != nullptr)
    least = {1e-9 * block_bytes / smaller->a_gbytes, 1e-9 * block_bytes / smaller->b_gbytes,
             2e-9 * block_bytes / smaller->ab_gbytes, 2e-9 * block_bytes / smaller->abc_gbytes};
  per_term const seconds = fit_terms(samples, least);
  return {size,
          gbytes(block_bytes, seconds[0]),
          gbytes(block_bytes, seconds[1]),
          gbytes(2 * block_bytes, seconds[2]),
          gbytes(2 * block_bytes, seconds[3]),
          gbytes(3 * block_bytes, undisturbed(times.fetched) - undisturbed(times.here))};
}

// Of a fused level, as most products with ragged edges are below one that does not divide by two; rows beyond whole
// vectors, in the mean of the sizes, that explain what its products take longer than those of aligned_size by their
// flops.
class ragged_bench {
public:
  void turn(auto const& bench, double budget) {
    aligned_.push_back(
        bench.level(level_, level_kind::fused, {aligned_size, aligned_size, aligned_size}, true, budget));
    for (std::size_t i = 0; i < ragged_.size(); ++i) {
      int const s = ragged_sizes[i];
      ragged_[i].push_back(bench.level(level_, level_kind::fused, {s, s, s}, true, budget));
    }
  }
  [[nodiscard]] double rows(int vector_rows) const {
    constexpr double least = 0.01, most = 64;
    double sum = 0;
    for (std::size_t i = 0; i < ragged_.size(); ++i) {
      double const s = ragged_sizes[i], by_flops = undisturbed(aligned_) * std::pow(s / aligned_size, 3);
      double const whole_vectors = std::ceil(s / vector_rows) * vector_rows;
      sum += s * undisturbed(ragged_[i]) / by_flops - whole_vectors;
    }
    return std::clamp(sum / double(ragged_.size()), least, most);
  }

private:
  std::shared_ptr<algorithm const> const level_ = find_algorithm("strassen");
  std::vector<double> aligned_;
  std::array<std::vector<double>, std::size(ragged_sizes)> ragged_;
};

}  // namespace

int product_steps(calibration_settings const& settings) {
  return turns * static_cast<int>(settings.sides.size() + settings.term_sizes.size());
}

template <typename T>
rate_table measure_rates(calibration_settings const& settings, std::string const& kernel, progress_steps& progress) {
  constexpr double product_budget = 0.01, level_budget = 0.02;
  char const* const name = sizeof(T) == 8 ? "f64" : "f32";
  product_bench<T> const bench(settings, kernel);
  rate_table r;
  r.sides = settings.sides;
  std::vector<std::vector<double>> products(r.sides.size() * r.sides.size() * r.sides.size());
  std::vector<times_of_size> times(settings.term_sizes.size());
  ragged_bench ragged;
  for (int turn = 0; turn < turns; ++turn) {
    auto product = products.begin();
    for (int const m : r.sides) {
      progress.next(fmt::format("{} products with {} rows", name, m));
      for (int const n : r.sides)
        for (int const k : r.sides) (product++)->push_back(bench.plain({m, n, k}, product_budget));
    }
    ragged.turn(bench, level_budget);
    for (std::size_t s = 0; s < times.size(); ++s) {
      int const size = settings.term_sizes[s];
      progress.next(fmt::format("{} sums and updates in products of {}", name, size));
      times[s].here.push_back(bench.plain({size, size, size}, level_budget));
      times[s].fetched.push_back(bench.plain({size, size, size}, level_budget, true));
      for (std::size_t i = 0; i < times[s].levels.size(); ++i) {
        if (size > fused_samples[i].largest) continue;
        extents const block = shape_of(fused_samples[i], size);
        auto const x = find_algorithm(fused_samples[i].algorithm);
        fused_times& t = times[s].levels[i];
        t.plain.push_back(bench.plain(block, level_budget));
        t.ab.push_back(bench.level(x, level_kind::fused, block, true, level_budget));
        t.abc.push_back(bench.level(x, level_kind::fused, block, false, level_budget));
      }
    }
  }
  r.product_gflops.clear();
  auto product = products.begin();
  for (int const m : r.sides)
    for (int const n : r.sides)
      for (int const k : r.sides) r.product_gflops.push_back(2e-9 * m * n * k / undisturbed(*product++));
  cpu::kernel_set<T> const& kernels = *cpu::find_kernel_set<T>(kernel);
  r.vector_rows = kernels.unpacked_rows > 0 ? kernels.unpacked_rows : kernels.blocks().mr;
  r.ragged_rows = ragged.rows(r.vector_rows);
  r.terms.clear();
  for (std::size_t s = 0; s < times.size(); ++s)
    r.terms.push_back(term_rates(settings.term_sizes[s], sizeof(T), times[s], s > 0 ? &r.terms.back() : nullptr));
  return r;
}

std::vector<pass_width> measure_widths(calibration_settings const& settings, machine_profile const& machine,
                                       progress_steps& progress) {
  progress.next("levels with few and many blocks");
  constexpr int level_turns = 9;  // what passes add is a small part of a level
  constexpr double budget = 0.02;
  std::size_t const sizes = settings.level_sizes.size();
  product_bench<double> const bench(settings, machine.kernel);
  // Seconds of a product, in a level and alone, for each of these levels, in each turn.
  std::vector<std::vector<double>> within(std::size(level_samples) * sizes), alone(within.size());
  for (int turn = 0; turn < level_turns; ++turn)
    for (std::size_t i = 0; i < within.size(); ++i) {
      int const size = settings.level_sizes[i % sizes];
      auto const x = find_algorithm(level_samples[i / sizes]);
      extents const block{size, size, size};
      alone[i].push_back(bench.plain(block, budget, true));
      within[i].push_back(bench.level(x, level_kind::explicit_passes, block, false, budget));
    }

  machine_profile by_bytes = machine;
  by_bytes.widths = {{1, 1}};
  prices const price(element_type::f64, by_bytes);
  std::vector<pass_width> widths;
  for (std::size_t l = 0; l < std::size(level_samples); ++l) {
    auto const coefficients = find_algorithm(level_samples[l]);
    level_traffic const& t = know(coefficients).traffic;
    double expected = 0, measured = 0;
    int blocks = 0;
    for (std::size_t s = 0; s < sizes; ++s) {
      double const size = settings.level_sizes[s];
      extent const block{size, size, size};
      pass_prices const passes(t.in(order_of(block, {}, true, false)), block, sizeof(double));
      expected += passes.seconds(price);
      measured += t.rank * (undisturbed(within[l * sizes + s]) - undisturbed(alone[l * sizes + s]));
      blocks = (passes.blocks_A + passes.blocks_B + passes.blocks_C) / 3;
    }
    widths.push_back({blocks, std::clamp(measured / expected, 1.0, 4.0)});
  }
  return widths;
}

template rate_table measure_rates<float>(calibration_settings const&, std::string const&, progress_steps&);
template rate_table measure_rates<double>(calibration_settings const&, std::string const&, progress_steps&);

}  // namespace heptad
