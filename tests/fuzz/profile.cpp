// SPDX-License-Identifier: BSD-3-Clause
// The reader of machine profiles: what it takes reads the same when saved, and a plan can be made with it. It begins
// with the profile that the library itself saves.
#include "src/plan/profile.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "src/plan/planner.hpp"
#include "tests/fuzz/target.hpp"

namespace {

std::string saved(heptad::machine_profile const& profile) {
  static std::string const path = std::filesystem::temp_directory_path() / ("heptad-fuzz-" + std::to_string(getpid()));
  heptad::save_profile(profile, path);
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  unlink(path.c_str());
  return text.str();
}

heptad::machine_profile load(void const* data, std::size_t size) {
  static int const file = memfd_create("profile", 0);
  bool const written = ftruncate(file, 0) == 0 && pwrite(file, data, size, 0) == static_cast<ssize_t>(size);
  heptad::fuzz::require(written, "the file can be written");
  auto const profile = heptad::load_profile("/proc/self/fd/" + std::to_string(file));
  heptad::fuzz::require(profile.has_value(), "a file that is there is read");
  return *profile;
}

}  // namespace

std::vector<std::string> heptad::fuzz::seeds() { return {saved(default_profile()), "{}", "null"}; }

int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  return heptad::fuzz::take_or_refuse([&] {
    auto const profile = load(data, size);
    std::string const text = saved(profile);
    heptad::fuzz::require(saved(load(text.data(), text.size())) == text, "it reads as saved");
    auto const plan = choose_plan(heptad::element_type::f64, {1500, 1500, 1500}, 2, std::size_t{1} << 32, profile, {});
    heptad::fuzz::require(plan.workers >= 1 && !std::isnan(plan.seconds), "a plan can be made with it");
  });
}
