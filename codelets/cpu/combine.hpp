// SPDX-License-Identifier: BSD-3-Clause
// combine: one memory-bound pass that reads p blocks once and writes q linear combinations of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "src/algorithm/additions_program.hpp"

namespace heptad::cpu {

/// An additions program with its coefficients in T, made ready to run: no zero coefficients, no step of one term, none
/// that is unused, none of more than six terms.
template <typename T>
struct combine_program {
  struct term {
    int value;
    T coefficient;
  };
  int inputs = 0;
  std::vector<std::vector<term>> steps;
  std::vector<term> outputs;  // coefficient 0: the output is zero
};

template <typename T>
combine_program<T> compile(additions_program const& program);

template <typename T>
struct combine_output {
  T* data;
  std::int64_t row_stride, col_stride;
  T beta;  // Y = combination + beta·Y; beta = 0 never reads Y
};

template <typename T>
struct combine_input {
  T const* data;
  std::int64_t row_stride, col_stride;
  // Where the pass also looks at what it reads: the largest |x| of every row and every column, as scan() finds them.
  T *of_rows = nullptr, *of_cols = nullptr;
};

/// outputs[q] := (combination q of the inputs) + beta_q outputs[q], elementwise over rows × cols.
/// Inputs are distinct blocks. An output may be the very block of an input, with the same strides (each element is read
/// before it is written); partial overlap is not allowed, nor is one block as two outputs. An output that is the very
/// input it repeats, with beta = 0, costs nothing. streaming: non-temporal stores into those fresh outputs with beta =
/// 0 whose every column (or row) begins a cache line; the rest of its last line, which is nobody's, may be zeroed.
template <typename T>
void combine(combine_program<T> const& program, std::span<combine_input<T> const> inputs,
             std::span<combine_output<T> const> outputs, std::int64_t rows, std::int64_t cols, bool streaming);

/// The same in `room`, of combine_memory() bytes that begin a cache line, where the one above takes memory of the heap.
template <typename T>
std::size_t combine_memory(combine_program<T> const& program, std::size_t inputs, std::size_t outputs);
template <typename T>
void combine(combine_program<T> const& program, std::span<combine_input<T> const> inputs,
             std::span<combine_output<T> const> outputs, std::int64_t rows, std::int64_t cols, bool streaming,
             std::span<std::byte> room);

/// combine by the steps of a given instruction set, with what lies far away asked for in a given way.
template <typename T>
struct step_kernels;
struct far_access;
template <typename T>
void combine(step_kernels<T> const& kernels, far_access const& far, combine_program<T> const& program,
             std::span<combine_input<T> const> inputs, std::span<combine_output<T> const> outputs, std::int64_t rows,
             std::int64_t cols, bool streaming);

/// X := beta X; beta = 0 writes zeros without reading.
template <typename T>
void scale(T beta, T* X, std::int64_t rows, std::int64_t cols, std::int64_t row_stride, std::int64_t col_stride);

}  // namespace heptad::cpu
