// SPDX-License-Identifier: BSD-3-Clause
// What the look at A and B costs: the product without it, after scans of A and B, and with the opening passes that look
// on the way, in turns on the same operands. Prints a record.
#include <chrono>
#include <cstdio>
#include <functional>
#include <memory>
#include <memory_resource>
#include <span>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <heptad/heptad.hpp>

#include "schedulers/scan.hpp"
#include "schedulers/sequential/sequential.hpp"
#include "schedulers/tbb/tbb_scheduler.hpp"
#include "src/api/context.hpp"
#include "src/api/diagnostics.hpp"
#include "src/api/median.hpp"
#include "src/api/prepare.hpp"
#include "src/api/worker_group.hpp"
#include "tools/bench/operands.hpp"
#include "tools/bench/record.hpp"

namespace {

using namespace heptad;

template <typename T>
class experiment {
public:
  experiment(std::int64_t n, int threads)
      : workers_(threads),
        on_({sizeof(T) == 8 ? 'd' : 's', n, n, n, threads, 0.0}),
        A_(column_major<T const>(on_.A.data(), n, n, n)),
        B_(column_major<T const>(on_.B.data(), n, n, n)),
        C_(column_major<T>(on_.C.data(), n, n, n)),
        how_(make_plan<T>(workers_, {n, n, n, false, false, false, true})),
        memory_(get_workspace(workers_.state(), how_, threads, wishes_of(how_))),
        body_(make_executor<T>(ready().work, how_, operands(), shared())) {
    on_.reset_c();
  }

  nlohmann::json run(int rounds) {
    std::vector<double> none, scanned, opened, scans, looking, not_looking;
    for (int round = -1; round < rounds; ++round) {
      double const a = seconds([&] { product(false); });
      double const b = seconds([&] {
        look(ready().scan, ready().scan_order);
        product(false);
      });
      double const c = seconds([&] {
        rebind<T>(*body_, operands(), shared());
        look(ready().opening, ready().opening_order);
        product(true);
      });
      double const d = seconds([&] { look(ready().scan, ready().scan_order); });
      rebind<T>(*body_, operands(), shared());
      double const e = seconds([&] { look(ready().opening, ready().opening_order); });
      double const f = seconds([&] { run_graph(ready().opening.work, ready().opening_order, blind(*body_)); });
      if (round < 0) continue;
      none.push_back(a), scanned.push_back(b), opened.push_back(c);
      scans.push_back(d), looking.push_back(e), not_looking.push_back(f);
    }
    return {{"type", sizeof(T) == 8 ? "d" : "s"},
            {"n", on_.what.m},
            {"threads", how_.workers},
            {"levels", describe_levels(ready().how)},
            {"rounds", rounds},
            {"product_seconds", {{"without", median(none)}, {"scanned", median(scanned)}, {"opened", median(opened)}}},
            {"scan_seconds", median(scans)},
            {"opening_seconds", {{"looking", median(looking)}, {"not_looking", median(not_looking)}}},
            {"share",
             {{"scanned", median(scans) / median(none)},
              {"opened", (median(looking) - median(not_looking)) / median(none)}}}};
  }

private:
  /// The same passes without a look at what they read, and no scans.
  class blind final : public executor {
  public:
    explicit blind(executor const& product) : product_(product) {}
    [[nodiscard]] std::size_t scratch_bytes() const noexcept override { return product_.scratch_bytes(); }
    void run(task const& t, std::byte* scratch) const noexcept override {
      if (!std::holds_alternative<scan_step>(t.body)) open<T>(product_, t, {}, {}, scratch);
    }
    void run_at(task const&, std::span<location const>, std::byte*) const noexcept override {}

  private:
    executor const& product_;
  };

  static double seconds(std::function<void()> const& work) {
    using clock = std::chrono::steady_clock;
    auto const begin = clock::now();
    work();
    return std::chrono::duration<double>(clock::now() - begin).count();
  }

  [[nodiscard]] prepared_plan const& ready() const { return *memory_.prepared; }
  [[nodiscard]] gemm_operands<T> operands() const { return {T(1), A_, B_, T(0), C_}; }
  [[nodiscard]] T* shared() const { return reinterpret_cast<T*>(memory_.shared()); }

  void run_graph(graph const& g, dependencies const& order, executor const& work) {
    run_tbb(g, order, work, workers_.state().workers()->arena(), how_.workers,
            [this](int worker, std::size_t) { return memory_.scratch(worker); });
  }
  void look(scan_graph const& g, dependencies const& order) {
    operand_scan<T> const scan(g, A_, B_, body_.get(), std::pmr::get_default_resource());
    run_graph(g.work, order, scan);
    if (!(scan.of_A().largest <= 1 && scan.of_B().largest <= 1)) throw std::logic_error("a wrong magnitude");
  }
  void product(bool opened) {
    rebind<T>(*body_, operands(), shared(), opened ? run_kind::opened : run_kind::whole);
    run_graph(ready().work, ready().order, *body_);
  }

  context workers_;
  bench::operands<T> on_;
  matrix_view<T const> A_, B_;
  matrix_view<T> C_;
  plan how_;
  workspace memory_;
  std::unique_ptr<executor> body_;
};

}  // namespace

int main(int argc, char** argv) try {
  CLI::App app("What the look at A and B costs");
  std::vector<std::int64_t> sizes{4096};
  std::vector<int> threads{1, 2};
  std::vector<std::string> types{"d", "s"};
  int rounds = 5;
  app.add_option("--sizes", sizes)->delimiter(',');
  app.add_option("--threads", threads)->delimiter(',');
  app.add_option("--types", types, "d, s")->delimiter(',');
  app.add_option("--rounds", rounds)->check(CLI::PositiveNumber);
  CLI11_PARSE(app, argc, argv);
  nlohmann::json record = bench::record_origin("opening");
  for (std::int64_t const n : sizes)
    for (std::string const& type : types)
      for (int const t : threads) {
        record["cases"].push_back(type == "d" ? experiment<double>(n, t).run(rounds)
                                              : experiment<float>(n, t).run(rounds));
        fmt::print(stderr, "{}\n", record["cases"].back().dump());
      }
  fmt::print("{}\n", record.dump(1));
  return 0;
} catch (std::exception const& e) {
  fmt::print(stderr, "{}\n", e.what());
  return 1;
}
