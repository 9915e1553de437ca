// SPDX-License-Identifier: BSD-3-Clause
#include "tasks/cost.hpp"

#include <algorithm>
#include <type_traits>
#include <variant>

namespace heptad {
namespace {

double elements(block const& x) { return static_cast<double>(x.rows) * static_cast<double>(x.cols); }

// One of the products that fused levels make of such blocks.
cost cost_of(product_step const& step, fused_blocks const& fused, graph const& g, prices const& price) {
  block const &a = step.a.front().where, &b = step.b.front().where, &c = step.c.front().where;
  auto const m = static_cast<double>(c.rows), n = static_cast<double>(c.cols), k = static_cast<double>(a.cols);
  product_terms const terms{static_cast<double>(step.a.size()), static_cast<double>(step.b.size()),
                            static_cast<double>(step.c.size())};
  double const bytes =
      price.element_bytes() * (terms.a * elements(a) + terms.b * elements(b) + 2 * terms.c * elements(c));
  return {2 * m * n * k, bytes, price.products(m, n, k, 1, terms, {g.product_buffer, g.operands, fused})};
}

}  // namespace

cost cost_of(combine_step const& step, graph const& g, prices const& price) {
  auto const bytes = [&](block const& x) { return elements(x) * price.element_bytes(); };
  double read = 0;
  for (block const& source : step.sources) read += bytes(source);
  double footprint = read, traffic = read;
  auto blocks = static_cast<int>(step.sources.size());
  for (target const& t : step.targets) {
    bool const in_place = std::ranges::find(step.sources, t.where) != step.sources.end();
    if (!in_place) footprint += bytes(t.where), ++blocks;
    traffic += t.how == update::overwrite ? bytes(t.where) : 2 * bytes(t.where);
  }
  double const flops = elements(step.targets.front().where) * additions(g.programs[step.program]);
  return {flops, traffic, price.pass(traffic, footprint, blocks)};
}

cost cost_of(scale_step const& step, graph const&, prices const& price) {
  double const bytes = elements(step.where) * price.element_bytes();
  return {elements(step.where), 2 * bytes, price.pass(2 * bytes, bytes)};
}

cost cost_of(sequence const& s, graph const& g, prices const& price) {
  cost total;
  auto const cost_of_step = [&]<typename Step>(Step const& body) {
    if constexpr (std::is_same_v<Step, product_step>) return cost_of(body, s.fused, g, price);
    else return cost_of(body, g, price);
  };
  for (step const& one : s.steps) {
    cost const c = std::visit(cost_of_step, one);
    total.flops += c.flops;
    total.bytes += c.bytes;
    total.seconds += c.seconds;
  }
  return total;
}

}  // namespace heptad
