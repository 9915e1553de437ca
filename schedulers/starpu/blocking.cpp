// SPDX-License-Identifier: BSD-3-Clause
// A product on plain memory, waited for. With main memory alone the tasks work on the caller's addresses, whatever the
// strides; with devices the blocks of the operands become handles for the time of the call.
#include <starpu.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <mutex>
#include <semaphore>
#include <string>

#include <heptad/heptad.hpp>
#include <heptad/starpu.hpp>

#include "schedulers/starpu/graph_run.hpp"
#include "src/process/lasting.hpp"

namespace heptad::starpu {
namespace {

/// The StarPU of the process, when Heptad had to start it: its workers sleep unless a call has work for them.
class runtime {
public:
  int workers(int wanted) {
    std::lock_guard const lock(mutex_);
    if (starpu_is_initialized() == 0) start(wanted);
    unsigned const count = starpu_cpu_worker_get_count();
    if (count == 0)
      throw error(status::invalid_argument, "StarPU has no CPU worker (STARPU_NCPU); scheduler = starpu needs one");
    return static_cast<int>(count);
  }

  void begin_call() {
    std::lock_guard const lock(mutex_);
    ++calls_;
  }
  void wake_workers() {
    std::lock_guard const lock(mutex_);
    if (calls_with_work_++ == 0 && own()) starpu_resume();
  }
  void end_call(bool with_work) {
    std::lock_guard const lock(mutex_);
    --calls_;
    if (with_work && --calls_with_work_ == 0 && own()) starpu_pause();
  }

  void stop() {
    std::lock_guard const lock(mutex_);
    if (calls_ > 0 || !own()) return;
    starpu_resume();
    starpu_shutdown();
  }

private:
  void start(int wanted) {
    starpu_conf conf;
    starpu_conf_init(&conf);
    conf.ncpus = std::min(wanted, STARPU_MAXCPUS);
    conf.sched_policy_name = "prio";  // STARPU_SCHED wins
    // Another policy may ask the models, and one first measured in the middle of a run aborts the process.
    conf.calibrate = std::getenv("STARPU_SCHED") != nullptr;
    if (int const answer = starpu_init(&conf); answer != 0)
      throw error(status::invalid_argument, "StarPU could not be started (" + std::to_string(answer) + ")");
    starpu_sched_ctx_set_user_data(initial_context, this);
    starpu_pause();
  }

  /// Whether the StarPU that runs is the one of start(): the program may have ended that one and started its own.
  [[nodiscard]] bool own() const {
    return starpu_is_initialized() != 0 && starpu_sched_ctx_get_user_data(initial_context) == this;
  }

  static constexpr unsigned initial_context = 0;

  std::mutex mutex_;
  int calls_ = 0, calls_with_work_ = 0;
};

runtime& process_runtime() {
  static constinit lasting<runtime> one;
  return one.get([] {
    std::atexit([] { process_runtime().stop(); });
    return runtime();
  });
}

/// While workers look for tasks they share the cores with the thread that submits: they wake up when all is submitted.
class call_in_progress {
public:
  call_in_progress() { process_runtime().begin_call(); }
  ~call_in_progress() { process_runtime().end_call(with_work_); }
  call_in_progress(call_in_progress const&) = delete;
  call_in_progress& operator=(call_in_progress const&) = delete;
  void wait_for(std::binary_semaphore& done) {
    process_runtime().wake_workers();
    with_work_ = true;
    done.acquire();
  }

private:
  bool with_work_ = false;
};

/// Whether StarPU has an interface for blocks of this view.
bool can_be_a_handle(location const& p, orientation order, std::int64_t rows, std::int64_t cols) {
  bool const by_columns = order == orientation::column_major;
  std::int64_t const inner = by_columns ? rows : cols, outer = by_columns ? cols : rows;
  std::int64_t const ld = outer == 1 ? inner : by_columns ? p.cs : p.rs;
  constexpr std::int64_t most = std::numeric_limits<std::uint32_t>::max();
  return (inner <= 1 || (by_columns ? p.rs : p.cs) == 1) && ld >= inner && ld <= most && outer <= most;
}

bool can_move(bound_product const& x) {
  graph const& g = *x.work;
  return can_be_a_handle(x.operands[space_A], x.orders[space_A], g.m, g.k) &&
         can_be_a_handle(x.operands[space_B], x.orders[space_B], g.k, g.n) &&
         can_be_a_handle(x.operands[space_C], x.orders[space_C], g.m, g.n);
}

bool moves_data() { return starpu_is_initialized() != 0 && starpu_memory_nodes_get_count() > 1; }

std::pmr::vector<task_record> run_and_wait(bound_product product) {
  run_options how;
  how.in_cells = product.in_cells && moves_data() && can_move(product);
  if (how.in_cells) product.workspace = nullptr;
  starpu_data_handle_t const none[3] = {};
  call_in_progress here;  // ends after `one`, whose handles may wait for workers
  graph_run one(product, none, how);
  std::binary_semaphore done(0);
  one.prepare();
  try {
    one.submit([&done] { done.release(); });
  } catch (error const&) {
    here.wait_for(done);  // StarPU took the tasks before
    throw;
  }
  here.wait_for(done);
  return one.take_records();
}

run_result run(bound_product const& product) {
  if (starpu_worker_get_id() >= 0) {
    throw error(status::invalid_argument,
                "a blocking product with scheduler = starpu must not be called from a StarPU task: submit_gemm() of "
                "<heptad/starpu.hpp> does not wait");
  }
  auto const start = std::chrono::steady_clock::now();
  run_result result;
  result.records = run_and_wait(product);
  result.workers = static_cast<int>(starpu_worker_get_count());
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

}  // namespace

void shutdown() { process_runtime().stop(); }

}  // namespace heptad::starpu

HEPTAD_API heptad::starpu_backend const* heptad_starpu_backend() noexcept {
  static constexpr heptad::starpu_backend backend{
      HEPTAD_VERSION, [](int wanted) { return heptad::starpu::process_runtime().workers(wanted); },
      heptad::starpu::moves_data, heptad::starpu::run};
  return &backend;
}
