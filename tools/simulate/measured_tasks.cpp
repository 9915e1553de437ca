// SPDX-License-Identifier: BSD-3-Clause
#include "tools/simulate/measured_tasks.hpp"

#include <fmt/format.h>

#include <cmath>
#include <fstream>
#include <utility>

#include "src/api/median.hpp"

namespace heptad::tools {
namespace {

using nlohmann::json;

struct sums {
  double measured = 0, predicted = 0;
};

/// A call of the trace: an object "call", and a slice a task.
struct observed_call {
  traced_call what;
  double seconds = 0, flops = 0;
  std::size_t tasks = 0;
  std::map<std::string, sums> codelets;
};

std::string name_of(traced_call const& c) {
  return fmt::format("{} {} {} {}, {} worker{}", c.type, c.m, c.n, c.k, c.workers, c.workers == 1 ? "" : "s");
}

/// By the number of the call.
std::map<int, observed_call> calls_in(json const& trace) {
  std::map<int, observed_call> calls;
  for (json const& event : trace) {
    observed_call& of = calls[event.at("pid").get<int>()];
    json const& args = event.at("args");
    if (event.at("name") == "call") {
      of.what = {args.at("type"), args.at("m"), args.at("n"), args.at("k"), args.at("workers")};
      of.seconds = args.at("seconds");
    } else if (event.at("ph") == "X") {
      // Of the look at A and B only passes of the product count.
      if (event.at("cat") == "scan" || event.at("cat") == "opening") continue;
      sums& s = of.codelets[event.at("cat").get<std::string>()];
      s.measured += event.at("dur").get<double>();
      s.predicted += args.at("predicted_us").get<double>();
      of.flops += args.at("flops").get<double>();
      ++of.tasks;
    }
  }
  return calls;
}

std::map<int, observed_call> read_calls(std::filesystem::path const& path) try {
  std::ifstream file(path);
  if (!file) throw error(status::invalid_argument, fmt::format("measured = '{}' cannot be read", path.string()));
  return calls_in(json::parse(file));
} catch (json::exception const& e) {
  throw error(status::invalid_argument,
              fmt::format("measured = '{}' must be a trace of HEPTAD_TRACE: {}", path.string(), e.what()));
}

}  // namespace

measured_tasks::measured_tasks(std::filesystem::path const& trace, traced_call const& asked) : trace_(trace) {
  std::map<std::string, std::vector<double>> ratios;
  for (auto const& [number, call] : read_calls(trace)) {
    if (call.what == asked) {
      like_asked_.push_back({call.tasks, call.flops, call.seconds});
      continue;
    }
    if (call.what.type != asked.type) continue;
    ++calls_[name_of(call.what)];
    for (auto const& [codelet, s] : call.codelets)
      if (s.predicted > 0) ratios[codelet].push_back(s.measured / s.predicted);
  }
  for (auto const& [codelet, of_calls] : ratios) factors_[codelet] = median(of_calls);
  if (factors_.empty())
    throw error(status::invalid_argument,
                fmt::format("measured = '{}' must have a call with elements {} other than {}: of such a one the "
                            "simulation takes the times of tasks",
                            trace.string(), asked.type, name_of(asked)));
}

double measured_tasks::seconds(task const& t) const {
  auto const found = factors_.find(codelet_name(t));
  return t.cost.seconds * (found == factors_.end() ? 1 : found->second);
}

double measured_tasks::makespan(graph const& g) const {
  double flops = 0;
  for (task const& t : g.tasks) flops += t.cost.flops;
  std::vector<double> seconds;
  for (run const& r : like_asked_)
    if (r.tasks == g.tasks.size() && std::abs(r.flops - flops) <= 1e-6 * flops) seconds.push_back(r.seconds);
  return seconds.empty() ? 0 : median(seconds);
}

json measured_tasks::assumptions() const {
  std::string list;
  for (auto const& [call, count] : calls_) list += fmt::format("{}{} times {}", list.empty() ? "" : "; ", count, call);
  return {{"trace", trace_.string()}, {"calls", list}, {"seconds_over_predicted", factors_}};
}

}  // namespace heptad::tools
