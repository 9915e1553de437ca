// SPDX-License-Identifier: BSD-3-Clause
#include "tests/tasks/plans.hpp"

#include <algorithm>

#include "tests/algorithm/known.hpp"

namespace heptad::test {
namespace {

level_kind kind_of(char letter) {
  return letter == 'T' ? level_kind::task : letter == 'E' ? level_kind::explicit_passes : level_kind::fused;
}

/// The built-in ones, and a composed ones without shared subexpressions.
std::vector<std::shared_ptr<algorithm const>> const& choices() {
  static auto const all = [] {
    auto list = known(15);
    list.push_back(
        std::make_shared<algorithm const>(kronecker(*find_algorithm("strassen"), *find_algorithm("winograd"))));
    list.push_back(std::make_shared<algorithm const>(kronecker(sheared(), *find_algorithm("strassen"))));
    list.push_back(std::make_shared<algorithm const>(transpose(rotate(*find_algorithm("winograd")))));
    return list;
  }();
  return all;
}

void fit_core(plan& p) {
  p.core_m = p.core_n = p.core_k = 1;
  for (plan_level const& level : p.levels) {
    p.core_m *= level.coefficients->m;
    p.core_n *= level.coefficients->n;
    p.core_k *= level.coefficients->k;
  }
  auto const fit = [](std::int64_t& core, std::int64_t side, bool pads) {
    core = (side + (pads ? core - 1 : 0)) / core * core;
  };
  fit(p.core_m, p.shape.m, p.pads.m);
  fit(p.core_n, p.shape.n, p.pads.n);
  fit(p.core_k, p.shape.k, p.pads.k);
}

}  // namespace

algorithm sheared() {
  algorithm x;
  x.name = "sheared";
  x.m = 1, x.k = 2, x.n = 2;
  x.U = {2,
         4,
         {1, 1, 1, 1,  //
          0, 0, 1, 1}};
  x.V = {4,
         4,
         {1, 0, 0, 0,   //
          0, 1, 0, 0,   //
          -1, 0, 1, 0,  //
          0, -1, 0, 1}};
  x.W = {2,
         4,
         {1, 0, 1, 0,  //
          0, 1, 0, 1}};
  set_plain_programs(x);
  verify(x);
  return x;
}

plan make_plan(std::vector<level_choice> const& levels, std::int64_t m, std::int64_t n, std::int64_t k,
               bool beta_zero) {
  plan p;
  p.shape.m = m, p.shape.n = n, p.shape.k = k, p.shape.beta_zero = beta_zero;
  for (auto const& [name, kind] : levels) p.levels.push_back({name, kind, find_algorithm(name)});
  fit_core(p);
  return p;
}

plan make_plan(std::string const& kinds, std::string const& algorithm, std::int64_t m, std::int64_t n, std::int64_t k,
               bool beta_zero) {
  std::vector<level_choice> levels;
  for (char letter : kinds) levels.push_back({algorithm, kind_of(letter)});
  return make_plan(levels, m, n, k, beta_zero);
}

plan random_plan(std::mt19937& random) {
  auto const pick = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
  plan p;
  std::string kinds;
  int products = 1;
  std::int64_t m = 1, n = 1, k = 1;
  for (int levels = pick(0, 3); levels > 0; --levels) {
    auto const& x = choices()[static_cast<std::size_t>(pick(0, static_cast<int>(choices().size()) - 1))];
    if (products * x->rank() > 400) continue;
    products *= x->rank();
    m *= x->m, n *= x->n, k *= x->k;
    kinds += "TEF"[pick(0, 2)];
    p.levels.push_back({x->name, level_kind::task, x});
  }
  std::ranges::sort(kinds, {}, kind_of);
  for (std::size_t i = 0; i < kinds.size(); ++i) p.levels[i].kind = kind_of(kinds[i]);
  p.shape.m = m * pick(1, 3) + pick(0, static_cast<int>(m) - 1);
  p.shape.n = n * pick(1, 3) + pick(0, static_cast<int>(n) - 1);
  p.shape.k = k * pick(1, 3) + pick(0, static_cast<int>(k) - 1);
  p.shape.a_row_major = pick(0, 1) == 1;
  p.shape.b_row_major = pick(0, 1) == 1;
  p.shape.beta_zero = pick(0, 1) == 1;
  p.type = pick(0, 1) == 1 ? element_type::f64 : element_type::f32;
  p.workers = pick(1, 4);
  p.slots = pick(1, 3);
  p.independent = pick(0, 2) == 0;
  p.strips = pick(1, 3);
  if (pick(0, 2) > 0) p.pads = {pick(0, 1) == 1, pick(0, 1) == 1, pick(0, 1) == 1};
  fit_core(p);
  return p;
}

plan without_zeros(plan p) {
  p.pads = {};
  fit_core(p);
  return p;
}

std::string describe(plan const& p) {
  std::string text;
  for (plan_level const& level : p.levels) text += level.name + " " + "TEF"[static_cast<int>(level.kind)] + ", ";
  return text + "m " + std::to_string(p.shape.m) + " n " + std::to_string(p.shape.n) + " k " +
         std::to_string(p.shape.k) + (p.shape.beta_zero ? " beta 0" : "") + " slots " + std::to_string(p.slots) +
         " workers " + std::to_string(p.workers) + (p.independent ? " independent" : "") + (p.pads.m ? " pads m" : "") +
         (p.pads.n ? " pads n" : "") + (p.pads.k ? " pads k" : "") + (p.shape.a_row_major ? " A row-major" : "") +
         (p.shape.b_row_major ? " B row-major" : "");
}

}  // namespace heptad::test
