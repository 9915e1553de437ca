// SPDX-License-Identifier: BSD-3-Clause
// The steps of a combine pass on one chunk: a few cache lines of every value, resident in L1. One table per instruction
// set; the plain loop of each is the vector loop with one lane. Coefficients are multiplied in (fused where the
// processor can): the passes wait for memory, so telling ±1 apart would gain nothing.
#pragma once

#include <cstdint>
#include <span>

namespace heptad::cpu {

/// At most this many terms in a step, the destination's own beta term included.
inline constexpr int max_step_terms = 7;

/// places[to][e] := Σ_t coefficient[t] · places[from[t]][e] for every e of the chunk. A place may be read and written:
/// each element is read before it is written.
template <typename T>
struct chunk_step {
  int to = -1;
  int keep = -1;  // a second destination, in L1, for the later readers of a streamed one
  bool streaming =
      false;      // non-temporal stores of whole lines: `to` begins one, zeros fill the last one, in `keep` too
  int terms = 0;  // none: zeros
  int from[max_step_terms] = {};
  T coefficient[max_step_terms] = {};
};

/// What is asked for ahead: to be read or to be written from the first-level cache, or either from the second one.
enum class request { reading, writing, second_level };

/// How what lies far away comes fastest.
struct far_access {
  request inputs, destinations;
  std::int64_t chunk_bytes;    // of all values of a chunk, together with what is asked for ahead
  int ahead, ahead_streaming;  // chunks, of passes with ordinary stores and of those with non-temporal ones
};

/// Measured on Emerald Rapids.
inline constexpr far_access through_first_level{request::reading, request::writing, 12 << 10, 2, 2};

/// Measured on a Zen 4, whose first-level cache waits for few lines at a time. GB/s of blocks in memory, read and
/// written, as above and so: Winograd's sums of A 13 and 23 by ordinary stores, 40 and 43 by non-temporal ones; those
/// of <4,4,2>, 38 blocks, 7 and 20, and 20 and 28; of blocks in the third-level cache 40 and 42, 12 and 28.
inline constexpr far_access through_second_level{request::second_level, request::second_level, 48 << 10, 2, 1};

/// Measured on a Zen 5: of blocks in memory as there, by non-temporal stores, Winograd's sums of A 29 and 63, those of
/// <4,4,2> 40 and 47; its results added up in place 54 and 70.
inline constexpr far_access early_through_first_level{request::reading, request::writing, 48 << 10, 3, 3};

far_access const& best_far_access();

template <typename T>
struct step_kernels {
  char const* name;     // "avx512", "avx2", "baseline"
  bool (*available)();  // on this processor
  void (*run)(chunk_step<T> const& step, T* const* places, std::int64_t count);
  void (*prefetch)(void const* first, std::int64_t bytes, request how);
  void (*fence)();  // orders non-temporal stores before what follows
  // of_places[e] := max(of_places[e], |lines[q][e]|) for all q, of_lines[q] := max(of_lines[q], |lines[q][e]|) for all
  // e, in the order of bit patterns (scan.hpp). `lines` is 1 or scan_lines; `next` are those that will be read next.
  void (*scan)(T const* const* from, T const* const* next, int lines, std::int64_t length, request how, T* of_places,
               T* of_lines);
  // The same for a chunk of one line, with look_lanes maxima of the line so far; the largest of them is the line's.
  void (*look)(T const* from, std::int64_t count, T* of_places, T* of_line);
};

template <typename T>
inline constexpr int look_lanes = 64 / static_cast<int>(sizeof(T));

/// Lines that a scan reads side by side: memory is read faster in several streams.
inline constexpr int scan_lines = 4;

/// All that are compiled in, best first; the last one runs everywhere.
template <typename T>
std::span<step_kernels<T> const* const> combine_kernels();
/// The best one that this processor can run.
template <typename T>
step_kernels<T> const& best_combine_kernels();

}  // namespace heptad::cpu
