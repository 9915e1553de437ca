// SPDX-License-Identifier: BSD-3-Clause
// What the two factorisations share: tasks as functions of matrices, parts of handles for the length of a scope, the
// update C −= op(A) op(B) by Heptad or by tiles, and the comparison of both. BLAS and LAPACK are called on one thread.
#pragma once

#include <starpu.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <random>
#include <vector>

#include <heptad/starpu.hpp>

extern "C" {
void dgemm_(char const*, char const*, int const*, int const*, int const*, double const*, double const*, int const*,
            double const*, int const*, double const*, double*, int const*);
void dtrsm_(char const*, char const*, char const*, char const*, int const*, int const*, double const*, double const*,
            int const*, double*, int const*);
void dtrmm_(char const*, char const*, char const*, char const*, int const*, int const*, double const*, double const*,
            int const*, double*, int const*);
void openblas_set_num_threads(int);
}

namespace example {

inline constexpr double one = 1, minus_one = -1;
inline bool use_heptad = true;

/// A matrix that a task works on: column-major.
struct matrix {
  double* data;
  int rows, cols, ld;
};

/// A task on handles: the first one is written, the others are read.
inline void submit(char const* name, std::vector<starpu_data_handle_t> const& handles,
                   std::function<void(std::vector<matrix> const&)> body) {
  static starpu_codelet codelet = [] {
    starpu_codelet c;
    starpu_codelet_init(&c);
    c.nbuffers = STARPU_VARIABLE_NBUFFERS;
    c.cpu_funcs[0] = [](void* buffers[], void* argument) {
      std::vector<matrix> matrices;
      int const count = static_cast<int>(STARPU_TASK_GET_NBUFFERS(starpu_task_get_current()));
      for (int i = 0; i < count; ++i)
        matrices.push_back({reinterpret_cast<double*>(STARPU_MATRIX_GET_PTR(buffers[i])),
                            static_cast<int>(STARPU_MATRIX_GET_NX(buffers[i])),
                            static_cast<int>(STARPU_MATRIX_GET_NY(buffers[i])),
                            static_cast<int>(STARPU_MATRIX_GET_LD(buffers[i]))});
      (*static_cast<std::function<void(std::vector<matrix> const&)>*>(argument))(matrices);
    };
    return c;
  }();
  starpu_task* const t = starpu_task_create();
  t->cl = &codelet;
  t->name = name;
  t->nbuffers = static_cast<int>(handles.size());
  for (std::size_t i = 0; i < handles.size(); ++i) {
    t->handles[i] = handles[i];
    t->modes[i] = i == 0 ? STARPU_RW : STARPU_R;
  }
  t->cl_arg = new std::function(std::move(body));
  t->callback_func = [](void* f) { delete static_cast<std::function<void(std::vector<matrix> const&)>*>(f); };
  t->callback_arg = t->cl_arg;
  t->priority = STARPU_MAX_PRIO;  // the critical path: before the updates that fill the machine
  if (starpu_task_submit(t) != 0) std::abort();
}

/// The parts of a matrix between row and column lines, column by column, until the end of the scope.
class parts {
public:
  parts(starpu_data_handle_t whole, std::vector<int> rows, std::vector<int> cols, bool read_only = false)
      : whole_(whole),
        rows_(std::move(rows)),
        cols_(std::move(cols)),
        children_((rows_.size() - 1) * (cols_.size() - 1)) {
    starpu_data_filter filter{};
    filter.nchildren = static_cast<unsigned>(children_.size());
    filter.filter_arg_ptr = this;
    filter.filter_func = cut;
    starpu_data_partition_plan(whole, &filter, children_.data());
    (read_only ? starpu_data_partition_readonly_submit : starpu_data_partition_submit)(whole, filter.nchildren,
                                                                                       children_.data());
  }
  ~parts() {
    auto const count = static_cast<unsigned>(children_.size());
    starpu_data_unpartition_submit(whole_, count, children_.data(), -1);
    starpu_data_partition_clean(whole_, count, children_.data());
  }
  parts(parts const&) = delete;
  parts& operator=(parts const&) = delete;
  starpu_data_handle_t operator()(std::size_t i, std::size_t j) const { return children_[i + j * (rows_.size() - 1)]; }

private:
  static void cut(void* parent_interface, void* child_interface, starpu_data_filter* filter, unsigned id, unsigned) {
    auto const& p = *static_cast<parts const*>(filter->filter_arg_ptr);
    auto const& parent = *static_cast<starpu_matrix_interface const*>(parent_interface);
    auto& child = *static_cast<starpu_matrix_interface*>(child_interface);
    std::size_t const i = id % (p.rows_.size() - 1), j = id / (p.rows_.size() - 1);
    child = parent;
    child.nx = static_cast<decltype(child.nx)>(p.rows_[i + 1] - p.rows_[i]);
    child.ny = static_cast<decltype(child.ny)>(p.cols_[j + 1] - p.cols_[j]);
    child.allocsize = std::size_t{1} * child.nx * child.ny * child.elemsize;
    auto const skipped =
        static_cast<std::size_t>(p.rows_[i] + std::int64_t{1} * p.cols_[j] * parent.ld) * child.elemsize;
    if (parent.ptr != 0) child.ptr += skipped;
    child.offset += skipped;
  }

