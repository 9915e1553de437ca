// SPDX-License-Identifier: BSD-3-Clause
// One shared call: check → who is there → split C by predictions → run the parts → what failed, by the CPU → report.
#include "src/api/hybrid.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <limits>
#include <map>
#include <mutex>
#include <new>
#include <tuple>
#include <utility>

#include "schedulers/parts.hpp"
#include "src/api/context.hpp"
#include "src/api/diagnostics.hpp"
#include "src/api/environment.hpp"
#include "src/api/gemm.hpp"
#include "src/api/memory.hpp"
#include "src/api/no_memory.hpp"
#include "src/api/present.hpp"
#include "src/plan/planner.hpp"
#include "src/plan/split.hpp"

namespace heptad::hybrid {
namespace {

using steady = std::chrono::steady_clock;
double since(steady::time_point begin) { return std::chrono::duration<double>(steady::now() - begin).count(); }

[[noreturn]] void reject(std::string const& message) { throw error(status::invalid_argument, message); }

void check_options(options const& wishes, element_type type) {
  heptad::check_options(wishes.product, type);
  if (wishes.logical_devices < 1 || wishes.logical_devices > 64)
    reject(fmt::format("logical_devices = {} must be between 1 and 64", wishes.logical_devices));
  if (wishes.copy_threads < 1) reject(fmt::format("copy_threads = {} must be at least 1", wishes.copy_threads));
  if (wishes.cpu_share && !(*wishes.cpu_share >= 0 && *wishes.cpu_share <= 1))
    reject(fmt::format("cpu_share = {} must be between 0 and 1", *wishes.cpu_share));
}

struct logical_device {
  device_share what;
  int number;  // among those of its device
  std::string name;
};

/// The devices that can take part; why others cannot goes into `absent`.
std::vector<logical_device> find_devices(device_backend& backend, options const& wishes,
                                         std::vector<std::string>& absent) {
  auto const found = backend.devices();
  std::vector<int> asked;
  if (wishes.devices) asked = *wishes.devices;
  else
    for (found_device const& d : found) asked.push_back(d.number);
  std::vector<logical_device> all;
  for (int const number : asked) {
    auto const d = std::ranges::find(found, number, &found_device::number);
    if (d == found.end()) absent.push_back(fmt::format("device {}: there is none of this number", number));
    else if (!d->unusable.empty()) absent.push_back(fmt::format("device {} ({}): {}", number, d->name, d->unusable));
    else
      for (int l = 0; l < wishes.logical_devices; ++l)
        all.push_back({{number, wishes.logical_devices, wishes.max_device_memory, wishes.copy_threads, wishes.product},
                       l,
                       d->name});
  }
  if (found.empty()) absent.push_back("no CUDA device was found");
  return all;
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
  shared_product(context& workers, device_backend* backend, operands<T> const& x, options const& wishes,
                 std::vector<logical_device> const& devices, std::vector<std::size_t> who, report& told,
                 steady::time_point begin)
      : workers_(workers),
        backend_(backend),
        x_(x),
        wishes_(wishes),
        devices_(devices),
        who_(std::move(who)),
        told_(told),
        begin_(begin) {}

  void run() {
    std::vector<std::size_t> on_cpu, on_devices;
    for (std::size_t i = 0; i < told_.parts.size(); ++i) (told_.parts[i].device < 0 ? on_cpu : on_devices).push_back(i);
    told_.planning_seconds = since(begin_);
    run_parts(on_cpu, on_devices, *this);
    if (!failure_.empty())
      throw error(failure_code_,
                  failure_ + (failure_code_ == status::invalid_argument ? "" : "; other parts of C are done"));
  }

  part_end on_device(std::size_t i) noexcept override {
    part& p = told_.parts[i];
    p.begin_seconds = since(begin_);
    std::atomic<bool> touched{false};
    try {
      operands<T> const b = block_of(x_, p);
      device_work done =
          backend_->multiply(devices_[who_[i] - 1].what, device_product<T>{b.alpha, b.A, b.B, b.beta, b.C}, touched);
      p.how = std::move(done.how);
      p.bytes_in = done.bytes_in, p.bytes_out = done.bytes_out, p.overlap = done.overlap;
      end(p, since(begin_) - p.begin_seconds);
      return part_end::done;
    } catch (std::exception const& e) {
      return failed(p, e.what(), touched);
    } catch (...) {
      return failed(p, "an exception of unknown type", touched);
    }
  }

  void on_cpu(std::size_t i) noexcept override {
    part& p = told_.parts[i];
    double const from = since(begin_);
    if (p.failure.empty()) p.begin_seconds = from;
    try {
      heptad::report const r = heptad::multiply(workers_, block_of(x_, p), wishes_.product);
      double const took = since(begin_) - from;
      if (!p.failure.empty()) told_.taken_over_seconds += took;
      p.how = (p.failure.empty() ? "" : "by the CPU: ") + describe_levels(r.plan);
      end(p, took);
    } catch (error const& e) {
      // With other parts under way C is no more as it was.
      fail(told_.parts.size() == 1 ? e.code() : status::internal_error, p, e.what());
    } catch (std::exception const& e) {
      fail(status::internal_error, p, e.what());
    }
  }

private:
  void end(part& p, double took) const {
    p.seconds = took;
    p.gflops = 2.0 * double(p.rows) * double(p.cols) * double(x_.A.cols) / took / 1e9;
  }

  part_end failed(part& p, char const* why, bool touched) noexcept {
    p.failure = why;
    p.seconds = since(begin_) - p.begin_seconds;
    bool const recoverable = !touched || x_.beta == T(0);
    if (recoverable && wishes_.take_over) return part_end::untouched;
    fail(status::internal_error, p, why, recoverable && !touched ? "it is as it was" : "it is spoilt");
    return part_end::spoilt;
  }

  void fail(status code, part const& p, char const* why, char const* state = "it may be partly updated") noexcept {
    std::lock_guard const lock(failures_);
    failure_code_ = code;
    failure_ +=
        fmt::format("{}{} failed on rows {} to {}, columns {} to {} of C ({}): {}", failure_.empty() ? "" : "; ", p.who,
                    p.row, p.row + p.rows - 1, p.col, p.col + p.cols - 1, state, why);
  }

  context& workers_;
  device_backend* const backend_;
  operands<T> const& x_;
  options const& wishes_;
  std::vector<logical_device> const& devices_;
  std::vector<std::size_t> const who_;  // of each part: participant 0 is the CPU
  report& told_;
  steady::time_point const begin_;
  std::mutex failures_;
  std::string failure_;
  status failure_code_ = status::internal_error;
};

/// Who may take part in one call, and what is predicted for them.
template <typename T>
class crew {
public:
  crew(context& workers, device_backend& (*find)(), operands<T> const& x, options const& wishes, report& told)
      : workers_(workers), x_(x), wishes_(wishes), told_(told), threads_(workers.threads()) {
    bool const alone = (wishes.devices && wishes.devices->empty()) || wishes.cpu_share == 1.0;
    if (alone || !x.reads_factors() || without_workers()) return;
    try {
      backend_ = &find();
      devices_ = find_devices(*backend_, wishes, told.absent);
      if (devices_.empty()) return;
      // Each is asked: memory of a device is refused.
      bool const a = is_pinned("A", x.A), b = is_pinned("B", x.B), c = is_pinned("C", matrix_view<T const>(x.C));
      told.pinned = a && b && c;
    } catch (error const& e) {
      if (!devices_.empty() && e.code() == status::invalid_argument) throw;
      devices_.clear();  // the driver, or what it is to tell, is not there
      told.absent.emplace_back(e.what());
    }
  }

