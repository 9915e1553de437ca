// SPDX-License-Identifier: BSD-3-Clause
// combine against a long double evaluation of the program, element by element, for every instruction set.
#include "codelets/cpu/combine.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <random>
#include <string>

#include "codelets/cpu/combine_steps.hpp"

using namespace heptad;
using namespace heptad::cpu;

namespace {

using generator = std::mt19937;

int pick(generator& random, int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); }

enum class layout { columns, aligned_columns, rows, strided, mixed };

/// One block inside a larger buffer, so that writes beyond it show.
template <typename T>
struct test_block {
  std::vector<T> buffer;
  std::size_t first;
  std::int64_t rs, cs, rows, cols;

  [[nodiscard]] std::size_t at(std::int64_t i, std::int64_t j) const {
    return first + static_cast<std::size_t>(i * rs + j * cs);
  }
  T* data() { return buffer.data() + first; }
};

template <typename T>
test_block<T> make_block(generator& random, layout how, std::int64_t rows, std::int64_t cols) {
  if (how == layout::mixed) how = static_cast<layout>(pick(random, 0, 3));
  test_block<T> x{{}, 0, 1, 1, rows, cols};
  std::int64_t const line = 64 / sizeof(T);
  std::int64_t const pad = pick(random, 0, 5);
  if (how == layout::columns) x.cs = rows + pad;
  if (how == layout::aligned_columns) x.cs = (rows + line - 1) / line * line + line;
  if (how == layout::rows) x.cs = 1, x.rs = cols + pad;
  if (how == layout::strided) x.rs = 2, x.cs = 2 * rows + pad;
  x.buffer.resize(static_cast<std::size_t>(rows * x.rs + cols * x.cs + 4 * line));
  x.first = static_cast<std::size_t>(line);
  auto const misaligned = reinterpret_cast<std::uintptr_t>(x.data()) % 64;
  if (how == layout::aligned_columns) x.first += (64 - misaligned) % 64 / sizeof(T);
  std::uniform_real_distribution<T> value(-1, 1);
  for (T& v : x.buffer) v = value(random);
  return x;
}

additions_program random_program(generator& random, int inputs, int steps, int outputs) {
  additions_program program{inputs, {}, {}};
  for (int s = 0; s < steps; ++s) {
    auto& sum = program.steps.emplace_back();
    int const terms = pick(random, 1, pick(random, 1, 10));
    for (int t = 0; t < terms; ++t) {
      int const scale = pick(random, 0, 9);
      rational const c = scale < 4 ? rational(1) : scale < 8 ? rational(-1) : rational(pick(random, -3, 3), 2);
      sum.push_back({pick(random, 0, inputs + s - 1), c});
    }
  }
  for (int q = 0; q < outputs; ++q) {
    int const scale = pick(random, 0, 9);
    program.outputs.push_back({pick(random, 0, inputs + steps - 1), scale < 7 ? 1 : scale < 9 ? -1 : 0});
  }
  return program;
}

struct exact_outputs {
  std::vector<long double> values, magnitudes;  // magnitudes: the same with absolute values, for the error bound
};

exact_outputs evaluate_exactly(additions_program const& program, std::vector<long double> values) {
  std::vector<long double> magnitudes;
  for (auto const v : values) magnitudes.push_back(std::abs(v));
  auto const coefficient = [](rational const& r) {
    return static_cast<long double>(r.num()) / static_cast<long double>(r.den());
  };
  for (auto const& step : program.steps) {
    long double sum = 0, magnitude = 0;
    for (auto const& x : step) {
      sum += coefficient(x.coefficient) * values[x.value];
      magnitude += std::abs(coefficient(x.coefficient)) * magnitudes[x.value];
    }
    values.push_back(sum);
    magnitudes.push_back(magnitude);
  }
  exact_outputs result;
  for (auto const& x : program.outputs) {
    result.values.push_back(coefficient(x.coefficient) * values[x.value]);
    result.magnitudes.push_back(std::abs(coefficient(x.coefficient)) * magnitudes[x.value]);
  }
  return result;
}

struct pass_case {
  additions_program program;
  layout how = layout::columns;
  std::int64_t rows = 0, cols = 0;
  std::vector<int> overwrites;  // for each output the input whose block it is, or -1
  std::vector<double> betas;
  bool streaming = false;
};

/// Zero, where it is zero in `now`, what lies between the end of each of several columns (or rows) and of its last
/// line.
template <typename T>
void zero_as_in(std::vector<T> const& now, test_block<T>& x) {
  bool const columns = x.rs == 1;
  std::int64_t const runs = columns ? x.cols : x.rows, last = (columns ? x.rows : x.cols) - 1;
  if (last < 0 || runs == 1) return;
  for (std::int64_t r = 0; r < runs; ++r)
    for (auto e = (columns ? x.at(last, r) : x.at(r, last)) + 1; reinterpret_cast<std::uintptr_t>(&now[e]) % 64; ++e)
      if (now[e] == 0) x.buffer[e] = 0;
}

