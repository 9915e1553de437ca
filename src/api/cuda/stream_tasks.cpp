// SPDX-License-Identifier: BSD-3-Clause
#include "src/api/cuda/stream_tasks.hpp"

#include <array>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include <heptad/cuda.hpp>

#include "codelets/cuda/combine.hpp"
#include "src/api/cuda/device.hpp"
#include "src/api/cuda/view.hpp"

namespace heptad::cuda {
namespace {

template <typename T>
class graph_on_streams final : public stream_tasks {
public:
  graph_on_streams(graph const& g, int levels) : graph_(g) {
    for (additions_program const& p : g.programs) programs_.push_back(ready(p));
    inside_.max_levels = levels;
    inside_.algorithm = "winograd";
    inside_.max_error = std::numeric_limits<double>::max();  // the plan of the graph has judged the levels
  }

  [[nodiscard]] bool knows(task const& t) const noexcept override {
    if (auto const* const pass = std::get_if<combine_step>(&t.body))
      return programs_[static_cast<std::size_t>(pass->program)].has_value();
    return !std::holds_alternative<scan_step>(t.body);
  }

  void queue_at(task const& t, std::span<location const> spaces, double alpha, double beta,
                CUstream_st* stream) const override {
    call const x{*this, spaces, alpha, static_cast<T>(beta), stream};
    if (auto const* const pass = std::get_if<combine_step>(&t.body)) x.run(*pass);
    else if (auto const* const product = std::get_if<sequence_step>(&t.body)) x.run(*product);
    else x.run(std::get<scale_step>(t.body));
  }

private:
  /// Programs that are too large for the general kernel, and have none of their own, stay on the CPU.
  static std::optional<combine_program> ready(additions_program const& p) {
    try {
      return combine_program(p);
    } catch (error const&) {
      return std::nullopt;
    }
  }

  struct call {
    graph_on_streams const& owner;
    std::span<location const> spaces;
    double alpha;
    T beta;
    cudaStream_t stream;

    [[nodiscard]] T beta_of(update how) const {
      return how == update::overwrite ? T(0) : how == update::accumulate ? T(1) : beta;
    }
    [[nodiscard]] matrix_view<T> view(block const& b) const {
      location const& p = spaces[static_cast<std::size_t>(b.space)];
      return {static_cast<T*>(p.data) + b.row * p.rs + b.col * p.cs, b.rows, b.cols, p.rs, p.cs};
    }

    void run(sequence_step const& s) const {
      update const how = owner.graph_.sequences[static_cast<std::size_t>(s.sequence)].how;
      matrix_view<T> const A = view(s.a), B = view(s.b);
      gemm<T>(stream, nullptr, static_cast<T>(alpha * s.coefficient),
              {A.data, A.rows, A.cols, A.row_stride, A.col_stride},
              {B.data, B.rows, B.cols, B.row_stride, B.col_stride}, beta_of(how), view(s.c), owner.inside_);
    }

    /// All blocks of a pass are of one order. Contiguous lines are what the kernels call columns.
    void run(combine_step const& s) const {
      std::array<combine_input<T>, most_places> inputs;
      std::array<combine_output<T>, most_places> outputs;
      for (std::size_t i = 0; i < s.sources.size(); ++i) {
        device_matrix<T> const X = device_view("a source", view(s.sources[i]));
        inputs[i] = {X.data, X.ld};
      }
      for (std::size_t i = 0; i < s.targets.size(); ++i) {
        device_matrix<T> const X = device_view("a target", view(s.targets[i].where));
        outputs[i] = {X.data, X.ld, beta_of(s.targets[i].how)};
      }
      block const& shape = s.targets.front().where;
      auto const [rows, cols] = lines(shape);
      combine_call<T> const pass{{inputs.data(), s.sources.size()}, {outputs.data(), s.targets.size()}, rows, cols};
      check(owner.programs_[static_cast<std::size_t>(s.program)]->template launch<T>(stream, pass), "a pass");
    }

    void run(scale_step const& s) const {
      device_matrix<T> const X = device_view("C", view(s.where));
      auto const [rows, cols] = lines(s.where);
      check(launch_scale<T>(stream, beta, X.data, X.ld, rows, cols), "scale");
    }

    [[nodiscard]] std::pair<std::int64_t, std::int64_t> lines(block const& b) const {
      bool const columns = orientation_of(view(b)) == orientation::column_major;
      return columns ? std::pair(b.rows, b.cols) : std::pair(b.cols, b.rows);
    }
  };

  graph const& graph_;
  std::vector<std::optional<combine_program>> programs_;
  options inside_;
};

}  // namespace

std::unique_ptr<stream_tasks> make_stream_tasks(graph const& g, int levels) {
  if (g.type == element_type::f64) return std::make_unique<graph_on_streams<double>>(g, levels);
  return std::make_unique<graph_on_streams<float>>(g, levels);
}

}  // namespace heptad::cuda
