// SPDX-License-Identifier: BSD-3-Clause
// StarPU beside oneTBB in one process: the same products by turns, and the cost of a task, of submission and of idling
// after a call. Prints JSON.
//   bench_starpu_vs_tbb [--workers 2] [n...]
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <numeric>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <heptad/heptad.hpp>
#include <heptad/starpu.hpp>
#include <nlohmann/json.hpp>

#include "schedulers/starpu/backend.hpp"
#include "src/algorithm/algorithm.hpp"
#include "src/api/median.hpp"
#include "tasks/gemm_graph.hpp"

namespace {

using heptad::median;
using nlohmann::json;
using steady = std::chrono::steady_clock;

double since(steady::time_point t) { return std::chrono::duration<double>(steady::now() - t).count(); }

double cpu_seconds() {
  rusage r{};
  getrusage(RUSAGE_SELF, &r);
  auto const seconds = [](timeval const& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(r.ru_utime) + seconds(r.ru_stime);
}

std::vector<double> matrix(std::int64_t n, unsigned seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<double> x(static_cast<std::size_t>(n * n));
  for (double& v : x) v = uniform(random);
  return x;
}

json blocking(int workers, std::int64_t n, int repetitions) {
  heptad::context context(workers);
  auto const a = matrix(n, 1), b = matrix(n, 2);
  std::vector<double> c(a.size(), 0.0);
  json result{{"n", n}};
  std::vector<double> seconds[2], idle[2], scan[2], busy[2];
  heptad::options wishes;
  for (int r = 0; r <= repetitions; ++r)
    for (int s : {0, 1}) {
      wishes.scheduler = s == 0 ? heptad::scheduler_kind::tbb : heptad::scheduler_kind::starpu;
      auto const report = heptad::gemm<double>(context, 1, heptad::column_major(a.data(), n, n, n),
                                               heptad::column_major(b.data(), n, n, n), 1,
                                               heptad::column_major(c.data(), n, n, n), wishes);
      if (r == 0) continue;  // warms up
      seconds[s].push_back(report.seconds);
      idle[s].push_back(report.idle_fraction);
      scan[s].push_back(report.precaution_seconds);
      busy[s].push_back(std::accumulate(report.busy_seconds.begin(), report.busy_seconds.end(), 0.0) / workers);
      result[s == 0 ? "tbb_tasks" : "starpu_tasks"] = report.tasks;
    }
  double const cpu = cpu_seconds();
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  result["tbb_seconds"] = seconds[0];
  result["starpu_seconds"] = seconds[1];
  for (int s : {0, 1}) {
    std::string const who = s == 0 ? "tbb" : "starpu";
    result[who + "_idle"] = median(idle[s]);
    result[who + "_seconds_of_scan"] = median(scan[s]);
    result[who + "_seconds_in_tasks_of_a_worker"] = median(busy[s]);
  }
  result["starpu_over_tbb"] = median(seconds[1]) / median(seconds[0]);
  result["cpu_seconds_in_half_a_second_after"] = cpu_seconds() - cpu;
  return result;
}

/// On handles: how long submit_gemm itself takes, and the whole.
json asynchronous(std::int64_t n, int repetitions) {
  auto a = matrix(n, 1), b = matrix(n, 2), c = matrix(n, 3);
  auto const handle = [n](std::vector<double>& x) {
    starpu_data_handle_t h = nullptr;
    auto const size = static_cast<std::uint32_t>(n);
    starpu_matrix_data_register(&h, STARPU_MAIN_RAM, reinterpret_cast<std::uintptr_t>(x.data()), size, size, size,
                                sizeof(double));
    return h;
  };
  starpu_data_handle_t const A = handle(a), B = handle(b), C = handle(c);
  std::vector<double> submission, whole;
  std::size_t tasks = 0;
  for (int r = 0; r <= repetitions; ++r) {
    auto const begin = steady::now();
    tasks = heptad::starpu::submit_gemm(1.0, A, B, 1.0, C).tasks;
    double const submitted = since(begin);
    starpu_task_wait_for_all();
    if (r == 0) continue;
    submission.push_back(submitted);
    whole.push_back(since(begin));
  }
  for (auto const h : {A, B, C}) starpu_data_unregister(h);
  return {{"n", n},
          {"tasks", tasks},
          {"submit_seconds", median(submission)},
          {"seconds", median(whole)},
          {"submit_fraction", median(submission) / median(whole)}};
}

/// A graph of very many tasks with almost no work in each: the runtime alone.
json small_tasks(int workers, int repetitions) {
  std::int64_t const n = 256;
  heptad::plan p;
  p.shape = {n, n, n};
  p.core_m = p.core_n = p.core_k = n;
  p.workers = workers;
  p.slots = 7;
  p.independent = true;
  p.strips = 4;
  p.kernel = "auto";
  for (int level = 0; level < 4; ++level)
    p.levels.push_back({"winograd", heptad::level_kind::task, heptad::find_algorithm("winograd")});
  heptad::graph const g = heptad::build_gemm_graph(p, heptad::default_profile());
  heptad::dependencies const order = heptad::derive_dependencies(g, false);
  auto a = matrix(n, 1), b = matrix(n, 2), c = matrix(n, 3);
  std::vector<double> workspace(static_cast<std::size_t>(g.workspace_elements));
  auto const view = [n](std::vector<double>& x) { return heptad::column_major(x.data(), n, n, n); };
  auto const body = heptad::make_executor<double>(g, p, {1, view(a), view(b), 1, view(c)}, workspace.data());
  std::vector<std::vector<double>> scratch(16, std::vector<double>(body->scratch_bytes() / sizeof(double) + 8));
  heptad::bound_product x;
  x.work = &g, x.order = &order, x.body = body.get();
  x.operands[0] = {a.data(), 1, n}, x.operands[1] = {b.data(), 1, n}, x.operands[2] = {c.data(), 1, n};
  x.alpha = x.beta = 1;
  x.workspace = reinterpret_cast<std::byte*>(workspace.data());
  x.scratch = [&](int lane) { return reinterpret_cast<std::byte*>(scratch[static_cast<std::size_t>(lane)].data()); };
  std::vector<double> seconds, busy;
  for (int r = 0; r <= repetitions; ++r) {
    auto const ran = heptad_starpu_backend()->run(x);
    if (r == 0) continue;
    auto const each = heptad::busy_seconds(ran);
    seconds.push_back(ran.seconds);
    busy.push_back(std::accumulate(each.begin(), each.end(), 0.0));
  }
  auto const tasks = static_cast<double>(g.tasks.size());
  return {{"tasks", g.tasks.size()},
          {"microseconds_a_task", 1e6 * median(seconds) / tasks},
          {"microseconds_of_work_a_task", 1e6 * median(busy) / tasks}};
}

/// What StarPU alone takes for tasks without work, each of which waits for a few of the fifty before it.
json empty_tasks(int repetitions) {
  constexpr int tasks = 10000;
  starpu_codelet codelet;
  starpu_codelet_init(&codelet);
  codelet.cpu_funcs[0] = [](void*[], void*) {};
  json result = json::array();
  for (int const most : {0, 1, 2, 4, 8}) {
    std::vector<double> seconds;
    for (int r = 0; r < repetitions; ++r) {
      std::mt19937 random(7);
      auto const begin = steady::now();
      std::vector<starpu_task*> all;
      for (int i = 0; i < tasks; ++i) {
        all.push_back(starpu_task_create());
        all.back()->cl = &codelet;
        std::vector<starpu_task*> before;
        for (int d = 0; d < most && i >= 50; ++d)
          before.push_back(all[static_cast<std::size_t>(i) - 50 + random() % 50]);
        std::ranges::sort(before);
        before.erase(std::ranges::unique(before).begin(), before.end());
        if (!before.empty())
          starpu_task_declare_deps_array(all.back(), static_cast<unsigned>(before.size()), before.data());
      }
      for (starpu_task* t : all)
        if (starpu_task_submit(t) != 0) std::abort();
      starpu_task_wait_for_all();
      seconds.push_back(since(begin));
    }
    result.push_back({{"dependencies", most}, {"microseconds_a_task", 1e6 * median(seconds) / tasks}});
  }
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::int64_t> sizes{4096, 8192};
  int workers = 2;
  CLI::App app("StarPU beside oneTBB, as JSON");
  app.add_option("--workers", workers, "of both")->check(CLI::PositiveNumber)->capture_default_str();
  app.add_option("sizes", sizes, "of square products")->check(CLI::PositiveNumber)->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  setenv("STARPU_SILENT", "1", 0);
  json out{{"workers", workers}};
  for (std::int64_t const n : sizes) out["blocking"].push_back(blocking(workers, n, n > 6000 ? 5 : 11));
  heptad::starpu::shutdown();
  starpu_conf conf;
  starpu_conf_init(&conf);
  conf.ncpus = workers;
  conf.sched_policy_name = "prio";
  if (starpu_init(&conf) != 0) return 1;
  for (std::int64_t const n : sizes) out["submitted"].push_back(asynchronous(n, 3));
  out["small_tasks"] = small_tasks(workers, 5);
  out["empty_tasks_of_starpu_alone"] = empty_tasks(5);
  starpu_shutdown();
  std::cout << out.dump(1) << "\n";
}
