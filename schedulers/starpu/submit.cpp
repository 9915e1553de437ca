// SPDX-License-Identifier: BSD-3-Clause
// A product of the caller's handles: everything is checked, planned and allocated before the first task is submitted.
#include <starpu.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <heptad/starpu.h>
#include <heptad/starpu.hpp>

#include "schedulers/starpu/graph_run.hpp"
#include "src/api/no_memory.hpp"
#include "src/api/runtime_call.hpp"
#include "src/matrix/reject.hpp"
#include "src/plan/device_blocks.hpp"

namespace heptad::starpu {
namespace {

struct shape {
  std::int64_t rows = 0, cols = 0;
};

shape shape_of(char const* name, starpu_data_handle_t X, std::size_t element_bytes, bool transpose) {
  if (X == nullptr) reject(std::string(name) + " = null must be a matrix handle");
  if (starpu_data_get_interface_id(X) != STARPU_MATRIX_INTERFACE_ID)
    reject(std::string(name) + " must be a handle of starpu_matrix_data_register");
  std::size_t const size = starpu_matrix_get_elemsize(X);
  if (size != element_bytes)
    reject(std::string(name) + " has elements of " + std::to_string(size) + " bytes, which must be " +
           std::to_string(element_bytes));
  shape const stored{static_cast<std::int64_t>(starpu_matrix_get_nx(X)),
                     static_cast<std::int64_t>(starpu_matrix_get_ny(X))};
  return transpose ? shape{stored.cols, stored.rows} : stored;
}

void check_equal(char const* left, std::int64_t a, char const* right, std::int64_t b) {
  if (a != b) reject(std::string(left) + " = " + std::to_string(a) + " must be " + right + " = " + std::to_string(b));
}

/// What a context has: CPU workers, and CUDA devices with any number of workers each.
struct crew {
  int cpus = 0, cuda_devices = 0;
};

/// Of the context, or of the thread's current one, which is the initial one unless the thread has set another.
crew crew_of(unsigned sched_ctx) {
  if (starpu_is_initialized() == 0) reject("StarPU is not initialised: starpu_init() comes first");
  if (sched_ctx > STARPU_NMAX_SCHED_CTXS)
    reject("sched_ctx = " + std::to_string(sched_ctx) + " must be a scheduling context, or " +
           std::to_string(STARPU_NMAX_SCHED_CTXS) + " for the current one");
  constexpr unsigned initial_context = 0;
  if (sched_ctx == STARPU_NMAX_SCHED_CTXS) sched_ctx = starpu_sched_ctx_get_context();
  if (sched_ctx == STARPU_NMAX_SCHED_CTXS) sched_ctx = initial_context;
  int* members = nullptr;
  unsigned const count = starpu_sched_ctx_get_workers_list(sched_ctx, &members);
  std::vector<int> const ids(members, members + count);
  std::free(members);
  crew found;
  std::set<int> devices;
  for (int const id : ids) {
    auto const kind = starpu_worker_get_type(id);
    if (kind == STARPU_CPU_WORKER) ++found.cpus;
    if (kind == STARPU_CUDA_WORKER) devices.insert(starpu_worker_get_devid(id));
  }
  found.cuda_devices = static_cast<int>(devices.size());
  if (found.cpus == 0) reject("StarPU has no CPU worker in this context for these tasks, which need one");
  return found;
}

/// Bytes of a product that count against the limit that the caller may have set for StarPU's main memory.
class counted_bytes {
public:
  counted_bytes() = default;
  ~counted_bytes() {
    if (bytes_ == 0) return;
    std::lock_guard const lock(mutex_);
    starpu_memory_deallocate(STARPU_MAIN_RAM, bytes_);
    of_all_ -= bytes_;
  }
  counted_bytes(counted_bytes&& other) noexcept : bytes_(std::exchange(other.bytes_, 0)) {}
  counted_bytes& operator=(counted_bytes&&) = delete;
  /// Once. False: that is more than the limit leaves. What a product cannot do without it takes in any case when there
  /// is no other: StarPU may use all that it may take for copies which it could drop.
  bool take(std::size_t bytes, bool indispensable) {
    std::lock_guard const lock(mutex_);
    int const flags = indispensable && of_all_ == 0 ? STARPU_MEMORY_OVERFLOW : 0;
    if (starpu_memory_allocate(STARPU_MAIN_RAM, bytes, flags) != 0) return false;
    of_all_ += bytes_ = bytes;
    return true;
  }

private:
  inline static std::mutex mutex_;  // counted is what StarPU has counted
  inline static std::size_t of_all_ = 0;
  std::size_t bytes_ = 0;
};

/// A product with its memory.
struct planned_call {
  counted_bytes counted;
  std::unique_ptr<runtime_call> call;
};

/// One product in flight: its memory lives until its last task has run.
struct flight {
  planned_call memory;
  graph_run run;

