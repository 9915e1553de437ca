// SPDX-License-Identifier: BSD-3-Clause
#include "schedulers/starpu/product_opencl.hpp"

#include <starpu.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <utility>

#include "schedulers/starpu/graph_run.hpp"

namespace heptad::starpu {
namespace {

// One work item an element of C. Strides and offsets in elements.
constexpr char const* source = R"(
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
__kernel void product(long k, T alpha, __global T const* a, long a0, long a_rs, long a_cs,
                      __global T const* b, long b0, long b_rs, long b_cs,
                      T beta, __global T* c, long c0, long c_rs, long c_cs) {
  long const i = get_global_id(0), j = get_global_id(1);
  T sum = 0;
  for (long p = 0; p < k; ++p) sum += a[a0 + i * a_rs + p * a_cs] * b[b0 + p * b_rs + j * b_cs];
  __global T* const x = c + c0 + i * c_rs + j * c_cs;
  *x = alpha * sum + (beta == 0 ? 0 : beta * *x);
}
)";

/// A worker has no caller to tell: StarPU's own answer to a device that fails is the same.
void require(cl_int answer, char const* what) {
  if (answer == CL_SUCCESS) return;
  std::fprintf(stderr, "heptad: OpenCL: %s failed (%d)\n", what, answer);
  std::abort();
}

/// Built once for each context (StarPU makes new ones when it is started again) and element type.
cl_kernel kernel_for(int device, element_type type) {
  static std::mutex mutex;
  static auto& kernels = *new std::map<std::pair<cl_context, element_type>, cl_kernel>;  // exit handlers may multiply
  cl_context context = nullptr;
  cl_device_id id = nullptr;
  starpu_opencl_get_context(device, &context);
  starpu_opencl_get_device(device, &id);
  std::lock_guard const lock(mutex);
  auto const [found, fresh] = kernels.try_emplace({context, type}, nullptr);
  if (fresh) {
    char const* text = source;
    cl_int answer = CL_SUCCESS;
    cl_program const program = clCreateProgramWithSource(context, 1, &text, nullptr, &answer);
    require(answer, "clCreateProgramWithSource");
    char const* const flags = type == element_type::f64 ? "-DT=double" : "-DT=float";
    require(clBuildProgram(program, 1, &id, flags, nullptr, nullptr), "clBuildProgram");
    found->second = clCreateKernel(program, "product", &answer);
    require(answer, "clCreateKernel");
  }
  return found->second;
}

class arguments {
public:
  explicit arguments(cl_kernel kernel) : kernel_(kernel) {}
  template <typename X>
  void add(X const& value) {
    require(clSetKernelArg(kernel_, next_++, sizeof value, &value), "clSetKernelArg");
  }
  template <typename T>
  void add_matrix(slot const& s, void* buffers[]) {
    void* const matrix = buffers[s.buffer];
    auto const ld = static_cast<cl_long>(STARPU_MATRIX_GET_LD(matrix));
    bool const by_columns = s.order == orientation::column_major;
    cl_long const rs = by_columns ? 1 : ld, cs = by_columns ? ld : 1;
    auto const first = static_cast<cl_long>(STARPU_MATRIX_GET_OFFSET(matrix) / sizeof(T));
    add(reinterpret_cast<cl_mem>(STARPU_MATRIX_GET_DEV_HANDLE(matrix)));
    add(first + s.row * rs + s.col * cs);
    add(rs);
    add(cs);
  }

private:
  cl_kernel kernel_;
  cl_uint next_ = 0;
};

template <typename T>
void run(task_argument const& x, sequence_step const& s, void* buffers[], cl_kernel kernel, cl_command_queue queue) {
  bound_product const& product = x.run->product();
  update const how = product.work->sequences[static_cast<std::size_t>(s.sequence)].how;
  double const beta = how == update::overwrite ? 0 : how == update::accumulate ? 1 : product.beta;
  auto const slot_of = [&x](block const& b) -> slot const& { return x.slots[static_cast<std::size_t>(b.space)]; };
  arguments to(kernel);
  to.add(static_cast<cl_long>(s.a.cols));
  to.add(static_cast<T>(product.alpha * s.coefficient));
  to.add_matrix<T>(slot_of(s.a), buffers);
  to.add_matrix<T>(slot_of(s.b), buffers);
  to.add(static_cast<T>(beta));
  to.add_matrix<T>(slot_of(s.c), buffers);
  std::size_t const items[2] = {static_cast<std::size_t>(s.c.rows), static_cast<std::size_t>(s.c.cols)};
  require(clEnqueueNDRangeKernel(queue, kernel, 2, nullptr, items, nullptr, 0, nullptr, nullptr),
          "clEnqueueNDRangeKernel");
  require(clFinish(queue), "clFinish");
}

}  // namespace

void product_on_opencl(void* buffers[], void* cl_arg) {
  task_argument const& x = argument_of(cl_arg);
  auto const& s = std::get<sequence_step>(x.placed.local.body);
  int const device = starpu_worker_get_devid(starpu_worker_get_id());
  cl_command_queue queue = nullptr;
  starpu_opencl_get_queue(device, &queue);
  element_type const type = x.run->product().work->type;
  x.run->timed(x, [&] {
    cl_kernel const kernel = kernel_for(device, type);
    if (type == element_type::f64) run<double>(x, s, buffers, kernel, queue);
    else run<float>(x, s, buffers, kernel, queue);
  });
}

}  // namespace heptad::starpu
