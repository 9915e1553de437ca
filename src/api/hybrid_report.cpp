// SPDX-License-Identifier: BSD-3-Clause
// What a shared product did, or would do, in words.
#include <fmt/format.h>

#include <string>
#include <vector>

#include <heptad/hybrid.hpp>

namespace heptad::hybrid {

namespace {

std::string block_of(part const& p) {
  return fmt::format("{:<28}{:6.2f} % of C ({} x {} at {}, {})", p.who, 100 * p.share, p.rows, p.cols, p.row, p.col);
}

std::string in_words(std::vector<std::string> const& absent) {
  std::string text;
  for (std::string const& why : absent) text += fmt::format("{:<28}took no part: {}\n", "", why);
  return text;
}

}  // namespace

std::string explain(plan const& what) {
  problem const& x = what.shape;
  std::string text =
      fmt::format("{} {} x {} x {} (m x n x k){}, operands {}: predicted {:.3f} ms",
                  what.type == element_type::f64 ? "dgemm" : "sgemm", x.m, x.n, x.k, x.beta_zero ? ", beta = 0" : "",
                  what.pinned ? "pinned" : "pageable", what.predicted_seconds * 1e3);
  if (what.alone_seconds > 0)
    text += fmt::format("; the fastest participant alone {:.3f} ms", what.alone_seconds * 1e3);
  text += '\n';
  for (part const& p : what.parts)
    text += fmt::format("{}: predicted {:.3f} ms; {}\n", block_of(p), p.predicted_seconds * 1e3, p.how);
  return text + in_words(what.absent);
}

std::string explain(report const& what) {
  std::string text = fmt::format("{:.3f} ms, {:.1f} GFLOP/s; predicted {:.3f} ms; planning {:.3f} ms; operands {}\n",
                                 what.seconds * 1e3, what.gflops, what.predicted_seconds * 1e3,
                                 what.planning_seconds * 1e3, what.pinned ? "pinned" : "pageable");
  for (part const& p : what.parts) {
    text += fmt::format("{}: {:.3f} to {:.3f} ms, predicted {:.3f}; {:.1f} GFLOP/s", block_of(p), p.begin_seconds * 1e3,
                        (p.begin_seconds + p.seconds) * 1e3, p.predicted_seconds * 1e3, p.gflops);
    if (p.bytes_in > 0)
      text += fmt::format("; {} bytes in, {} out, {:.0f} % of that beside products", p.bytes_in, p.bytes_out,
                          100 * p.overlap);
    text += fmt::format("; {}\n", p.how);
    if (!p.failure.empty()) text += fmt::format("{:<28}failed, and the CPU took over: {}\n", "", p.failure);
  }
  return text + in_words(what.absent);
}

}  // namespace heptad::hybrid
