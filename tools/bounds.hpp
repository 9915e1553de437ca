// SPDX-License-Identifier: BSD-3-Clause
// What the value of an option may be: for the command line, its help, and the message where it is another.
#pragma once

#include <CLI/CLI.hpp>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>
#include <type_traits>

#include <fmt/format.h>

namespace heptad::tools {

/// A number that its option can hold, for which `holds` is true; `rule`: of what size, in words.
template <typename Number, typename Holds>
CLI::Validator number_that(std::string const& rule, Holds holds) {
  auto const check = [rule, holds](std::string const& text) -> std::string {
    Number value{};
    auto const [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
    bool const whole = end == text.data() + text.size();
    bool const beyond = whole && code == std::errc::result_out_of_range;
    bool const too_small = beyond && std::abs(std::strtod(text.c_str(), nullptr)) < 1;  // so that it is 0
    if (whole && (code == std::errc{} || too_small) && holds(value)) return {};
    bool const too_large = beyond && !too_small && text.front() != '-';
    return fmt::format("'{}' must be {} {}{}", text, std::is_integral_v<Number> ? "an integer" : "a number", rule,
                       too_large   ? fmt::format(", and at most {}", std::numeric_limits<Number>::max())
                       : too_small ? "; in double precision it is 0"
                                   : "");
  };
  return {check, rule};
}

template <typename Number>
CLI::Validator at_least(Number least) {
  return number_that<Number>(fmt::format("of at least {}", least), [least](Number x) {
    return x >= least && x <= std::numeric_limits<Number>::max();  // not infinite
  });
}

template <typename Number>
CLI::Validator within(Number least, Number most) {
  return number_that<Number>(fmt::format("from {} to {}", least, most),
                             [least, most](Number x) { return x >= least && x <= most; });
}

inline CLI::Validator finite_number() {
  return number_that<double>("that is finite", [](double x) { return std::isfinite(x); });
}

inline CLI::Validator above_zero() {
  return number_that<double>("above 0", [](double x) { return x > 0 && x <= std::numeric_limits<double>::max(); });
}

/// A file that is written: an empty name would be that of an option that is not given.
inline CLI::Validator file_name() {
  return {[](std::string const& text) { return std::string(text.empty() ? "'' must be the name of a file" : ""); }, ""};
}

}  // namespace heptad::tools
