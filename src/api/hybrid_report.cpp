// SPDX-License-Identifier: BSD-3-Clause
// What a shared product did, in words.
#include <fmt/format.h>

#include <string>

#include <heptad/hybrid.hpp>

namespace heptad::hybrid {

std::string explain(report const& what) {
  std::string text = fmt::format("{:.3f} ms, {:.1f} GFLOP/s; predicted {:.3f} ms; planning {:.3f} ms; operands {}\n",
                                 what.seconds * 1e3, what.gflops, what.predicted_seconds * 1e3,
                                 what.planning_seconds * 1e3, what.pinned ? "pinned" : "pageable");
  for (part const& p : what.parts) {
    text +=
        fmt::format("{:<28}{:6.2f} % of C ({} x {} at {}, {}): {:.3f} to {:.3f} ms, predicted {:.3f}; {:.1f} GFLOP/s",
                    p.who, 100 * p.share, p.rows, p.cols, p.row, p.col, p.begin_seconds * 1e3,
                    (p.begin_seconds + p.seconds) * 1e3, p.predicted_seconds * 1e3, p.gflops);
    if (p.bytes_in > 0)
      text += fmt::format("; {} bytes in, {} out, {:.0f} % of that beside products", p.bytes_in, p.bytes_out,
                          100 * p.overlap);
    text += fmt::format("; {}\n", p.how);
    if (!p.failure.empty()) text += fmt::format("{:<28}failed, and the CPU took over: {}\n", "", p.failure);
  }
  for (std::string const& why : what.absent) text += fmt::format("{:<28}took no part: {}\n", "", why);
  return text;
}

}  // namespace heptad::hybrid
