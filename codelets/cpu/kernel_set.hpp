// SPDX-License-Identifier: BSD-3-Clause
// The micro-kernels of one instruction set: what the product codelet needs to know of the processor.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "codelets/cpu/processor.hpp"
#include "codelets/cpu/source_stream.hpp"

namespace heptad::cpu {

/// One destination of a product: C := beta C + coefficient · M. beta = 0 never reads C.
template <typename T>
struct destination {
  T* data;
  T coefficient;
  T beta;
};

/// One operand of a sum: coefficient · block, which may end before the others do: beyond `steps` along the depth it is
/// zero, and is not read.
template <typename T>
struct term {
  T const* data;
  T coefficient;
  std::int64_t steps = std::numeric_limits<std::int64_t>::max();
};

/// Sizes of the blocks that the loops keep in caches, in elements: mc × kc of A in L2, kc × nc of B in L1. If A is more
/// than one block, they have mc_beside_kept rows, and kc × kept of B, once packed, stay for the next ones; kept = 0:
/// B is packed again for each.
struct blocking {
  int mr = 0, nr = 0;
  int mc = 0, kc = 0, nc = 0;
  int mc_beside_kept = 0, kept = 0;
};

enum class gather { direct, set, add, finish };

template <typename T>
struct macro_call {
  int rows, cols, depth;
  T const* a;  // packed panels, unless a_unpacked
  T const* b;  // packed panels, unless b_unpacked
  gather mode = gather::direct;
  T* buffer = nullptr;  // rows × cols partial products in tile order, when mode is not direct
  destination<T> const* destinations;
  int count;                                        // of destinations
  std::int64_t rs, cs;                              // element strides of all destinations
  source_stream* prefetch = nullptr;                // lines of the next source block; may be null
  bool c_far = false;                               // tiles of C come from a cache far enough to be asked for early
  microarchitecture on = microarchitecture::other;  // whose ways to follow; all compute the same
  // Operands that are used too few times to be worth packing are read where they are. Only for kernel sets with
  // unpacked_rows > 0. Of an unpacked A `rows` is a multiple of that, and its columns are contiguous; of an unpacked B
  // the columns or the rows.
  bool a_unpacked = false, b_unpacked = false;
  asked_into a_ahead = asked_into::second_level;  // columns of an unpacked A
  T* a_copy = nullptr;                            // of nr columns: where to leave the panels of an unpacked A
  std::int64_t a_step = 0;                        // elements between k-steps of A
  std::int64_t b_step = 0, b_column = 0;          // element strides of B between k-steps and columns
  int following_steps = 0;                        // of A, behind the `depth`: asked for by slabs
};

/// Few rows: Σ_p A(i, p) B(p, j) is added to the destinations, with both operands contiguous along the depth.
template <typename T>
struct dots_call {
  int rows;
  std::int64_t cols, depth;
  T const* a;
  std::int64_t a_row;  // elements between rows
  T const* b;
  std::int64_t b_column;
  destination<T> const* destinations;
  int count;            // of destinations
  std::int64_t rs, cs;  // element strides of all destinations
};

/// One kernel set for T. All functions are pure in their arguments and need no alignment but that of the packed panels.
/// A packed A panel holds mr rows (the last one the remaining rows, rounded up to vectors) by kc;
/// a packed B panel nr columns by kc, zero-padded. Packing may overwrite up to 4 KiB behind the last panel.
template <typename T>
struct kernel_set {
  char const* name;      // "avx512", "avx2", "blis", "portable"
  bool (*available)();   // on this processor
  blocking (*blocks)();  // for this processor's caches
  // Σ terms, rows × depth at element strides (rs, cs), into panels of mr rows. Rows beyond are zero-filled to the
  // vector. `largest`, unless it is null, is raised to the largest |x| of all the elements read, or to up to
  // (1 + 2^-20) of it, and to infinity by what is not finite.
  void (*pack_a)(term<T> const* terms, int count, std::int64_t rs, std::int64_t cs, int rows, int depth, T* packed,
                 T* largest);
  void (*pack_b)(term<T> const* terms, int count, std::int64_t rs, std::int64_t cs, int depth, int cols, T* packed,
                 T* largest);
  // The macro-kernel: packed A (rows × depth) times packed B (depth × cols), gathered in `buffer` (AB:
  // first/middle/last k-block) or added to the destinations (ABC, and the last k-block of AB).
  void (*macro)(macro_call<T> const& call);
  int unpacked_rows = 0;  // of an unpacked A, rows come in so many; zero: macro reads no unpacked operand
  // macro asks for the columns of an unpacked A so early, or the hardware does, that they may lie in any sets.
  bool asks_below = false;
  int (*first_tile)(int cols) = nullptr;  // columns of the first of the tiles that so many are cut into
  void (*dots)(dots_call<T> const& call) = nullptr;
  int shallow_dot_rows = 0;  // up to so many rows dots() is the faster way, of few k-steps too;
  int dot_rows = 0;          // and of many; zero: there is none
  // Few columns beside an unpacked A, in slabs of so many rows, the last one of any rest; zero: there is no such way.
  // B is packed as only they read it, at most twice as wide as by pack_b.
  void (*pack_b_beside_slabs)(term<T> const* terms, int count, std::int64_t rs, std::int64_t cs, int depth, int cols,
                              T* packed, T* largest) = nullptr;
  void (*slabs)(macro_call<T> const& call) = nullptr;
  int slab_rows = 0;
  microarchitecture (*processor)() = this_microarchitecture;  // whose ways macro follows
};

/// All sets compiled in, best first; find: nullptr when there is none of that name.
template <typename T>
std::vector<kernel_set<T> const*> const& kernel_sets();
template <typename T>
kernel_set<T> const* find_kernel_set(std::string const& name);
/// The best set that this processor can run.
template <typename T>
kernel_set<T> const& best_kernel_set();

}  // namespace heptad::cpu
