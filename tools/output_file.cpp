// SPDX-License-Identifier: BSD-3-Clause
#include "tools/output_file.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include <heptad/heptad.hpp>

#include "src/plan/replace_file.hpp"

namespace heptad::tools {
namespace {

[[noreturn]] void refuse(std::string const& path) {
  std::string const why = std::strerror(errno);
  throw error(status::invalid_argument, fmt::format("{} cannot be written: {}", path, why));
}

}  // namespace

void require_writable(std::string const& path) {
  if (!path.empty() && !can_replace_file(path)) refuse(path);
}

void write_output(std::string const& path, std::initializer_list<std::string_view> pieces) {
  std::fflush(stdout);  // which may be the path
  if (!replace_file(path, pieces)) refuse(path);
}

}  // namespace heptad::tools