/// Runs the pass and compares every element of every block, those around the blocks included.
template <typename T>
void check(generator& random, step_kernels<T> const& kernels, pass_case const& c) {
  std::size_t const outputs = c.program.outputs.size();
  std::vector<test_block<T>> in, out;
  for (int i = 0; i < c.program.inputs; ++i) in.push_back(make_block<T>(random, c.how, c.rows, c.cols));
  for (std::size_t q = 0; q < outputs; ++q) {
    out.push_back(make_block<T>(random, c.how, c.rows, c.cols));
    if (c.overwrites[q] < 0 && c.betas[q] == 0)
      for (std::int64_t j = 0; j < c.cols; ++j)
        for (std::int64_t i = 0; i < c.rows; ++i) out[q].buffer[out[q].at(i, j)] = std::numeric_limits<T>::quiet_NaN();
  }
  auto const in_before = in, out_before = out;
  auto const block_of = [&](std::size_t q) -> test_block<T>& {
    return c.overwrites[q] < 0 ? out[q] : in[c.overwrites[q]];
  };
  std::vector<combine_input<T>> sources;
  std::vector<combine_output<T>> targets;
  for (auto& x : in) sources.push_back({x.data(), x.rs, x.cs});
  for (std::size_t q = 0; q < outputs; ++q)
    targets.push_back({block_of(q).data(), block_of(q).rs, block_of(q).cs, static_cast<T>(c.betas[q])});

  far_access const* const ways[] = {&through_first_level, &through_second_level, &early_through_first_level};
  far_access const& far = *ways[pick(random, 0, 2)];
  combine<T>(kernels, far, compile<T>(c.program), sources, targets, c.rows, c.cols, c.streaming);

  auto expected_in = in_before, expected_out = out_before;
  bool near = true;
  for (std::int64_t j = 0; j < c.cols; ++j)
    for (std::int64_t i = 0; i < c.rows; ++i) {
      std::vector<long double> values;
      for (auto const& x : in_before) values.push_back(x.buffer[x.at(i, j)]);
      auto const exact = evaluate_exactly(c.program, values);
      for (std::size_t q = 0; q < outputs; ++q) {
        auto& block = block_of(q);
        auto const at = block.at(i, j);
        auto const& before = c.overwrites[q] < 0 ? out_before[q] : in_before[c.overwrites[q]];
        long double const old =
            c.betas[q] == 0 ? 0 : static_cast<T>(c.betas[q]) * static_cast<long double>(before.buffer[at]);
        long double const error = std::abs(exact.values[q] + old - block.buffer[at]);
        near = near && error <= 64 * std::numeric_limits<T>::epsilon() * (exact.magnitudes[q] + std::abs(old));
        (c.overwrites[q] < 0 ? expected_out[q] : expected_in[c.overwrites[q]]).buffer[at] = block.buffer[at];
      }
    }
  INFO(kernels.name << ' ' << c.rows << 'x' << c.cols << " layout " << static_cast<int>(c.how));
  CHECK(near);
  bool untouched = true;
  for (std::size_t i = 0; i < in.size(); ++i) untouched = untouched && in[i].buffer == expected_in[i].buffer;
  for (std::size_t q = 0; q < outputs; ++q) {
    if (c.overwrites[q] >= 0) continue;
    if (c.streaming && c.betas[q] == 0) zero_as_in(out[q].buffer, expected_out[q]);
    for (std::size_t e = 0; e < out[q].buffer.size(); ++e) {
      T const now = out[q].buffer[e], expected = expected_out[q].buffer[e];
      untouched = untouched && (now == expected || (std::isnan(now) && std::isnan(expected)));
    }
  }
  CHECK(untouched);
}

template <typename T, typename Function>
void for_each_available(Function const& function) {
  for (auto const* kernels : combine_kernels<T>())
    if (kernels->available()) function(*kernels);
}

additions_program winograd_sums_of_A() {
  return {
      4, {{{2, 1}, {3, 1}}, {{4, 1}, {0, -1}}, {{0, 1}, {2, -1}}, {{1, 1}, {5, -1}}}, {{4, 1}, {5, 1}, {6, 1}, {7, 1}}};
}

/// P1, P5, P6, P7 to C11, C12, C21, C22.
additions_program winograd_post_pass() {
  return {
      4, {{{0, 1}, {2, 1}}, {{4, 1}, {3, 1}}, {{4, 1}, {1, 1}}, {{5, 1}, {1, 1}}}, {{0, 1}, {6, 1}, {5, 1}, {7, 1}}};
}

}  // namespace

