// SPDX-License-Identifier: BSD-3-Clause
// What Heptad's other libraries need of libheptad beside its public headers: a product planned and bound, for a runtime
// that says itself where operands lie and when tasks run. Not for clients: it may change in every version.
#pragma once

#include <cstddef>
#include <memory>

#include <heptad/heptad.hpp>

#include "schedulers/starpu/backend.hpp"

namespace heptad {

/// A product C := alpha A B + beta C on operands that lie elsewhere, with its plan, its graph in cells and, once it is
/// taken, its memory.
class HEPTAD_API runtime_call {
public:
  virtual ~runtime_call();
  [[nodiscard]] virtual plan const& how() const = 0;
  /// Of main memory that it holds from take_memory to its end, or will.
  [[nodiscard]] virtual std::size_t bytes() const = 0;
  /// Once. Where there is no memory the plan becomes a smaller one; throws error where there is none for that either.
  virtual void take_memory() = 0;
  /// After take_memory.
  [[nodiscard]] virtual bound_product product() const = 0;
};

struct runtime_request {
  problem shape;  // k = 0: C is only scaled
  options wishes;
  int workers = 1;             // that the plan is made for
  int devices = 0;             // CUDA devices that take tasks as well
  int lanes = 1;               // scratch areas
  bool with_workspace = true;  // of the graph's buffers; false: the runtime allocates them
};

/// The product, planned. Throws error, as gemm() in <heptad/heptad.hpp>.
template <typename T>
HEPTAD_API std::unique_ptr<runtime_call> make_runtime_call(T alpha, T beta, runtime_request const& request);

/// What heptad_last_error() will say on this thread; returns the code of the C interface.
HEPTAD_API int record_failure(status code, char const* message) noexcept;

}  // namespace heptad