  flight(planned_call planned, std::span<starpu_data_handle_t const, 3> handles, run_options const& o)
      : memory(std::move(planned)), run(memory.call->product(), handles, o) {}
};

/// Whether every device holds what a task of a plan for devices touches: A and B, whole, and a block of C.
bool devices_hold(starpu_data_handle_t A, starpu_data_handle_t B, shape const& c, std::size_t element_bytes) {
  std::int64_t const block = std::min(c.rows, largest_block) * std::min(c.cols, largest_block);
  std::size_t const operands = starpu_data_get_size(A) + (A == B ? 0 : starpu_data_get_size(B));
  std::size_t const bytes = operands + static_cast<std::size_t>(block) * element_bytes;
  return device_room().kinds_with(static_cast<std::int64_t>(bytes), STARPU_CUDA) != 0;
}

/// Bytes that StarPU may still take in main memory.
std::size_t left_in_main_memory() {
  if (starpu_memory_get_total(STARPU_MAIN_RAM) < 0) return std::numeric_limits<std::size_t>::max();
  return static_cast<std::size_t>(std::max<starpu_ssize_t>(0, starpu_memory_get_available(STARPU_MAIN_RAM)));
}

/// Plans within what StarPU may still take in main memory, and takes it.
template <typename T>
planned_call plan_within_limit(T alpha, T beta, runtime_request request) {
  constexpr std::size_t worth_halving = std::size_t{1} << 20;
  std::optional<std::size_t>& most = request.wishes.max_workspace;
  for (;;) {
    planned_call planned;
    planned.call = make_runtime_call(alpha, beta, request);
    std::size_t const left = left_in_main_memory(), wanted = planned.call->how().workspace;
    bool const least = most == 0;
    if ((least || wanted <= left) && planned.counted.take(planned.call->bytes(), least)) {
      planned.call->take_memory();
      return planned;
    }
    if (least)
      throw error(status::out_of_memory, "packing takes " + std::to_string(planned.call->bytes()) +
                                             " bytes, of which StarPU's limit of main memory leaves " +
                                             std::to_string(left) + " beside other products; C is untouched");
    // What fits was taken by others, or there are more lanes than the plan has workers.
    std::size_t const less = wanted <= left ? wanted / 2 : left;
    most = less < worth_halving || (most && less >= *most) ? 0 : less;
  }
}

}  // namespace

template <typename T>
plan submit_gemm(T alpha, starpu_data_handle_t A, starpu_data_handle_t B, T beta, starpu_data_handle_t C,
                 submit_options const& how) try {
  runtime_request request;
  crew const workers = crew_of(how.sched_ctx);
  request.workers = workers.cpus;
  shape const a = shape_of("A", A, sizeof(T), how.transpose_a), b = shape_of("B", B, sizeof(T), how.transpose_b),
              c = shape_of("C", C, sizeof(T), false);
  check_equal("rows of op(A)", a.rows, "rows of C", c.rows);
  check_equal("rows of op(B)", b.rows, "columns of op(A)", a.cols);
  check_equal("columns of op(B)", b.cols, "columns of C", c.cols);
  if (C == A || C == B) reject(std::string("C must be another handle than ") + (C == A ? "A" : "B"));

  // Parts come together in the memory of the whole; those of what StarPU allocates get memory of their own, and of what
  // is at home on a device StarPU 1.3 makes none that work.
  if (int const home = starpu_data_get_home_node(C);
      home < 0 || starpu_node_get_kind(static_cast<unsigned>(home)) != STARPU_CPU_RAM)
    reject("C has home node " + std::to_string(home) + ", which must be main memory, for C is partitioned");

  request.shape = {c.rows, c.cols, a.cols, how.transpose_a, how.transpose_b, false, beta == T(0)};
  request.wishes = how.wishes;
  request.devices = devices_hold(A, B, c, sizeof(T)) ? workers.cuda_devices : 0;
  request.lanes = static_cast<int>(starpu_cpu_worker_get_count());
  // Where data moves, StarPU places the workspace; in main memory alone, the pages that the last product used are best.
  request.with_workspace = starpu_memory_nodes_get_count() == 1;
  planned_call memory = plan_within_limit(alpha, beta, std::move(request));
  plan planned = memory.call->how();  // moved out at the end: nothing may be copied after the submission
  if (memory.call->product().work->k == 0 && beta == T(1)) return planned;

  starpu_data_handle_t const handles[3] = {A, B, C};
  auto one = std::make_unique<flight>(std::move(memory), handles, run_options{how.sched_ctx, how.priority});
  one->run.prepare();
  flight* const flying = one.release();  // from here on nothing can run out of memory
  flying->run.submit([flying] { delete flying; });
  return planned;
} catch (std::bad_alloc const&) {
  throw no_memory;
}

template HEPTAD_API plan submit_gemm(double, starpu_data_handle_t, starpu_data_handle_t, double, starpu_data_handle_t,
                                     submit_options const&);
template HEPTAD_API plan submit_gemm(float, starpu_data_handle_t, starpu_data_handle_t, float, starpu_data_handle_t,
                                     submit_options const&);

namespace {

bool is_transposed(char const* name, char trans) {
  if (std::string("nN").find(trans) != std::string::npos) return false;
  if (std::string("tTcC").find(trans) != std::string::npos) return true;
  reject(std::string(name) + " = '" + trans + "' must be one of n, N, t, T, c, C");
}

template <typename T>
int submit(char transa, char transb, T alpha, starpu_data_handle_t A, starpu_data_handle_t B, T beta,
           starpu_data_handle_t C, unsigned sched_ctx) noexcept {
  try {
    submit_options how;
    how.transpose_a = is_transposed("transa", transa);
    how.transpose_b = is_transposed("transb", transb);
    how.sched_ctx = sched_ctx;
    (void)submit_gemm(alpha, A, B, beta, C, how);
    return HEPTAD_SUCCESS;
  } catch (error const& e) {
    return record_failure(e.code(), e.what());
  } catch (std::bad_alloc const&) {
    return record_failure(status::out_of_memory, "out of memory; C is untouched");
  } catch (std::exception const& e) {
    return record_failure(status::internal_error, e.what());
  }
}

}  // namespace
}  // namespace heptad::starpu

int heptad_starpu_dgemm_submit(char transa, char transb, double alpha, starpu_data_handle_t A, starpu_data_handle_t B,
                               double beta, starpu_data_handle_t C, unsigned sched_ctx) {
  return heptad::starpu::submit(transa, transb, alpha, A, B, beta, C, sched_ctx);
}

int heptad_starpu_sgemm_submit(char transa, char transb, float alpha, starpu_data_handle_t A, starpu_data_handle_t B,
                               float beta, starpu_data_handle_t C, unsigned sched_ctx) {
  return heptad::starpu::submit(transa, transb, alpha, A, B, beta, C, sched_ctx);
}
