// SPDX-License-Identifier: BSD-3-Clause
#include "tools/bench/table.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "src/api/median.hpp"

namespace heptad::bench {
namespace {

// How often a log that is no terminal hears what is being done.
constexpr std::chrono::seconds log_interval{5};

std::string speed(gemm_case const& what, measured const& result) {
  if (!result.failure.empty() || result.seconds.empty()) return "failed";
  if (!result.check.passed()) return "WRONG";
  return fmt::format("{:.1f}", what.flops() / result.median_seconds() * 1e-9);
}

// "t:winograd f:strassen", or "classical".
std::string levels(nlohmann::json const& last_call) {
  std::string text;
  for (auto const& level : last_call.at("plan").at("levels"))
    text += fmt::format("{}{}:{}", text.empty() ? "" : " ", level.at("kind").get<std::string>().substr(0, 1),
                        level.at("algorithm").get<std::string>());
  return text.empty() ? "classical" : text;
}

}  // namespace

status_line::status_line() : terminal_(isatty(STDERR_FILENO) != 0), shown_(std::chrono::steady_clock::now()) {}
status_line::~status_line() { clear(); }

void status_line::show(std::string const& text) {
  if (terminal_) {
    fmt::print(stderr, "\r\033[K{}", text.substr(0, 100));
    std::fflush(stderr);
  } else if (auto const now = std::chrono::steady_clock::now(); now - shown_ > log_interval) {
    fmt::print(stderr, "  {}\n", text);
    shown_ = now;
  }
}

void status_line::clear() {
  if (terminal_) fmt::print(stderr, "\r\033[K");
  std::fflush(stderr);
}

void status_line::note(std::string const& text) {
  clear();
  fmt::print(stderr, "{}\n", text);
}

void table::print_header() const {
  fmt::print(
      "GFLOP/s are 2mnk / seconds; ratio is the best peer's time over Heptad's; levels t: task, e: explicit, f: "
      "fused\n");
  fmt::print("{:4} {:>7} {:>16}", "type", "threads", "m x n x k");
  for (std::string const& name : libraries_) fmt::print(" {:>9}", name);
  fmt::print(" {:>6} {:>9} {:>9} {:>6}  {}\n", "ratio", "error", "workspace", "idle", "levels");
  std::fflush(stdout);
}

void table::print_row(gemm_case const& what, std::vector<measured> const& results) const {
  fmt::print("{:4} {:7} {:>16}", what.type, what.threads, what.shape());
  for (measured const& result : results) fmt::print(" {:>9}", speed(what, result));
  auto const value = ratio(results);
  measured const& own = results.front();
  fmt::print(" {:>6} {:>9.1e}", value ? fmt::format("{:.3f}", *value) : "-", own.check.max_error);
  if (!own.last_call.is_null())
    fmt::print(" {:>6} MB {:>5.1f}%  {}", own.last_call.at("workspace").get<std::size_t>() >> 20,
               100 * (own.idle.empty() ? 0.0 : median(own.idle)), levels(own.last_call));
  fmt::print("\n");
  for (measured const& result : results)
    if (!result.failure.empty()) fmt::print("     {} failed: {}\n", result.library, result.failure);
  std::fflush(stdout);
}

}  // namespace heptad::bench
