// SPDX-License-Identifier: BSD-3-Clause
#include "src/algorithm/additions_program.hpp"

#include <catch2/catch.hpp>
#include <heptad/heptad.hpp>

#include "src/algorithm/algorithm.hpp"
#include "tests/algorithm/known.hpp"
#include "tests/algorithm/reference.hpp"

using namespace heptad;
using heptad::test::run;

namespace {

std::shared_ptr<algorithm const> winograd() { return find_algorithm("winograd"); }

std::vector<int> shape_of_steps(additions_program const& program) {
  std::vector<int> terms;
  for (auto const& step : program.steps) terms.push_back(static_cast<int>(step.size()));
  return terms;
}

}  // namespace

TEST_CASE("Winograd's programs have 4, 4 and 7 additions, Strassen's 5, 5 and 8") {
  CHECK(additions(winograd()->sums_A) == 4);
  CHECK(additions(winograd()->sums_B) == 4);
  CHECK(additions(winograd()->sums_C) == 7);
  auto const strassen = find_algorithm("strassen");
  CHECK(additions(strassen->sums_A) == 5);
  CHECK(additions(strassen->sums_B) == 5);
  CHECK(additions(strassen->sums_C) == 8);
}

TEST_CASE("evaluate gives the matrix by which a program multiplies") {
  // t = x0 - 1/2 x1, outputs -t, x1, 0, t + t·…
  additions_program const program{2, {{{0, 1}, {1, {-1, 2}}}, {{2, 2}, {0, 3}}}, {{2, -1}, {1, 1}, {0, 0}, {3, 1}}};
  std::vector<rational> const expected{-1, 0, 0, 5, {1, 2}, 1, 0, -1};
  CHECK(evaluate(program) == expected);
}

TEST_CASE("without P2, P3 and P4, Winograd's update of C is the post pass of the in-place order") {
  // c11 = p1, u2 = p1 + p6, u3 = u2 + p7, c12 = u2 + p5, c21 = u3, c22 = u3 + p5 over the inputs p1, p5, p6, p7.
  additions_program const post = without_inputs(winograd()->sums_C, {true, false, false, false, true, true, true});
  REQUIRE(post.inputs == 4);
  CHECK(additions(post) == 4);
  CHECK(post.outputs.at(0) == linear_term{0, 1});
  CHECK(shape_of_steps(post) == std::vector<int>{2, 2, 2, 2});
  CHECK(run(post, {1, 10, 100, 1000}) == std::vector<std::int64_t>{1, 111, 1101, 1111});
}

TEST_CASE("without its inputs but one a program is a copy of it, and without any it gives zeros") {
  additions_program const one = without_inputs(winograd()->sums_C, {false, false, true, false, false, false, false});
  CHECK(one.inputs == 1);
  CHECK(one.steps.empty());
  CHECK(run(one, {7}) == std::vector<std::int64_t>{0, 7, 0, 0});
  additions_program const none = without_inputs(winograd()->sums_C, std::vector<bool>(7, false));
  CHECK(none.steps.empty());
  CHECK(run(none, {}) == std::vector<std::int64_t>{0, 0, 0, 0});
  CHECK_NOTHROW(check(none));
  CHECK_THROWS_AS(without_inputs(winograd()->sums_C, {true}), error);
}

TEST_CASE("terms that cancel when inputs go leave nothing behind") {
  // u = x0 + x1, v = u - x0 = x1, w = u - x0 + x2 = x1 + x2
  additions_program const program{
      3, {{{0, 1}, {1, 1}}, {{3, 1}, {0, -1}}, {{3, 1}, {0, -1}, {2, 1}}}, {{4, 1}, {3, 1}, {5, 1}}};
  additions_program const rest = without_inputs(program, {true, false, true});
  CHECK(rest.steps.empty());
  CHECK(run(rest, {5, 6}) == std::vector<std::int64_t>{0, 5, 6});
}

TEST_CASE("with_outputs forms only what is asked, in that order") {
  additions_program const some = with_outputs(winograd()->sums_A, {5, 0, 4});  // s2, a1, s1
  CHECK(additions(some) == 2);
  CHECK(run(some, {1, 10, 100, 1000}) == std::vector<std::int64_t>{1099, 1, 1100});
  CHECK_THROWS_AS(with_outputs(winograd()->sums_A, {7}), error);
  CHECK_THROWS_AS(with_outputs(winograd()->sums_A, {-1}), error);
}

TEST_CASE("the transposed program forms the transposed matrix and keeps shared sums shared") {
  for (auto const& x : heptad::test::known(23)) {
    INFO(x->name);
    for (additions_program const* program : {&x->sums_A, &x->sums_B, &x->sums_C}) {
      additions_program const back = transposed(*program);
      int const outputs = static_cast<int>(program->outputs.size());
      std::vector<rational> const straight = evaluate(*program), turned = evaluate(back);
      for (int i = 0; i < program->inputs; ++i)
        for (int q = 0; q < outputs; ++q) CHECK(straight[i * outputs + q] == turned[q * program->inputs + i]);
      CHECK(additions(back) == additions(*program) + outputs - program->inputs);
    }
  }
}

TEST_CASE("inputs are permuted by with_inputs, and only permuted") {
  additions_program const turned = with_inputs(winograd()->sums_A, {0, 2, 1, 3});
  CHECK(run(turned, {1, 10, 100, 1000}) == run(winograd()->sums_A, {1, 100, 10, 1000}));
  CHECK_THROWS_AS(with_inputs(winograd()->sums_A, {0, 2, 2, 3}), error);
  CHECK_THROWS_AS(with_inputs(winograd()->sums_A, {0, 1, 2, 4}), error);
  CHECK_THROWS_AS(with_inputs(winograd()->sums_A, {0, 1}), error);
}

TEST_CASE("a plain program has one step for each sum of two terms or more") {
  additions_program const program = plain_program({1, 0, 2, -1, 0, 0, 3, 0, 0, 0, 0, 5}, 3, 4);
  CHECK(shape_of_steps(program) == std::vector<int>{2, 2});
  CHECK(evaluate(program) == std::vector<rational>{1, 0, 2, -1, 0, 0, 3, 0, 0, 0, 0, 5});
}

TEST_CASE("a program that uses what is not defined is refused") {
  CHECK_THROWS_WITH(check({2, {{{0, 1}, {2, 1}}}, {}}), Catch::Contains("value 2"));
  CHECK_THROWS_WITH(check({2, {{}}, {}}), Catch::Contains("no term"));
  CHECK_THROWS_WITH(check({2, {}, {{-1, 1}}}), Catch::Contains("an output"));
  CHECK_THROWS_AS(evaluate({1, {}, {{5, 1}}}), error);
}

TEST_CASE("coefficients that overflow in a program are an error") {
  additions_program doubling{1, {}, {}};
  for (int s = 0; s < 70; ++s) doubling.steps.push_back({{s, 2}});
  doubling.outputs.push_back({70, 1});
  CHECK_THROWS_WITH(evaluate(doubling), Catch::Contains("overflow"));
}
