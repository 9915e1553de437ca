// SPDX-License-Identifier: BSD-3-Clause
// The environment variables of the library and of the drop-in: each line of the input is a variable's value.
#include "src/api/environment.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>

#include "blas/settings.hpp"
#include "tests/fuzz/target.hpp"

namespace {

constexpr std::array names{
    "HEPTAD_NUM_THREADS",   "HEPTAD_SCHEDULER",     "HEPTAD_MAX_LEVELS",    "HEPTAD_FORCE_LEVELS",
    "HEPTAD_MAX_ERROR",     "HEPTAD_MAX_WORKSPACE", "HEPTAD_KERNEL",        "HEPTAD_VERBOSE",
    "HEPTAD_TRACE",         "HEPTAD_ALGORITHMS",    "HEPTAD_BLAS_DISABLE",  "HEPTAD_BLAS_MIN_SIZE",
    "HEPTAD_BLAS_ROUTINES", "HEPTAD_BLAS_BACKEND",  "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"};

}  // namespace

std::vector<std::string> heptad::fuzz::seeds() {
  return {"HEPTAD_NUM_THREADS=2\nHEPTAD_SCHEDULER=tbb\nHEPTAD_MAX_LEVELS=3\nHEPTAD_MAX_ERROR=12.5",
          "HEPTAD_MAX_WORKSPACE=3G\nHEPTAD_KERNEL=portable\nHEPTAD_VERBOSE=1\nHEPTAD_TRACE=file",
          "HEPTAD_BLAS_ROUTINES=gemm,dsyrk,sgetrf\nHEPTAD_BLAS_MIN_SIZE=77\nOMP_NUM_THREADS=4,2",
          "HEPTAD_BLAS_BACKEND=openblas\nHEPTAD_BLAS_DISABLE=0\nOPENBLAS_NUM_THREADS=1\nHEPTAD_FORCE_LEVELS=0"};
}

int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  std::string const text(reinterpret_cast<char const*>(data), size);
  std::map<std::string, std::string> values;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t const end = std::min(text.find('\n', at), text.size());
    std::string const line = text.substr(at, end - at);
    if (auto const equals = line.find('='); equals != std::string::npos) {
      // As a process would see it: up to the first null character.
      values[line.substr(0, equals)] = line.substr(equals + 1).c_str();
    }
    at = end + 1;
  }
  auto const get = [&values](char const* name) -> char const* {
    heptad::fuzz::require(std::ranges::find(names, std::string_view(name)) != names.end(), "the variable is known");
    auto const found = values.find(name);
    return found == values.end() ? nullptr : found->second.c_str();
  };
  return heptad::fuzz::take_or_refuse([&] {
    auto const env = heptad::parse_environment(get);
    heptad::fuzz::require(env.threads >= 0 && env.defaults.max_error >= 1, "values are in their ranges");
    try {
      auto const how = heptad::blas::parse_settings(get);
      heptad::fuzz::require(how.min_size >= 0 && how.threads >= 0, "settings are in their ranges");
    } catch (heptad::blas::bad_setting const& wrong) {
      throw heptad::error(heptad::status::invalid_argument, wrong.what());
    }
  });
}
