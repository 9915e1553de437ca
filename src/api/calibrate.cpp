// SPDX-License-Identifier: BSD-3-Clause
// Every rate is measured the way the library meets it, in the time of its own thread: products by the codelet, fused
// levels by the executor; passes with Winograd's sums of A; looks at operands with the scan; updates with the scaling
// codelet, which reads and writes C once; tasks through the TBB scheduler.
#include "src/api/calibrate.hpp"

#include <oneapi/tbb/task_arena.h>

#include <time.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "codelets/cpu/combine.hpp"
#include "codelets/cpu/scan.hpp"
#include "schedulers/tbb/tbb_scheduler.hpp"
#include "src/algorithm/algorithm.hpp"
#include "src/api/calibrate_products.hpp"
#include "src/api/context.hpp"
#include "src/api/median.hpp"
#include "src/api/present.hpp"
#include "src/matrix/limits.hpp"
#include "tasks/gemm_graph.hpp"

namespace heptad {
namespace {

using steady = std::chrono::steady_clock;

// Others on a shared machine slow it for seconds or minutes: everything is measured in turns most of a minute apart.
constexpr int turns = 5;

double wall_seconds() { return std::chrono::duration<double>(steady::now().time_since_epoch()).count(); }

// Of the calling thread: what it loses to other processes does not count.
double thread_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

calibration_clocks system_clocks() { return {thread_seconds, wall_seconds}; }

// GB/s in each turn.
class rates {
public:
  void add(double gbytes) { seconds_.push_back(1 / gbytes); }
  [[nodiscard]] double undisturbed() const { return 1 / heptad::undisturbed(seconds_); }
  [[nodiscard]] double median() const { return 1 / heptad::median(seconds_); }

private:
  std::vector<double> seconds_;  // for a gigabyte
};
struct rates_of_pass {
  rates alone, together, scan;
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
        seconds[static_cast<std::size_t>(w)] = seconds_of(
            clocks, [&] { pass(w); }, 0.2);
      });
  }
  double rate = 0;
  for (double s : seconds) rate += 1e-9 * double(rows * cols) * double(inputs + outputs) * sizeof(double) / s;
  return rate;
}

// GB/s of the scan of an operand of so many bytes, in turn with two others, as many as a product touches between two
// looks, or with fewer so that they take up to `most` bytes.
double scan_gbytes(calibration_clocks const& clocks, double bytes, double most) {
  constexpr std::int64_t rows = 512, ld = rows + 8;
  auto const operands = static_cast<std::int64_t>(std::clamp(most / bytes, 1.0, 3.0));
  auto const cols = static_cast<std::int64_t>(bytes / sizeof(double) / ld) + 1;
  filled_memory<double> const memory(double(operands * ld * cols));
  std::vector<double> of_rows(rows), of_cols(static_cast<std::size_t>(cols));
  std::int64_t next = 0;
  double const seconds = seconds_of(
      clocks,
      [&] {
        cpu::scan(memory.data() + ld * cols * (next++ % operands), rows, cols, 1, ld, of_rows.data(), of_cols.data());
      },
      0.05);
  return 1e-9 * double(rows * cols) * sizeof(double) / seconds;
}

double update_gbytes(calibration_clocks const& clocks, double bytes) {
  auto const cols = static_cast<std::int64_t>(bytes / sizeof(double) / 512);
  filled_memory<double> const memory(512.0 * double(cols));
  double const seconds = seconds_of(
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
  double const alone = seconds_of(
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
  return std::max(undisturbed(std::move(samples)), 1e-7);
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
  calibration_settings with_clocks = settings;
  if (!settings.clocks.thread) with_clocks.clocks = system_clocks();
  calibration_clocks const& clocks = with_clocks.clocks;

  double const eighth = double(p.memory_bytes) / 8;
  double const large = settings.largest_pass > 0 ? settings.largest_pass
                                                 : std::max(std::min(std::max(256e6, 2.0 * double(p.l3_bytes)), eighth),
                                                            4.0 * double(p.l2_bytes));
  std::vector<double> pass_sizes;
  auto const add = [&](double bytes) {
    if (bytes <= large / 2) pass_sizes.push_back(bytes);
  };
  for (double bytes = double(p.l2_bytes) / 2; bytes < most_stored_bytes / 2; bytes *= 4) add(bytes);
  for (double const bytes : {most_stored_bytes, least_streamed_bytes, 4 * least_streamed_bytes}) add(bytes);
  add(double(p.l3_bytes) / 4);  // A, B and C just fit into the last cache
  pass_sizes.push_back(large);
  std::ranges::sort(pass_sizes);

  rates_bench<double> f64(with_clocks, p.kernel);
  rates_bench<float> f32(with_clocks, p.kernel);
  widths_bench widths(with_clocks, p.kernel);
  rates updates;
  std::vector<rates_of_pass> passes(pass_sizes.size());
  int const steps = turns * (f64.steps() + f32.steps() + static_cast<int>(pass_sizes.size()) + 2) + 1;
  progress_steps progress(settings.progress, steps);
  for (int turn = 0; turn < turns; ++turn) {
    f64.turn(progress);
    f32.turn(progress);
    for (std::size_t i = 0; i < passes.size(); ++i) {
      progress.next(fmt::format("passes over {:.3g} MB", pass_sizes[i] / 1e6));
      passes[i].alone.add(pass_gbytes(clocks, pass_sizes[i], large, 1));
      double const each = std::min(pass_sizes[i], eighth / workers);
      if (workers > 1) passes[i].together.add(pass_gbytes(clocks, each, large, workers));
      passes[i].scan.add(scan_gbytes(clocks, pass_sizes[i], large));
    }
    widths.turn(progress);
    progress.next("updates in memory");
    updates.add(update_gbytes(clocks, large));
  }
  p.f64 = f64.rates();
  p.f32 = f32.rates();
  p.passes.clear();
  for (std::size_t i = 0; i < passes.size(); ++i) {
    double const alone = passes[i].alone.undisturbed();
    // Not the fastest: on virtual cores that move between parts of a processor it is more than they usually share.
    double const together = workers > 1 ? std::max(alone, passes[i].together.median()) : alone;
    p.passes.push_back({pass_sizes[i], alone, together, passes[i].scan.undisturbed()});
  }
  p.widths = widths.widths(p);
  p.update_gbytes = updates.undisturbed();

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