  /// Fills in the parts; returns the participant of each.
  std::vector<std::size_t> plan() {
    if (devices_.empty()) return whole_by_cpu();
    key_ = {type_of<T>, shape_of(x_), told_.pinned, threads_, 1 + devices_.size(), wishes_};
    known_ = workers_.state().learned.find(key_);
    if (!wishes_.learn || known_.how.parts.empty()) {
      try {
        known_.how = split_now();
        ++known_.times_made;
      } catch (error const&) {
        if (!wishes_.take_over) throw;  // every device has said that it cannot
        return whole_by_cpu();
      }
    }
    told_.predicted_seconds = known_.how.seconds;
    std::vector<std::size_t> who;
    for (split_part const& s : known_.how.parts) who.push_back(add(s));
    return who;
  }

  /// After the call: how wrong the predictions were.
  void learn(std::vector<std::size_t> const& who) const {
    if (!wishes_.learn || known_.how.parts.empty()) return;
    std::vector<double> seen(key_.participants, 0.0);
    for (std::size_t i = 0; i < who.size(); ++i)
      if (part const& p = told_.parts[i]; p.failure.empty()) seen[who[i]] = p.seconds / p.predicted_seconds;
    workers_.state().learned.tell(key_, known_, seen);
  }

  [[nodiscard]] device_backend* backend() const { return backend_; }
  [[nodiscard]] std::vector<logical_device> const& devices() const { return devices_; }

private:
  static constexpr double never = std::numeric_limits<double>::infinity();

