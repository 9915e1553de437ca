// SPDX-License-Identifier: BSD-3-Clause
// The kernel of fused products. A thread block computes one tile of one product: panels of A and B travel from device
// memory through registers, where the blocks of a sum are added, into shared memory; two stages there let the next
// panels arrive while the last ones are multiplied.
#pragma once

#include "codelets/cuda/fused.hpp"
#include "codelets/cuda/fused_math.cuh"
#include "codelets/cuda/ordering.cuh"

#ifdef __CUDACC__
#define HEPTAD_SHARED_MEMORY(name) extern __shared__ __align__(16) unsigned char name[]
#endif

namespace heptad::cuda {

/// Passed by value: nothing is copied to the device before the launch.
template <typename T>
struct fused_arguments {
  fused_product<T> products[most_fused_products];
  int m, n, k;
  std::int64_t ld_a, ld_b, ld_c;
  bool a_along_k, b_along_k;  // k is the contiguous dimension
  accumulation how;
  tile_grid grid;
  unsigned* counters;  // the ticket, then a turn for each tile of each block of C
  unsigned first_ticket;
};

/// A thread's share of the panels of one operand. `Sources`: blocks in its sum; most_fused_terms: up to that many.
/// Wide: vectors never reach beyond the operand and are aligned.
template <typename Shape, typename Share, int Pitch, bool Wide, int Sources>
class panel_of_sum {
public:
  using T = typename Shape::element;
  using value = vector<T, Shape::width>;

  /// The panel begins at line `first` of `lines`. `factors`: room in shared memory, filled after the next barrier.
  __device__ panel_of_sum(fused_source<T> const* sources, int count, std::int64_t ld, bool along_k, int first,
                          int lines, int thread, T* factors)
      : count_(count), along_k_(along_k), place_(Share::first(thread, along_k)), lines_(lines - first) {
    std::int64_t const line_stride = along_k ? ld : 1, step_stride = along_k ? 1 : ld;
    // What lies beyond the last line is computed and never stored: any line will do for it.
    int const last = along_k ? lines_ - 1 : lines_ - Shape::width;
    auto const line_of = [&](int v) {
      int const line = place_.line + v * Share::line_step(along_k);
      return Wide && line > last ? last : line;
    };
    HEPTAD_UNROLL
    for (int v = 0; v < Share::vectors; ++v) further_[v] = (line_of(v) - line_of(0)) * line_stride;
    std::int64_t const begin = (first + line_of(0)) * line_stride + place_.step * step_stride;
    HEPTAD_UNROLL
    for (int i = 0; i < Sources; ++i) {
      fused_source<T> const& s = sources[i < count ? i : 0];
      from_[i] = s.data + begin;
      if (thread == 0) factors[i] = s.factor;
    }
    factors_ = factors;
    step_ = step_stride;
    HEPTAD_UNROLL
    for (int v = 0; v < Share::vectors; ++v) sum_[v] = next_[v] = value::zero();
  }

  /// Asks for the first two blocks of the next panel; `depth` steps of it are there.
  __device__ void begin(int depth) {
    load(0, depth, sum_);
    if (Sources > 1 && (Sources == 2 || count_ > 1)) load(1, depth, next_);
  }
  /// Adds the block before to the sum, and asks for block i = 2, 3.
  __device__ void go_on(int i, int depth) {
    if (Sources <= 2 || i >= count_) return;
    add(i - 1);
    load(i, depth, next_);
  }
  /// Adds the last block, and writes the panel into shared memory.
  __device__ void finish(T* panel, int depth) {
    if (Sources == 2) add(1);
    if (Sources > 2) {
      HEPTAD_UNROLL
      for (int i = 1; i < Sources; ++i)
        if (i == count_ - 1) add(i);
    }
    HEPTAD_UNROLL
    for (int v = 0; v < Share::vectors; ++v) {
      int const line = place_.line + v * Share::line_step(along_k_);
      if (along_k_) {
        HEPTAD_UNROLL
        for (int e = 0; e < Shape::width; ++e) panel[(place_.step + e) * Pitch + line] = sum_[v].x[e];
      } else {
        *reinterpret_cast<value*>(panel + place_.step * Pitch + line) = sum_[v];
      }
    }
    HEPTAD_UNROLL
    for (int i = 0; i < Sources; ++i) from_[i] += depth * step_;
  }

private:
  __device__ void add(int i) {
    // Read late, in an order that the compiler keeps: it would else add a block as soon as that could be there, and
    // wait for it.
    T const factor = *static_cast<T const volatile*>(factors_ + i);
    HEPTAD_UNROLL
    for (int v = 0; v < Share::vectors; ++v) sum_[v] = sum_[v] + factor * next_[v];
  }

