// SPDX-License-Identifier: BSD-3-Clause
// Whole products: the graphs of many plans, run by the executor under each scheduler. Integer matrices make the result
// exact, whatever the algorithm and the order, so it must equal a triple loop in long double; matrices of any numbers
// show that a fixed order gives the same bits.
#include <oneapi/tbb/global_control.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>

#include "schedulers/ready_state.hpp"
#include "schedulers/scan.hpp"
#include "schedulers/sequential/sequential.hpp"
#include "schedulers/starpu/backend.hpp"
#include "schedulers/tbb/tbb_scheduler.hpp"
#include "src/plan/profile.hpp"
#include "tasks/gemm_graph.hpp"
#include "tasks/scan_graph.hpp"
#include "tests/aligned_memory.hpp"
#include "tests/schedulers/hand_made.hpp"
#include "tests/tasks/plans.hpp"

namespace tbb = oneapi::tbb;
using namespace heptad;
using namespace heptad::test;

namespace {

/// A matrix with a leading dimension three larger than needed.
template <typename T>
struct test_matrix {
  test_matrix(std::int64_t rows, std::int64_t cols, bool rows_contiguous)
      : storage(static_cast<std::size_t>((rows + 3) * (cols + 3))),
        view(rows_contiguous ? row_major(storage.data(), rows, cols, cols + 3)
                             : column_major(storage.data(), rows, cols, rows + 3)) {}
  [[nodiscard]] T& operator()(std::int64_t i, std::int64_t j) {
    return view.data[i * view.row_stride + j * view.col_stride];
  }
  void fill(numbers& random, bool integers) {
    for (T& x : storage) x = static_cast<T>(integers ? random.below(5) - 2 : random.below(1 << 20) * 0x1p-19 - 1);
  }
  std::vector<T> storage;
  matrix_view<T> view;
};

template <typename T>
struct product_case {
  product_case(plan const& p, bool integers, T a, T b)
      : how(p),
        A(p.shape.m, p.shape.k, p.shape.a_row_major),
        B(p.shape.k, p.shape.n, p.shape.b_row_major),
        C(p.shape.m, p.shape.n, false),
        work(build_gemm_graph(p, default_profile())),
        alpha(a),
        beta(p.shape.beta_zero ? T(0) : b) {
    numbers random(17);
    A.fill(random, integers);
    B.fill(random, integers);
    C.fill(random, integers);
    if (beta == T(0)) {
      for (std::int64_t j = 0; j < p.shape.n; ++j) {
        for (std::int64_t i = 0; i < p.shape.m; ++i) C(i, j) = std::numeric_limits<T>::quiet_NaN();
      }
    }
  }

