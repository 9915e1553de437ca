// SPDX-License-Identifier: BSD-3-Clause
// The values that each variable may have. HEPTAD_VERBOSE, HEPTAD_NUM_THREADS and HEPTAD_FORCE_LEVELS belong to the
// library, which rejects their bad values; here only what they mean for the drop-in is looked at.
#include "blas/settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

namespace heptad::blas {
namespace {

constexpr std::array<char const*, routine_count> names{"gemm", "symm",  "syrk",  "syr2k", "trmm",
                                                       "trsm", "getrf", "potrf", "gesv"};

[[noreturn]] void reject_variable(char const* name, std::string_view value, std::string_view rule) {
  throw bad_setting(fmt::format("{} = '{}' must be {}", name, value, rule));
}

std::optional<int> parse_count(std::string_view text) {
  int value = 0;
  auto const [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc{} || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

/// "gemm,dsyrk": of both types without its first letter, of one type with it; or "all".
std::uint32_t parse_routines(std::string_view text) {
  if (text == "all") return ~0u;
  std::uint32_t mask = 0;
  while (!text.empty()) {
    std::size_t const comma = std::min(text.find(','), text.size());
    std::string_view const word = text.substr(0, comma);
    std::uint32_t found = 0;
    for (int r = 0; r < routine_count; ++r) {
      std::string_view const name = names[r];
      if (word == name) found = 3u << (2 * r);
      if (word.size() == name.size() + 1 && word.substr(1) == name) {
        if (word[0] == 'd') found = 1u << (2 * r);
        if (word[0] == 's') found = 2u << (2 * r);
      }
    }
    if (found == 0) {
      reject_variable("HEPTAD_BLAS_ROUTINES", word,
                      fmt::format("all, or a list with commas of {}, each with d or s before it to mean one type",
                                  fmt::join(names, ", ")));
    }
    mask |= found;
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return mask;
}

}  // namespace

char const* name_of(routine_id routine) noexcept { return names[static_cast<std::size_t>(routine)]; }

settings parse_settings(std::function<char const*(char const*)> const& get) {
  settings result;
  auto const value_of = [&get](char const* name) {
    char const* const value = get(name);
    return value == nullptr || *value == '\0' ? std::nullopt : std::optional<std::string_view>(value);
  };
  if (auto const value = value_of("HEPTAD_BLAS_DISABLE")) {
    if (*value != "0" && *value != "1") reject_variable("HEPTAD_BLAS_DISABLE", *value, "0 or 1");
    result.disabled = *value == "1";
  }
  if (auto const value = value_of("HEPTAD_BLAS_MIN_SIZE")) {
    auto const size = parse_count(*value);
    if (!size) reject_variable("HEPTAD_BLAS_MIN_SIZE", *value, "an integer of at least 0");
    result.min_size = *size;
  }
  if (auto const value = value_of("HEPTAD_BLAS_BACKEND")) result.backend = *value;
  if (auto const value = value_of("HEPTAD_BLAS_ROUTINES")) result.routines = parse_routines(*value);
  result.own_threads = value_of("HEPTAD_NUM_THREADS").has_value();
  result.forced_levels = value_of("HEPTAD_FORCE_LEVELS").has_value();
  result.verbose = value_of("HEPTAD_VERBOSE") == "1";
  for (char const* name : {"OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"}) {
    // OMP_NUM_THREADS may list counts for nested regions; the first is that of the outermost one. Values that their
    // owners would not understand are for their owners to complain about.
    auto const value = value_of(name);
    auto const count = value ? parse_count(value->substr(0, value->find(','))) : std::nullopt;
    if (count && *count > 0 && result.threads == 0) result.threads = *count;
  }
  return result;
}

}  // namespace heptad::blas
