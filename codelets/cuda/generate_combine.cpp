// SPDX-License-Identifier: BSD-3-Clause
// Build tool: writes a CUDA source with straight-line code for the passes of one algorithm, so that every value has a
// register of its own. The programs are those that the level schedule hands to combine, found by asking it.
//   generate_combine ALGORITHM LEVELS > combine_ALGORITHM_LEVELS.cu
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include <heptad/heptad.hpp>

#include "codelets/cuda/flat.hpp"
#include "src/algorithm/algorithm.hpp"
#include "src/plan/level_schedule.hpp"

using namespace heptad;

namespace {

struct named_program {
  std::string what;
  additions_program program;
  bool may_add;   // its outputs are blocks of C
  bool in_place;  // … and may be its inputs too
};

/// Every pass that a stage of this algorithm may need, each once.
std::vector<named_program> programs_of(algorithm const& x) {
  std::vector<named_program> all;
  auto const add = [&all](std::string what, scheduled_pass const& pass, bool may_add, bool in_place) {
    auto const same = [&](named_program const& p) { return p.program == pass.program; };
    auto const found = std::ranges::find_if(all, same);
    if (found != all.end()) found->in_place |= in_place;
    else if (!pass.targets.empty()) all.push_back({std::move(what), pass.program, may_add, in_place});
  };
  for (bool const batched : {true, false})
    for (update const how : {update::overwrite, update::accumulate})
      for (bool const reuse : {true, false}) {
        schedule_options wishes;
        wishes.how = how;
        wishes.reuse_A = wishes.reuse_B = reuse;
        wishes.batched = batched;
        auto const s = schedule_level(x, wishes);
        std::string const suffix = batched ? ", batched" : "";
        add("sums of A" + suffix, s.sums_A, false, false);
        add("sums of B" + suffix, s.sums_B, false, false);
        add("update of C" + suffix, s.update_C, true, !batched);
      }
  return all;
}

/// Writes the body of one program. Where an output may be an input, all stores follow the last load.
class emitter {
public:
  emitter(additions_program const& program, bool in_place)
      : program_(program),
        in_place_(in_place),
        loaded_(static_cast<std::size_t>(program.inputs)),
        uses_(static_cast<std::size_t>(program.inputs) + program.steps.size()) {
    for (auto const& step : program.steps)
      for (linear_term const& t : step) ++uses_[t.value];
    for (linear_term const& y : program.outputs)
      if (!y.coefficient.is_zero()) ++uses_[y.value];
  }

  std::string run() {
    for (std::size_t s = 0; s < program_.steps.size(); ++s) {
      int const value = program_.inputs + static_cast<int>(s);
      for (linear_term const& t : program_.steps[s]) load(t.value);
      text_ += fmt::format("    auto const v{} = {};\n", value, sum(program_.steps[s]));
      for (linear_term const& t : program_.steps[s]) used(t.value);
      defined();
      if (!in_place_) store(value);
    }
    int const values = in_place_ ? static_cast<int>(uses_.size()) : program_.inputs;
    for (int i = 0; i < values; ++i)
      if (feeds_output(i)) load(i);
    for (int i = 0; i < values; ++i) store(i);
    for (std::size_t q = 0; q < program_.outputs.size(); ++q)
      if (program_.outputs[q].coefficient.is_zero())
        text_ += fmt::format("    f.output({}, Frame::value::zero());\n", q);
    return text_;
  }

  /// Values that wait for a later use, at most: the registers that the program needs.
  [[nodiscard]] int most_live() const { return most_live_; }

private:
  void defined() { most_live_ = std::max(most_live_, ++live_); }
  void used(int value) {
    if (--uses_[value] == 0) --live_;
  }
  void load(int value) {
    if (value >= program_.inputs || loaded_[value]) return;
    loaded_[value] = true;
    text_ += fmt::format("    auto const v{} = f.input({});\n", value, value);
    defined();
  }

  [[nodiscard]] bool feeds_output(int value) const {
    return std::ranges::any_of(program_.outputs,
                               [value](linear_term const& y) { return y.value == value && !y.coefficient.is_zero(); });
  }
  void store(int value) {
    for (std::size_t q = 0; q < program_.outputs.size(); ++q) {
      linear_term const& y = program_.outputs[q];
      if (y.coefficient.is_zero() || y.value != value) continue;
      load(value);
      text_ += fmt::format("    f.output({}, {});\n", q, sum({y}));
      used(value);
    }
  }

  /// "v1 - v2 + (T(3)) * v4"
  [[nodiscard]] static std::string sum(std::vector<linear_term> const& terms) {
    std::string s;
    for (linear_term const& t : terms) {
      bool const minus = t.coefficient.num() < 0;
      rational const c = minus ? -t.coefficient : t.coefficient;
      s += s.empty() ? (minus ? "-" : "") : (minus ? " - " : " + ");
      if (c == rational(1)) s += fmt::format("v{}", t.value);
      else
        s +=
            fmt::format("(typename Frame::element({}) / typename Frame::element({})) * v{}", c.num(), c.den(), t.value);
    }
    return s;
  }

  additions_program const& program_;
  bool const in_place_;
  std::vector<bool> loaded_;
  std::vector<int> uses_;  // still to come, of each value
  int live_ = 0, most_live_ = 0;
  std::string text_;
};

void write(std::string const& algorithm_name, int levels) {
  auto const one = find_algorithm(algorithm_name);
  if (one == nullptr || levels < 1)
    throw error(status::invalid_argument, fmt::format("no algorithm {} of {} levels", algorithm_name, levels));
  algorithm x = *one;
  for (int l = 1; l < levels; ++l) x = kronecker(*one, x);
  std::string const scope = fmt::format("{}_{}", algorithm_name, levels);
  fmt::print("// Written by generate_combine {} {}.\n#include \"codelets/cuda/combine_launch.cuh\"\n\n", algorithm_name,
             levels);
  fmt::print("namespace heptad::cuda {{\nnamespace {{\n\n");
  std::string table;
  int number = 0;
  for (named_program const& p : programs_of(x)) {
    emitter e(p.program, p.in_place);
    std::string const body = e.run();
    fmt::print("// {}: {} blocks into {}, {} additions\nstruct program_{} {{\n", p.what, p.program.inputs,
               p.program.outputs.size(), additions(p.program), number);
    fmt::print("  static constexpr int inputs = {}, outputs = {}, live_values = {};\n", p.program.inputs,
               p.program.outputs.size(), e.most_live());
    fmt::print("  static constexpr bool may_add = {}, in_place = {};\n", p.may_add, p.in_place);
    fmt::print("  template <typename Frame>\n  static __device__ void run(Frame const& f) {{\n{}  }}\n}};\n", body);
    fmt::print("constexpr std::int32_t code_{}[] = {{{}}};\n\n", number, fmt::join(cuda::flat(p.program), ", "));
    table += fmt::format(
        "    {{code_{0}, &launch_generated<program_{0}, double>, &launch_generated<program_{0}, float>}},\n", number);
    ++number;
  }
  fmt::print("constexpr generated_program table[] = {{\n{}}};\n\n}}  // namespace\n\n", table);
  fmt::print(
      "std::span<generated_program const> programs_of_{}() {{ return table; }}\n\n}}  // namespace heptad::cuda\n",
      scope);
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 3) throw error(status::invalid_argument, "usage: generate_combine ALGORITHM LEVELS");
  write(argv[1], std::stoi(argv[2]));
  return 0;
} catch (std::exception const& e) {
  fmt::print(stderr, "generate_combine: {}\n", e.what());
  return 2;
}
