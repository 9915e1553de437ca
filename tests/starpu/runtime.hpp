// SPDX-License-Identifier: BSD-3-Clause
// The caller's side of the tests: a StarPU of its own, matrices of integers (exact in both types) and their handles.
#pragma once

#include <starpu.h>

#include <cstdint>
#include <initializer_list>
#include <list>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "src/api/runtime_call.hpp"
#include "tests/environment_variable.hpp"

namespace heptad::test {

/// Started in an environment with these settings; what was there before is put back after it has ended.
class own_starpu {
public:
  using setting = std::pair<char const*, char const*>;

  explicit own_starpu(char const* policy = "lws", std::initializer_list<setting> settings = {}) {
    for (auto const& [name, value] : settings) environment_.emplace_back(name, value);
    starpu_conf conf;
    starpu_conf_init(&conf);
    conf.sched_policy_name = policy;
    // The policies that ask models: what earlier runs have measured may otherwise end this one (docs/starpu.md). Tasks
    // made by hand have no footprint to be measured by.
    conf.calibrate = std::string_view(policy).starts_with("dmda");
    REQUIRE(starpu_init(&conf) == 0);
  }
  ~own_starpu() { starpu_shutdown(); }
  own_starpu(own_starpu const&) = delete;
  own_starpu& operator=(own_starpu const&) = delete;

private:
  std::list<environment_variable> environment_;
};

/// One CPU worker and one device.
class two_nodes {
public:
  [[nodiscard]] static bool has_device() { return starpu_opencl_worker_get_count() > 0; }

private:
  own_starpu runtime_{"eager", {{"STARPU_NCPU", "1"}, {"STARPU_NOPENCL", "1"}, {"STARPU_OPENCL_ON_CPUS", "1"}}};
};

/// Two CPU workers on a machine that has two nodes of main memory, as hwloc tells StarPU. What StarPU measures of its
/// memories belongs to another host.
class two_numa_nodes {
  own_starpu runtime_{"lws",
                      {{"HWLOC_SYNTHETIC", "numa:2 core:1 pu:1"},
                       {"STARPU_USE_NUMA", "1"},
                       {"STARPU_NOPENCL", "0"},
                       {"STARPU_HOSTNAME", "two-numa-nodes"}}};
};

/// Column-major, with a leading dimension larger than needed and a mark in what is between.
template <typename T>
struct handled_matrix {
  handled_matrix(std::int64_t m, std::int64_t n, std::mt19937& random, std::int64_t padding = 3)
      : rows(m), cols(n), ld(m + padding), data(static_cast<std::size_t>(ld * n), mark) {
    std::uniform_int_distribution<int> small(-2, 2);
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t i = 0; i < m; ++i) (*this)(i, j) = static_cast<T>(small(random));
  }
  handled_matrix(handled_matrix const& other) : rows(other.rows), cols(other.cols), ld(other.ld), data(other.data) {}
  handled_matrix& operator=(handled_matrix const&) = delete;
  ~handled_matrix() { release(); }

  starpu_data_handle_t share(int home = STARPU_MAIN_RAM) {
    starpu_matrix_data_register(&handle, home, reinterpret_cast<std::uintptr_t>(data.data()),
                                static_cast<std::uint32_t>(ld), static_cast<std::uint32_t>(rows),
                                static_cast<std::uint32_t>(cols), sizeof(T));
    return handle;
  }
  /// Waits for all that was submitted on it.
  void release() {
    if (handle != nullptr) starpu_data_unregister(handle);
    handle = nullptr;
  }
  T& operator()(std::int64_t i, std::int64_t j) { return data[static_cast<std::size_t>(i + j * ld)]; }
  T operator()(std::int64_t i, std::int64_t j) const { return data[static_cast<std::size_t>(i + j * ld)]; }

  static constexpr T mark = T(-12345);
  std::int64_t rows, cols, ld;
  std::vector<T> data;
  starpu_data_handle_t handle = nullptr;
};

/// The definition: C := alpha op(A) op(B) + beta C.
template <typename T>
void classical(T alpha, handled_matrix<T> const& A, bool ta, handled_matrix<T> const& B, bool tb, T beta,
               handled_matrix<T>& C) {
  std::int64_t const k = ta ? A.rows : A.cols;
  for (std::int64_t j = 0; j < C.cols; ++j)
    for (std::int64_t i = 0; i < C.rows; ++i) {
      long double sum = 0;
      for (std::int64_t p = 0; p < k; ++p)
        sum += static_cast<long double>(ta ? A(p, i) : A(i, p)) * (tb ? B(j, p) : B(p, j));
      sum *= alpha;
      if (beta != T(0)) sum += static_cast<long double>(beta) * C(i, j);
      C(i, j) = static_cast<T>(sum);
    }
}

/// A task of the caller's on one matrix: visit(element) of all its elements.
template <typename T, void (*Visit)(T&), starpu_data_access_mode Mode = STARPU_RW>
starpu_codelet& each_element() {
  static starpu_codelet codelet = [] {
    starpu_codelet c;
    starpu_codelet_init(&c);
    c.cpu_funcs[0] = [](void* buffers[], void*) {
      auto* const first = reinterpret_cast<T*>(STARPU_MATRIX_GET_PTR(buffers[0]));
      for (std::size_t j = 0; j < STARPU_MATRIX_GET_NY(buffers[0]); ++j)
        for (std::size_t i = 0; i < STARPU_MATRIX_GET_NX(buffers[0]); ++i)
          Visit(first[i + j * STARPU_MATRIX_GET_LD(buffers[0])]);
    };
    c.nbuffers = 1;
    c.modes[0] = Mode;
    c.name = "caller";
    return c;
  }();
  return codelet;
}

/// Of an m×k by a k×n matrix, on two workers.
inline runtime_request request_for(std::int64_t m, std::int64_t n, std::int64_t k, int levels) {
  runtime_request request;
  request.shape.m = m, request.shape.n = n, request.shape.k = k;
  request.wishes.force_levels = levels;
  request.workers = 2;
  request.lanes = static_cast<int>(starpu_cpu_worker_get_count());
  return request;
}

inline void submit(starpu_codelet& codelet, starpu_data_handle_t handle) {
  REQUIRE(starpu_task_insert(&codelet, STARPU_RW, handle, 0) == 0);
}

}  // namespace heptad::test

#define SKIP_WITHOUT_DEVICE                                     \
  if (!two_nodes::has_device()) {                               \
    WARN("skipped: no OpenCL device; install pocl-opencl-icd"); \
    return;                                                     \
  }
