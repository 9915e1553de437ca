// SPDX-License-Identifier: BSD-3-Clause
// What libheptad knows of libheptad_cuda: devices that compute products of matrices in host memory, and tasks of graphs
// for runtimes that bring streams. The library is found by name at run time, so that libheptad needs no CUDA.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include <heptad/heptad.hpp>

#include "schedulers/executor.hpp"

struct CUstream_st;  // *: cudaStream_t

namespace heptad {

struct found_device {
  int number = 0;
  std::string name;
  std::string unusable;  ///< why; "" when it can be used
};

/// What one logical device may take of its real one.
struct device_share {
  int device = 0;
  int sharers = 1;                                 ///< logical devices of the real one
  std::optional<std::size_t> max_device_memory{};  ///< bytes of the real one, for all of them
  int copy_threads = 1;
  options wishes;  ///< of the product
};

template <typename T>
struct device_product {
  T alpha{};
  matrix_view<T const> A, B;
  T beta{};
  matrix_view<T> C;
};

using any_device_product = std::variant<device_product<double>, device_product<float>>;

struct device_forecast {
  double seconds = 0;
  std::string how;  ///< one line: levels, blocks
};

/// What a product on a device did.
struct device_work {
  std::string how;  ///< one line: levels, blocks
  std::size_t bytes_in = 0, bytes_out = 0;
  double overlap = 0;  ///< share of the time of transfers in which products ran
};

/// Queues the tasks of one graph on streams of the current device, as executor runs them on CPU cores. Callable from
/// several threads at once.
class stream_tasks {
public:
  virtual ~stream_tasks() = default;
  /// Whether queue_at() knows this task.
  [[nodiscard]] virtual bool knows(task const& t) const noexcept = 0;
  /// Space number i of the task's blocks begins at spaces[i], in device memory. Throws error.
  virtual void queue_at(task const& t, std::span<location const> spaces, double alpha, double beta,
                        CUstream_st* stream) const = 0;
};

/// Callable from several threads at once. Everything throws error.
class device_backend {
public:
  /// Of the Heptad that it was built with. Asked first: the rest may look different in another version.
  [[nodiscard]] virtual char const* version() const noexcept = 0;
  virtual std::vector<found_device> devices() = 0;
  /// Can devices copy this host memory themselves, from its first element to the last? Memory of a device is refused.
  virtual bool is_pinned(char const* name, void const* first, void const* last) = 0;
  /// A product that multiply() would compute while the other sharers of the device are as busy.
  virtual device_forecast predict(device_share const& who, element_type type, problem const& shape, bool pinned) = 0;
  /// Blocking. `touched` is set before the first element of C changes.
  virtual device_work multiply(device_share const& who, any_device_product const& x, std::atomic<bool>& touched) = 0;
  /// The graph must outlive them. A product is one call with so many levels of Winograd at most. Null: there are none.
  virtual std::unique_ptr<stream_tasks> tasks_on_streams(graph const&, int /*levels*/) { return nullptr; }
  /// cuda::calibrate() on the current device. "": these devices are not measured.
  virtual std::string calibrate(std::string const& /*path*/,
                                std::function<void(double, std::string const&)> const& /*progress*/) {
    return {};
  }

protected:
  ~device_backend() = default;
};

/// The backend of libheptad_cuda, loaded at the first call. Throws error{invalid_argument} that says what is missing.
device_backend& find_cuda_backend();

}  // namespace heptad

/// In libheptad_cuda.
extern "C" [[gnu::weak]] heptad::device_backend* heptad_cuda_backend() noexcept;
