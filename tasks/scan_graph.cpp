// SPDX-License-Identifier: BSD-3-Clause
#include "tasks/scan_graph.hpp"

#include <algorithm>
#include <string>

#include "src/plan/prices.hpp"
#include "tasks/cut.hpp"

namespace heptad {
namespace {

// Two pieces a worker and operand balance; less than this is not worth a task.
constexpr int pieces_per_worker = 2;
constexpr double least_piece_bytes = 1 << 20;

void add_operand(scan_graph& scan, scan_graph::operand& x, char const* name, space where, bool row_major, int workers,
                 prices const& price) {
  graph& g = scan.work;
  double const bytes = static_cast<double>(x.rows) * static_cast<double>(x.cols) * price.element_bytes();
  auto const most = static_cast<std::int64_t>(std::min<double>(pieces_per_worker * workers, bytes / least_piece_bytes));
  auto const boundaries = cut(row_major ? x.rows : x.cols, most);
  int const pieces = static_cast<int>(boundaries.size()) - 1;
  (row_major ? x.col_copies : x.row_copies) = pieces;
  for (int piece = 0; piece < pieces; ++piece) {
    std::int64_t const begin = boundaries[static_cast<std::size_t>(piece)];
    std::int64_t const size = boundaries[static_cast<std::size_t>(piece) + 1] - begin;
    scan_step step;
    step.where = row_major ? block{where, begin, 0, size, x.cols} : block{where, 0, begin, x.rows, size};
    step.of_rows = x.of_rows(row_major ? 0 : piece) + (row_major ? begin : 0);
    step.of_cols = x.of_cols(row_major ? piece : 0) + (row_major ? 0 : begin);
    cost costs;
    costs.bytes = bytes * static_cast<double>(size) / static_cast<double>(boundaries.back());
    costs.seconds = price.pass(costs.bytes, bytes);
    std::string const label = pieces == 1 ? "" : " [" + std::to_string(piece + 1) + "/" + std::to_string(pieces) + "]";
    g.tasks.push_back({"scan " + (name + label), step, {{step.where, access_mode::read}}, costs});
  }
}

}  // namespace

scan_graph build_scan_graph(plan const& how, machine_profile const& machine) {
  scan_graph scan;
  problem const& shape = how.shape;
  graph& g = scan.work;
  prices const price(how.type, machine);
  g.type = how.type;
  g.m = shape.m, g.n = shape.n, g.k = shape.k;
  scan.A.rows = shape.m, scan.A.cols = scan.B.rows = shape.k, scan.B.cols = shape.n;
  add_operand(scan, scan.A, "A", space_A, shape.a_row_major, how.workers, price);
  scan.B.first = scan.A.end();
  add_operand(scan, scan.B, "B", space_B, shape.b_row_major, how.workers, price);
  int left = static_cast<int>(g.tasks.size());
  for (task& t : g.tasks) t.priority = left--;
  return scan;
}

}  // namespace heptad
