// SPDX-License-Identifier: BSD-3-Clause
#include "schedulers/cuda/transfer_executor.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "codelets/cuda/product.hpp"
#include "schedulers/cuda/check.hpp"

namespace heptad::cuda {
namespace {

enum engine { loading, multiplying, storing, engines };

std::size_t element_bytes(element_type type) { return type == element_type::f64 ? sizeof(double) : sizeof(float); }

void check_taken(cudaError_t status, char const* what) {
  if (status == cudaSuccess) return;
  fail(status_of(status), fmt::format("{}: {}; C is as it was", what, cudaGetErrorString(status)));
}

}  // namespace

struct transfer_executor::resources {
  std::array<cudaStream_t, engines> streams{};
  char* memory = nullptr;
  std::size_t bytes = 0;
  std::vector<cudaEvent_t> events;  // two for each step: it begins, it ends
  cudaEvent_t idle = nullptr;       // on which the host waits, asleep

  ~resources() {
    for (cudaStream_t s : streams)
      if (s != nullptr) cudaStreamSynchronize(s);  // before the memory goes
    for (cudaEvent_t e : events) cudaEventDestroy(e);
    if (idle != nullptr) cudaEventDestroy(idle);
    for (cudaStream_t s : streams)
      if (s != nullptr) cudaStreamDestroy(s);
    cudaFree(memory);
  }
};

transfer_executor::transfer_executor(transfer_plan how) : how_(std::move(how)), held_(std::make_unique<resources>()) {
  std::size_t workspace = 0;
  for (plan const& p : how_.products) {
    auto& work = products_[{p.shape.m, p.shape.n, p.shape.k, p.shape.beta_zero}];
    work = std::make_unique<stream_executor>(p);
    workspace = std::max(workspace, work->workspace_bytes());
  }
  held_->bytes = how_.block_bytes + workspace;
  void* memory = nullptr;
  check_taken(cudaMalloc(&memory, held_->bytes), "device memory for the blocks");
  held_->memory = static_cast<char*>(memory);
  for (cudaStream_t& s : held_->streams) check_taken(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking), "a stream");
  check_taken(cudaEventCreateWithFlags(&held_->idle, cudaEventDisableTiming | cudaEventBlockingSync), "an event");
  held_->events.reserve(2 * how_.work.steps.size());
  for (std::size_t e = 0; e < 2 * how_.work.steps.size(); ++e) {
    cudaEvent_t event = nullptr;
    check_taken(cudaEventCreate(&event), "an event");
    held_->events.push_back(event);
  }
}

transfer_executor::~transfer_executor() = default;
std::size_t transfer_executor::device_bytes() const noexcept { return held_->bytes; }

/// One run.
template <typename T>
class transfer_executor::session {
public:
  session(transfer_executor const& owner, cublasHandle_t handle, transfer_rings const& rings, host_operands<T> const& x,
          std::atomic<bool>& touched)
      : how_(owner.how_), owner_(owner), handle_(handle), rings_(rings), x_(x), touched_(touched) {
    transfer_tiling const& t = how_.work.blocks;
    problem const& shape = how_.full;
    char* next = owner.held_->memory;
    auto const place = [&](matrix_name of, int slots, std::int64_t rows, std::int64_t cols, orientation order) {
      auto const lies = layout_of_slot(rows, cols, order == orientation::row_major, how_.type);
      for (int s = 0; s < slots; ++s, next += lies.bytes)
        slots_[static_cast<std::size_t>(of)].push_back({reinterpret_cast<T*>(next), lies.ld});
    };
    place(matrix_name::A, t.slots_A, shape.m, shape.k, x.A.order);
    place(matrix_name::B, t.slots_B, shape.k, shape.n, x.B.order);
    place(matrix_name::C, t.slots_C, shape.m, shape.n, x.C.order);
    workspace_ = reinterpret_cast<T*>(owner.held_->memory + how_.block_bytes);
  }

  transfer_times run() {
    for (transfer_step const& step : how_.work.steps) {
      std::visit([this](auto const& s) { queue(s); }, step);
      ++now_;
    }
    if (rings_.out != nullptr) rings_.out->finish();
    for (cudaStream_t s : owner_.held_->streams) {
      check_running(cudaEventRecord(owner_.held_->idle, s), "an event");
      check_running(cudaEventSynchronize(owner_.held_->idle), "a product");
    }
    return times();
  }

private:
  static constexpr int none = -1;
  struct slot {
    T* data;
    std::int64_t ld;
    int filled = none, used = none, stored = none;  // the last step that did this to it
  };

  slot& at(matrix_name of, int index) { return slots_[static_cast<std::size_t>(of)][static_cast<std::size_t>(index)]; }
  [[nodiscard]] cudaEvent_t begin_of(int step) const {
    return owner_.held_->events[static_cast<std::size_t>(2 * step)];
  }
  [[nodiscard]] cudaEvent_t end_of(int step) const {
    return owner_.held_->events[static_cast<std::size_t>(2 * step + 1)];
  }
  [[nodiscard]] cudaStream_t stream(engine e) const { return owner_.held_->streams[e]; }

  /// `step` on engine `e` follows those steps.
  void begin(engine e, std::initializer_list<int> after) {
    for (int const step : after)
      if (step != none) check_running(cudaStreamWaitEvent(stream(e), end_of(step), 0), "an event");
    check_running(cudaEventRecord(begin_of(now_), stream(e)), "an event");
  }
  void end(engine e) { check_running(cudaEventRecord(end_of(now_), stream(e)), "an event"); }

