// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <heptad/heptad.hpp>
#include <string>

namespace heptad {

/// An argument is wrong. message: its name and its value.
[[noreturn]] inline void reject(std::string const& message) { throw error(status::invalid_argument, message); }

}  // namespace heptad
