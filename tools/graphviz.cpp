// SPDX-License-Identifier: BSD-3-Clause
// Graphviz reads from and writes into files that have no name: nothing of the user's is in the way.
#include "tools/graphviz.hpp"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <memory>

#include <heptad/heptad.hpp>

namespace heptad::tools {
namespace {

using unnamed_file = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

bool write(std::string const& text, std::FILE* file) {
  bool const written = std::fwrite(text.data(), 1, text.size(), file) == text.size() && std::fflush(file) == 0;
  std::rewind(file);
  return written;
}

std::string read(std::FILE* file) {
  std::fseek(file, 0, SEEK_END);
  std::string text(static_cast<std::size_t>(std::max(std::ftell(file), 0L)), '\0');
  std::rewind(file);
  text.resize(std::fread(text.data(), 1, text.size(), file));
  return text;
}

/// 0, or why Graphviz did not draw.
int draw(std::FILE* graph, std::FILE* picture) {
  posix_spawn_file_actions_t streams;
  posix_spawn_file_actions_init(&streams);
  posix_spawn_file_actions_adddup2(&streams, fileno(graph), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&streams, fileno(picture), STDOUT_FILENO);
  std::string command[] = {"dot", "-Tsvg"};
  char* arguments[] = {command[0].data(), command[1].data(), nullptr};
  pid_t drawer = 0;
  int const failure = posix_spawnp(&drawer, arguments[0], &streams, nullptr, arguments, environ);
  posix_spawn_file_actions_destroy(&streams);
  if (failure != 0) return failure;
  int result = 0;
  return waitpid(drawer, &result, 0) == drawer && result == 0 ? 0 : EIO;
}

}  // namespace

std::string drawn_by_graphviz(std::string const& graph, std::string const& svg) {
  unnamed_file const in(std::tmpfile(), std::fclose), out(std::tmpfile(), std::fclose);
  int const failure = in && out && write(graph, in.get()) ? draw(in.get(), out.get()) : errno;
  if (failure == ENOENT)
    throw error(status::invalid_argument, fmt::format("{}: Graphviz, which draws it, is not installed", svg));
  std::string picture = failure == 0 ? read(out.get()) : "";
  if (picture.empty())
    throw error(status::invalid_argument, fmt::format("{} could not be drawn by Graphviz (dot)", svg));
  return picture;
}

}  // namespace heptad::tools
