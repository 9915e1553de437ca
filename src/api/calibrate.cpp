// SPDX-License-Identifier: BSD-3-Clause
// Every rate is measured the way the library meets it, in the time of its own thread: products and their further terms
// through the codelet, on operands that have left the inner caches; passes with Winograd's sums of A; updates with the
// scaling codelet, which reads and writes C once; tasks through the TBB scheduler.
#include "src/api/calibrate.hpp"

#include <oneapi/tbb/task_arena.h>

#include <time.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "codelets/cpu/combine.hpp"
#include "codelets/cpu/product.hpp"
#include "schedulers/tbb/tbb_scheduler.hpp"
#include "src/algorithm/algorithm.hpp"
#include "src/api/context.hpp"
#include "src/api/median.hpp"
#include "src/api/memory.hpp"
#include "src/api/present.hpp"
#include "tasks/gemm_graph.hpp"
#include "tasks/node.hpp"

namespace heptad {
namespace {

using steady = std::chrono::steady_clock;

double wall_seconds() { return std::chrono::duration<double>(steady::now().time_since_epoch()).count(); }

// Of the calling thread: what it loses to other processes does not count.
double thread_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

calibration_clocks system_clocks() { return {thread_seconds, wall_seconds}; }

// Median seconds of one run, of this thread; in groups of at least a millisecond, for about `budget` seconds of
// wall clock and three groups.
template <typename Run>
double median_seconds(calibration_clocks const& clocks, Run const& run, double budget) {
  run();
  double const first = clocks.thread();
  run();
  int const group = std::max(1, static_cast<int>(1e-3 / std::max(clocks.thread() - first, 1e-7)));
  std::vector<double> samples;
  double const end = clocks.wall() + budget;
  while (samples.size() < 3 || clocks.wall() < end) {
    double const start = clocks.thread();
    for (int i = 0; i < group; ++i) run();
    samples.push_back((clocks.thread() - start) / group);
  }
  return std::max(median(samples), 1e-9);
}

// A leased block filled with values of ordinary size, so that no sum is denormal and every page is mapped.
template <typename T>
class filled_memory {
public:
  explicit filled_memory(double elements) : lease_(pool_.take(static_cast<std::size_t>(elements) * sizeof(T))) {
    if (!lease_)
      throw error(status::out_of_memory,
                  fmt::format("calibrate: no memory for {:.0f} MB", elements * double(sizeof(T)) / 1e6));
    auto const count = static_cast<std::size_t>(elements);
    for (std::size_t i = 0; i < count; ++i)
      if constexpr (std::is_floating_point_v<T>) data()[i] = static_cast<T>(static_cast<int>(i % 251) - 125) / T(128);
      else data()[i] = T{};
  }
  [[nodiscard]] T* data() const { return reinterpret_cast<T*>(lease_.data()); }

private:
  memory_pool pool_;
  memory_pool::lease lease_;
};

// Products of the codelet on one worker, taking their operands in turn from a store that no inner cache holds.
template <typename T>
class product_bench {
public:
  product_bench(cpu::kernel_set<T> const& kernels, calibration_clocks const& clocks, std::vector<int> const& sides)
      : kernels_(kernels),
        clocks_(clocks),
        elements_(std::max<std::int64_t>(store_bytes / sizeof(T), 3 * (sides.back() + 64) * (sides.back() + 64))),
        operands_(static_cast<double>(elements_)),
        scratch_(static_cast<double>(most_scratch(kernels, sides))) {}

