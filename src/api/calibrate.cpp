// SPDX-License-Identifier: BSD-3-Clause
// Every rate is measured the way the library meets it, in the time of its own thread: leaves through the graph and its
// executor, on operands that have left the inner caches; passes with Winograd's sums of A; updates with the scaling
// codelet, which reads and writes C once; tasks through the TBB scheduler.
#include "src/api/calibrate.hpp"

#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/partitioner.h>
#include <oneapi/tbb/task_arena.h>

#include <time.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <type_traits>
#include <vector>

#include <fmt/format.h>

#include "codelets/cpu/combine.hpp"
#include "codelets/cpu/product.hpp"
#include "schedulers/tbb/tbb_scheduler.hpp"
#include "src/algorithm/algorithm.hpp"
#include "src/api/context.hpp"
#include "src/api/memory.hpp"
#include "src/api/present.hpp"
#include "src/plan/planner.hpp"
#include "tasks/gemm_graph.hpp"

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

double median(std::vector<double> samples) {
  auto const middle = samples.begin() + static_cast<std::ptrdiff_t>(samples.size() / 2);
  std::nth_element(samples.begin(), middle, samples.end());
  return *middle;
}

// Median seconds of one run, of this thread; in groups of at least a millisecond, for about `budget` seconds of
// wall clock and three groups.
template <typename Run>
double median_seconds(Run const& run, double budget = 0.2) {
  run();
  double const first = thread_seconds();
  run();
  int const group = std::max(1, static_cast<int>(1e-3 / std::max(thread_seconds() - first, 1e-7)));
  std::vector<double> samples;
  double const end = wall_seconds() + budget;
  while (samples.size() < 3 || wall_seconds() < end) {
    double const start = thread_seconds();
    for (int i = 0; i < group; ++i) run();
    samples.push_back((thread_seconds() - start) / group);
  }
  return median(samples);
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

// A plan for C += A B on one worker, with this fused level if any, AB or ABC.
plan leaf_plan(element_type type, std::int64_t m, std::int64_t n, std::int64_t k, char const* fused, bool buffer,
               machine_profile const& machine) {
  plan p;
  p.type = type;
  p.shape = {m, n, k};
  p.kernel = machine.kernel;
  p.product_buffer = buffer;
  if (fused != nullptr) p.levels.push_back({fused, level_kind::fused, find_algorithm(fused)});
  complete_plan(p, machine);
  return p;
}

// Gflop/s (effective, 2 m n k / t) of a leaf, taking its operands in turn from 32 MB or more.
template <typename T>
double leaf_gflops(plan const& how, machine_profile const& machine) {
  graph const g = build_gemm_graph(how, machine);
  std::int64_t const m = how.shape.m, n = how.shape.n, k = how.shape.k;
  auto const lines = [](std::int64_t elements) { return (elements + 63) / 64 * 64; };
  std::int64_t const lda = padded_leading_dimension(m, sizeof(T)), ldb = padded_leading_dimension(k, sizeof(T));
  std::int64_t const a = lines(lda * k), b = lines(ldb * n), c = lines(lda * n);
  auto const set_bytes = static_cast<double>(a + b + c) * sizeof(T);
  auto const sets = static_cast<std::int64_t>(std::clamp(32e6 / set_bytes, 1.0, 64.0));
  filled_memory<T> const operands(static_cast<double>((a + b + c) * sets));
  std::vector<std::unique_ptr<executor>> executors;
  for (std::int64_t s = 0; s < sets; ++s) {
    T* const base = operands.data() + (a + b + c) * s;
    executors.push_back(
        make_executor<T>(g, how,
                         {T(1), column_major<T const>(base, m, k, lda), column_major<T const>(base + a, k, n, ldb),
                          T(1), column_major(base + a + b, m, n, lda)},
                         nullptr));
  }
  filled_memory<std::byte> const scratch(static_cast<double>(executors.front()->scratch_bytes()));
  std::size_t next = 0;
  double const seconds = median_seconds([&] {
    executor const& work = *executors[next++ % executors.size()];
    for (task const& t : g.tasks) work.run(t, scratch.data());
  });
  return 2e-9 * double(m) * double(n) * double(k) / seconds;
}

// GB/s, read and written, of Winograd's four sums of A: eight blocks that together take `bytes` per worker.
double pass_gbytes(double bytes, int workers, oneapi::tbb::task_arena& arena, bool streaming) {
  algorithm const& winograd = *find_algorithm("winograd");
  std::vector<int> sums;
  for (int r = 0; r < winograd.rank(); ++r) {
    int terms = 0;
    for (int i = 0; i < winograd.U.rows; ++i) terms += !winograd.U(i, r).is_zero();
    if (terms > 1) sums.push_back(r);
  }
  auto const program = cpu::compile<double>(with_outputs(winograd.sums_A, sums));
  std::size_t const inputs = program.inputs, outputs = program.outputs.size();

  constexpr std::int64_t rows = 512, ld = rows + 8;
  auto const cols = static_cast<std::int64_t>(bytes / sizeof(double) / double(inputs + outputs) / ld) + 1;
  std::int64_t const block = ld * cols, per_worker = block * static_cast<std::int64_t>(inputs + outputs);
  filled_memory<double> const memory(static_cast<double>(per_worker) * workers);
  auto const pass = [&](int worker) {
    double* const base = memory.data() + per_worker * worker;
    std::vector<cpu::combine_input<double>> in;
    std::vector<cpu::combine_output<double>> out;
    for (std::size_t i = 0; i < inputs; ++i) in.push_back({base + block * std::int64_t(i), 1, ld});
    for (std::size_t i = 0; i < outputs; ++i) out.push_back({base + block * std::int64_t(inputs + i), 1, ld, 0});
    cpu::combine<double>(program, in, out, rows, cols, streaming);
  };
  // The workers run long enough beside each other that their own times tell what each gets.
  std::vector<double> seconds(static_cast<std::size_t>(workers));
  arena.execute([&] {
    oneapi::tbb::parallel_for(
        0, workers, [&](int w) { seconds[static_cast<std::size_t>(w)] = median_seconds([&] { pass(w); }); },
        oneapi::tbb::simple_partitioner());
  });
  double rate = 0;
  for (double s : seconds) rate += 1e-9 * double(rows * cols) * double(inputs + outputs) * sizeof(double) / s;
  return rate;
}

double update_gbytes(double bytes) {
  auto const cols = static_cast<std::int64_t>(bytes / sizeof(double) / 512);
  filled_memory<double> const memory(512.0 * double(cols));
  double const seconds = median_seconds([&] { cpu::scale(-1.0, memory.data(), 512, cols, 1, 512); });
  return 1e-9 * 2 * 512 * double(cols) * sizeof(double) / seconds;
}

// GB/s of operand sums in the packing: what three further operands of A and of B cost at 768.
template <typename T>
double pack_gbytes(cpu::kernel_set<T> const& kernels) {
  constexpr std::int64_t n = 768, ld = n + 64 / sizeof(T), block = ld * n;
  filled_memory<T> const memory(9.0 * block);
  auto const scratch_size = cpu::product_scratch(kernels, n, n, n, cpu::variant::abc);
  filled_memory<std::byte> const scratch(static_cast<double>(scratch_size));
  auto const seconds = [&](std::size_t operands) {
    std::vector<cpu::term<T>> a, b;
    for (std::size_t i = 0; i < operands; ++i) {
      a.push_back({memory.data() + block * std::int64_t(i), T(1)});
      b.push_back({memory.data() + block * std::int64_t(4 + i), T(1)});
    }
    cpu::destination<T> const c{memory.data() + 8 * block, T(1), T(0)};
    cpu::product_call<T> const call{n, n, n, a, 1, ld, b, 1, ld, {&c, 1}, 1, ld};
    return median_seconds([&] { cpu::product(kernels, call, cpu::variant::abc, scratch.data()); }, 0.4);
  };
  double const extra = seconds(4) - seconds(1);
  // Prefetching hides nearly all of it on some machines; more than ten times the memory's rate says nothing.
  return std::clamp(1e-9 * 6 * n * n * sizeof(T) / std::max(extra, 1e-9), 2.0, 250.0);
}

// What the scheduler costs, in seconds: `tasks` scalings of `rows` elements each by all workers, beyond the time of the
// scalings themselves.
double overhead_seconds(int tasks, std::int64_t rows, int workers, oneapi::tbb::task_arena& arena) {
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
  double const alone = median_seconds([&] {
    for (task const& t : g.tasks) work->run(t, scratch.data());
  });
  std::vector<double> samples;
  for (int i = 0; i < 31; ++i) {
    double const begin = wall_seconds();
    run_tbb(g, order, *work, arena, workers, [&](int w, std::size_t) { return scratch.data() + bytes * w; });
    samples.push_back(wall_seconds() - begin - alone / workers);
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

constexpr int leaf_sizes[] = {64, 96, 128, 192, 256, 384, 512, 768, 1024};
constexpr int leaf_steps = static_cast<int>(std::size(leaf_sizes)) + 2, pass_steps = 5, task_steps = 1;

template <typename T>
rate_table measure_rates(machine_profile const& machine, progress_steps& progress) {
  char const* const name = sizeof(T) == 8 ? "f64" : "f32";
  rate_table r;
  for (int size : leaf_sizes) {
    progress.next(fmt::format("{} products of {}", name, size));
    auto const rate = [&](char const* fused, bool buffer) {
      return leaf_gflops<T>(leaf_plan(type_of<T>, size, size, size, fused, buffer, machine), machine);
    };
    r.leaves.push_back({size, rate(nullptr, false), rate("strassen", true), rate("strassen", false)});
  }
  progress.next(fmt::format("{} large product", name));
  r.product_gflops = leaf_gflops<T>(leaf_plan(type_of<T>, 2048, 2048, 2048, nullptr, false, machine), machine);
  progress.next(fmt::format("{} thin products and operand sums", name));
  r.fringe_gflops = leaf_gflops<T>(leaf_plan(type_of<T>, 8, 2048, 2048, nullptr, false, machine), machine);
  r.pack_gbytes = pack_gbytes<T>(*cpu::find_kernel_set<T>(machine.kernel));
  return r;
}

}  // namespace

machine_profile calibrate(calibration_progress const& report, std::string const& kernel) {
  machine_profile p = default_profile();
  options named;
  named.kernel = kernel;
  check_options(named, element_type::f64);
  p.kernel = kernel == "auto" ? cpu::best_kernel_set<double>().name : kernel;
  int const workers = std::min(p.cores, usable_cores());
  oneapi::tbb::task_arena all(workers);

  progress_steps progress(report, 2 * leaf_steps + pass_steps + task_steps);
  p.f64 = measure_rates<double>(p, progress);
  p.f32 = measure_rates<float>(p, progress);

  double const eighth = double(p.memory_bytes) / 8;
  double const large = std::max(std::min(std::max(256e6, 2.0 * double(p.l3_bytes)), eighth), 4.0 * double(p.l2_bytes));
  progress.next("passes in the second-level cache");
  p.pass_gbytes_l2 = pass_gbytes(double(p.l2_bytes) / 2, 1, all, false);
  progress.next("passes in the last-level cache");
  p.pass_gbytes_l3 = pass_gbytes(std::clamp(double(p.l3_bytes) / 4, 4.0 * double(p.l2_bytes), 64e6), 1, all, false);
  progress.next("passes in memory");
  p.pass_gbytes = pass_gbytes(large, 1, all, true);
  progress.next("passes in memory by all cores");
  p.pass_gbytes_all =
      workers == 1 ? p.pass_gbytes : std::max(p.pass_gbytes, pass_gbytes(large / workers, workers, all, true));
  progress.next("updates in memory");
  p.update_gbytes = update_gbytes(large);

  progress.next("tasks");
  // Of a call that finds its workers awake. Sleeping ones cost the caller hardly more: it begins without them, and does
  // what they come too late for. The overhead of one task shows when there are many short ones.
  constexpr int many = 2000;
  p.call_seconds = overhead_seconds(workers, 1 << 14, workers, all);
  p.task_seconds = overhead_seconds(many, 64, workers, all) * workers / many;
  p.measured = true;
  if (report) report(1, "done");
  return p;
}

}  // namespace heptad
