// SPDX-License-Identifier: BSD-3-Clause
// The environment variables of Heptad, read once, here; only the folder of the machine profile is found by
// src/plan/profile.cpp. They are the defaults of the C interface and of default_context(): an option that the caller
// leaves at its default takes the variable's value, an option that the caller sets wins. HEPTAD_VERBOSE and
// HEPTAD_TRACE hold for every context.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include <heptad/heptad.hpp>

namespace heptad {

struct environment {
  int threads = 0;         ///< HEPTAD_NUM_THREADS; 0: as many as the process may use
  options defaults;        ///< HEPTAD_SCHEDULER, _MAX_LEVELS, _FORCE_LEVELS, _MAX_ERROR, _MAX_WORKSPACE, _KERNEL
  bool verbose = false;    ///< HEPTAD_VERBOSE: one line on stderr for every call
  std::string algorithms;  ///< HEPTAD_ALGORITHMS: directory of algorithm files, known from the first call on
  std::string trace;       ///< HEPTAD_TRACE: file for the trace of all calls
};

/// Pure. `get` gives the value of a variable, or null; an empty one is as good as null. Throws error{invalid_argument}
/// that names variable and value.
environment parse_environment(std::function<char const*(char const*)> const& get);

/// Reads the files that HEPTAD_ALGORITHMS names. Throws error that names the variable and its value, and what is wrong.
void apply(environment const& env);

/// The defaults, once the library that HEPTAD_SCHEDULER = starpu needs has been found. Throws as apply.
options const& usable_defaults(environment const& env);

/// That of the process, parsed and applied at the first call. Throws as those two, every time.
environment const& process_environment();

/// Bytes, perhaps with a suffix for a power of 1024; nothing where the text is another or the number too large.
std::optional<std::size_t> parse_bytes(std::string_view text);
inline constexpr std::string_view bytes_rule = "a number of bytes, with a suffix k, m or g for powers of 1024";

/// What the name of a kernel set must be.
std::string kernel_rule();

/// Fields of `wishes` that are untouched take the value they have in `defaults`.
options with_defaults(options wishes, options const& defaults);

}  // namespace heptad