  // Seconds of C_p += (Σ A_i)(Σ B_j) with so many blocks of each.
  double seconds(std::int64_t m, std::int64_t n, std::int64_t k, int a_terms, int b_terms, int c_terms,
                 cpu::variant how, double budget) const {
    std::int64_t const lda = padded_leading_dimension(m, sizeof(T)), ldb = padded_leading_dimension(k, sizeof(T));
    std::int64_t const a = lda * k, b = ldb * n, c = lda * n;
    std::int64_t const set = a * a_terms + b * b_terms + c * c_terms;
    std::int64_t const sets = std::clamp<std::int64_t>(elements_ / set, 1, 64);
    std::int64_t next = 0;
    std::vector<cpu::term<T>> as(a_terms), bs(b_terms);
    std::vector<cpu::destination<T>> cs(c_terms);
    return median_seconds(
        clocks_,
        [&] {
          T* at = operands_.data() + set * (next++ % sets);
          for (auto& term : as) term = {std::exchange(at, at + a), T(1)};
          for (auto& term : bs) term = {std::exchange(at, at + b), T(1)};
          for (auto& target : cs) target = {std::exchange(at, at + c), T(1), T(1)};
          cpu::product_call<T> const call{m, n, k, as, 1, lda, bs, 1, ldb, cs, 1, lda};
          cpu::product(kernels_, call, how, scratch_.data());
        },
        budget);
  }

private:
  static constexpr std::int64_t store_bytes = 32'000'000;

  static std::size_t most_scratch(cpu::kernel_set<T> const& kernels, std::vector<int> const& sides) {
    std::size_t most = 0;
    for (int const m : sides)
      for (int const n : sides)
        for (int const k : sides) most = std::max(most, cpu::product_scratch(kernels, m, n, k, cpu::variant::ab));
    return most;
  }

