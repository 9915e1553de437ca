// SPDX-License-Identifier: BSD-3-Clause
#include "tasks/scan_graph.hpp"

#include <algorithm>
#include <string>
#include <variant>
#include <vector>

#include "src/algorithm/algorithm.hpp"
#include "src/plan/prices.hpp"
#include "tasks/cut.hpp"

namespace heptad {
namespace {

// Two pieces a worker and operand balance; less than this is not worth a task.
constexpr int pieces_per_worker = 2;
constexpr double least_piece_bytes = 1 << 20;

/// Which blocks of an operand the opening passes read, by the outermost level.
class block_cover {
public:
  block_cover(int space, std::int64_t rows, std::int64_t cols, int block_rows, int block_cols)
      : space_(space),
        height_(rows / block_rows),
        width_(cols / block_cols),
        cols_(block_cols),
        read_(static_cast<std::size_t>(block_rows * block_cols), false) {}

  void read(combine_step const& pass) {
    for (block const& x : pass.sources)
      if (x.space == space_) read_[static_cast<std::size_t>(x.row / height_ * cols_ + x.col / width_)] = true;
  }

  template <typename Visit>
  void each_unread(Visit visit) const {
    for (std::size_t i = 0; i < read_.size(); ++i) {
      auto const row = static_cast<std::int64_t>(i) / cols_, col = static_cast<std::int64_t>(i) % cols_;
      if (!read_[i]) visit(block{space_, row * height_, col * width_, height_, width_});
    }
  }

private:
  int space_;
  std::int64_t height_, width_, cols_;
  std::vector<bool> read_;
};

class scan_builder {
public:
  scan_builder(plan const& how, machine_profile const& machine) : how_(how), price_(how.type, machine) {
    scan_.work.type = how.type;
    scan_.work.m = how.shape.m, scan_.work.n = how.shape.n, scan_.work.k = how.shape.k;
  }

  /// Tasks for pieces of a part of A or B, of whole lines, and of what of it is there.
  void look_at(block part) {
    block const all = whole(part.space);
    part.rows = std::min(part.rows, all.rows - part.row);
    part.cols = std::min(part.cols, all.cols - part.col);
    if (part.rows <= 0 || part.cols <= 0) return;
    bool const in_A = part.space == space_A, row_major = in_A ? how_.shape.a_row_major : how_.shape.b_row_major;
    double const operand = bytes(all);
    auto const most =
        static_cast<std::int64_t>(std::min<double>(pieces_per_worker * how_.workers, bytes(part) / least_piece_bytes));
    auto const boundaries = cut(row_major ? part.rows : part.cols, most);
    for (std::size_t i = 0; i + 1 < boundaries.size(); ++i) {
      std::int64_t const begin = boundaries[i], size = boundaries[i + 1] - begin;
      scan_step const step{row_major ? part.sub(begin, 0, size, part.cols) : part.sub(0, begin, part.rows, size)};
      cost costs;
      costs.bytes = bytes(step.where);
      costs.seconds = price_.scan(costs.bytes, operand);
      std::string const number = std::to_string(++(in_A ? pieces_of_A_ : pieces_of_B_));
      scan_.work.tasks.push_back(
          {std::string("scan ") + (in_A ? "A " : "B ") + number, step, {{step.where, access_mode::read}}, costs});
    }
  }

  void open(graph const& product) {
    if (how_.levels.empty() || how_.levels.front().kind == level_kind::fused) return everything();
    algorithm const& level = *how_.levels.front().coefficients;
    block_cover A(space_A, how_.core_m, how_.core_k, level.m, level.k);
    block_cover B(space_B, how_.core_k, how_.core_n, level.k, level.n);
    auto const opens = [&](combine_step const* pass) {
      if (pass == nullptr || !pass->opening) return false;
      A.read(*pass);
      B.read(*pass);
      return true;
    };
    bool const in_tasks = how_.levels.front().kind == level_kind::task;
    for (task const& t : product.tasks) {
      bool found = in_tasks && opens(std::get_if<combine_step>(&t.body));
      if (auto const* const serial = std::get_if<sequence_step>(&t.body); serial != nullptr && !in_tasks)
        for (step const& each : product.sequences[static_cast<std::size_t>(serial->sequence)].steps)
          found |= opens(std::get_if<combine_step>(&each));
      if (!found) continue;
      task& opening = scan_.work.tasks.emplace_back(t);
      std::erase_if(opening.accesses, [](access const& x) { return x.where.space == space_C; });
      if (!in_tasks) opening.cost = {};  // of the whole product; looking on the way is all but free
    }
    scan_.work.buffers = product.buffers;
    A.each_unread([this](block const& x) { look_at(x); });
    B.each_unread([this](block const& x) { look_at(x); });
    problem const& x = how_.shape;
    look_at({space_A, how_.core_m, 0, x.m - how_.core_m, x.k});
    look_at({space_A, 0, how_.core_k, how_.core_m, x.k - how_.core_k});
    look_at({space_B, how_.core_k, 0, x.k - how_.core_k, x.n});
    look_at({space_B, 0, how_.core_n, how_.core_k, x.n - how_.core_n});
  }

  void everything() {
    look_at(whole(space_A));
    look_at(whole(space_B));
  }

  scan_graph take() && {
    int left = static_cast<int>(scan_.work.tasks.size());
    scan_.copies = std::clamp(left, 1, how_.workers);
    for (task& t : scan_.work.tasks) t.priority = left--;
    return std::move(scan_);
  }

private:
  [[nodiscard]] block whole(int space) const {
    problem const& x = how_.shape;
    return space == space_A ? block{space_A, 0, 0, x.m, x.k} : block{space_B, 0, 0, x.k, x.n};
  }
  [[nodiscard]] double bytes(block const& x) const {
    return static_cast<double>(x.rows) * static_cast<double>(x.cols) * price_.element_bytes();
  }

  plan const& how_;
  prices const price_;
  scan_graph scan_;
  int pieces_of_A_ = 0, pieces_of_B_ = 0;
};

}  // namespace

scan_graph build_scan_graph(plan const& how, machine_profile const& machine) {
  scan_builder builder(how, machine);
  builder.everything();
  return std::move(builder).take();
}

scan_graph build_opening_graph(plan const& how, machine_profile const& machine, graph const& product) {
  scan_builder builder(how, machine);
  builder.open(product);
  return std::move(builder).take();
}

}  // namespace heptad