  template <typename Element>
  static byte_lines lines(Element* data, std::int64_t ld, orientation order, block_position const& b) {
    bool const columns = order == orientation::column_major;
    auto* const bytes = reinterpret_cast<char*>(const_cast<T*>(data));
    return {bytes, static_cast<std::size_t>(ld) * sizeof(T),
            static_cast<std::size_t>(columns ? b.rows : b.cols) * sizeof(T),
            static_cast<std::size_t>(columns ? b.cols : b.rows)};
  }
  template <typename Matrix>
  static byte_lines host_lines(Matrix const& X, block_position const& b) {
    bool const columns = X.order == orientation::column_major;
    return lines(X.data + (columns ? b.row + b.col * X.ld : b.row * X.ld + b.col), X.ld, X.order, b);
  }

  void load(host_matrix<T const> const& X, load_block const& what) {
    slot& s = at(what.what.of, what.slot);
    begin(loading, {s.used, s.stored});
    byte_lines const from = host_lines(X, what.what), to = lines(s.data, s.ld, X.order, what.what);
    if (X.pinned)
      check_running(cudaMemcpy2DAsync(to.data, to.pitch, from.data, from.pitch, from.bytes, from.lines,
                                      cudaMemcpyHostToDevice, stream(loading)),
                    "a copy to the device");
    else rings_.in->to_device(stream(loading), to, from);
    end(loading);
    s.filled = now_;
  }
  void queue(load_block const& what) {
    if (what.what.of == matrix_name::A) load(x_.A, what);
    else if (what.what.of == matrix_name::B) load(x_.B, what);
    else load({x_.C.data, x_.C.ld, x_.C.order, x_.C.pinned}, what);
  }

  void queue(multiply_blocks const& p) {
    slot &a = at(matrix_name::A, p.a), &b = at(matrix_name::B, p.b), &c = at(matrix_name::C, p.c);
    begin(multiplying, {a.filled, b.filled, c.filled, c.stored});
    bool const overwrites = p.first && how_.overwrites;
    T const beta = overwrites ? T(0) : p.first ? x_.beta : T(1);
    auto const& work = *owner_.products_.at({p.m, p.n, p.k, overwrites});
    work.run(stream(multiplying), handle_,
             bound_operands<T>{x_.alpha,
                               {a.data, a.ld, x_.A.order},
                               {b.data, b.ld, x_.B.order},
                               beta,
                               {c.data, c.ld, x_.C.order},
                               workspace_});
    end(multiplying);
    a.used = b.used = c.used = now_;
  }

  void queue(store_block const& what) {
    slot& s = at(matrix_name::C, what.slot);
    begin(storing, {s.used});
    if (!marks_) check_running(cudaLaunchHostFunc(stream(storing), mark, &touched_), "a callback");
    marks_ = true;
    byte_lines const to = host_lines(x_.C, what.what), from = lines(s.data, s.ld, x_.C.order, what.what);
    if (x_.C.pinned)
      check_running(cudaMemcpy2DAsync(to.data, to.pitch, from.data, from.pitch, from.bytes, from.lines,
                                      cudaMemcpyDeviceToHost, stream(storing)),
                    "a copy to the host");
    else rings_.out->to_host(stream(storing), to, from);
    end(storing);
    s.stored = now_;
  }

  static void CUDART_CB mark(void* touched) { static_cast<std::atomic<bool>*>(touched)->store(true); }

  [[nodiscard]] transfer_times times() const {
    transfer_times t;
    for (int step = 0; step < now_; ++step) {
      float from = 0, took = 0;
      check_running(cudaEventElapsedTime(&from, begin_of(0), begin_of(step)), "an event");
      check_running(cudaEventElapsedTime(&took, begin_of(step), end_of(step)), "an event");
      interval const when{from * 1e-3, (double(from) + took) * 1e-3};
      std::size_t const kind = how_.work.steps[static_cast<std::size_t>(step)].index();
      (kind == 0 ? t.loads : kind == 1 ? t.products : t.stores).push_back(when);
    }
    return t;
  }

  transfer_plan const& how_;
  transfer_executor const& owner_;
  cublasHandle_t const handle_;
  transfer_rings const& rings_;
  host_operands<T> const& x_;
  std::atomic<bool>& touched_;
  bool marks_ = false;  // the first store is queued, and before it what sets touched_
  std::array<std::vector<slot>, 3> slots_;
  T* workspace_ = nullptr;
  int now_ = 0;  // the step being queued
};

template <typename T>
transfer_times transfer_executor::run(cublasHandle_t handle, transfer_rings const& rings, host_operands<T> const& x,
                                      std::atomic<bool>& touched) {
  handle_modes const modes(handle);
  check_running(cublasSetStream(handle, held_->streams[multiplying]), "the stream of the products");
  return session<T>(*this, handle, rings, x, touched).run();
}

template transfer_times transfer_executor::run(cublasHandle_t, transfer_rings const&, host_operands<double> const&,
                                               std::atomic<bool>&);
template transfer_times transfer_executor::run(cublasHandle_t, transfer_rings const&, host_operands<float> const&,
                                               std::atomic<bool>&);

}  // namespace heptad::cuda