TEMPLATE_TEST_CASE("random programs, shapes, layouts and betas give the exact combinations", "", double, float) {
  generator random(7);
  std::vector<int> const sizes = {0, 1, 2, 3, 7, 8, 13, 31, 64, 127, 131, 257};
  std::vector<double> const betas = {0, 0, 1, -1, 0.75};
  for_each_available<TestType>([&](auto const& kernels) {
    for (int trial = 0; trial < 400; ++trial) {
      pass_case c;
      int const inputs = pick(random, 1, 7), outputs = pick(random, 0, 8);
      c.program = random_program(random, inputs, pick(random, 0, 12), outputs);
      c.how = static_cast<layout>(pick(random, 0, 4));
      c.rows = sizes[pick(random, 0, static_cast<int>(sizes.size()) - 1)];
      c.cols = sizes[pick(random, 0, c.rows > 100 ? 6 : static_cast<int>(sizes.size()) - 1)];
      c.streaming = pick(random, 0, 1) == 1;
      std::vector<int> free_inputs;
      for (int i = 0; i < inputs; ++i) free_inputs.push_back(i);
      for (int q = 0; q < outputs; ++q) {
        c.betas.push_back(betas[pick(random, 0, 4)]);
        c.overwrites.push_back(-1);
        if (!free_inputs.empty() && pick(random, 0, 1) == 1) {
          std::swap(free_inputs[pick(random, 0, static_cast<int>(free_inputs.size()) - 1)], free_inputs.back());
          c.overwrites.back() = free_inputs.back();
          free_inputs.pop_back();
        }
      }
      check<TestType>(random, kernels, c);
    }
  });
}

TEMPLATE_TEST_CASE("Winograd's sums are right for every length of a column, streamed and not", "", double, float) {
  generator random(11);
  for_each_available<TestType>([&](auto const& kernels) {
    for (int rows = 0; rows < 300; rows += rows < 40 ? 1 : 13)
      for (auto const how : {layout::aligned_columns, layout::columns, layout::rows})
        for (bool const streaming : {false, true})
          check<TestType>(random, kernels,
                          {winograd_sums_of_A(), how, rows, 5, {-1, -1, -1, -1}, {0, 0, 0, 0}, streaming});
  });
}

TEMPLATE_TEST_CASE("Winograd's post pass works in place and into C with beta", "", double, float) {
  generator random(13);
  for_each_available<TestType>([&](auto const& kernels) {
    for (auto const how : {layout::columns, layout::rows, layout::strided}) {
      // P1 in C11, P6 in C12, P7 in C21, P5 in C22.
      check<TestType>(random, kernels, {winograd_post_pass(), how, 149, 6, {0, 2, 3, 1}, {0, 0, 0, 0}, true});
      for (double const beta : {1.0, 0.0, -0.5})
        check<TestType>(random, kernels,
                        {winograd_post_pass(), how, 149, 6, {-1, -1, -1, -1}, {beta, beta, beta, beta}, false});
    }
  });
}

TEST_CASE("outputs that exchange the inputs they overwrite") {
  generator random(17);
  for_each_available<double>([&](auto const& kernels) {
    check<double>(random, kernels,
                  {{3, {}, {{1, 1}, {2, -1}, {0, 1}}}, layout::columns, 301, 2, {0, 1, 2}, {0, 2, 0}, false});
  });
}

TEST_CASE("an output in the place of the very input that it repeats is neither read nor written") {
  combine_program<double> const program = compile<double>({2, {{{0, 1}, {1, 1}}}, {{0, 1}, {2, 1}}});
  std::vector<double> x(8, 1.0), y(8, 2.0);
  combine_input<double> const in[] = {{x.data(), 1, 8}, {y.data(), 1, 8}};
  combine_output<double> const out[] = {{x.data(), 1, 8, 0}, {y.data(), 1, 8, 0}};
  combine<double>(program, in, out, 8, 1, true);
  CHECK(x == std::vector<double>(8, 1.0));
  CHECK(y == std::vector<double>(8, 3.0));
}

TEST_CASE("compile folds one-term steps and splits long ones") {
  auto const folded =
      compile<double>({2, {{{0, 2}}, {{2, -1}, {1, 1}, {0, 0}}, {{3, 1}, {3, 1}}}, {{2, 3}, {3, 1}, {1, 0}}});
  REQUIRE(folded.steps.size() == 1);
  CHECK(folded.steps[0].size() == 2);
  CHECK(folded.steps[0][0].coefficient == -2);
  CHECK(folded.outputs[0].value == 0);
  CHECK(folded.outputs[0].coefficient == 6);
  CHECK(folded.outputs[2].coefficient == 0);

  additions_program wide{20, {{}}, {{20, 1}}};
  for (int i = 0; i < 20; ++i) wide.steps[0].push_back({i, i % 2 == 0 ? 1 : -1});
  for (auto const& step : compile<double>(wide).steps) CHECK(step.size() < max_step_terms);
  generator random(19);
  for_each_available<double>([&](auto const& kernels) {
    check<double>(random, kernels, {wide, layout::columns, 100, 3, {-1}, {0.5}, false});
  });
}

TEST_CASE("the steps that run anywhere are always there, the best ones run here") {
  CHECK(std::string(combine_kernels<double>().back()->name) == "baseline");
  CHECK(combine_kernels<float>().back()->available());
  CHECK(best_combine_kernels<double>().available());
}