  cpu::kernel_set<T> const& kernels_;
  calibration_clocks const& clocks_;
  std::int64_t const elements_;
  filled_memory<T> const operands_;
  filled_memory<std::byte> const scratch_;
};

// GB/s, read and written, of Winograd's four sums of A: eight blocks that together take `bytes` per worker. In a
// product much else is read and written between two passes over the same blocks, so they are taken in turn from several
// times as much memory, up to `most` bytes.
double pass_gbytes(calibration_clocks const& clocks, double bytes, double most, int workers) {
  algorithm const& winograd = *find_algorithm("winograd");
  std::vector<int> sums;
  for (int r = 0; r < winograd.rank(); ++r)
    if (nonzeros(winograd.U, r) > 1) sums.push_back(r);
  auto const program = cpu::compile<double>(with_outputs(winograd.sums_A, sums));
  std::size_t const inputs = program.inputs, outputs = program.outputs.size();

  // As the graph decides for every pass.
  bool const streaming = bytes / double(inputs + outputs) >= double(streaming_bytes);
  constexpr std::int64_t rows = 512, ld = rows + 8;
  auto const cols = static_cast<std::int64_t>(bytes / sizeof(double) / double(inputs + outputs) / ld) + 1;
  constexpr double turns = 32;
  std::int64_t const block = ld * cols, set = block * static_cast<std::int64_t>(inputs + outputs);
  auto const sets = static_cast<std::int64_t>(std::clamp(most / (bytes * workers), 1.0, turns));
  filled_memory<double> const memory(static_cast<double>(set * sets) * workers);
  std::vector<std::int64_t> next(static_cast<std::size_t>(workers));
  auto const pass = [&](int worker) {
    double* const base = memory.data() + set * (sets * worker + next[static_cast<std::size_t>(worker)]++ % sets);
    std::vector<cpu::combine_input<double>> in;
    std::vector<cpu::combine_output<double>> out;
    for (std::size_t i = 0; i < inputs; ++i) in.push_back({base + block * std::int64_t(i), 1, ld});
    for (std::size_t i = 0; i < outputs; ++i) out.push_back({base + block * std::int64_t(inputs + i), 1, ld, 0});
    cpu::combine<double>(program, in, out, rows, cols, streaming);
  };
  // The workers run long enough beside each other that their own times tell what each gets.
  std::vector<double> seconds(static_cast<std::size_t>(workers));
  {
    std::vector<std::jthread> threads;
    for (int w = 0; w < workers; ++w)
      threads.emplace_back([&, w] {
        seconds[static_cast<std::size_t>(w)] = median_seconds(
            clocks, [&] { pass(w); }, 0.2);
      });
  }
  double rate = 0;
  for (double s : seconds) rate += 1e-9 * double(rows * cols) * double(inputs + outputs) * sizeof(double) / s;
  return rate;
}

double update_gbytes(calibration_clocks const& clocks, double bytes) {
  auto const cols = static_cast<std::int64_t>(bytes / sizeof(double) / 512);
  filled_memory<double> const memory(512.0 * double(cols));
  double const seconds = median_seconds(
      clocks, [&] { cpu::scale(-1.0, memory.data(), 512, cols, 1, 512); }, 0.2);
  return 1e-9 * 2 * 512 * double(cols) * sizeof(double) / seconds;
}

// What the scheduler costs, in seconds: `tasks` scalings of `rows` elements each by all workers, beyond the time of the
// scalings themselves.
double overhead_seconds(calibration_clocks const& clocks, int tasks, std::int64_t rows, int workers,
                        oneapi::tbb::task_arena& arena) {
  graph g;
  g.m = rows;
  g.n = tasks;
  for (int i = 0; i < tasks; ++i) {
    block const where{space_C, 0, i, rows, 1};
    g.tasks.push_back({"", scale_step{where}, {{where, access_mode::write}}, {}, tasks - i});
  }
  dependencies const order = derive_dependencies(g, false);
  filled_memory<double> const C(double(rows) * tasks);
  plan how;
  how.kernel = cpu::best_kernel_set<double>().name;
  gemm_operands<double> const operands{1.0,
                                       {nullptr, rows, 0, 1, rows},
                                       {nullptr, 0, tasks, 1, 0},
                                       -1.0,
                                       column_major(C.data(), rows, std::int64_t{tasks}, rows)};
  auto const work = make_executor<double>(g, how, operands, nullptr);
  std::size_t const bytes = (work->scratch_bytes() + 4095) / 4096 * 4096;
  filled_memory<std::byte> const scratch(double(bytes) * workers);
  double const alone = median_seconds(
      clocks,
      [&] {
        for (task const& t : g.tasks) work->run(t, scratch.data());
      },
      0.1);
  std::vector<double> samples;
  for (int i = 0; i < 31; ++i) {
    double const begin = clocks.wall();
    run_tbb(g, order, *work, arena, workers, [&](int w, std::size_t) { return scratch.data() + bytes * w; });
    samples.push_back(clocks.wall() - begin - alone / workers);
  }
  return std::max(median(samples), 1e-7);
}

// Says how far it is; steps are given their share of the whole when they begin.
class progress_steps {
public:
  progress_steps(calibration_progress const& report, int steps) : report_(report), steps_(steps) {}
  void next(std::string const& what) {
    if (report_) report_(std::min(1.0, double(done_) / steps_), what);
    ++done_;
  }

private:
  calibration_progress const& report_;
  int steps_, done_ = 0;
};

// GB/s at which `more` bytes cost what a run with them took longer. Prefetching may hide nearly all of it: far more
// than any memory's rate says nothing.
double marginal_gbytes(double more, double seconds_with, double seconds_without) {
  return std::clamp(1e-9 * more / std::max(seconds_with - seconds_without, 1e-9), 2.0, 500.0);
}

template <typename T>
rate_table measure_rates(calibration_settings const& settings, calibration_clocks const& clocks,
                         std::string const& kernel, progress_steps& progress) {
  char const* const name = sizeof(T) == 8 ? "f64" : "f32";
  constexpr int more = 2;
  std::vector<int> sizes = settings.sides;
  sizes.insert(sizes.end(), settings.term_sizes.begin(), settings.term_sizes.end());
  std::ranges::sort(sizes);
  product_bench<T> const bench(*cpu::find_kernel_set<T>(kernel), clocks, sizes);
  rate_table r;
  r.sides = settings.sides;
  r.product_gflops.clear();
  for (int const m : r.sides) {
    progress.next(fmt::format("{} products with {} rows", name, m));
    for (int const n : r.sides)
      for (int const k : r.sides)
        r.product_gflops.push_back(2e-9 * m * n * k / bench.seconds(m, n, k, 1, 1, 1, cpu::variant::abc, 0.015));
  }
  r.terms.clear();
  for (int const size : settings.term_sizes) {
    progress.next(fmt::format("{} sums and updates in products of {}", name, size));
    // Differences of a few percent: in turns, and the least of several medians, so that what disturbs one turn counts
    // for nothing.
    constexpr int turns = 4;
    struct kind {
      int a, b, c;
      cpu::variant how;
      double least = HUGE_VAL;
    };
    using enum cpu::variant;
    kind alone{1, 1, 1, abc}, gathered{1, 1, 1, ab}, sum_a{1 + more, 1, 1, abc}, sum_b{1, 1 + more, 1, abc};
    kind updates_ab{1, 1, 1 + more, ab}, updates_abc{1, 1, 1 + more, abc};
    for (int turn = 0; turn < turns; ++turn)
      for (kind* x : {&alone, &gathered, &sum_a, &sum_b, &updates_ab, &updates_abc})
        x->least = std::min(x->least, bench.seconds(size, size, size, x->a, x->b, x->c, x->how, 0.03));
    double const block = double(size) * size * sizeof(T) * more;
    r.terms.push_back({size, marginal_gbytes(block, sum_a.least, alone.least),
                       marginal_gbytes(block, sum_b.least, alone.least),
                       marginal_gbytes(2 * block, updates_ab.least, gathered.least),
                       marginal_gbytes(2 * block, updates_abc.least, alone.least)});
  }
  return r;
}

}  // namespace

machine_profile calibrate(calibration_settings const& settings) {
  machine_profile p = default_profile();
  options named;
  named.kernel = settings.kernel;
  check_options(named, element_type::f64);
  p.kernel = settings.kernel == "auto" ? cpu::best_kernel_set<double>().name : settings.kernel;
  int const workers = std::min(p.cores, usable_cores());
  oneapi::tbb::task_arena all(workers);
  calibration_clocks const clocks = settings.clocks.thread ? settings.clocks : system_clocks();

  double const eighth = double(p.memory_bytes) / 8;
  double const large = settings.largest_pass > 0 ? settings.largest_pass
                                                 : std::max(std::min(std::max(256e6, 2.0 * double(p.l3_bytes)), eighth),
                                                            4.0 * double(p.l2_bytes));
  std::vector<double> pass_sizes;
  for (double bytes = double(p.l2_bytes) / 2; bytes < large / 2; bytes *= 4) pass_sizes.push_back(bytes);
  pass_sizes.push_back(large);

  auto const steps = 2 * (settings.sides.size() + settings.term_sizes.size()) + pass_sizes.size() + 2;
  progress_steps progress(settings.progress, static_cast<int>(steps));
  p.f64 = measure_rates<double>(settings, clocks, p.kernel, progress);
  p.f32 = measure_rates<float>(settings, clocks, p.kernel, progress);

  p.passes.clear();
  for (double const bytes : pass_sizes) {
    progress.next(fmt::format("passes over {:.3g} MB", bytes / 1e6));
    double const one = pass_gbytes(clocks, bytes, large, 1);
    double const together = workers == 1 ? one : pass_gbytes(clocks, std::min(bytes, eighth / workers), large, workers);
    p.passes.push_back({bytes, one, std::max(one, together)});
  }
  progress.next("updates in memory");
  p.update_gbytes = update_gbytes(clocks, large);

  progress.next("tasks");
  // Of a call that finds its workers awake. Sleeping ones cost the caller hardly more: it begins without them, and does
  // what they come too late for. The overhead of one task shows when there are many short ones.
  constexpr int many = 2000;
  p.call_seconds = overhead_seconds(clocks, workers, 1 << 14, workers, all);
  p.task_seconds = overhead_seconds(clocks, many, 64, workers, all) * workers / many;
  p.measured = true;
  if (settings.progress) settings.progress(1, "done");
  return p;
}

}  // namespace heptad
