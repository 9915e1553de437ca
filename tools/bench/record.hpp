// SPDX-License-Identifier: BSD-3-Clause
// What a bench leaves behind: the JSON that bench/README.md documents.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "tools/bench/measure.hpp"
#include "tools/bench/peers.hpp"

namespace heptad::bench {

/// Schema, kind of record, date, commit, compiler and machine: what every record begins with.
nlohmann::json record_origin(char const* kind);

/// The same for `heptad bench gemm`, with settings and libraries; "cases" is empty.
nlohmann::json record_header(library_info const& own, std::vector<found_peer> const& peers, effort const& how,
                             double beta, own_options const& wishes);

/// One entry of "cases". results: Heptad's first.
nlohmann::json record_case(gemm_case const& what, std::vector<measured> const& results);

/// Bytes that a new process could take without swapping (MemAvailable of /proc/meminfo).
std::size_t available_memory();

}  // namespace heptad::bench
