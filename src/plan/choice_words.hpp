// SPDX-License-Identifier: BSD-3-Clause
// The words for what a plan chooses, in files and in what is told.
#pragma once

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>

#include <heptad/heptad.hpp>

namespace heptad {

inline constexpr std::string_view level_kind_words[] = {"task", "explicit", "fused"};

inline std::string_view word_of(level_kind kind) { return level_kind_words[static_cast<int>(kind)]; }

inline std::optional<level_kind> level_kind_of(std::string_view word) {
  auto const found = std::ranges::find(level_kind_words, word);
  if (found == std::end(level_kind_words)) return std::nullopt;
  return static_cast<level_kind>(found - std::begin(level_kind_words));
}

/// The sides that are filled up with zeros: "mk".
inline std::string letters_of(padding const& pads) {
  return std::string(pads.m ? "m" : "") + (pads.n ? "n" : "") + (pads.k ? "k" : "");
}

inline padding padding_of(std::string_view letters) {
  auto const has = [letters](char side) { return letters.find(side) != letters.npos; };
  return {has('m'), has('n'), has('k')};
}

}  // namespace heptad