  /// C's storage, its padding with it, after `run` has run the graph on `out`, a copy of C.
  template <typename Run>
  std::vector<T> result(graph const& g, Run const& run) {
    test_matrix<T> out = C;
    out.view.data = out.storage.data();
    aligned_memory workspace(static_cast<std::size_t>(g.workspace_elements) * sizeof(T));
    T* const elements = reinterpret_cast<T*>(workspace.data);
    run(*make_executor<T>(g, how, {alpha, A.view, B.view, beta, out.view}, elements), out, workspace.data);
    return out.storage;
  }
  std::vector<T> sequential() {
    return result(work, [&](executor const& e, auto&&...) {
      aligned_memory scratch(e.scratch_bytes());
      run_sequential(work, e, scratch.data);
    });
  }
  std::vector<T> parallel(int workers, bool ordered) {
    return result(work, [&](executor const& e, auto&&...) {
      std::map<int, aligned_memory> scratch;
      tbb::task_arena arena(workers);
      run_tbb(work, derive_dependencies(work, ordered), e, arena, workers,
              [&](int w, std::size_t bytes) { return scratch.try_emplace(w, bytes).first->second.data; });
    });
  }
  /// Of the tasks that are ready the last one each time: as far from program order as the dependencies allow.
  std::vector<T> backwards(tiling into) {
    graph tasks = build_gemm_graph(into == tiling::cells ? without_zeros(how) : how, default_profile(), into);
    for (std::size_t t = 0; t < tasks.tasks.size(); ++t) tasks.tasks[t].priority = static_cast<int>(t);
    dependencies const order = derive_dependencies(tasks, false);
    return result(tasks, [&](executor const& e, auto&&...) {
      aligned_memory scratch(e.scratch_bytes());
      ready_state ready(tasks, order);
      for (int t = ready.take(); t != ready_state::none; t = ready.take()) {
        e.run(tasks.tasks[static_cast<std::size_t>(t)], scratch.data);
        ready.complete(t);
      }
    });
  }
  /// By the opening, which must leave C alone and find every magnitude, then the rest, each task with the scratch of
  /// its worker.
  std::vector<T> opened() {
    test_matrix<T> out = C;
    out.view.data = out.storage.data();
    aligned_memory workspace(static_cast<std::size_t>(work.workspace_elements) * sizeof(T));
    T* const elements = reinterpret_cast<T*>(workspace.data);
    gemm_operands<T> const operands{alpha, A.view, B.view, beta, out.view};
    auto const body = make_executor<T>(work, how, operands, elements);
    tbb::task_arena arena(how.workers);
    std::map<int, aligned_memory> scratch;
    auto const run = [&](graph const& g, executor const& tasks) {
      run_tbb(g, derive_dependencies(g, true), tasks, arena, how.workers,
              [&](int w, std::size_t bytes) { return scratch.try_emplace(w, bytes).first->second.data; });
    };
    scan_graph const opening = build_opening_graph(how, default_profile(), work);
    operand_scan<T> const look(opening, A.view, B.view, body.get(), std::pmr::get_default_resource());
    run(opening.work, look);
    CHECK(std::memcmp(out.storage.data(), C.storage.data(), C.storage.size() * sizeof(T)) == 0);
    check_maxima(look.of_A(), A);
    check_maxima(look.of_B(), B);
    rebind(*body, operands, elements, run_kind::opened);
    run(work, *body);
    return out.storage;
  }
  /// With products that look at A and B, which must be all of these and nothing around them.
  std::vector<T> looking(tiling into) {
    graph const tasks = build_gemm_graph(into == tiling::cells ? without_zeros(how) : how, default_profile(), into);
    test_matrix<T> out = C;
    out.view.data = out.storage.data();
    gemm_operands<T> const operands{alpha, A.view, B.view, beta, out.view};
    auto const body = make_executor<T>(tasks, how, operands, nullptr);
    rebind<T>(*body, operands, nullptr, run_kind::looking);
    aligned_memory scratch(body->scratch_bytes());
    run_sequential(tasks, *body, scratch.data);
    auto const [of_A, of_B] = looked_at<T>(*body);
    check_largest(of_A, A);
    check_largest(of_B, B);
    return out.storage;
  }
  static void check_largest(T found, test_matrix<T>& X) {
    T most = 0;
    for (std::int64_t j = 0; j < X.view.cols; ++j)
      for (std::int64_t i = 0; i < X.view.rows; ++i) most = std::max(most, std::abs(X(i, j)));
    CHECK(found >= most);
    CHECK(static_cast<double>(found) <= static_cast<double>(most) * (1 + 0x1p-20));
  }
  static void check_maxima(magnitudes<T> const& found, test_matrix<T>& X) {
    std::vector<T> rows(found.rows.size(), T(0)), cols(found.cols.size(), T(0));
    for (std::size_t i = 0; i < rows.size(); ++i)
      for (std::size_t j = 0; j < cols.size(); ++j) {
        T const x = std::abs(X(static_cast<std::int64_t>(i), static_cast<std::int64_t>(j)));
        rows[i] = std::max(rows[i], x);
        cols[j] = std::max(cols[j], x);
      }
    CHECK(std::ranges::equal(found.rows, rows));
    CHECK(std::ranges::equal(found.cols, cols));
  }

#ifdef HEPTAD_TEST_STARPU
  /// The same product on StarPU, or in cells one task after the other.
  std::vector<T> cut(tiling into, bool on_starpu, bool ordered) {
    graph const tasks = build_gemm_graph(into == tiling::cells ? without_zeros(how) : how, default_profile(), into);
    dependencies const order = derive_dependencies(tasks, ordered);
    return result(tasks, [&](executor const& body, test_matrix<T>& out, std::byte* workspace) {
      std::map<int, aligned_memory> scratch;
      for (int lane = 0; lane < heptad_starpu_backend()->workers(3); ++lane)
        scratch.try_emplace(lane, body.scratch_bytes());
      if (!on_starpu) {
        run_sequential(tasks, body, scratch.at(0).data);
        return;
      }
      bound_product x;
      x.work = &tasks;
      x.in_cells = into == tiling::cells;
      x.order = &order;
      x.body = &body;
      auto const bind = [&x](int space, auto& matrix) {
        x.operands[space] = {matrix.view.data, matrix.view.row_stride, matrix.view.col_stride};
        x.orders[space] = orientation_of(matrix.view);
      };
      bind(space_A, A);
      bind(space_B, B);
      bind(space_C, out);
      x.workspace = workspace;
      x.scratch = [&scratch](int lane) { return scratch.at(lane).data; };
      x.ordered = ordered;
      x.alpha = alpha;
      x.beta = beta;
      run_result const ran = heptad_starpu_backend()->run(x);
      CHECK(ran.records.size() == tasks.tasks.size());
    });
  }
#endif
  std::vector<T> by_definition() {
    test_matrix<T> out = C;
    out.view.data = out.storage.data();
    for (std::int64_t i = 0; i < how.shape.m; ++i) {
      for (std::int64_t j = 0; j < how.shape.n; ++j) {
        long double sum = 0;
        for (std::int64_t p = 0; p < how.shape.k; ++p) sum += static_cast<long double>(A(i, p)) * B(p, j);
        sum *= alpha;
        if (beta != T(0)) sum += static_cast<long double>(beta) * out(i, j);
        out(i, j) = static_cast<T>(sum);
      }
    }
    return out.storage;
  }