  starpu_data_handle_t whole_;
  std::vector<int> rows_, cols_;
  std::vector<starpu_data_handle_t> children_;
};

inline int rows_of(starpu_data_handle_t X) { return static_cast<int>(starpu_matrix_get_nx(X)); }
inline int cols_of(starpu_data_handle_t X) { return static_cast<int>(starpu_matrix_get_ny(X)); }
inline std::vector<int> whole(int n) { return {0, n}; }
/// Two halves, the first a multiple of 64.
inline std::vector<int> halves(int n) { return {0, (n / 2 + 63) / 64 * 64, n}; }
inline std::vector<int> tiles(int n, int tile) {
  std::vector<int> lines{0};
  while (lines.back() + tile < n) lines.push_back(lines.back() + tile);
  lines.push_back(n);
  return lines;
}

/// C −= A op(B), as one product of Heptad's or as a task of BLAS for every tile of C: what there would be without it.
inline void update(starpu_data_handle_t A, starpu_data_handle_t B, bool transpose_b, starpu_data_handle_t C) {
  if (use_heptad) {
    heptad::starpu::submit_options how;
    how.transpose_b = transpose_b;
    (void)heptad::starpu::submit_gemm(-1.0, A, B, 1.0, C, how);
    return;
  }
  auto const rows = tiles(rows_of(C), 512), cols = tiles(cols_of(C), 512);
  parts const c(C, rows, cols), a(A, rows, whole(cols_of(A)), true),
      b(B, transpose_b ? cols : whole(rows_of(B)), transpose_b ? whole(cols_of(B)) : cols, true);
  for (std::size_t j = 0; j + 1 < cols.size(); ++j)
    for (std::size_t i = 0; i + 1 < rows.size(); ++i)
      submit("gemm", {c(i, j), a(i, 0), transpose_b ? b(j, 0) : b(0, j)}, [transpose_b](std::vector<matrix> const& x) {
        auto const& [C_ij, A_i, B_j] = std::tie(x[0], x[1], x[2]);
        dgemm_("N", transpose_b ? "T" : "N", &C_ij.rows, &C_ij.cols, &A_i.cols, &minus_one, A_i.data, &A_i.ld, B_j.data,
               &B_j.ld, &one, C_ij.data, &C_ij.ld);
      });
}

/// Debian's OpenBLAS takes a processor that is newer than itself for the oldest one: starts this program again, told
/// better.
inline void choose_blas_kernels(char** argv) {
  if (!__builtin_cpu_supports("avx512dq") || std::getenv("OPENBLAS_CORETYPE") != nullptr) return;
  setenv("OPENBLAS_CORETYPE", "SkylakeX", 1);
  execv("/proc/self/exe", argv);
}

/// ‖X‖₁
inline double norm(std::vector<double> const& X, int n) {
  double largest = 0;
  for (int j = 0; j < n; ++j) {
    double sum = 0;
    for (int i = 0; i < n; ++i)
      sum += std::abs(X[static_cast<std::size_t>(i) + static_cast<std::size_t>(j) * static_cast<std::size_t>(n)]);
    largest = std::max(largest, sum);
  }
  return largest;
}

/// Factors a copy of A with tiles and with Heptad; `residual` gives LAPACK's test ratio of the factors, which must stay
/// under 30. Returns the status of the program.
inline int compare(char const* what, double flops, std::vector<double> const& A, int n, int repetitions,
                   std::function<void(starpu_data_handle_t)> const& factor,
                   std::function<double(std::vector<double> const&)> const& residual) {
  openblas_set_num_threads(1);  // the workers are StarPU's
  setenv("STARPU_SCHED", "prio", 0);
  if (starpu_init(nullptr) != 0) return 77;
  double best[2] = {1e300, 1e300}, ratio[2] = {0, 0};
  for (int round = 0; round < repetitions; ++round)
    for (int mode : {0, 1}) {
      use_heptad = mode == 1;
      std::vector<double> F = A;
      starpu_data_handle_t handle = nullptr;
      auto const size = static_cast<std::uint32_t>(n);
      starpu_matrix_data_register(&handle, STARPU_MAIN_RAM, reinterpret_cast<std::uintptr_t>(F.data()), size, size,
                                  size, sizeof(double));
      auto const begin = std::chrono::steady_clock::now();
      factor(handle);
      starpu_data_unregister(handle);  // waits
      best[mode] =
          std::min(best[mode], std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
      if (round > 0) continue;
      starpu_pause();  // idle workers would take the cores
      ratio[mode] = residual(F);
      starpu_resume();
    }
  char const* const names[] = {"BLAS tiles", "Heptad"};
  for (int mode : {0, 1})
    std::printf("%s n=%d, updates by %-10s  %8.3f s  %7.1f GFLOP/s  residual %.3f\n", what, n, names[mode], best[mode],
                flops / best[mode] * 1e-9, ratio[mode]);
  std::printf("%s n=%d: Heptad is %.3f times as fast\n", what, n, best[0] / best[1]);
  starpu_shutdown();
  return ratio[0] < 30 && ratio[1] < 30 ? 0 : 1;
}

}  // namespace example
