// SPDX-License-Identifier: BSD-3-Clause
// Which step of a combine pass writes where: straight into the destinations wherever that is safe, so that no value
// crosses L1 twice without need.
#pragma once

#include <memory_resource>
#include <span>
#include <utility>
#include <vector>

#include "codelets/cpu/combine.hpp"
#include "codelets/cpu/combine_steps.hpp"

namespace heptad::cpu {

template <typename T>
struct output_facts {
  int same_as = -1;        // the input whose block this output overwrites
  bool streaming = false;  // non-temporal stores; only with beta = 0
  T beta = 0;
};

/// Places are numbered: inputs, outputs, then temporaries in L1.
template <typename T>
struct combine_schedule {
  std::pmr::vector<chunk_step<T>> steps;
  int temporaries = 0;
};

template <typename T>
class schedule_builder {
public:
  /// All that it allocates, and what it builds, is of `memory`.
  schedule_builder(combine_program<T> const& program, std::span<output_facts<T> const> outputs,
                   std::pmr::memory_resource* memory)
      : program_(program),
        outputs_(outputs),
        places_(values(), -1, memory),
        last_reader_(values(), -1, memory),
        readers_(values(), 0, memory),
        deferred_(values(), 0, memory),
        direct_(steps(), -1, memory),
        done_(outputs.size(), false, memory),
        free_(memory),
        saved_(program.inputs, -1, memory),
        result_{std::pmr::vector<chunk_step<T>>(memory)} {
    free_.reserve(values());
    result_.steps.reserve(most_steps(program, outputs.size()));
    for (int s = 0; s < steps(); ++s)
      for (auto const& x : program.steps[s]) {
        last_reader_[x.value] = s;
        ++readers_[x.value];
      }
    for (auto const& x : program.outputs)
      if (x.coefficient != 0) ++readers_[x.value];
  }

  combine_schedule<T> build() {
    for (int i = 0; i < program_.inputs; ++i) places_[i] = i;
    choose_direct();
    save_overwritten_inputs();
    for (int s = 0; s < steps(); ++s) emit_step(s);
    for (int q = 0; q < static_cast<int>(outputs_.size()); ++q)
      if (!done_[q]) emit_output(q);
    return std::move(result_);
  }

  /// An upper bound of the bytes that it allocates, but for alignment.
  static std::size_t bytes(combine_program<T> const& program, std::size_t outputs) {
    std::size_t const steps = program.steps.size(), inputs = static_cast<std::size_t>(program.inputs);
    return (5 * (inputs + steps) + steps + inputs) * sizeof(int) + outputs / 8 +
           most_steps(program, outputs) * sizeof(chunk_step<T>);
  }
  /// Temporaries are for values, and for inputs that are kept aside.
  static std::size_t most_temporaries(combine_program<T> const& program) {
    return program.steps.size() + 2 * static_cast<std::size_t>(program.inputs);
  }

private:
  /// Inputs kept aside, the program's steps, outputs written after them.
  static std::size_t most_steps(combine_program<T> const& program, std::size_t outputs) {
    return static_cast<std::size_t>(program.inputs) + program.steps.size() + outputs;
  }
  [[nodiscard]] int steps() const { return static_cast<int>(program_.steps.size()); }
  [[nodiscard]] int values() const { return program_.inputs + steps(); }
  [[nodiscard]] int output_place(int q) const { return program_.inputs + q; }
  [[nodiscard]] bool plain(int q) const { return program_.outputs[q].coefficient == 1 && outputs_[q].beta == 0; }

  /// An output is written by the step that forms its value when no later step reads the input that it overwrites, and
  /// when it is either that very value or the value's only use.
  void choose_direct() {
    for (int q = 0; q < static_cast<int>(outputs_.size()); ++q) {
      auto const& x = program_.outputs[q];
      if (x.coefficient == 0) continue;
      int const s = x.value - program_.inputs;
      int const overwritten = outputs_[q].same_as;
      if (s < 0) {
        done_[q] = x.value == overwritten && plain(q);
      } else if (direct_[s] < 0 && (plain(q) || readers_[x.value] == 1) &&
                 (overwritten < 0 || last_reader_[overwritten] <= s)) {
        direct_[s] = q;
        done_[q] = true;
      }
      if (!done_[q]) ++deferred_[x.value];
    }
  }