  plan how;
  test_matrix<T> A, B, C;
  graph work;
  T alpha, beta;
};

template <typename T>
bool same_bits(std::vector<T> const& x, std::vector<T> const& y) {
  return x.size() == y.size() && std::memcmp(x.data(), y.data(), x.size() * sizeof(T)) == 0;
}

template <typename T>
void check_integers(plan const& p) {
  product_case<T> x(p, true, T(-2), T(3));
  std::vector<T> const expected = x.by_definition();
  CHECK(x.sequential() == expected);
  CHECK(x.parallel(1, false) == expected);
  CHECK(x.parallel(4, false) == expected);
  CHECK(x.parallel(4, true) == expected);
  CHECK(x.backwards(tiling::strips) == expected);
  CHECK(x.backwards(tiling::cells) == expected);
#ifdef HEPTAD_TEST_STARPU
  for (tiling const into : {tiling::strips, tiling::cells})
    for (bool const ordered : {false, true}) CHECK(x.cut(into, true, ordered) == expected);
#endif
}

template <typename T>
void check_same_bits(plan const& p) {
  product_case<T> x(p, false, T(0.75), T(-1.25));
  std::vector<T> const expected = x.sequential();
  for (int workers = 1; workers <= 8; ++workers) {
    CAPTURE(workers);
    CHECK(same_bits(x.parallel(workers, true), expected));
  }
#ifdef HEPTAD_TEST_STARPU
  CHECK(same_bits(x.cut(tiling::strips, true, true), expected));
  CHECK(same_bits(x.cut(tiling::cells, true, true), x.cut(tiling::cells, false, true)));
#endif
}

}  // namespace

TEST_CASE("products of random plans equal the triple loop, sequentially and on TBB, ordered and not") {
  tbb::global_control const limit(tbb::global_control::max_allowed_parallelism, 8);
  std::mt19937 random(23);
  for (int i = 0; i < 60; ++i) {
    plan const p = random_plan(random);
    INFO(describe(p));
    if (p.type == element_type::f64) check_integers<double>(p);
    else check_integers<float>(p);
  }
}

TEST_CASE("with ordered dependencies the bits are those of the sequential run, for 1 to 8 workers") {
  tbb::global_control const limit(tbb::global_control::max_allowed_parallelism, 8);
  std::mt19937 random(29);
  for (int i = 0; i < 25; ++i) {
    plan const p = random_plan(random);
    INFO(describe(p));
    if (p.type == element_type::f64) check_same_bits<double>(p);
    else check_same_bits<float>(p);
  }
}

