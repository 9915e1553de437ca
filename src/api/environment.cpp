// SPDX-License-Identifier: BSD-3-Clause
// The environment variables and the values that each may have.
#include "src/api/environment.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <string_view>
#include <variant>

#include "codelets/cpu/kernel_set.hpp"
#include "schedulers/starpu/backend.hpp"
#include "src/algorithm/algorithm.hpp"
#include "src/api/arguments.hpp"
#include "src/process/lasting.hpp"

namespace heptad {
namespace {

[[noreturn]] void reject_variable(char const* name, std::string_view value, std::string_view rule) {
  throw error(status::invalid_argument, fmt::format("{} = '{}' must be {}", name, value, rule));
}

template <typename Number>
std::optional<Number> parse_number(std::string_view text) {
  Number value{};
  auto const [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

constexpr int any = std::numeric_limits<int>::max();

template <int Most = any>
int parse_count(char const* name, std::string_view text) {
  auto const value = parse_number<int>(text);
  if (!value || *value < 0 || *value > Most)
    reject_variable(name, text, "an integer of at least 0" + (Most == any ? "" : fmt::format(" and at most {}", Most)));
  return *value;
}

bool parse_switch(char const* name, std::string_view text) {
  if (text != "0" && text != "1") reject_variable(name, text, "0 or 1");
  return text == "1";
}

double parse_max_error(char const* name, std::string_view text) {
  auto const value = parse_number<double>(text);
  if (!value || !(*value >= 1) || !std::isfinite(*value)) reject_variable(name, text, "a number of at least 1");
  return *value;
}

std::size_t parse_workspace(char const* name, std::string_view text) {
  auto const value = parse_bytes(text);
  if (!value) reject_variable(name, text, bytes_rule);
  return *value;
}

scheduler_kind parse_scheduler(char const* name, std::string_view text) {
  if (text == "tbb") return scheduler_kind::tbb;
  if (text == "sequential") return scheduler_kind::sequential;
  if (text == "starpu") return scheduler_kind::starpu;
  reject_variable(name, text, "tbb, sequential or starpu");
}

std::string parse_kernel(char const* name, std::string_view text) {
  if (text == "auto") return "auto";
  for (auto const* set : cpu::kernel_sets<double>())
    if (set->available() && text == set->name) return set->name;
  reject_variable(name, text, kernel_rule());
}

/// What `follow` throws names the variable too.
template <typename Follow>
void named(char const* name, std::string_view value, Follow const& follow) {
  try {
    follow();
  } catch (error const& wrong) {
    throw error(wrong.code(), fmt::format("{} = '{}': {}", name, value, wrong.what()));
  }
}

}  // namespace

std::optional<std::size_t> parse_bytes(std::string_view text) {
  constexpr std::string_view suffixes = "kKmMgG";
  std::size_t const suffix = text.empty() ? suffixes.npos : suffixes.find(text.back());
  int const shift = suffix == suffixes.npos ? 0 : 10 * (1 + static_cast<int>(suffix / 2));
  if (shift > 0) text.remove_suffix(1);
  auto const value = parse_number<std::size_t>(text);
  if (!value || *value > (std::numeric_limits<std::size_t>::max() >> shift)) return std::nullopt;
  return *value << shift;
}

std::string kernel_rule() {
  std::string rule = "auto";
  for (auto const* set : cpu::kernel_sets<double>())
    if (set->available()) rule += fmt::format(" or {}", set->name);
  return rule + " on this processor";
}

environment parse_environment(std::function<char const*(char const*)> const& get) {
  environment result;
  auto const read = [&get](char const* name, auto parse, auto& into) {
    if (char const* value = get(name); value != nullptr && *value != '\0') into = parse(name, value);
  };
  read("HEPTAD_NUM_THREADS", parse_count<most_threads>, result.threads);
  read("HEPTAD_SCHEDULER", parse_scheduler, result.defaults.scheduler);
  read("HEPTAD_MAX_LEVELS", parse_count<>, result.defaults.max_levels);
  read("HEPTAD_FORCE_LEVELS", parse_count<>, result.defaults.force_levels);
  read("HEPTAD_MAX_ERROR", parse_max_error, result.defaults.max_error);
  read("HEPTAD_MAX_WORKSPACE", parse_workspace, result.defaults.max_workspace);
  read("HEPTAD_KERNEL", parse_kernel, result.defaults.kernel);
  read("HEPTAD_VERBOSE", parse_switch, result.verbose);
  auto const path = [](char const*, char const* value) { return std::string(value); };
  read("HEPTAD_ALGORITHMS", path, result.algorithms);
  read("HEPTAD_TRACE", path, result.trace);
  return result;
}

void apply(environment const& env) {
  if (!env.algorithms.empty()) named("HEPTAD_ALGORITHMS", env.algorithms, [&] { add_algorithms(env.algorithms); });
}

options const& usable_defaults(environment const& env) {
  if (env.defaults.scheduler == scheduler_kind::starpu)
    named("HEPTAD_SCHEDULER", "starpu", [] { (void)find_starpu_backend(); });
  return env.defaults;
}

environment const& process_environment() {
  using result = std::variant<environment, error>;
  static constinit lasting<result const> once;
  result const& parsed = once.get([]() -> result {
    try {
      environment all = parse_environment([](char const* name) { return std::getenv(name); });
      apply(all);
      return all;
    } catch (error const& wrong) {
      return wrong;
    }
  });
  if (auto const* wrong = std::get_if<error>(&parsed)) throw *wrong;
  return std::get<environment>(parsed);
}

options with_defaults(options wishes, options const& defaults) {
  options const untouched;
  auto const fill = [&](auto field) {
    if (wishes.*field == untouched.*field) wishes.*field = defaults.*field;
  };
  fill(&options::max_error);
  fill(&options::guaranteed);
  fill(&options::max_workspace);
  fill(&options::max_levels);
  fill(&options::force_levels);
  fill(&options::algorithm);
  fill(&options::deterministic);
  fill(&options::scheduler);
  fill(&options::kernel);
  fill(&options::scaling);
  fill(&options::check);
  fill(&options::refine);
  return wishes;
}

}  // namespace heptad
