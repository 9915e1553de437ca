// SPDX-License-Identifier: BSD-3-Clause
// Requests and answers, one JSON object each; an answer with "error" says what went wrong:
//   (at the start)                      -> the library's introduction
//   {"do": "prepare", "case": {...}}    -> fills the operands, computes once, checks: {"check": {...}}
//   {"do": "run", "seconds": s}         -> calls for about s seconds: {"seconds": [...], "idle": [...]}
//   {"do": "finish"}                    -> {"memory": {...}, "last_call": {...}}, and frees the operands
#include "tools/bench/worker.hpp"

#include <chrono>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <variant>
#include <vector>

#include "tools/bench/channel.hpp"

namespace heptad::bench {
namespace {

// Calls shorter than this are preceded by one that is not timed, so that they find the threads awake.
constexpr double short_call = 0.05;  // seconds

class server {
public:
  explicit server(library& tested) : tested_(tested) {}

  nlohmann::json answer(nlohmann::json const& request) {
    std::string const what = request.at("do");
    if (what == "prepare") return prepare(request.at("case").get<gemm_case>());
    if (what == "run") return run(request.at("seconds"));
    if (what == "finish") return finish();
    throw std::invalid_argument("unknown request " + what);
  }

private:
  template <typename T>
  using sets = std::vector<operands<T>>;

  template <typename T>
  void fill(gemm_case const& what) {
    auto& on = data_.emplace<sets<T>>();
    while (on.size() < what.operand_sets) on.emplace_back(what);
  }

  nlohmann::json prepare(gemm_case const& what) {
    data_.emplace<std::monostate>();
    reset_peak_memory();
    next_ = 0;
    if (what.type == 'd') fill<double>(what);
    else fill<float>(what);
    expected_ = call();
    double const bound = tested_.error_bound(what);
    return {{"check", with_data([&](auto& on) { return on.front().check(bound); })}};
  }

  nlohmann::json run(double wanted) {
    with_data([](auto& on) {
      for (auto& set : on)
        if (set.what.beta != 0) set.reset_c();  // else C grows from call to call
      return 0;
    });
    if (expected_ < short_call) call();
    std::vector<double> seconds, idle;
    for (double spent = 0; spent < wanted || seconds.empty(); spent += seconds.back()) {
      seconds.push_back(call());
      if (auto const fraction = tested_.idle_fraction()) idle.push_back(*fraction);
    }
    return {{"seconds", seconds}, {"idle", idle}};
  }

  nlohmann::json finish() {
    std::size_t const peak = peak_memory();
    auto const own = static_cast<std::size_t>(with_data([](auto& on) { return on.front().what.operand_bytes(); }));
    data_.emplace<std::monostate>();
    return {{"memory", {{"peak", peak}, {"operands", own}}}, {"last_call", tested_.last_call()}};
  }

  // Seconds of one call, on the next set of operands.
  double call() {
    return with_data([&](auto& on) {
      auto& set = on[next_++ % on.size()];
      auto const begin = std::chrono::steady_clock::now();
      tested_.multiply(set);
      return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    });
  }

  template <typename Use>
  auto with_data(Use use) -> decltype(use(std::declval<sets<double>&>())) {
    if (auto* on = std::get_if<sets<double>>(&data_)) return use(*on);
    if (auto* on = std::get_if<sets<float>>(&data_)) return use(*on);
    throw std::logic_error("no operands: prepare comes first");
  }

  // Linux resets the high-water mark VmHWM to the present size on this write (proc(5), clear_refs).
  static void reset_peak_memory() { std::ofstream("/proc/self/clear_refs") << 5; }
  static std::size_t peak_memory() {
    std::ifstream status("/proc/self/status");
    for (std::string word; status >> word;)
      if (std::size_t kib = 0; word == "VmHWM:" && status >> kib) return kib * 1024;
    return 0;
  }

  library& tested_;
  std::variant<std::monostate, sets<double>, sets<float>> data_;
  std::size_t next_ = 0;  // set of operands
  double expected_ = 0;   // seconds of the first call
};

}  // namespace

void serve(worker_options const& wishes) {
  channel bench(wishes.channel);
  std::unique_ptr<library> tested;
  try {
    tested = wishes.library == "heptad" ? make_own(wishes.threads, wishes.own)
                                        : load_blas(wishes.library, wishes.path, wishes.threads);
    bench.send(tested->info());
  } catch (std::exception const& reason) {
    bench.send({{"error", reason.what()}});
    return;
  }
  server state(*tested);
  for (;;) {
    nlohmann::json request;
    try {
      request = bench.receive();
    } catch (std::runtime_error const&) {
      return;  // the bench has closed the channel
    }
    try {
      bench.send(state.answer(request));
    } catch (std::exception const& reason) {
      bench.send({{"error", reason.what()}});
    }
  }
}

}  // namespace heptad::bench
