// SPDX-License-Identifier: BSD-3-Clause
// A run as Chrome trace events ("Trace Event Format"), which Perfetto and chrome://tracing load: one process a call,
// one thread track a worker, one complete event ("ph": "X", microseconds) a task.
#include <nlohmann/json.hpp>

#include "schedulers/scheduler.hpp"

namespace heptad {
namespace {

using nlohmann::json;

json metadata(char const* what, int call, int track, json arguments) {
  return {{"name", what}, {"ph", "M"}, {"pid", call}, {"tid", track}, {"args", std::move(arguments)}};
}

char const* codelet_of(task const& t) {
  static constexpr char const* names[] = {"combine", "scale", "product", "scan"};
  return names[t.body.index()];
}

json slice(task const& t, task_record const& record, int call, double begin) {
  double const seconds = record.end - record.begin;
  json arguments = {{"task", record.task}, {"flops", t.cost.flops}, {"bytes", t.cost.bytes}};
  arguments["predicted_us"] = t.cost.seconds * 1e6;
  if (seconds > 0) {
    arguments["GFLOP/s"] = t.cost.flops / seconds * 1e-9;
    arguments["GB/s"] = t.cost.bytes / seconds * 1e-9;
  }
  return {{"name", t.name},       {"cat", codelet_of(t)},        {"ph", "X"},
          {"pid", call},          {"tid", record.worker},        {"ts", (begin + record.begin) * 1e6},
          {"dur", seconds * 1e6}, {"args", std::move(arguments)}};
}

}  // namespace

std::string to_trace_events(graph const& g, run_result const& r, std::string const& title, int call, double begin) {
  json events = json::array();
  events.push_back(metadata("process_name", call, 0, {{"name", title}}));
  for (int w = 0; w < r.workers; ++w) {
    events.push_back(metadata("thread_name", call, w, {{"name", "worker " + std::to_string(w)}}));
    events.push_back(metadata("thread_sort_index", call, w, {{"sort_index", w}}));
  }
  for (task_record const& record : r.records)
    events.push_back(slice(g.tasks[static_cast<std::size_t>(record.task)], record, call, begin));
  std::string const array = events.dump(-1, ' ', false, json::error_handler_t::replace);
  return array.substr(1, array.size() - 2);
}

}  // namespace heptad