TEST_CASE("the opening leaves C alone and finds every magnitude, and the rest has the bits of the whole") {
  tbb::global_control const limit(tbb::global_control::max_allowed_parallelism, 8);
  std::mt19937 random(31);
  int made = 0;  // openings that make passes of the product
  for (int i = 0; i < 80; ++i) {
    plan p = random_plan(random);
    if (i % 2 == 0) p.workers = 1, p.strips = 1;
    INFO(describe(p));
    auto const check = [&]<typename T>(T factor) {
      product_case<T> x(p, false, factor, T(-1.25));
      CHECK(same_bits(x.opened(), x.sequential()));
      for (task const& t : build_opening_graph(p, default_profile(), x.work).work.tasks)
        made += !std::holds_alternative<scan_step>(t.body);
    };
    if (p.type == element_type::f64) check(0.75);
    else check(0.75F);
  }
  CHECK(made > 40);
}

TEST_CASE("products of fused levels see every element of A and B, wherever the largest is, with the bits of others") {
  std::mt19937 random(37);
  int padded = 0;
  for (int i = 0; i < 150; ++i) {
    plan p = random_plan(random);
    while (p.levels.empty() || p.levels.front().kind != level_kind::fused) p = random_plan(random);
    INFO(describe(p));
    padded += p.pads != padding{};
    auto const check = [&]<typename T>(T factor) {
      product_case<T> x(p, false, factor, T(-1.25));
      x.A(static_cast<std::int64_t>(random() % x.A.view.rows), static_cast<std::int64_t>(random() % x.A.view.cols)) = 9;
      x.B(static_cast<std::int64_t>(random() % x.B.view.rows), static_cast<std::int64_t>(random() % x.B.view.cols)) =
          -7;
      CHECK(same_bits(x.looking(tiling::strips), x.sequential()));
      x.looking(tiling::cells);
    };
    if (p.type == element_type::f64) check(0.75);
    else check(0.75F);
  }
  CHECK(padded > 10);
}

TEST_CASE("where blocks end early, the products of every algorithm see the last element of each") {
  for (algorithm_header const& x : known_algorithms()) {
    auto const side = [](int blocks) { return 3 * blocks - std::min(2, blocks - 1); };
    plan p = test::make_plan("F", x.name, side(x.m), side(x.n), side(x.k), true);
    p.pads = {true, true, true};
    p.core_m = 3 * x.m, p.core_n = 3 * x.n, p.core_k = 3 * x.k;
    INFO(describe(p));
    product_case<double> c(p, true, 1, 0);
    auto const plant = [&](test_matrix<double>& X) {
      for (std::int64_t i = 2; i < X.view.rows + 2; i += 3)
        for (std::int64_t j = 2; j < X.view.cols + 2; j += 3) {
          double& last = X(std::min(i, X.view.rows - 1), std::min(j, X.view.cols - 1));
          double const kept = std::exchange(last, 9);
          c.looking(tiling::strips);
          last = kept;
        }
    };
    plant(c.A);
    plant(c.B);
  }
}

TEST_CASE("larger products of task, explicit and fused levels equal the triple loop") {
  tbb::global_control const limit(tbb::global_control::max_allowed_parallelism, 8);
  for (bool const beta_zero : {false, true}) {
    for (bool const gathered : {false, true}) {
      plan p = test::make_plan("TEF", "winograd", 131, 150, 141, beta_zero);
      p.product_buffer = gathered;
      p.workers = 4;
      p.slots = 2;
      INFO(describe(p));
      check_integers<double>(p);
      check_same_bits<double>(p);
    }
  }
}

TEST_CASE("what a pass streams into one cell leaves the others alone, wherever in a line they begin") {
  for (bool const row_major : {false, true}) {
    plan p = test::make_plan("TT", "winograd", 636, 636, 636, true);  // products of 159 in sums of 0.8 MB
    p.shape.a_row_major = p.shape.b_row_major = row_major;
    product_case<double> x(p, true, 1, 0);
    graph const tasks = build_gemm_graph(p, default_profile(), tiling::cells);
    CHECK(std::ranges::any_of(tasks.tasks, [](task const& t) {
      auto const* const pass = std::get_if<combine_step>(&t.body);
      return pass != nullptr && pass->streaming;
    }));
    CHECK(same_bits(x.backwards(tiling::cells), x.sequential()));
  }
}

TEST_CASE("a kernel set that does not exist is an error that names it") {
  plan p = test::make_plan("F", "strassen", 8, 8, 8, true);
  graph const work = build_gemm_graph(p, default_profile());
  p.kernel = "abacus";
  CHECK_THROWS_WITH(make_executor<double>(work, p, {}, nullptr), Catch::Contains("\"abacus\""));
}
