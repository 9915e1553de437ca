// SPDX-License-Identifier: BSD-3-Clause
// Sizes that the graph promises and the codelets rely on.
#pragma once

#include <cstdint>

namespace heptad {

/// Bytes that caches move at once, and at which buffers begin.
inline constexpr int cache_line = 64;

/// Columns a multiple of so many bytes apart fall into the same sets of a first-level cache.
inline constexpr int same_sets = 2048;

/// Blocks in one sum, or destinations of one product, at most: two fused levels of any built-in algorithm stay below.
inline constexpr int most_terms = 64;

/// What one launch of the general combine kernel of a device takes.
inline constexpr int most_general_inputs = 64, most_general_outputs = 128, most_general_terms = 1024;

/// A fused product of a device takes sums of at most so many blocks.
inline constexpr int most_fused_terms = 4;

/// Products with a side up to this may be computed by the thin product codelet, which gathers nothing.
inline constexpr int thin_side = 672;

/// Products of at most so many rows or columns may be computed as the transposed ones.
inline constexpr int most_transposed = 96;

/// k-steps of an operand that the thin product codelet packs at once, at most; of few rows beside long columns as many
/// more as take this part of a packed block of A.
inline constexpr std::int64_t most_thin_k_block = 1024;
inline constexpr double few_rows_part = 0.75;

/// Of an operand in place that the first tiles beside it leave packed for the others, at most, in bytes; beside so many
/// columns of the other one.
inline constexpr int copied_bytes = 192 << 10, most_columns_beside_copy = 320;

/// k-steps in a block of the product codelet, at least, unless k itself is smaller: the error bound counts the blocks.
inline constexpr int least_k_block = 16;

/// k-steps in a block of the product codelet, at most.
inline constexpr int most_k_block = 256;

/// Of the packed B that the product codelet keeps for its next blocks of A, at most, in bytes; columns are rounded up.
/// The columns of C beside it come again for the next k-block: on a Zen 3 products from 2048 on are 3–9 % slower with
/// 4 MiB.
inline constexpr int kept_b_bytes = 2 << 20;

/// Sums whose blocks are at least so large bypass the caches: they would not stay there until a product reads them.
/// Measured with the reading of the result counted in: with 2 MiB of L2 a core ordinary stores win by 15 % at 0.5 MiB,
/// streaming by 5–15 % at 2 and 8 MiB and by a quarter from 32 MiB. With 1 MiB a core products of 4080 over sums of
/// nearly 2 MiB take 5 % less time by streaming, other whole products as long by either from 0.25 MiB on; with 0.5 MiB
/// as long from 0.5 MiB on. Not at the size of a block of 256, 512 or 1024: neighbours of a power of two are alike.
inline constexpr int streaming_bytes = 3 << 18;

/// Is half of the second-level cache few rows of A? Packing B again for each block of them takes a tenth of the time.
constexpr bool holds_few_rows(double l2_bytes, int element_bytes) noexcept {
  return l2_bytes / 2 / (most_k_block * element_bytes) < 400;
}

/// Is B kept? A cache of 2 MiB has room for half a block of B beside the rows: from 1536 on 1–5 % (Granite Rapids).
constexpr bool keeps_packed_b(double l2_bytes, int element_bytes) noexcept {
  return holds_few_rows(l2_bytes, element_bytes) || l2_bytes >= (2 << 20);
}

}  // namespace heptad
