// SPDX-License-Identifier: BSD-3-Clause
// Graphs on the caller's handles without the planner: a plan made by hand, its graph in cells, and its memory.
#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include "schedulers/starpu/graph_run.hpp"
#include "src/plan/profile.hpp"
#include "tasks/gemm_graph.hpp"
#include "tests/aligned_memory.hpp"
#include "tests/starpu/runtime.hpp"

namespace heptad::test {

/// Tasks take up to half a millisecond more, by chance: they end in another order every time.
class late final : public executor {
public:
  explicit late(std::unique_ptr<executor> work) : work_(std::move(work)) {}
  [[nodiscard]] std::size_t scratch_bytes() const noexcept override { return work_->scratch_bytes(); }
  void run(task const& t, std::byte* scratch) const noexcept override {
    wait();
    work_->run(t, scratch);
  }
  void run_at(task const& t, std::span<location const> spaces, std::byte* scratch) const noexcept override {
    wait();
    work_->run_at(t, spaces, scratch);
  }

private:
  static void wait() {
    thread_local std::mt19937 random(std::random_device{}());
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 500));
  }
  std::unique_ptr<executor> work_;
};

enum class workspace { of_the_product, of_starpu };

/// One product in flight on three handles. Ends before its operands do.
template <typename T>
class flight {
public:
  struct wishes {
    workspace where = workspace::of_the_product;
    bool ordered = false, late_tasks = false;
  };

  flight(plan const& how, T alpha, T beta, wishes const& w)
      : plan_(how),
        graph_(build_gemm_graph(plan_, default_profile(), tiling::cells)),
        order_(derive_dependencies(graph_, w.ordered)),
        body_(make_executor<T>(graph_, plan_, {alpha, {}, {}, beta, {}}, nullptr)),
        workspace_(static_cast<std::size_t>(graph_.workspace_elements) * sizeof(T)) {
    if (w.late_tasks) body_ = std::make_unique<late>(std::move(body_));
    for (unsigned lane = 0; lane < starpu_cpu_worker_get_count(); ++lane) scratch_.emplace_back(body_->scratch_bytes());
    product_.work = &graph_;
    product_.order = &order_;
    product_.body = body_.get();
    product_.alpha = alpha, product_.beta = beta;
    product_.orders[space_A] = how.shape.a_row_major ? orientation::row_major : orientation::column_major;
    product_.orders[space_B] = how.shape.b_row_major ? orientation::row_major : orientation::column_major;
    if (w.where == workspace::of_the_product) product_.workspace = workspace_.data;
    product_.scratch = [this](int lane) { return scratch_[static_cast<std::size_t>(lane)].data; };
    product_.ordered = w.ordered;
  }

  void submit(starpu_data_handle_t A, starpu_data_handle_t B, starpu_data_handle_t C,
              starpu::run_options const& how = {}) {
    starpu_data_handle_t const handles[3] = {A, B, C};
    run_.emplace(product_, handles, how);
    run_->prepare();
    run_->submit([] {});
  }

  [[nodiscard]] std::vector<task> const& tasks() const { return graph_.tasks; }

private:
  plan const plan_;
  graph const graph_;
  dependencies const order_;
  std::unique_ptr<executor> body_;
  aligned_memory workspace_;
  std::deque<aligned_memory> scratch_;
  bound_product product_;
  std::optional<starpu::graph_run> run_;
};

/// The operands of a plan. A row-major one is the transpose of what its handle has.
template <typename T>
struct operands {
  operands(plan const& p, std::mt19937& random)
      : shape(p.shape),
        A(shape.a_row_major ? shape.k : shape.m, shape.a_row_major ? shape.m : shape.k, random),
        B(shape.b_row_major ? shape.n : shape.k, shape.b_row_major ? shape.k : shape.n, random),
        C(shape.m, shape.n, random) {}
  void share() { A.share(), B.share(), C.share(); }
  void by_definition(T alpha, T beta) { classical(alpha, A, shape.a_row_major, B, shape.b_row_major, beta, C); }

  problem shape;
  handled_matrix<T> A, B, C;
};

}  // namespace heptad::test
