// SPDX-License-Identifier: BSD-3-Clause
// Every environment variable with good and bad values.
#include "src/api/environment.hpp"

#include <dlfcn.h>

#include <catch2/catch.hpp>
#include <map>
#include <string>

#include "codelets/cpu/kernel_set.hpp"

namespace {

heptad::environment parse(std::map<std::string, std::string> const& variables) {
  return heptad::parse_environment([&](char const* name) {
    auto const found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

}  // namespace

TEST_CASE("without variables the environment is the defaults") {
  heptad::environment const env = parse({});
  CHECK(env.threads == 0);
  CHECK(env.defaults == heptad::options{});
  CHECK_FALSE(env.verbose);
  CHECK(env.trace.empty());
}

TEST_CASE("good values are taken") {
  CHECK(parse({{"HEPTAD_NUM_THREADS", "12"}}).threads == 12);
  CHECK(parse({{"HEPTAD_NUM_THREADS", "0"}}).threads == 0);
  CHECK(parse({{"HEPTAD_NUM_THREADS", "16384"}}).threads == 16384);
  CHECK(parse({{"HEPTAD_SCHEDULER", "sequential"}}).defaults.scheduler == heptad::scheduler_kind::sequential);
  CHECK(parse({{"HEPTAD_SCHEDULER", "tbb"}}).defaults.scheduler == heptad::scheduler_kind::tbb);
  CHECK(parse({{"HEPTAD_MAX_LEVELS", "0"}}).defaults.max_levels == 0);
  CHECK(parse({{"HEPTAD_FORCE_LEVELS", "3"}}).defaults.force_levels == 3);
  CHECK(parse({{"HEPTAD_MAX_ERROR", "12.5"}}).defaults.max_error == 12.5);
  CHECK(parse({{"HEPTAD_MAX_WORKSPACE", "0"}}).defaults.max_workspace == 0u);
  CHECK(parse({{"HEPTAD_MAX_WORKSPACE", "123"}}).defaults.max_workspace == 123u);
  CHECK(parse({{"HEPTAD_MAX_WORKSPACE", "3k"}}).defaults.max_workspace == 3072u);
  CHECK(parse({{"HEPTAD_MAX_WORKSPACE", "3K"}}).defaults.max_workspace == 3072u);
  CHECK(parse({{"HEPTAD_MAX_WORKSPACE", "2m"}}).defaults.max_workspace == 2u << 20);
  CHECK(parse({{"HEPTAD_MAX_WORKSPACE", "5g"}}).defaults.max_workspace == std::size_t{5} << 30);
  CHECK(parse({{"HEPTAD_MAX_WORKSPACE", "2M"}}).defaults.max_workspace == 2u << 20);
  CHECK(parse({{"HEPTAD_MAX_WORKSPACE", "5G"}}).defaults.max_workspace == std::size_t{5} << 30);
  CHECK(parse({{"HEPTAD_VERBOSE", "1"}}).verbose);
  CHECK_FALSE(parse({{"HEPTAD_VERBOSE", "0"}}).verbose);
  CHECK(parse({{"HEPTAD_TRACE", "a file.json"}}).trace == "a file.json");
  CHECK(parse({{"HEPTAD_ALGORITHMS", "a directory"}}).algorithms == "a directory");
  CHECK(parse({{"HEPTAD_KERNEL", "auto"}}).defaults.kernel == "auto");
  char const* const best = heptad::cpu::best_kernel_set<double>().name;
  CHECK(parse({{"HEPTAD_KERNEL", best}}).defaults.kernel == best);
}

TEST_CASE("an empty variable is as good as none") {
  std::map<std::string, std::string> variables;
  for (char const* name :
       {"HEPTAD_NUM_THREADS", "HEPTAD_SCHEDULER", "HEPTAD_MAX_LEVELS", "HEPTAD_FORCE_LEVELS", "HEPTAD_MAX_ERROR",
        "HEPTAD_MAX_WORKSPACE", "HEPTAD_KERNEL", "HEPTAD_VERBOSE", "HEPTAD_ALGORITHMS", "HEPTAD_TRACE"})
    variables[name] = "";
  heptad::environment const env = parse(variables);
  CHECK(env.threads == 0);
  CHECK(env.defaults == heptad::options{});
  CHECK_FALSE(env.verbose);
  CHECK(env.algorithms.empty());
  CHECK(env.trace.empty());
}

TEST_CASE("a bad value is an error that names the variable and the value") {
  auto const [name, value] = GENERATE(table<std::string, std::string>({
      {"HEPTAD_NUM_THREADS", "-1"},    {"HEPTAD_NUM_THREADS", "two"},   {"HEPTAD_NUM_THREADS", "2 "},
      {"HEPTAD_NUM_THREADS", "16385"}, {"HEPTAD_NUM_THREADS", "99999"}, {"HEPTAD_NUM_THREADS", "99999999999"},
      {"HEPTAD_SCHEDULER", "TBB"},     {"HEPTAD_MAX_LEVELS", "-1"},     {"HEPTAD_MAX_LEVELS", "1.5"},
      {"HEPTAD_FORCE_LEVELS", "x"},    {"HEPTAD_MAX_ERROR", "0.99"},    {"HEPTAD_MAX_ERROR", "nan"},
      {"HEPTAD_MAX_ERROR", "10x"},     {"HEPTAD_MAX_ERROR", "inf"},     {"HEPTAD_MAX_ERROR", "-inf"},
      {"HEPTAD_MAX_LEVELS", "inf"},    {"HEPTAD_MAX_WORKSPACE", "k"},   {"HEPTAD_MAX_WORKSPACE", "-1"},
      {"HEPTAD_MAX_WORKSPACE", "1T"},  {"HEPTAD_MAX_WORKSPACE", "1kk"}, {"HEPTAD_MAX_WORKSPACE", "99999999999999G"},
      {"HEPTAD_VERBOSE", "yes"},       {"HEPTAD_KERNEL", "abacus"},
  }));
  try {
    parse({{name, value}});
    FAIL(name << " = '" << value << "' was taken");
  } catch (heptad::error const& e) {
    CHECK(e.code() == heptad::status::invalid_argument);
    CHECK(std::string(e.what()).starts_with(name + " = '" + value + "' must be "));
  }
}

TEST_CASE("algorithms that cannot be read are an error that names the variable and the value") {
  heptad::environment env;
  heptad::apply(env);
  env.algorithms = "no/such/folder";
  CHECK_THROWS_WITH(heptad::apply(env),
                    "HEPTAD_ALGORITHMS = 'no/such/folder': no/such/folder: No such file or directory");
}

TEST_CASE("StarPU asked for where its library is missing is an error that names the variable") {
  if (dlopen(HEPTAD_STARPU_LIBRARY, RTLD_LAZY | RTLD_LOCAL) != nullptr) {
    WARN("skipped: " HEPTAD_STARPU_LIBRARY " is on the library path");
    return;
  }
  heptad::environment env;
  env.defaults.scheduler = heptad::scheduler_kind::starpu;
  CHECK_THROWS_WITH(heptad::usable_defaults(env),
                    Catch::StartsWith("HEPTAD_SCHEDULER = 'starpu': scheduler = starpu needs " HEPTAD_STARPU_LIBRARY));
  CHECK_NOTHROW(heptad::apply(env));  // contexts that take no defaults from it
}

TEST_CASE("an option that is set wins over the environment, one at its default does not") {
  heptad::options from_environment;
  from_environment.max_levels = 2;
  from_environment.max_error = 7;
  heptad::options set;
  set.max_levels = 1;
  heptad::options const both = heptad::with_defaults(set, from_environment);
  CHECK(both.max_levels == 1);
  CHECK(both.max_error == 7);
  CHECK(both.kernel == "auto");
}
