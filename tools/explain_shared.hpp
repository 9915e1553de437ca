// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>

#include <heptad/heptad.hpp>

#include "src/plan/device_profile.hpp"

namespace heptad::tools {

struct shared_arguments {
  int devices = 0, logical_devices = 1, copy_threads = 1;
  std::optional<double> cpu_share;
  bool pageable = false;
};

/// Prints how this machine's CPU and so many of `device` would share a product of host matrices.
void explain_shared(shared_arguments const& given, element_type type, problem const& shape,
                    cuda::device_profile const& device, options const& product, bool json);

}  // namespace heptad::tools
