// SPDX-License-Identifier: BSD-3-Clause
// What options.refine has decided, for the next process: refined.json in the folder of the machine profile. It is a
// cache: one that cannot be read, or is of another CPU, version or kernel set, holds nothing.
#pragma once

#include <string>
#include <vector>

#include <heptad/heptad.hpp>

#include "src/plan/profile.hpp"

namespace heptad {

struct decision {
  std::string of;  // all that it follows from
  plan how;        // only what a plan chooses; its levels have no coefficients yet
  double seconds = 0;
};

/// Where they are kept.
std::string refined_path();

std::vector<decision> read_decisions(machine_profile const& machine);

/// In the place of all that are there; does nothing where the file cannot be written. Throws an exception where that is
/// no reason: there is no memory, or a name is not UTF-8.
void write_decisions(std::vector<decision> const& all, machine_profile const& machine);

}  // namespace heptad
