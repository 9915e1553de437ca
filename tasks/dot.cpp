// SPDX-License-Identifier: BSD-3-Clause
// A graph as Graphviz text: colours by kind, a bold frame where C itself is updated.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "tasks/graph.hpp"

namespace heptad {
namespace {

struct look {
  char const* kind;
  char const* shape;
  char const* fill;
};

look look_of(combine_step const&) { return {"combine", "box", "#d6e6f5"}; }
look look_of(sequence_step const&) { return {"product", "ellipse", "#fde9b8"}; }
look look_of(scale_step const&) { return {"scale", "box", "#e6e6e6"}; }
look look_of(scan_step const&) { return {"scan", "box", "#e8f3e3"}; }

bool updates_C(task const& t) {
  return std::ranges::any_of(t.accesses,
                             [](access const& a) { return a.mode != access_mode::read && a.where.space == space_C; });
}

std::string duration(double seconds) {
  if (seconds >= 1) return fmt::format("{:.3g} s", seconds);
  if (seconds >= 1e-3) return fmt::format("{:.3g} ms", seconds * 1e3);
  return fmt::format("{:.3g} µs", seconds * 1e6);
}

std::string escaped(std::string const& text) {
  std::string out;
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

std::string node_line(int t, task const& x) {
  look const style = std::visit([](auto const& body) { return look_of(body); }, x.body);
  bool const writes_C = updates_C(x);
  return fmt::format(
      "  t{} [label=\"{}\\n{}\", tooltip=\"{}: {:.3g} flops, {:.3g} bytes\", shape={}, fillcolor=\"{}\"{}]\n", t,
      escaped(x.name), duration(x.cost.seconds), style.kind, x.cost.flops, x.cost.bytes, style.shape, style.fill,
      writes_C ? ", penwidth=2.2, color=\"#a33b20\"" : "");
}

/// Neighbours in program order among the tasks that share a lock: a line through each set of commuting updates.
std::set<std::pair<int, int>> commuting_pairs(dependencies const& d) {
  std::vector<int> last(d.locks, -1);
  std::set<std::pair<int, int>> pairs;
  for (int t = 0; t < static_cast<int>(d.exclusions.size()); ++t)
    for (int lock : d.exclusions[t]) {
      if (last[lock] >= 0) pairs.emplace(last[lock], t);
      last[lock] = t;
    }
  return pairs;
}

}  // namespace

std::string to_dot(graph const& g, dependencies const& d) {
  std::string out = fmt::format(
      "digraph heptad {{\n"
      "  label=\"C = alpha A B + beta C, {}x{}x{}: {} tasks. Blue: passes, yellow: products, red frame: updates C, "
      "dashed: commute\"; labelloc=t; fontname=\"Helvetica\"; fontsize=14;\n"
      "  rankdir=TB; ranksep=0.45; nodesep=0.25;\n"
      "  node [style=filled, fontname=\"Helvetica\", fontsize=11, color=\"#7f7f7f\"];\n"
      "  edge [color=\"#606060\", arrowsize=0.6];\n",
      g.m, g.n, g.k, g.tasks.size());
  int const tasks = static_cast<int>(g.tasks.size());
  for (int t = 0; t < tasks; ++t) out += node_line(t, g.tasks[t]);
  for (int t = 0; t < tasks; ++t)
    for (int s : d.successors[t]) out += fmt::format("  t{} -> t{}\n", t, s);
  for (auto const& [t, s] : commuting_pairs(d))
    out += fmt::format("  t{} -> t{} [dir=none, style=dashed, color=\"#a33b20\", constraint=false]\n", t, s);
  return out + "}\n";
}

}  // namespace heptad
