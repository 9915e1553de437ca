// SPDX-License-Identifier: BSD-3-Clause
// Measured device profiles on disk: one JSON file beside the machine profile, an entry for each device name.
#pragma once

#include <optional>
#include <string>

#include "src/plan/device_profile.hpp"

namespace heptad::cuda {

/// cuda-devices.json beside profile_path(). Throws error as that does.
std::string device_profiles_path();

/// The entry of the device, or of the one that was measured last when `name` is empty. Absent when there is none;
/// throws error{invalid_argument} that names the field when the file is malformed.
std::optional<device_profile> load_device_profile(std::string const& path, std::string const& name);

/// Adds the entry, or replaces that of the same name, in one step.
void save_device_profile(device_profile const& profile, std::string const& path);

/// Of Heptad and of the layout of the table.
std::string device_profile_version();

/// Why a measured profile does not hold any more; "" when it does. `cublas`: the version in use; 0 accepts any.
std::string stale_reason(device_profile const& profile, int cublas);

}  // namespace heptad::cuda
