// SPDX-License-Identifier: BSD-3-Clause
#include "tools/bench/worker_process.hpp"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <utility>

extern char** environ;

namespace heptad::bench {
namespace {

// The caller's settings of threads and kernels would steer the libraries unequally.
bool steers_a_library(std::string_view name) {
  for (std::string_view const prefix : {"OMP_", "GOMP_", "KMP_", "MKL_", "OPENBLAS_", "GOTO_", "BLIS_"})
    if (name.starts_with(prefix)) return true;
  return false;
}

environment worker_environment(contestant const& who, int threads) {
  environment result;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    std::string_view const text = *entry;
    std::size_t const equals = text.find('=');
    if (equals != std::string_view::npos && !steers_a_library(text.substr(0, equals)))
      result.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  std::string const count = std::to_string(threads);
  result["OMP_NUM_THREADS"] = result["OPENBLAS_NUM_THREADS"] = result["BLIS_NUM_THREADS"] = count;
  result["MKL_NUM_THREADS"] = count;
  result["MKL_DYNAMIC"] = result["OMP_DYNAMIC"] = "FALSE";
  result["MKL_THREADING_LAYER"] = "GNU";
  result["MKL_INTERFACE_LAYER"] = "LP64";
  for (auto const& [name, value] : who.settings) result[name] = value;
  return result;
}

std::vector<std::string> worker_arguments(contestant const& who, int threads, int descriptor) {
  std::vector<std::string> arguments{"heptad",    "bench-worker",          "--library", who.name,
                                     "--threads", std::to_string(threads), "--channel", std::to_string(descriptor)};
  if (!who.path.empty()) arguments.insert(arguments.end(), {"--path", who.path});
  if (who.name == "heptad") arguments.insert(arguments.end(), {"--own", nlohmann::json(who.own).dump()});
  return arguments;
}

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> result;
  for (std::string& text : strings) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

pid_t start(contestant const& who, int threads, int descriptor) {
  constexpr int child_descriptor = 3;
  std::vector<std::string> arguments = worker_arguments(who, threads, child_descriptor);
  std::vector<std::string> variables;
  for (auto const& [name, value] : worker_environment(who, threads))
    variables.push_back(fmt::format("{}={}", name, value));

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, descriptor, child_descriptor);  // the copy survives exec
  posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);  // stdout is the bench's table
  pid_t process = -1;
  int const failure = posix_spawn(&process, "/proc/self/exe", &actions, nullptr, pointers(arguments).data(),
                                  pointers(variables).data());
  posix_spawn_file_actions_destroy(&actions);
  if (failure != 0)
    throw std::system_error(failure, std::generic_category(), "cannot start the worker for " + who.name);
  return process;
}

}  // namespace

worker_process::worker_process(contestant const& who, int threads) : name_(who.name) {
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
    throw std::system_error(errno, std::generic_category(), "socketpair");
  line_.emplace_back(ends[0]);
  try {
    process_ = start(who, threads, ends[1]);
  } catch (...) {
    close(ends[1]);
    throw;
  }
  close(ends[1]);
  try {
    nlohmann::json const introduction = line_.front().receive();
    if (introduction.contains("error")) throw std::runtime_error(introduction.at("error").get<std::string>());
    info_ = introduction.get<library_info>();
  } catch (...) {
    line_.clear();
    waitpid(process_, nullptr, 0);
    throw;
  }
}

worker_process::worker_process(worker_process&& other) noexcept
    : name_(std::move(other.name_)),
      process_(std::exchange(other.process_, -1)),
      line_(std::move(other.line_)),
      info_(std::move(other.info_)) {}

worker_process::~worker_process() {
  line_.clear();  // end of file: the worker leaves
  if (process_ > 0) waitpid(process_, nullptr, 0);
}

nlohmann::json worker_process::ask(nlohmann::json const& request) {
  try {
    line_.front().send(request);
    nlohmann::json answer = line_.front().receive();
    if (answer.contains("error")) throw std::runtime_error(answer.at("error").get<std::string>());
    return answer;
  } catch (std::exception const& reason) {
    throw std::runtime_error(fmt::format("{}: {}", name_, reason.what()));
  }
}

verdict worker_process::prepare(gemm_case const& what) {
  return ask({{"do", "prepare"}, {"case", what}}).at("check").get<verdict>();
}

worker_process::timing worker_process::run(double seconds) {
  return ask({{"do", "run"}, {"seconds", seconds}}).get<timing>();
}

nlohmann::json worker_process::finish() { return ask({{"do", "finish"}}); }

}  // namespace heptad::bench
