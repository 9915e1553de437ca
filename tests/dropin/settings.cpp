// SPDX-License-Identifier: BSD-3-Clause
// Every variable of the drop-in with good and bad values.
#include "blas/settings.hpp"

#include <catch2/catch.hpp>
#include <map>
#include <string>

namespace {

using heptad::blas::routine_id;

heptad::blas::settings parse(std::map<std::string, std::string> const& variables) {
  return heptad::blas::parse_settings([&](char const* name) {
    auto const found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

}  // namespace

TEST_CASE("without variables every routine is allowed from a size of 1024 on") {
  auto const how = parse({});
  CHECK_FALSE(how.disabled);
  CHECK_FALSE(how.verbose);
  CHECK_FALSE(how.own_threads);
  CHECK_FALSE(how.forced_levels);
  CHECK(how.min_size == 1024);
  CHECK(how.backend.empty());
  CHECK(how.threads == 0);
  CHECK(how.allows<double>(routine_id::gemm));
  CHECK(how.allows<float>(routine_id::gesv));
}

TEST_CASE("good values are taken") {
  CHECK(parse({{"HEPTAD_BLAS_DISABLE", "1"}}).disabled);
  CHECK_FALSE(parse({{"HEPTAD_BLAS_DISABLE", "0"}}).disabled);
  CHECK(parse({{"HEPTAD_BLAS_MIN_SIZE", "0"}}).min_size == 0);
  CHECK(parse({{"HEPTAD_BLAS_MIN_SIZE", "4096"}}).min_size == 4096);
  CHECK(parse({{"HEPTAD_BLAS_BACKEND", "/a/blas.so"}}).backend == "/a/blas.so");
  CHECK(parse({{"HEPTAD_VERBOSE", "1"}}).verbose);
  CHECK(parse({{"HEPTAD_NUM_THREADS", "3"}}).own_threads);
  CHECK(parse({{"HEPTAD_FORCE_LEVELS", "0"}}).forced_levels);
}

TEST_CASE("a list of routines allows both types by a name, one by its letter, and no other routine") {
  auto const how = parse({{"HEPTAD_BLAS_ROUTINES", "gemm,dsyrk,sgetrf"}});
  CHECK(how.allows<double>(routine_id::gemm));
  CHECK(how.allows<float>(routine_id::gemm));
  CHECK(how.allows<double>(routine_id::syrk));
  CHECK_FALSE(how.allows<float>(routine_id::syrk));
  CHECK_FALSE(how.allows<double>(routine_id::getrf));
  CHECK(how.allows<float>(routine_id::getrf));
  CHECK_FALSE(how.allows<double>(routine_id::syr2k));
  CHECK(parse({{"HEPTAD_BLAS_ROUTINES", "all"}}).allows<double>(routine_id::trsm));
}

TEST_CASE("OpenBLAS's count of threads wins over OpenMP's, of which the outermost counts") {
  CHECK(parse({{"OMP_NUM_THREADS", "4"}}).threads == 4);
  CHECK(parse({{"OMP_NUM_THREADS", "4,2"}}).threads == 4);
  CHECK(parse({{"OMP_NUM_THREADS", "4"}, {"OPENBLAS_NUM_THREADS", "2"}}).threads == 2);
  CHECK(parse({{"OMP_NUM_THREADS", "four"}}).threads == 0);
  CHECK(parse({{"OMP_NUM_THREADS", "0"}}).threads == 0);
}

TEST_CASE("an empty variable is as good as none") {
  auto const how = parse({{"HEPTAD_BLAS_DISABLE", ""},
                          {"HEPTAD_BLAS_MIN_SIZE", ""},
                          {"HEPTAD_BLAS_BACKEND", ""},
                          {"HEPTAD_BLAS_ROUTINES", ""},
                          {"HEPTAD_NUM_THREADS", ""},
                          {"HEPTAD_FORCE_LEVELS", ""},
                          {"HEPTAD_VERBOSE", ""}});
  CHECK_FALSE(how.disabled);
  CHECK(how.min_size == 1024);
  CHECK(how.backend.empty());
  CHECK(how.allows<double>(routine_id::gemm));
  CHECK_FALSE(how.own_threads);
  CHECK_FALSE(how.forced_levels);
  CHECK_FALSE(how.verbose);
}

TEST_CASE("a bad value of the drop-in's variables is an error that names the variable and the value") {
  auto const [name, value] = GENERATE(table<std::string, std::string>({
      {"HEPTAD_BLAS_DISABLE", "yes"},
      {"HEPTAD_BLAS_MIN_SIZE", "-1"},
      {"HEPTAD_BLAS_MIN_SIZE", "1k"},
      {"HEPTAD_BLAS_MIN_SIZE", "99999999999"},
      {"HEPTAD_BLAS_ROUTINES", "zgemm"},
      {"HEPTAD_BLAS_ROUTINES", "gemmm"},
      {"HEPTAD_BLAS_ROUTINES", " gemm"},
  }));
  try {
    parse({{name, value}});
    FAIL(name << " = '" << value << "' was taken");
  } catch (heptad::blas::bad_setting const& e) {
    CHECK(std::string(e.what()).starts_with(name + " = '" + value + "' must be "));
  }
}
