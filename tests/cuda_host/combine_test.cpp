// SPDX-License-Identifier: BSD-3-Clause
// Every generated combine kernel, and the general one, run from their own source on the host and compared with the
// coefficient matrix of their program. Integers: the results are exact.
#include "codelets/cuda/combine.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <random>

#include "src/algorithm/algorithm.hpp"
#include "src/plan/level_schedule.hpp"

using namespace heptad;
using namespace heptad::cuda;

namespace {

struct pass {
  std::string what;
  additions_program program;
  bool of_C;
};

/// What stages of these algorithms ask of combine.
std::vector<pass> passes() {
  std::vector<pass> all;
  for (auto const& [name, most] : std::vector<std::pair<std::string, int>>{{"winograd", 3}, {"strassen", 2}}) {
    auto const one = find_algorithm(name);
    algorithm x = *one;
    for (int levels = 1; levels <= most; ++levels) {
      for (bool const batched : {true, false})
        for (update const how : {update::overwrite, update::accumulate}) {
          auto const s = schedule_level(x, {how, false, true, true, batched});
          std::string const which = name + " x" + std::to_string(levels) + (batched ? " batched" : "");
          all.push_back({which + " sums of A", s.sums_A.program, false});
          all.push_back({which + " sums of B", s.sums_B.program, false});
          all.push_back({which + " update of C", s.update_C.program, true});
        }
      x = kronecker(*one, x);
    }
  }
  return all;
}

template <typename T>
struct matrices {
  std::vector<std::vector<T>> data;
  std::int64_t ld;
  std::int64_t offset;  // of the first element, which decides how it is aligned

  T* at(std::size_t i) { return data[i].data() + offset; }
};

/// 64-byte aligned memory would hide a misaligned access; std::vector gives 16, and `offset` spoils it.
template <typename T>
matrices<T> make(std::size_t count, std::int64_t rows, std::int64_t cols, std::int64_t padding, std::int64_t offset,
                 std::mt19937& random) {
  matrices<T> m{{}, rows + padding, offset};
  std::uniform_int_distribution<int> digit(-9, 9);
  for (std::size_t i = 0; i < count; ++i) {
    auto& x = m.data.emplace_back(static_cast<std::size_t>(m.ld * cols + offset));
    for (T& v : x) v = static_cast<T>(digit(random));
  }
  return m;
}

/// Runs `program` with betas on random blocks and compares all of the memory of the outputs.
template <typename T, typename Launch>
void check_pass(additions_program const& program, bool adds, std::int64_t rows, std::int64_t cols, std::int64_t padding,
                std::int64_t offset, Launch const& launch) {
  std::mt19937 random(7);
  std::size_t const outputs = program.outputs.size();
  auto in = make<T>(static_cast<std::size_t>(program.inputs), rows, cols, padding, offset, random);
  auto out = make<T>(outputs, rows, cols, padding, offset, random);
  std::vector<combine_input<T>> inputs;
  std::vector<combine_output<T>> targets;
  for (std::size_t i = 0; i < in.data.size(); ++i) inputs.push_back({in.at(i), in.ld});
  for (std::size_t q = 0; q < outputs; ++q) targets.push_back({out.at(q), out.ld, adds ? static_cast<T>(q % 3) : T(0)});
  auto expected = out;
  auto const matrix = evaluate(program);
  for (std::size_t q = 0; q < outputs; ++q)
    for (std::int64_t j = 0; j < cols; ++j)
      for (std::int64_t i = 0; i < rows; ++i) {
        T& y = expected.at(q)[i + j * out.ld];
        double sum = targets[q].beta != T(0) ? static_cast<double>(targets[q].beta) * static_cast<double>(y) : 0.0;
        for (std::size_t p = 0; p < in.data.size(); ++p)
          sum += matrix[p * outputs + q].value() * static_cast<double>(in.at(p)[i + j * in.ld]);
        y = static_cast<T>(sum);
        if (targets[q].beta == T(0)) out.at(q)[i + j * out.ld] = std::numeric_limits<T>::quiet_NaN();  // never read
      }
  combine_call<T> const call{inputs, targets, rows, cols};
  REQUIRE(launch(call) == cudaSuccess);
  for (std::size_t q = 0; q < outputs; ++q) REQUIRE(out.data[q] == expected.data[q]);
}

template <typename T>
void check_kernels(pass const& p) {
  INFO(p.what << ", " << sizeof(T) << " bytes");
  combine_program const ready(p.program);
  REQUIRE(ready.is_generated());
  auto const launch = [&](combine_call<T> const& call) { return ready.launch<T>(nullptr, call); };
  for (bool const adds : {false, true}) {
    if (adds && !p.of_C) continue;
    check_pass<T>(p.program, adds, 40, 3, 8, 0, launch);  // whole vectors
    check_pass<T>(p.program, adds, 37, 2, 3, 1, launch);  // nothing aligned
  }
}

}  // namespace

TEST_CASE("every pass of a stage has a kernel of its own that forms its sums") {
  for (pass const& p : passes()) {
    check_kernels<double>(p);
    check_kernels<float>(p);
  }
}

