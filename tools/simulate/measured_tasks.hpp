// SPDX-License-Identifier: BSD-3-Clause
// How long tasks took in real runs on this machine, for `heptad simulate --measured`: the machine's profile predicts a
// task, and the trace of another product says by how much such tasks took longer or shorter than that.
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include <heptad/heptad.hpp>

#include "tasks/graph.hpp"

namespace heptad::tools {

/// What is simulated, and what a call in a trace was.
struct traced_call {
  std::string type;  // "f64" or "f32"
  std::int64_t m = 0, n = 0, k = 0;
  int workers = 0;

  friend bool operator==(traced_call const&, traced_call const&) = default;
};

class measured_tasks {
public:
  /// Reads what HEPTAD_TRACE wrote. Calls like the one that is asked for teach nothing: the simulation is compared with
  /// them. Throws error{invalid_argument} where no other call has elements of its type.
  measured_tasks(std::filesystem::path const& trace, traced_call const& asked);

  /// The predicted seconds times the median, over the calls, of measured over predicted seconds of its codelet.
  [[nodiscard]] double seconds(task const& t) const;

  /// Median of the calls like the one that is asked for that ran this graph; without such a call 0.
  [[nodiscard]] double makespan(graph const& g) const;

  /// The file, the calls that count, and how much longer than predicted their tasks took.
  [[nodiscard]] nlohmann::json assumptions() const;

private:
  std::filesystem::path trace_;
  std::map<std::string, double> factors_;  // by codelet
  std::map<std::string, int> calls_;       // that the factors come from, by what they were
  struct run {
    std::size_t tasks;
    double flops, seconds;
  };
  std::vector<run> like_asked_;
};

}  // namespace heptad::tools
