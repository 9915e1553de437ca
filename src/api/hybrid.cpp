// SPDX-License-Identifier: BSD-3-Clause
// One shared call: check → who is there → split C by predictions → run the parts → what failed, by the CPU → report.
#include "src/api/hybrid.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
#include <new>
#include <string>
#include <string_view>
#include <utility>

#include "schedulers/parts.hpp"
#include "src/api/crew.hpp"
#include "src/api/diagnostics.hpp"
#include "src/api/gemm.hpp"
#include "src/api/no_memory.hpp"
#include "src/api/present.hpp"
#include "src/api/seconds_since.hpp"
#include "src/matrix/reject.hpp"

namespace heptad::hybrid {
namespace {

void check_options(options const& wishes, element_type type) {
  heptad::check_options(wishes.product, type);
  if (wishes.logical_devices < 1 || wishes.logical_devices > 64)
    reject(fmt::format("logical_devices = {} must be between 1 and 64", wishes.logical_devices));
  if (wishes.devices)
    for (auto d = wishes.devices->begin(); d != wishes.devices->end(); ++d)
      if (std::find(wishes.devices->begin(), d, *d) != d) reject(fmt::format("devices: {} must be named once", *d));
  if (wishes.copy_threads < 1) reject(fmt::format("copy_threads = {} must be at least 1", wishes.copy_threads));
  if (wishes.cpu_share && !(*wishes.cpu_share >= 0 && *wishes.cpu_share <= 1))
    reject(fmt::format("cpu_share = {} must be between 0 and 1", *wishes.cpu_share));
}

void check_taken_over(crew const& all, options const& wishes) {
  if (!all.has_devices() && !all.absent().empty() && !wishes.take_over)
    reject(fmt::format("take_over = false needs a device: {}", fmt::join(all.absent(), "; ")));
}

template <typename T>
T const* last_of(matrix_view<T> const& X) {
  return X.data + (X.rows - 1) * X.row_stride + (X.cols - 1) * X.col_stride;
}

template <typename T>
operands<T> block_of(operands<T> const& x, part const& p) {
  return {x.alpha, x.A.block(p.row, 0, p.rows, x.A.cols), x.B.block(0, p.col, x.B.rows, p.cols), x.beta,
          x.C.block(p.row, p.col, p.rows, p.cols)};
}

/// The parts of one call while they run. A part is written by who computes it; the CPU takes one over only afterwards.
template <typename T>
class shared_product final : public part_work {
public:
  shared_product(context& workers, crew const& who, operands<T> const& x, options const& wishes, report& told,
                 steady::time_point begin)
      : workers_(workers), crew_(who), x_(x), wishes_(wishes), told_(told), begin_(begin) {}

  void run() {
    std::vector<std::size_t> on_cpu, on_devices;
    for (std::size_t i = 0; i < told_.parts.size(); ++i) (told_.parts[i].device < 0 ? on_cpu : on_devices).push_back(i);
    // What fails later may fail for want of memory.
    for (std::size_t const i : on_devices) told_.parts[i].failure.reserve(room);
    failure_.reserve(room * told_.parts.size());
    told_.planning_seconds = seconds_since(begin_);
    run_parts(on_cpu, on_devices, *this);
    if (failure_.empty()) return;
    try {
      throw error(failure_code_, failure_ + (told_.parts.size() > 1 ? "; other parts of C are done" : ""));
    } catch (std::bad_alloc const&) {
      throw failure_code_ == status::out_of_memory ? no_memory : failed_midway;
    }
  }

  part_end on_device(std::size_t i) noexcept override {
    part& p = told_.parts[i];
    p.begin_seconds = seconds_since(begin_);
    std::atomic<bool> touched{false};
    try {
      operands<T> const b = block_of(x_, p);
      device_work done = crew_.backend()->multiply(crew_.device(crew_.participants()[i]),
                                                   device_product<T>{b.alpha, b.A, b.B, b.beta, b.C}, touched);
      p.how = std::move(done.how);
      p.bytes_in = done.bytes_in, p.bytes_out = done.bytes_out, p.overlap = done.overlap;
      end(p, seconds_since(begin_) - p.begin_seconds);
      return part_end::done;
    } catch (std::exception const& e) {
      return failed(p, e.what(), touched);
    } catch (...) {
      return failed(p, "an exception of unknown type", touched);
    }
  }

  void on_cpu(std::size_t i) noexcept override {
    part& p = told_.parts[i];
    double const from = seconds_since(begin_);
    if (p.failure.empty()) p.begin_seconds = from;
    if (p.device >= 0 && p.failure.empty()) add(p.failure, "no thread could be started for it");
    try {
      heptad::report const r = heptad::multiply(workers_, block_of(x_, p), wishes_.product);
      double const took = seconds_since(begin_) - from;
      if (!p.failure.empty()) told_.taken_over_seconds += took;
      end(p, took);
      describe(p, r.plan);
    } catch (error const& e) {
      // What it says of C holds where nobody else has written any.
      bool const alone = told_.parts.size() == 1 && p.failure.empty();
      if (alone) failure_code_ = e.code(), add(failure_, e.what());
      else fail(p, e.code() == status::out_of_memory ? "out of memory" : e.what());
    } catch (std::exception const& e) {
      fail(p, e.what());
    }
  }

private:
  static constexpr std::size_t room = 512;  // for what is said of one failure, the rest is cut off

