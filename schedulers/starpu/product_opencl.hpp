// SPDX-License-Identifier: BSD-3-Clause
// The product codelet on OpenCL devices.
#pragma once

namespace heptad::starpu {

/// A classical product on the device's copies, whatever the levels of the task: the simplest codelet that makes a
/// product heterogeneous. Speed is for codelets of real devices.
void product_on_opencl(void* buffers[], void* cl_arg);

}  // namespace heptad::starpu
