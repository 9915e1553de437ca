// SPDX-License-Identifier: BSD-3-Clause
// Arithmetic in 128 bits, reduced, then checked: a result that 64 bits cannot hold is an error, never a wrap.
#include "src/algorithm/rational.hpp"

#include <charconv>
#include <limits>
#include <system_error>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include <heptad/heptad.hpp>

namespace heptad {
namespace {

__extension__ using wide = __int128;

wide gcd(wide a, wide b) {
  while (b != 0) {
    wide const rest = a % b;
    a = b;
    b = rest;
  }
  return a < 0 ? -a : a;
}

/// num / den in lowest terms, the sign in the numerator. |num|, |den| < 2^127, den != 0.
std::pair<std::int64_t, std::int64_t> lowest_terms(wide num, wide den) {
  if (den != 1) {
    wide const divisor = den < 0 ? -gcd(num, den) : gcd(num, den);
    num /= divisor;
    den /= divisor;
  }
  constexpr wide largest = std::numeric_limits<std::int64_t>::max();
  if (num > largest || num < -largest || den > largest)
    throw error(status::invalid_argument, "a coefficient overflows: numerator and denominator must be below 2^63");
  return {static_cast<std::int64_t>(num), static_cast<std::int64_t>(den)};
}

rational quotient(wide num, wide den) {
  auto const [n, d] = lowest_terms(num, den);
  return {n, d};
}

/// What a message quotes of a text that may be long.
std::string quoted(std::string_view text) {
  constexpr std::size_t longest = 40;
  return text.size() > longest ? fmt::format("'{}…'", text.substr(0, longest)) : fmt::format("'{}'", text);
}

std::int64_t parse_integer(std::string_view digits, std::string_view whole) {
  std::int64_t value = 0;
  auto const [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (problem == std::errc::result_out_of_range || value == std::numeric_limits<std::int64_t>::min())
    throw error(status::invalid_argument,
                fmt::format("the number {} is too large: it must be below 2^63", quoted(whole)));
  if (problem != std::errc() || end != digits.data() + digits.size())
    throw error(status::invalid_argument,
                fmt::format("{} is not a number: an integer or a fraction such as -1/8 is expected", quoted(whole)));
  return value;
}

}  // namespace

rational::rational(std::int64_t num, std::int64_t den) {
  if (den == 0) throw error(status::invalid_argument, fmt::format("the fraction {}/0 has the denominator 0", num));
  std::tie(num_, den_) = lowest_terms(num, den);
}

rational operator+(rational a, rational b) {
  return quotient(wide(a.num_) * b.den_ + wide(b.num_) * a.den_, wide(a.den_) * b.den_);
}

rational operator-(rational a, rational b) {
  return quotient(wide(a.num_) * b.den_ - wide(b.num_) * a.den_, wide(a.den_) * b.den_);
}

rational operator*(rational a, rational b) { return quotient(wide(a.num_) * b.num_, wide(a.den_) * b.den_); }

rational parse_rational(std::string_view text) {
  auto const slash = text.find('/');
  if (slash == std::string_view::npos) return parse_integer(text, text);
  std::string_view const denominator = text.substr(slash + 1);
  if (!denominator.empty() && denominator.front() == '-')
    throw error(status::invalid_argument, fmt::format("the fraction {} has its sign in the denominator", quoted(text)));
  return {parse_integer(text.substr(0, slash), text), parse_integer(denominator, text)};
}

std::string to_string(rational x) {
  return x.den() == 1 ? fmt::format("{}", x.num()) : fmt::format("{}/{}", x.num(), x.den());
}

}  // namespace heptad
