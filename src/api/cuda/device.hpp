// SPDX-License-Identifier: BSD-3-Clause
// The current device: is it one that Heptad runs on, what does the planner know of it, whose memory is a pointer.
#pragma once

#include <cublas_v2.h>
#include <cuda_runtime_api.h>

#include <cstddef>

#include "src/plan/device_profile.hpp"

namespace heptad::cuda {

/// Throws error{invalid_argument} that says what the driver said.
int count_devices();

/// Throws error{invalid_argument} that says what the driver said, when there is no device, none that the kernels were
/// built for (compute capability 7.5 or above), or no driver for this runtime.
int current_device();

/// Measured when there is a profile of a device of this name that is not stale, else the assumed rates scaled to this
/// one. Read once. Throws error{invalid_argument} when the file of profiles is malformed.
device_profile profile_of(int device);

/// Profiles are read again, for plans that are made from now on.
void forget_profiles();
/// How often that was: what was planned before is not to be used after.
int profile_generation();

/// 10000 major + 100 minor + patch.
int cublas_version();

std::size_t free_memory();
/// Nine tenths of that, in steps: a little more or less in use is the same plan.
std::size_t usable_memory();

/// Throws error{invalid_argument} when `data` is not memory that this device can use as its own.
void check_device_pointer(char const* name, void const* data, std::size_t element_bytes, int device);

/// A cuBLAS handle of Heptad's for one call: taken from, and given back to, a set of idle ones of the device.
class leased_handle {
public:
  /// Throws error{invalid_argument} when none is idle and the stream is being captured, which making one would end;
  /// error{out_of_memory} when there is no memory for one.
  leased_handle(int device, cudaStream_t stream);
  ~leased_handle();
  leased_handle(leased_handle const&) = delete;
  leased_handle& operator=(leased_handle const&) = delete;
  [[nodiscard]] cublasHandle_t get() const noexcept { return handle_; }

private:
  int device_;
  cublasHandle_t handle_ = nullptr;
};

/// Throws error{out_of_memory or internal_error} unless it is a success. The thread's last error is none then.
void check(cudaError_t status, char const* what);

}  // namespace heptad::cuda
