// SPDX-License-Identifier: BSD-3-Clause
// The extension heptad._heptad_cuda, in builds with CUDA: products of DLPack's capsules in device memory. Of its own,
// and loaded at the first such product, as CUDA's libraries take longer to load than all else.
#include <cuda_runtime_api.h>
#include <fmt/format.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <cstdint>
#include <optional>
#include <string>

#include <heptad/cuda.hpp>

#include "python/src/arrays.hpp"

namespace heptad::python {
namespace {

using namespace nb::literals;

/// The device of the operands, while it lives.
class current_device {
public:
  explicit current_device(int wanted) {
    // Without a driver both fail, and the product says so better.
    changed_ = cudaGetDevice(&before_) == cudaSuccess && before_ != wanted && cudaSetDevice(wanted) == cudaSuccess;
  }
  ~current_device() {
    if (changed_) cudaSetDevice(before_);
  }
  current_device(current_device const&) = delete;
  current_device& operator=(current_device const&) = delete;

private:
  int before_ = 0;
  bool changed_ = false;
};

template <typename T>
void multiply(std::uintptr_t stream, T alpha, operand const& a, operand const& b, T beta, operand const& out,
              cuda::options const& wishes) {
  auto const X = out.as<T>();
  matrix_view<T> const C{const_cast<T*>(X.data), X.rows, X.cols, X.row_stride, X.col_stride};
  nb::gil_scoped_release const others_may_run;
  // NOLINTNEXTLINE(performance-no-int-to-ptr): that is how Python's libraries hand over streams
  cuda::gemm<T>(reinterpret_cast<cudaStream_t>(stream), nullptr, alpha, a.as<T>(), b.as<T>(), beta, C, wishes);
}

void gemm_of_capsules(nb::capsule const& a_capsule, nb::capsule const& b_capsule, nb::capsule const& out_capsule,
                      double alpha, double beta, std::uintptr_t stream, double max_error, bool guaranteed,
                      std::optional<std::size_t> max_workspace, std::optional<int> max_levels, std::string algorithm) {
  operand const a = device_operand("a", a_capsule), b = device_operand("b", b_capsule),
                out = device_operand("out", out_capsule);
  check_shapes(a, b, out);
  for (auto const& [name, x] : {std::pair{"b", &b}, {"out", &out}}) {
    if (x->array.device_id() != a.array.device_id())
      throw nb::value_error(fmt::format("{} is on device {}, and must be on that of a, {}", name, x->array.device_id(),
                                        a.array.device_id())
                                .c_str());
  }
  cuda::options wishes;
  wishes.max_error = max_error;
  wishes.guaranteed = guaranteed;
  wishes.max_workspace = max_workspace;
  if (max_levels) wishes.max_levels = *max_levels;
  wishes.algorithm = std::move(algorithm);
  current_device const here(a.array.device_id());
  if (a.type == element_type::f64) multiply<double>(stream, alpha, a, b, beta, out, wishes);
  else multiply<float>(stream, static_cast<float>(alpha), a, b, static_cast<float>(beta), out, wishes);
}

}  // namespace
}  // namespace heptad::python

NB_MODULE(_heptad_cuda, m) {
  using namespace heptad::python;
  heptad::cuda::options const defaults;
  m.def("gemm", &gemm_of_capsules, "a"_a, "b"_a, "out"_a, "alpha"_a, "beta"_a, "stream"_a,
        "max_error"_a = defaults.max_error, "guaranteed"_a = defaults.guaranteed, "max_workspace"_a.none(),
        "max_levels"_a.none(), "algorithm"_a = defaults.algorithm);
}