  /// By what is predicted, and how wrong that was before.
  split split_now() const {
    // Logical devices of one device have the same predictions, and the same sizes are asked for again and again.
    std::map<std::tuple<int, std::int64_t, std::int64_t>, double> known;
    auto const remembered = [&known](int who, std::int64_t rows, std::int64_t cols, auto const& predict) {
      auto const [found, fresh] = known.try_emplace({who, rows, cols}, 0.0);
      if (fresh) found->second = predict(rows, cols);
      return found->second;
    };
    std::vector<participant> all;
    all.push_back({[&](auto rows, auto cols) {
                     return known_.factors[0] *
                            remembered(-1, rows, cols, [this](auto r, auto c) { return on_cpu(r, c); });
                   },
                   wishes_.cpu_share});
    for (std::size_t d = 0; d < devices_.size(); ++d)
      all.push_back({[&, d](auto rows, auto cols) {
                       return known_.factors[1 + d] * remembered(devices_[d].what.device, rows, cols,
                                                                 [&](auto r, auto c) { return on_device(d, r, c); });
                     },
                     {}});
    split how = split_product(x_.C.rows, x_.C.cols, all);
    std::ranges::sort(how.parts, {}, &split_part::who);
    return how;
  }

  std::vector<std::size_t> whole_by_cpu() {
    known_.how.parts.clear();
    double const seconds = x_.reads_factors() ? on_cpu(x_.C.rows, x_.C.cols) : 0;
    told_.predicted_seconds = seconds;
    return {add({0, 0, 0, x_.C.rows, x_.C.cols, seconds})};
  }

  /// Into the report; returns who it is.
  std::size_t add(split_part const& s) {
    part& p = told_.parts.emplace_back();
    if (s.who == 0) {
      p.who = fmt::format("CPU, {} workers", threads_);
    } else {
      logical_device const& d = devices_[s.who - 1];
      p.device = d.what.device, p.logical = d.number;
      p.who = fmt::format("device {}{} ({})", p.device,
                          wishes_.logical_devices > 1 ? fmt::format(".{}", p.logical) : "", d.name);
    }
    p.row = s.row, p.col = s.col, p.rows = s.rows, p.cols = s.cols;
    p.share = double(p.rows) * double(p.cols) / (double(x_.C.rows) * double(x_.C.cols));
    p.predicted_seconds = s.seconds;
    return s.who;
  }

  bool is_pinned(char const* name, matrix_view<T const> const& X) const {
    return backend_->is_pinned(name, X.data, last_of(X));
  }

  [[nodiscard]] problem shape_of_block(std::int64_t rows, std::int64_t cols) const {
    problem shape = shape_of(x_);
    shape.m = rows, shape.n = cols;
    return present(shape);
  }

  double on_cpu(std::int64_t rows, std::int64_t cols) const {
    context::impl& state = workers_.state();
    heptad::options const wishes = with_defaults(wishes_.product, state.defaults);
    return choose_plan(type_of<T>, shape_of_block(rows, cols), threads_, free_memory(), state.machine(), wishes)
        .seconds;
  }

  double on_device(std::size_t d, std::int64_t rows, std::int64_t cols) const {
    try {
      return backend_->seconds(devices_[d].what, type_of<T>, shape_of_block(rows, cols), told_.pinned);
    } catch (error const& e) {
      auto why = fmt::format("device {}: {}", devices_[d].what.device, e.what());
      if (std::ranges::find(told_.absent, why) == told_.absent.end()) told_.absent.push_back(std::move(why));
      return never;
    }
  }

  context& workers_;
  operands<T> const& x_;
  options const& wishes_;
  report& told_;
  int const threads_;
  device_backend* backend_ = nullptr;
  std::vector<logical_device> devices_;
  shared_product_key key_{};
  learned_split known_;
};

}  // namespace

template <typename T>
report multiply(context& workers, device_backend& (*find)(), operands<T> const& x, options const& wishes) {
  auto const begin = steady::now();
  check_options(wishes, type_of<T>);
  report told;
  if (x.C.rows == 0 || x.C.cols == 0) return told;
  crew<T> all(workers, find, x, wishes, told);
  if (all.devices().empty() && !told.absent.empty() && !wishes.take_over)
    reject(fmt::format("take_over = false needs a device: {}", fmt::join(told.absent, "; ")));
  auto const who = all.plan();
  shared_product<T>(workers, all.backend(), x, wishes, all.devices(), who, told, begin).run();
  all.learn(who);
  told.seconds = since(begin);
  told.gflops = 2.0 * double(x.C.rows) * double(x.C.cols) * double(x.A.cols) / told.seconds / 1e9;
  return told;
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

#define HEPTAD_FOR(T)                                                                                         \
  template report multiply(context&, device_backend& (*)(), operands<T> const&, options const&);              \
  template HEPTAD_API report gemm(context&, T, matrix_view<T const>, matrix_view<T const>, T, matrix_view<T>, \
                                  options const&);
HEPTAD_FOR(double)
HEPTAD_FOR(float)
#undef HEPTAD_FOR

}  // namespace heptad::hybrid