  __device__ void load(int i, int depth, value (&into)[Share::vectors]) const {
    HEPTAD_UNROLL
    for (int v = 0; v < Share::vectors; ++v) {
      T const* const where = from_[i] + further_[v];
      if (Wide) {
        into[v] = depth == Shape::depth || place_.step < depth ? load_constant(reinterpret_cast<value const*>(where))
                                                               : value::zero();
        continue;
      }
      int const line = place_.line + v * Share::line_step(along_k_);
      HEPTAD_UNROLL
      for (int e = 0; e < Shape::width; ++e) {
        bool const there =
            along_k_ ? line < lines_ && place_.step + e < depth : line + e < lines_ && place_.step < depth;
        into[v].x[e] = there ? __ldg(where + e) : T(0);
      }
    }
  }

  int count_;
  bool along_k_;
  panel_place place_;
  int lines_;
  std::int64_t further_[Share::vectors];  // elements from the first vector to vector v
  std::int64_t step_;                     // elements from one step of k to the next
  T const* from_[Sources];
  T const* factors_;  // in shared memory
  value sum_[Share::vectors], next_[Share::vectors];
};

template <typename Shape, bool Wide, int Sources>
using panel_of_A = panel_of_sum<Shape, typename Shape::share_a, Shape::pitch_a, Wide, Sources>;
template <typename Shape, bool Wide, int Sources>
using panel_of_B = panel_of_sum<Shape, typename Shape::share_b, Shape::pitch_b, Wide, Sources>;

/// One tile of one product, with so many blocks in its sums.
template <typename Shape, bool Wide, int SourcesA, int SourcesB>
__device__ void multiply_tile(fused_arguments<typename Shape::element> const& a, tile_place const& at,
                              tile_math<Shape>& math, typename Shape::element* shared) {
  using T = typename Shape::element;
  constexpr int depth = Shape::depth, steps = tile_math<Shape>::steps, offset_b = depth * Shape::pitch_a;
  int const thread = static_cast<int>(threadIdx.x);
  fused_product<T> const& p = a.products[at.product];
  T* const factors = shared + 2 * Shape::stage;
  panel_of_A<Shape, Wide, SourcesA> A(p.a, p.sources_a, a.ld_a, a.a_along_k, at.row * Shape::m, a.m, thread, factors);
  panel_of_B<Shape, Wide, SourcesB> B(p.b, p.sources_b, a.ld_b, a.b_along_k, at.col * Shape::n, a.n, thread,
                                      factors + most_fused_terms);

  // The panel that is not whole comes first: all others need no care.
  int const panels = (a.k + depth - 1) / depth, first = a.k - (panels - 1) * depth;
  A.begin(first), B.begin(first);
  __syncthreads();  // the factors are there
  HEPTAD_UNROLL
  for (int i = 2; i < most_fused_terms; ++i) A.go_on(i, first), B.go_on(i, first);
  A.finish(shared, first), B.finish(shared + offset_b, first);
  if (panels > 1) A.begin(depth), B.begin(depth);
  __syncthreads();
  math.read(shared, shared + offset_b, 0, 0);

  T *now = shared, *later = shared + Shape::stage;
  for (int left = panels - 1; left >= 0; --left) {
    HEPTAD_UNROLL
    for (int k = 0; k < depth; k += steps) {
      HEPTAD_UNROLL
      for (int i = 2; i < most_fused_terms; ++i)  // evenly spaced
        if (left > 0 && i * depth / most_fused_terms / steps == k / steps) A.go_on(i, depth), B.go_on(i, depth);
      bool const last = k + steps == depth;
      if (last) {
        A.finish(later, depth), B.finish(later + offset_b, depth);
        // The panel after the next is asked for a whole panel's multiplications before it is stored.
        if (left > 1) A.begin(depth), B.begin(depth);
        __syncthreads();
        T* const swap = now;
        now = later, later = swap;
      }
      math.multiply(k / steps % 2);
      math.read(now, now + offset_b, last ? 0 : k + steps, (k / steps + 1) % 2);
    }
  }
}

/// Calls work(a, b) with compile-time counts of the blocks in the sums; most_fused_terms: up to that many.
template <typename T, typename Work>
__device__ void by_sources(fused_product<T> const& p, Work const& work) {
  constexpr std::integral_constant<int, 1> one{};
  constexpr std::integral_constant<int, 2> two{};
  constexpr std::integral_constant<int, most_fused_terms> most{};
  if (p.sources_a > 2 || p.sources_b > 2) work(most, most);
  else if (p.sources_a == 2 && p.sources_b == 2) work(two, two);
  else if (p.sources_a == 2) work(two, one);
  else if (p.sources_b == 2) work(one, two);
  else work(one, one);
}

/// C := factor · tile + beta C for one target.
template <typename Shape, bool Wide, typename T>
__device__ void update_target(fused_arguments<T> const& a, tile_place const& at, tile_math<Shape> const& math,
                              fused_target<T> const& c) {
  using value = vector<T, Shape::width>;
  constexpr int vectors = tile_math<Shape>::vectors, columns = tile_math<Shape>::columns;
  constexpr int together = vectors < 8 ? 2 : 1;  // columns whose reads are under way at a time
  int const rows = a.m - at.row * Shape::m, cols = a.n - at.col * Shape::n;
  T* const tile = c.data + std::int64_t{at.row} * Shape::m + std::int64_t{at.col} * Shape::n * a.ld_c + math.row(0);
  auto const column = [&](int j) { return tile + math.col(j) * a.ld_c; };
  bool const atomic = a.how == accumulation::atomic, reads = !atomic && c.beta != T(0);
  HEPTAD_UNROLL
  for (int first = 0; first < columns; first += together) {
    value before[together][vectors];
    HEPTAD_UNROLL
    for (int j = 0; j < together; ++j) {
      HEPTAD_UNROLL
      for (int v = 0; v < vectors; ++v) {
        int const row = math.row(v), col = math.col(first + j);
        T const* const where = column(first + j) + (row - math.row(0));
        before[j][v] = value::zero();
        if (!reads || col >= cols) continue;
        if (Wide) {
          if (row < rows) before[j][v] = load_shared_result(reinterpret_cast<value const*>(where));
        } else {
          HEPTAD_UNROLL
          for (int e = 0; e < Shape::width; ++e)
            if (row + e < rows) before[j][v].x[e] = where[e];
        }
      }
    }
    HEPTAD_UNROLL
    for (int j = 0; j < together; ++j) {
      HEPTAD_UNROLL
      for (int v = 0; v < vectors; ++v) {
        int const row = math.row(v), col = math.col(first + j);
        if (col >= cols) continue;
        value result = c.factor * math.sum(v, first + j);
        if (!atomic && reads) result = result + c.beta * before[j][v];
        T* const where = column(first + j) + (row - math.row(0));
        if (Wide) {
          if (row >= rows) continue;
          if (atomic) add_atomically(reinterpret_cast<value*>(where), result);
          else *reinterpret_cast<value*>(where) = result;
        } else {
          HEPTAD_UNROLL
          for (int e = 0; e < Shape::width; ++e) {
            if (row + e >= rows) continue;
            if (atomic) atomicAdd(where + e, result.x[e]);
            else where[e] = result.x[e];
          }
        }
      }
    }
  }
}

/// The result of a tile to all of its targets, each in its turn.
template <typename Shape, bool Wide, typename T>
__device__ void update_targets(fused_arguments<T> const& a, tile_place const& at, tile_math<Shape> const& math) {
  fused_product<T> const& p = a.products[at.product];
  for (int i = 0; i < p.targets; ++i) {
    fused_target<T> const& c = p.c[i];
    unsigned* const turn = a.counters + 1 + c.block * a.grid.tiles() + at.row * std::int64_t{a.grid.cols} + at.col;
    if (a.how == accumulation::ordered) {
      if (threadIdx.x == 0)
        while (load_acquire(turn) != c.turn) __nanosleep(64);
      __syncthreads();
    }
    update_target<Shape, Wide>(a, at, math, c);
    if (a.how == accumulation::ordered) {
      __syncthreads();
      if (threadIdx.x == 0) {
        __threadfence();
        store_release(turn, c.turn + 1);
      }
    }
  }
}

/// Compute capability 7.5 has none of the instructions that the tensor shapes need: they are empty there.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
template <typename Shape>
inline constexpr bool runs_here = !Shape::tensor;
#else
template <typename Shape>
inline constexpr bool runs_here = true;
#endif

template <typename Shape, bool Wide>
__global__ void __launch_bounds__(Shape::threads, Shape::resident)
    fused_kernel(__grid_constant__ fused_arguments<typename Shape::element> const a) {
  if constexpr (runs_here<Shape>) {
    HEPTAD_SHARED_MEMORY(memory);
    auto* const shared = reinterpret_cast<typename Shape::element*>(memory);
    std::int64_t item = blockIdx.x;
    if (a.how == accumulation::ordered) {
      // Items are taken in order by blocks that run: who waits, waits for a block that runs too.
      unsigned* const ticket = reinterpret_cast<unsigned*>(memory);
      if (threadIdx.x == 0) *ticket = atomicAdd(a.counters, 1u) - a.first_ticket;
      __syncthreads();
      item = *ticket;
      __syncthreads();
    }
    tile_place const at = place_of(item, a.grid, band_of_tiles);
    tile_math<Shape> math(static_cast<int>(threadIdx.x));
    by_sources(a.products[at.product],
               [&](auto A, auto B) { multiply_tile<Shape, Wide, A.value, B.value>(a, at, math, shared); });
    update_targets<Shape, Wide>(a, at, math);
  }
}

}  // namespace heptad::cuda
