// SPDX-License-Identifier: BSD-3-Clause
// combine on a device: one pass over memory that reads p blocks once and writes q linear combinations of them, by a
// kernel that the build generated for the program, or by a general one.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <span>
#include <vector>

#include "codelets/cuda/flat.hpp"
#include "src/algorithm/additions_program.hpp"
#include "src/matrix/limits.hpp"

namespace heptad::cuda {

template <typename T>
struct combine_input {
  T const* data;
  std::int64_t ld;
};
template <typename T>
struct combine_output {
  T* data;
  std::int64_t ld;
  T beta;  // Y = combination + beta Y; beta = 0 never reads Y
};

/// One pass over `rows` contiguous elements of each of `cols` columns. An output may be the very block of an input;
/// partial overlap is not allowed.
template <typename T>
struct combine_call {
  std::span<combine_input<T> const> inputs;
  std::span<combine_output<T> const> outputs;
  std::int64_t rows, cols;
};

/// A program that the build made kernels for. `code` is its flat form (see flat()).
struct generated_program {
  std::span<std::int32_t const> code;
  cudaError_t (*launch_f64)(cudaStream_t, combine_call<double> const&);
  cudaError_t (*launch_f32)(cudaStream_t, combine_call<float> const&);
};
std::span<generated_program const> generated_programs();

/// Ready to run.
class combine_program {
public:
  /// Throws error{invalid_argument} when the program has too many operands or terms for the general kernel and the
  /// build made none of its own.
  explicit combine_program(additions_program const& program);

  [[nodiscard]] bool is_generated() const noexcept { return generated_ != nullptr; }

  template <typename T>
  cudaError_t launch(cudaStream_t stream, combine_call<T> const& call) const;

  struct term {
    std::int32_t input;
    double coefficient;
  };

private:
  generated_program const* generated_ = nullptr;
  std::vector<std::vector<term>> outputs_;  // of the general kernel
};

/// The general kernel: outputs[q] = Σ terms[q], the readable loop that the generated kernels are tested against.
/// `terms[q]` has the terms of output q; at most most_general_outputs and most_general_terms in all.
template <typename T>
cudaError_t launch_general(cudaStream_t stream, std::span<std::vector<combine_program::term> const> terms,
                           combine_call<T> const& call);

/// X := beta X; beta = 0 writes zeros without reading. rows contiguous.
template <typename T>
cudaError_t launch_scale(cudaStream_t stream, T beta, T* X, std::int64_t ld, std::int64_t rows, std::int64_t cols);

}  // namespace heptad::cuda
