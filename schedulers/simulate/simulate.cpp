// SPDX-License-Identifier: BSD-3-Clause
// List scheduling in virtual time, event by event, with the policy of the parallel schedulers. Between two events every
// running pass advances at the same fraction of its own speed, that to which the shared bandwidth holds them.
#include "schedulers/simulate/simulate.hpp"

#include <algorithm>
#include <numeric>

#include "schedulers/ready_state.hpp"

namespace heptad {
namespace {

struct running_task {
  int task;
  int worker;
  double begin;
  double left;    // seconds of work, alone on one worker
  double demand;  // bytes/s of the shared bandwidth
  double speed;   // fraction of its own

  [[nodiscard]] double time_left() const noexcept { return left / speed; }
};

double demand_of(task const& t, double seconds) {
  bool const pass = !std::holds_alternative<sequence_step>(t.body);
  return pass && seconds > 0 ? t.cost.bytes / seconds : 0;
}

/// A pass alone runs at its own speed, whatever it asks for.
void share_bandwidth(std::vector<running_task>& running, double bandwidth) {
  double total = 0;
  double largest = 0;
  for (running_task const& r : running) {
    total += r.demand;
    largest = std::max(largest, r.demand);
  }
  double const speed = bandwidth > 0 && total > 0 ? std::min(1.0, std::max(bandwidth, largest) / total) : 1.0;
  for (running_task& r : running) r.speed = r.demand > 0 ? speed : 1.0;
}

double longest_path(dependencies const& d, std::span<double const> seconds) {
  std::vector<double> start(seconds.size(), 0.0);
  double longest = 0;
  for (std::size_t t = 0; t < seconds.size(); ++t) {  // program order is topological
    double const end = start[t] + seconds[t];
    longest = std::max(longest, end);
    for (int const next : d.successors[t]) {
      double& begin = start[static_cast<std::size_t>(next)];
      begin = std::max(begin, end);
    }
  }
  return longest;
}

}  // namespace

simulation simulate(graph const& g, dependencies const& d, std::span<double const> seconds,
                    simulated_machine const& machine) {
  simulation result;
  result.run.workers = std::max(1, machine.workers);
  result.work = std::accumulate(seconds.begin(), seconds.end(), 0.0);
  result.critical_path = longest_path(d, seconds);

  ready_state state(g, d);
  std::vector<bool> idle(static_cast<std::size_t>(result.run.workers), true);
  std::vector<running_task> running;
  double now = 0;
  for (;;) {
    for (auto worker = std::ranges::find(idle, true); worker != idle.end(); worker = std::ranges::find(idle, true)) {
      int const next = state.take();
      if (next == ready_state::none) break;
      *worker = false;
      auto const t = static_cast<std::size_t>(next);
      running.push_back(
          {next, static_cast<int>(worker - idle.begin()), now, seconds[t], demand_of(g.tasks[t], seconds[t]), 1.0});
    }
    if (running.empty()) break;
    share_bandwidth(running, machine.bandwidth);

    double const step = std::ranges::min(running, {}, &running_task::time_left).time_left();
    now += step;
    auto const ended = [step](running_task const& r) { return r.time_left() <= step * (1 + 1e-9); };
    for (running_task const& r : running) {
      if (!ended(r)) continue;
      idle[static_cast<std::size_t>(r.worker)] = true;
      result.run.records.push_back({r.task, r.worker, r.begin, now});
      state.complete(r.task);
    }
    std::erase_if(running, ended);
    for (running_task& r : running) r.left -= step * r.speed;
  }
  result.run.seconds = std::max(now, result.critical_path);  // steps of time round where a chain does not
  return result;
}

std::vector<double> predicted_seconds(graph const& g) {
  std::vector<double> seconds;
  seconds.reserve(g.tasks.size());
  for (task const& t : g.tasks) seconds.push_back(t.cost.seconds);
  return seconds;
}

std::vector<double> measured_seconds(graph const& g, run_result const& r) {
  std::vector<double> seconds(g.tasks.size(), 0.0);
  for (task_record const& record : r.records) {
    seconds[static_cast<std::size_t>(record.task)] = record.end - record.begin;
  }
  return seconds;
}

}  // namespace heptad