  /// Outputs that repeat an input are written last: if another output overwrites that input, it is kept aside first.
  void save_overwritten_inputs() {
    for (int q = 0; q < static_cast<int>(outputs_.size()); ++q) {
      auto const& x = program_.outputs[q];
      if (done_[q] || x.coefficient == 0 || x.value >= program_.inputs || saved_[x.value] >= 0) continue;
      for (int other = 0; other < static_cast<int>(outputs_.size()); ++other)
        if (other != q && outputs_[other].same_as == x.value && saved_[x.value] < 0) {
          saved_[x.value] = new_temporary();
          auto& step = result_.steps.emplace_back();
          step.to = saved_[x.value];
          add_term(step, x.value, 1);
        }
    }
  }

  void emit_step(int s) {
    int const value = program_.inputs + s;
    int const q = direct_[s];
    bool const sole = readers_[value] == 1;
    T const factor = q >= 0 && sole ? program_.outputs[q].coefficient : T{1};
    chunk_step<T> step;
    for (auto const& x : program_.steps[s]) add_term(step, places_[x.value], factor * x.coefficient);
    for (auto const& x : program_.steps[s]) release(x.value, s);
    if (q < 0) {
      step.to = places_[value] = new_temporary();
    } else {
      step.to = places_[value] = output_place(q);
      add_beta(step, q);
      if (step.streaming && !sole) step.keep = places_[value] = new_temporary();
    }
    result_.steps.push_back(step);
  }

  void emit_output(int q) {
    auto const& x = program_.outputs[q];
    chunk_step<T> step;
    step.to = output_place(q);
    if (x.coefficient != 0) {
      bool const kept_aside = x.value < program_.inputs && saved_[x.value] >= 0;
      add_term(step, kept_aside ? saved_[x.value] : places_[x.value], x.coefficient);
    }
    add_beta(step, q);
    result_.steps.push_back(step);
  }

  static void add_term(chunk_step<T>& step, int place, T coefficient) {
    step.from[step.terms] = place;
    step.coefficient[step.terms++] = coefficient;
  }

  void add_beta(chunk_step<T>& step, int q) {
    if (outputs_[q].beta != 0) add_term(step, output_place(q), outputs_[q].beta);
    step.streaming = outputs_[q].streaming;
  }

  int new_temporary() {
    if (!free_.empty()) {
      int const place = free_.back();
      free_.pop_back();
      return place;
    }
    return program_.inputs + static_cast<int>(outputs_.size()) + result_.temporaries++;
  }

  /// After its last reader the place of a temporary serves again, even for the result of that reader.
  void release(int value, int s) {
    int const first_temporary = program_.inputs + static_cast<int>(outputs_.size());
    if (last_reader_[value] != s || deferred_[value] > 0 || places_[value] < first_temporary) return;
    free_.push_back(places_[value]);
    places_[value] = -1;
  }

  combine_program<T> const& program_;
  std::span<output_facts<T> const> outputs_;
  std::pmr::vector<int> places_;       // of each value
  std::pmr::vector<int> last_reader_;  // the last step that reads each value
  std::pmr::vector<int> readers_;      // steps and outputs that read each value
  std::pmr::vector<int> deferred_;     // outputs, written after all steps, that read each value
  std::pmr::vector<int> direct_;       // the output that each step writes itself
  std::pmr::vector<bool> done_;        // outputs that need no step of their own
  std::pmr::vector<int> free_;
  std::pmr::vector<int> saved_;  // where each input is kept aside, or −1
  combine_schedule<T> result_;
};

}  // namespace heptad::cpu