  static void add(std::string& to, std::string_view words) noexcept {
    to.append(words.substr(0, to.capacity() - to.size()));
  }

  /// The part is done, also where there is no memory to say how.
  static void describe(part& p, heptad::plan const& how) noexcept try {
    p.how = (p.failure.empty() ? "" : "by the CPU: ") + describe_levels(how);
  } catch (std::bad_alloc const&) {
  }

  void end(part& p, double took) const {
    p.seconds = took;
    p.gflops = 2.0 * double(p.rows) * double(p.cols) * double(x_.A.cols) / took / 1e9;
  }

  part_end failed(part& p, char const* why, bool touched) noexcept {
    add(p.failure, why);
    p.seconds = seconds_since(begin_) - p.begin_seconds;
    bool const recoverable = !touched || x_.beta == T(0);
    if (recoverable && wishes_.take_over) return part_end::untouched;
    fail(p, why, touched ? "it is spoilt" : "it is as it was");
    return part_end::spoilt;
  }

  void fail(part const& p, char const* why, char const* state = "it may be partly updated") noexcept {
    std::lock_guard const lock(failures_);
    std::array<char, room> words;
    auto const end =
        fmt::format_to_n(words.begin(), words.size(), "{}{} failed on rows {} to {}, columns {} to {} of C ({}): {}",
                         failure_.empty() ? "" : "; ", p.who, p.row, p.row + p.rows - 1, p.col, p.col + p.cols - 1,
                         state, why)
            .out;
    add(failure_, {words.begin(), end});
  }

  context& workers_;
  crew const& crew_;
  operands<T> const& x_;
  options const& wishes_;
  report& told_;
  steady::time_point const begin_;
  std::mutex failures_;
  std::string failure_;
  status failure_code_ = status::internal_error;
};

/// Each operand is asked for: memory of a device is refused.
template <typename T>
bool all_pinned(device_backend& devices, operands<T> const& x) {
  bool const a = devices.is_pinned("A", x.A.data, last_of(x.A)), b = devices.is_pinned("B", x.B.data, last_of(x.B));
  return devices.is_pinned("C", x.C.data, last_of(x.C)) && a && b;
}

}  // namespace

template <typename T>
report multiply(context& workers, device_backend& (*find)(), operands<T> const& x, options const& wishes) {
  auto const begin = steady::now();
  check_options(wishes, type_of<T>);
  report told;
  if (x.C.rows == 0 || x.C.cols == 0) return told;
  problem shape = shape_of(x);
  if (!x.reads_factors()) shape.k = 0;
  crew all(workers, type_of<T>, shape, wishes);
  if (shape.k > 0) all.ask(find, [&x](device_backend& devices) { return all_pinned(devices, x); });
  check_taken_over(all, wishes);
  plan p = all.make();
  told.parts = std::move(p.parts);
  told.pinned = p.pinned, told.predicted_seconds = p.predicted_seconds, told.absent = std::move(p.absent);
  shared_product<T>(workers, all, x, wishes, told, begin).run();
  told.seconds = seconds_since(begin);
  try {
    all.learn(told);
  } catch (std::bad_alloc const&) {
    // The product is done; the next one teaches the same.
  }
  told.gflops = 2.0 * double(x.C.rows) * double(x.C.cols) * double(x.A.cols) / told.seconds / 1e9;
  return told;
}

plan make_plan(context& workers, device_backend& (*find)(), element_type type, problem const& shape, bool pinned,
               options const& wishes) {
  check_options(wishes, type);
  check_problem(shape, type == element_type::f64 ? 8 : 4);
  plan nothing;
  nothing.type = type, nothing.shape = shape, nothing.pinned = pinned;
  if (shape.m == 0 || shape.n == 0) return nothing;
  crew all(workers, type, shape, wishes);
  if (shape.k > 0) all.ask(find, [pinned](device_backend&) { return pinned; });
  check_taken_over(all, wishes);
  plan p = all.make();
  all.describe(p);
  return p;
}

template <typename T>
report gemm(context& workers, T alpha, matrix_view<T const> A, matrix_view<T const> B, T beta, matrix_view<T> C,
            options const& wishes) {
  return or_no_memory([&] {
    operands<T> const x{alpha, A, B, beta, C};
    check_operands(x);
    return multiply(workers, find_cuda_backend, x, wishes);
  });
}

template <typename T>
plan make_plan(context& workers, problem const& shape, bool pinned, options const& wishes) {
  return or_no_memory([&] { return make_plan(workers, find_cuda_backend, type_of<T>, shape, pinned, wishes); });
}

#define HEPTAD_FOR(T)                                                                                         \
  template report multiply(context&, device_backend& (*)(), operands<T> const&, options const&);              \
  template HEPTAD_API plan make_plan<T>(context&, problem const&, bool, options const&);                      \
  template HEPTAD_API report gemm(context&, T, matrix_view<T const>, matrix_view<T const>, T, matrix_view<T>, \
                                  options const&);
HEPTAD_FOR(double)
HEPTAD_FOR(float)
#undef HEPTAD_FOR

}  // namespace heptad::hybrid
