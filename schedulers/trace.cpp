// SPDX-License-Identifier: BSD-3-Clause
// The runs of a call as Chrome trace events ("Trace Event Format"), which Perfetto and chrome://tracing load: one
// process a call, one thread track a worker, one complete event ("ph": "X", microseconds) a task. There is no tree of
// it: those of nlohmann_json allocate when they are destroyed, which ends a process that is out of memory.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

#include "schedulers/scheduler.hpp"

namespace heptad {
namespace {

/// A JSON string with its quotes.
std::string quoted(std::string const& text) {
  using nlohmann::json;
  return json(text).dump(-1, ' ', false, json::error_handler_t::replace);
}

class event_list {
public:
  explicit event_list(int call) : call_(call) {}

  void add_metadata(char const* what, int track, char const* key, std::string const& value) {
    add(R"({{"name":"{}","ph":"M","pid":{},"tid":{},"args":{{"{}":{}}}}})", what, call_, track, key, value);
  }

  /// For those who compute with traces; viewers skip it.
  void add_call(graph const& g, int workers, double seconds) {
    add(R"({{"name":"call","ph":"M","pid":{},"tid":0,"args":{{"type":"{}","m":{},"n":{},"k":{},"workers":{},"seconds":{}}}}})",
        call_, g.type == element_type::f64 ? "f64" : "f32", g.m, g.n, g.k, workers, seconds);
  }

  void add_slice(task const& t, task_record const& record, traced_run const& of) {
    double const seconds = record.end - record.begin;
    bool const opens = of.looks && std::holds_alternative<sequence_step>(t.body);
    add(R"({{"name":{},"cat":"{}","ph":"X","pid":{},"tid":{},"ts":{},"dur":{},"args":{{"task":{},"flops":{},)"
        R"("bytes":{},"predicted_us":{}{}}}}})",
        quoted(t.name), opens ? "opening" : codelet_name(t), call_, record.worker, (of.begin + record.begin) * 1e6,
        seconds * 1e6, record.task, t.cost.flops, t.cost.bytes, t.cost.seconds * 1e6,
        seconds > 0 ? rates(t.cost, seconds) : "");
  }

  [[nodiscard]] std::string take() { return std::move(text_); }

private:
  static std::string rates(cost const& of_task, double seconds) {
    return fmt::format(R"(,"GFLOP/s":{},"GB/s":{})", of_task.flops / seconds * 1e-9, of_task.bytes / seconds * 1e-9);
  }

  template <typename... Args>
  void add(fmt::format_string<Args...> event, Args&&... args) {
    if (!text_.empty()) text_ += ',';
    fmt::format_to(std::back_inserter(text_), event, std::forward<Args>(args)...);
  }

  int call_;
  std::string text_;
};

}  // namespace

std::string to_trace_events(std::span<traced_run const> runs, std::string const& title, int call) {
  int workers = 0;
  double seconds = 0;
  for (traced_run const& x : runs) workers = std::max(workers, x.ran.workers), seconds += x.ran.seconds;
  event_list events(call);
  events.add_metadata("process_name", 0, "name", quoted(title));
  events.add_call(runs.back().work, workers, seconds);
  for (int w = 0; w < workers; ++w) {
    events.add_metadata("thread_name", w, "name", fmt::format(R"("worker {}")", w));
    events.add_metadata("thread_sort_index", w, "sort_index", std::to_string(w));
  }
  for (traced_run const& x : runs)
    for (task_record const& record : x.ran.records) {
      task const& t = x.work.tasks[static_cast<std::size_t>(record.task)];
      auto const* const pass = std::get_if<combine_step>(&t.body);
      if (!(x.opened && pass != nullptr && pass->opening)) events.add_slice(t, record, x);
    }
  return events.take();
}

}  // namespace heptad