TEST_CASE("long columns are cut into blocks, short ones waste few threads") {
  auto const s = schedule_level(*find_algorithm("winograd"), {update::overwrite, false, true, true, true});
  combine_program const ready(s.sums_A.program);
  for (std::int64_t const rows : {1, 2, 31, 33, 511, 513, 2050})
    check_pass<double>(s.sums_A.program, false, rows, 3, rows % 2, 0,
                       [&](combine_call<double> const& call) { return ready.launch<double>(nullptr, call); });
}

TEST_CASE("an update of C may be formed in place, in the blocks that it reads") {
  for (int levels : {1, 2, 3}) {
    auto const one = find_algorithm("winograd");
    algorithm x = *one;
    for (int l = 1; l < levels; ++l) x = kronecker(*one, x);
    auto const s = schedule_level(x, {update::overwrite, false, true, true, false});
    additions_program const& program = s.update_C.program;
    std::mt19937 random(11);
    auto memory = make<double>(static_cast<std::size_t>(program.inputs) + program.outputs.size(), 6, 2, 0, 0, random);
    std::vector<combine_input<double>> inputs;
    std::vector<combine_output<double>> outputs;
    std::size_t next = s.update_C.sources.size();
    for (std::size_t i = 0; i < s.update_C.sources.size(); ++i) inputs.push_back({memory.at(i), memory.ld});
    int shared = 0;
    for (auto const& t : s.update_C.targets) {
      std::size_t where = next;
      for (std::size_t i = 0; i < s.update_C.sources.size(); ++i)
        if (s.update_C.sources[i] == t.where) where = i, ++shared;
      if (where == next) ++next;
      outputs.push_back({memory.at(where), memory.ld, 0});
    }
    REQUIRE(shared > 0);
    auto const before = memory;
    REQUIRE(combine_program(program).launch<double>(nullptr, {inputs, outputs, 6, 2}) == cudaSuccess);
    auto const matrix = evaluate(program);
    for (std::size_t q = 0; q < outputs.size(); ++q)
      for (std::size_t e = 0; e < 12; ++e) {
        double sum = 0;
        for (std::size_t p = 0; p < inputs.size(); ++p)
          sum += matrix[p * outputs.size() + q].value() * before.data[p][e];
        REQUIRE(outputs[q].data[e] == sum);
      }
  }
}

TEST_CASE("the general kernel forms the sums of any algorithm, with beta and in place") {
  for (char const* name : {"huang323", "winograd", "strassen"}) {
    auto const s = schedule_level(*find_algorithm(name), {update::accumulate, false, false, false, true});
    for (scheduled_pass const* p : {&s.sums_A, &s.sums_B, &s.update_C}) {
      INFO(name);
      auto const matrix = evaluate(p->program);
      std::size_t const outputs = p->program.outputs.size();
      std::vector<std::vector<combine_program::term>> terms(outputs);
      for (int i = 0; i < p->program.inputs; ++i)
        for (std::size_t q = 0; q < outputs; ++q) {
          double const c = matrix[static_cast<std::size_t>(i) * outputs + q].value();
          if (c != 0) terms[q].push_back({i, c});
        }
      for (bool const adds : {false, true})
        check_pass<float>(p->program, adds, 21, 4, 1, 1,
                          [&](combine_call<float> const& call) { return launch_general<float>(nullptr, terms, call); });
    }
  }
}

TEST_CASE("a program beyond the general kernel is refused with its size") {
  additions_program wide;
  wide.inputs = 65;
  wide.outputs = {{64, 1}};
  CHECK_THROWS_WITH(combine_program(wide), Catch::Contains("65 blocks into 1"));
}

TEST_CASE("scale writes zeros without reading, and scales in place") {
  std::vector<double> X(5 * 7, std::nan(""));
  REQUIRE(launch_scale<double>(nullptr, 0.0, X.data(), 7, 4, 5) == cudaSuccess);
  for (int j = 0; j < 5; ++j)
    for (int i = 0; i < 7; ++i) CHECK(std::isnan(X[static_cast<std::size_t>(i + 7 * j)]) == (i >= 4));
  std::vector<float> Y(6, 3.0F);
  REQUIRE(launch_scale<float>(nullptr, -2.0F, Y.data(), 3, 3, 2) == cudaSuccess);
  CHECK(Y == std::vector<float>(6, -6.0F));
}

TEST_CASE("scale reaches every column, more than a launch has blocks") {
  constexpr std::int64_t cols = (std::int64_t{1} << 21) + 5;
  std::vector<float> X(static_cast<std::size_t>(2 * cols), 3.0F);
  REQUIRE(launch_scale<float>(nullptr, -2.0F, X.data(), 2, 1, cols) == cudaSuccess);
  std::int64_t wrong = 0;
  for (std::size_t e = 0; e < X.size(); ++e) wrong += X[e] != (e % 2 == 0 ? -6.0F : 3.0F);
  CHECK(wrong == 0);
}

TEST_CASE("a pass of more blocks than a launch can have is refused") {
  std::vector<std::vector<combine_program::term>> const copy{{{0, 1.0}}};
  std::vector<double> in(8, 1.0), out(8);
  std::vector<combine_input<double>> const from{{in.data(), 1}};
  std::vector<combine_output<double>> const to{{out.data(), 1, 0}};
  constexpr std::int64_t cols = (std::int64_t{1} << 32) + 3;  // 3 as an unsigned
  CHECK(launch_general<double>(nullptr, copy, {from, to, 1, cols}) == cudaErrorInvalidValue);
  CHECK(out == std::vector<double>(8));
}
