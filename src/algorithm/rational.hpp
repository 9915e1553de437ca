// SPDX-License-Identifier: BSD-3-Clause
// Exact coefficients: small rationals in lowest terms, with overflow reported rather than wrapped.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace heptad {

class rational {
public:
  constexpr rational(std::int64_t integer = 0) noexcept : num_(integer) {}
  rational(std::int64_t num, std::int64_t den);  // throws heptad::error when den == 0

  [[nodiscard]] constexpr std::int64_t num() const noexcept { return num_; }
  [[nodiscard]] constexpr std::int64_t den() const noexcept { return den_; }
  [[nodiscard]] double value() const noexcept { return static_cast<double>(num_) / static_cast<double>(den_); }
  [[nodiscard]] constexpr bool is_zero() const noexcept { return num_ == 0; }

  // Throw heptad::error on overflow.
  friend rational operator+(rational a, rational b);
  friend rational operator-(rational a, rational b);
  friend rational operator*(rational a, rational b);
  friend rational operator-(rational a) { return rational(0) - a; }
  friend constexpr bool operator==(rational a, rational b) noexcept { return a.num_ == b.num_ && a.den_ == b.den_; }

private:
  std::int64_t num_ = 0;
  std::int64_t den_ = 1;
};

/// "3", "-1", "1/8". Throws heptad::error naming the text.
rational parse_rational(std::string_view text);
std::string to_string(rational x);

}  // namespace heptad
