// SPDX-License-Identifier: BSD-3-Clause
#include "src/search/flip_walk.hpp"

#include <algorithm>
#include <utility>

namespace heptad::search {
namespace {

/// 0 … count − 1 from 16 bits of a draw, for counts far below 65536.
int scaled(bits draw, int count) { return static_cast<int>((draw & 0xffff) * static_cast<bits>(count) >> 16); }

}  // namespace

void flip_walk::restart(binary_scheme from) {
  scheme_ = std::move(from);
  find_pairs();
}

std::uint16_t& flip_walk::terms_like(int factor, bits value) {
  constexpr bits golden_ratio = 0x9e37'79b9'7f4a'7c15;
  return hashes_[factor][value * golden_ratio >> (64 - hash_bits)];
}

void flip_walk::find_pairs() {
  pairs_.clear();
  hashes_ = {};
  for (int x = 0; x < 3; ++x)
    for (int i = 0; i < rank(); ++i) {
      ++terms_like(x, scheme_.factors[x][i]);
      for (int j = i + 1; j < rank(); ++j)
        if (scheme_.factors[x][i] == scheme_.factors[x][j]) pairs_.push_back({x, i, j});
    }
}

/// Updates the pairs after a factor of a term has changed. Whether the term now shares two factors with another.
bool flip_walk::change(int x, int term, bits from) {
  if (terms_like(x, from)-- > 1)
    std::erase_if(pairs_, [x, term](pair const& p) { return p.factor == x && (p.i == term || p.j == term); });
  auto const& f = scheme_.factors;
  bits const value = f[x][term];
  if (terms_like(x, value)++ == 0) return false;
  int const y = (x + 1) % 3, z = (x + 2) % 3;
  bool merges = false;
  for (int j = 0, count = rank(); j < count; ++j) {
    if (f[x][j] != value || j == term) continue;
    pairs_.push_back({x, term, j});
    merges = merges || f[y][j] == f[y][term] || f[z][j] == f[z][term];
  }
  return merges;
}

bool flip_walk::flip() {
  if (pairs_.empty()) return false;
  bits const draw = random_();
  auto const [x, first, second] = pairs_[static_cast<std::size_t>(scaled(draw, static_cast<int>(pairs_.size())))];
  bool const swap_terms = (draw >> 62 & 1) != 0, swap_factors = draw >> 63 != 0;
  int const i = swap_terms ? second : first, j = swap_terms ? first : second;
  int const y = (x + (swap_factors ? 2 : 1)) % 3, z = 3 - x - y;
  auto& f = scheme_.factors;
  bits const from_y = f[y][i], from_z = f[z][j];
  f[y][i] ^= f[y][j];
  f[z][j] ^= f[z][i];
  bool const merges_i = change(y, i, from_y), merges_j = change(z, j, from_z);
  if (f[y][i] == 0 || f[z][j] == 0 || merges_i || merges_j) clean();
  return true;
}

void flip_walk::remove(int term) {
  for (auto& factor : scheme_.factors) {
    factor[term] = factor.back();
    factor.pop_back();
  }
}

/// Drops terms that are zero and makes one of any two that share two factors, until there is none.
void flip_walk::clean() {
  auto& f = scheme_.factors;
  for (int i = 0; i < rank(); ++i) {
    if (f[0][i] == 0 || f[1][i] == 0 || f[2][i] == 0) {
      remove(i);
      i = -1;
      continue;
    }
    for (int j = 0; j < i; ++j) {
      std::array<bool, 3> const same{f[0][i] == f[0][j], f[1][i] == f[1][j], f[2][i] == f[2][j]};
      if (same[0] + same[1] + same[2] < 2) continue;
      int const z = !same[0] ? 0 : !same[1] ? 1 : 2;
      f[z][j] ^= f[z][i];
      remove(i);
      i = -1;
      break;
    }
  }
  find_pairs();
}

bool flip_walk::plus() {
  constexpr int tries = 1000;
  auto& f = scheme_.factors;
  for (int t = 0; t < tries; ++t) {
    bits const draw = random_();
    int const i = scaled(draw, rank()), j = scaled(draw >> 16, rank()), x = scaled(draw >> 32, 3);
    int const y = (x + 1 + static_cast<int>(draw >> 63)) % 3, z = 3 - x - y;
    if (i == j || f[x][i] == f[x][j] || f[y][i] == f[y][j] || f[z][i] == f[z][j]) continue;
    // u⊗v⊗w + u'⊗v'⊗w' = u⊗(v+v')⊗w + u⊗v'⊗(w+w') + (u+u')⊗v'⊗w'
    f[x].push_back(f[x][i]);
    f[y].push_back(f[y][j]);
    f[z].push_back(f[z][i] ^ f[z][j]);
    f[y][i] ^= f[y][j];
    f[x][j] ^= f[x][i];
    clean();
    return true;
  }
  return false;
}

void descent::restart(binary_scheme const& from) {
  walk_.restart(from);
  best_ = from;
  last_change_ = flips_;
  above_ = false;
}

bool descent::run(std::int64_t flips, keep_going const& may_go_on) {
  constexpr std::int64_t flips_a_question = 1024;
  for (std::int64_t const end = flips_ + flips; flips_ < end; ++flips_) {
    if (flips_ % flips_a_question == 0 && !may_go_on()) return false;
    if (!walk_.flip()) {
      if (!walk_.plus()) walk_.restart(best_);
      last_change_ = flips_;
    }
    bool const above = std::exchange(above_, walk_.rank() > best_.rank());
    if (walk_.rank() < best_.rank() || (above && !above_)) {
      bool const fell = walk_.rank() < best_.rank();
      best_ = walk_.scheme();
      last_change_ = flips_;
      if (fell) return true;
    }
    if (flips_ - last_change_ < patience) continue;
    last_change_ = flips_;
    if (!above_) best_ = walk_.scheme();
    if (walk_.rank() >= best_.rank() + margin || !walk_.plus()) walk_.restart(best_);
  }
  return false;
}

}  // namespace heptad::search
