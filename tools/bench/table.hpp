// SPDX-License-Identifier: BSD-3-Clause
// The bench on the terminal: the table on stdout, a row a case, and what is being done on stderr.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "tools/bench/measure.hpp"

namespace heptad::bench {

/// One status line, rewritten in place on a terminal; elsewhere a line every few seconds.
class status_line {
public:
  status_line();
  ~status_line();
  void show(std::string const& text);
  void clear();
  /// A line that stays.
  void note(std::string const& text);

private:
  bool terminal_;
  std::chrono::steady_clock::time_point shown_;
};

class table {
public:
  /// libraries: column order, Heptad first.
  explicit table(std::vector<std::string> libraries) : libraries_(std::move(libraries)) {}
  void print_header() const;
  void print_row(gemm_case const& what, std::vector<measured> const& results) const;

private:
  std::vector<std::string> libraries_;
};

}  // namespace heptad::bench
