// SPDX-License-Identifier: BSD-3-Clause
// Transfer schedules run on paper: three engines that take their steps in any order that the stated rules allow, on
// matrices of small integers. The result is exact, or a rule is missing.
#include "tasks/transfer_schedule.hpp"

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "tasks/transfer_planner.hpp"

using namespace heptad;
using Catch::Contains;

namespace {

struct matrix {
  std::int64_t rows = 0, cols = 0;
  std::vector<double> data = std::vector<double>(static_cast<std::size_t>(rows * cols));
  double& at(std::int64_t i, std::int64_t j) { return data[static_cast<std::size_t>(i * cols + j)]; }
};

matrix random_matrix(std::int64_t rows, std::int64_t cols, std::mt19937& random) {
  matrix x{rows, cols};
  std::uniform_int_distribution<int> digit(-9, 9);
  for (double& v : x.data) v = digit(random);
  return x;
}

/// A device of three engines. A step starts when those that it must wait for are done, an engine takes its steps in
/// order; among the engines that may go on, chance decides.
class paper_device {
public:
  paper_device(problem const& shape, transfer_schedule const& work, std::mt19937& random)
      : A(random_matrix(shape.m, shape.k, random)),
        B(random_matrix(shape.k, shape.n, random)),
        C(random_matrix(shape.m, shape.n, random)),
        beta_(shape.beta_zero ? 0 : 3),
        work_(work),
        random_(random) {
    expected = C;
    for (std::int64_t i = 0; i < shape.m; ++i)
      for (std::int64_t j = 0; j < shape.n; ++j) {
        double sum = beta_ * C.at(i, j);
        for (std::int64_t l = 0; l < shape.k; ++l) sum += 2 * A.at(i, l) * B.at(l, j);
        expected.at(i, j) = sum;
        if (beta_ == 0) C.at(i, j) = std::nan("");
      }
    int const counts[] = {work.blocks.slots_A, work.blocks.slots_B, work.blocks.slots_C};
    for (std::size_t of = 0; of < 3; ++of) slots_[of].resize(static_cast<std::size_t>(counts[of]));
  }

  void run() {
    queue_all();
    std::array<std::size_t, 3> next{};
    while (next[0] < queues_[0].size() || next[1] < queues_[1].size() || next[2] < queues_[2].size()) {
      std::vector<std::size_t> able;
      for (std::size_t e = 0; e < 3; ++e)
        if (next[e] < queues_[e].size() && is_ready(queues_[e][next[e]])) able.push_back(e);
      REQUIRE(!able.empty());  // otherwise the engines wait for each other for ever
      std::size_t const e = able[std::uniform_int_distribution<std::size_t>(0, able.size() - 1)(random_)];
      std::size_t const step = queues_[e][next[e]++];
      std::visit([this](auto const& s) { perform(s); }, work_.steps[step]);
      done_[step] = true;
    }
  }

  matrix A, B, C, expected;

private:
  struct slot {
    matrix held;
    int filled = -1, used = -1, stored = -1;
  };
  slot& at(matrix_name of, int index) {
    return slots_[static_cast<std::size_t>(of)].at(static_cast<std::size_t>(index));
  }

  void queue_all() {
    done_.assign(work_.steps.size(), false);
    after_.resize(work_.steps.size());
    for (std::size_t s = 0; s < work_.steps.size(); ++s) {
      int const now = static_cast<int>(s);
      auto const& step = work_.steps[s];
      queues_[step.index()].push_back(s);
      if (auto const* const load = std::get_if<load_block>(&step)) {
        slot& x = at(load->what.of, load->slot);
        after_[s] = {x.used, x.stored};
        x.filled = now;
      } else if (auto const* const product = std::get_if<multiply_blocks>(&step)) {
        slot &a = at(matrix_name::A, product->a), &b = at(matrix_name::B, product->b),
             &c = at(matrix_name::C, product->c);
        after_[s] = {a.filled, b.filled, c.filled, c.stored};
        a.used = b.used = c.used = now;
      } else {
        slot& x = at(matrix_name::C, std::get<store_block>(step).slot);
        after_[s] = {x.used};
        x.stored = now;
      }
    }
  }
  [[nodiscard]] bool is_ready(std::size_t step) const {
    return std::ranges::all_of(after_[step], [this](int s) { return s < 0 || done_[static_cast<std::size_t>(s)]; });
  }

  void perform(load_block const& load) {
    matrix& from = load.what.of == matrix_name::A ? A : load.what.of == matrix_name::B ? B : C;
    matrix to{load.what.rows, load.what.cols};
    for (std::int64_t i = 0; i < to.rows; ++i)
      for (std::int64_t j = 0; j < to.cols; ++j) to.at(i, j) = from.at(load.what.row + i, load.what.col + j);
    at(load.what.of, load.slot).held = to;
  }
  void perform(multiply_blocks const& p) {
    matrix &a = at(matrix_name::A, p.a).held, &b = at(matrix_name::B, p.b).held, &c = at(matrix_name::C, p.c).held;
    if (p.first && beta_ == 0) c = matrix{p.m, p.n};
    bool const fits =
        a.rows == p.m && a.cols == p.k && b.rows == p.k && b.cols == p.n && c.rows == p.m && c.cols == p.n;
    if (!fits) {
      wrong_shape = true;
      return;
    }
    for (std::int64_t i = 0; i < p.m; ++i)
      for (std::int64_t j = 0; j < p.n; ++j) {
        double sum = p.first ? beta_ * c.at(i, j) : c.at(i, j);
        for (std::int64_t l = 0; l < p.k; ++l) sum += 2 * a.at(i, l) * b.at(l, j);
        c.at(i, j) = sum;
      }
  }
  void perform(store_block const& store) {
    matrix& from = at(matrix_name::C, store.slot).held;
    for (std::int64_t i = 0; i < std::min(from.rows, store.what.rows); ++i)
      for (std::int64_t j = 0; j < std::min(from.cols, store.what.cols); ++j)
        C.at(store.what.row + i, store.what.col + j) = from.at(i, j);
  }

public:
  bool wrong_shape = false;

private:
  double const beta_;
  transfer_schedule const& work_;
  std::mt19937& random_;
  std::array<std::vector<slot>, 3> slots_;
  std::array<std::vector<std::size_t>, 3> queues_;
  std::vector<std::vector<int>> after_;
  std::vector<bool> done_;
};

bool is_right(problem const& shape, transfer_schedule const& work, std::mt19937& random) {
  paper_device device(shape, work, random);
  device.run();
  return !device.wrong_shape && device.C.data == device.expected.data;
}

problem shape_of(std::int64_t m, std::int64_t n, std::int64_t k, bool beta_zero) {
  problem p;
  p.m = m, p.n = n, p.k = k;
  p.beta_zero = beta_zero;
  return p;
}

constexpr std::array walks{block_walk::rows, block_walk::columns, block_walk::shells};

}  // namespace

TEST_CASE("every schedule gives the product, in any order that its rules allow") {
  std::mt19937 random(3);
  auto const upto = [&](int most) { return std::uniform_int_distribution<int>(1, most)(random); };
  for (int trial = 0; trial < 400; ++trial) {
    problem const shape = shape_of(upto(23), upto(23), upto(23), trial % 2 == 0);
    transfer_tiling const blocks{upto(9), upto(9), upto(9), walks[static_cast<std::size_t>(trial % 3)],
                                 upto(6), upto(6), upto(4)};
    INFO("m " << shape.m << ", n " << shape.n << ", k " << shape.k << ", blocks " << blocks.m << ", " << blocks.n
              << ", " << blocks.k << ", slots " << blocks.slots_A << ", " << blocks.slots_B << ", " << blocks.slots_C);
    REQUIRE(is_right(shape, build_transfer_schedule(shape, blocks), random));
  }
}

TEST_CASE("a schedule with a fault is found out on paper") {
  std::mt19937 random(5);
  problem const shape = shape_of(20, 20, 20, false);
  auto const good = build_transfer_schedule(shape, {5, 5, 5, block_walk::rows, 2, 2, 2});
  REQUIRE(is_right(shape, good, random));
  auto lost = good;  // a load that is left out: the slot holds an older block
  auto const loads_A = [](transfer_step const& s) {
    auto const* const load = std::get_if<load_block>(&s);
    return load != nullptr && load->what.of == matrix_name::A && load->what.col > 5;
  };
  lost.steps.erase(std::ranges::find_if(lost.steps, loads_A));
  CHECK_FALSE(is_right(shape, lost, random));
  auto other = good;  // a product that reads another slot
  for (transfer_step& s : other.steps)
    if (auto* const product = std::get_if<multiply_blocks>(&s); product != nullptr && !product->first) {
      product->b = 1 - product->b;
      break;
    }
  CHECK_FALSE(is_right(shape, other, random));
  auto again = good;  // beta is applied twice
  for (transfer_step& s : again.steps)
    if (auto* const product = std::get_if<multiply_blocks>(&s)) product->first = true;
  CHECK_FALSE(is_right(shape, again, random));
}

TEST_CASE("what fits is sent once, and more slots never send more") {
  problem const shape = shape_of(40, 30, 20, true);
  for (block_walk const walk : walks) {
    auto const all = build_transfer_schedule(shape, {10, 10, 10, walk, 8, 6, 2});
    CHECK(all.loaded == 40 * 20 + 20 * 30);
    CHECK(all.stored == 40 * 30);
    CHECK(all.products == 24);
    std::int64_t before = std::numeric_limits<std::int64_t>::max();
    for (int slots = 1; slots <= 8; ++slots) {
      auto const work = build_transfer_schedule(shape, {10, 10, 10, walk, slots, std::min(slots, 6), 2});
      CHECK(work.loaded <= before);
      before = work.loaded;
    }
  }
  auto const streamed = build_transfer_schedule(shape, {10, 10, 10, block_walk::rows, 3, 2, 2});
  std::int64_t loaded_of_A = 0;
  for (transfer_step const& step : streamed.steps)
    if (auto const* const load = std::get_if<load_block>(&step); load != nullptr && load->what.of == matrix_name::A)
      loaded_of_A += load->what.rows * load->what.cols;
  CHECK(loaded_of_A == 40 * 20);  // a row of blocks of A stays for the three blocks of C beside it
}

TEST_CASE("a tiling without extent or slots is refused with its values") {
  problem const shape = shape_of(4, 4, 4, true);
  CHECK_THROWS_WITH(build_transfer_schedule(shape, {0, 2, 2}), Contains("0 x 2 x 2"));
  CHECK_THROWS_WITH(build_transfer_schedule(shape, {2, 2, 2, block_walk::rows, 0, 2, 2}), Contains("0, 2 and 2 slots"));
}

TEST_CASE("on paper the engines overlap, as far as the slots allow") {
  problem const shape = shape_of(64, 64, 64, true);
  engine_times const rates{1000, 1000, 0, 10000};
  auto const forecast = [&](transfer_tiling const& blocks) {
    return simulate_transfers(build_transfer_schedule(shape, blocks), rates);
  };
  auto const whole = forecast({64, 64, 64, block_walk::rows, 1, 1, 1});
  CHECK(whole.seconds == Approx(whole.load_seconds + whole.product_seconds + whole.store_seconds));
  auto const cut = forecast({16, 16, 64, block_walk::shells, 4, 4, 3});
  CHECK(cut.load_seconds == Approx(8.192));
  CHECK(cut.product_seconds == Approx(26.2144));
  CHECK(cut.store_seconds == Approx(4.096));
  // The first two blocks come before the first product, the last block of C goes after the last one.
  CHECK(cut.seconds == Approx(2 * 1.024 + 26.2144 + 0.256));
  auto const one_slot = forecast({16, 16, 64, block_walk::rows, 1, 1, 1});
  CHECK(one_slot.seconds > cut.seconds * 1.2);
  // Columns of 64 elements fill the link, rows of 16 do not.
  engine_times in_lines = rates;
  in_lines.line_seconds = 0.01;
  auto const strips = build_transfer_schedule(shape, {64, 16, 64, block_walk::shells, 1, 4, 3});
  CHECK(simulate_transfers(strips, in_lines).load_seconds == Approx(8.192));
  in_lines.row_major = {false, true, false};
  CHECK(simulate_transfers(strips, in_lines).load_seconds == Approx(4.096 + 256 * (0.01 + 0.75 * 0.016)));
  CHECK(simulate_transfers(strips, in_lines).store_seconds == Approx(4.096));
  engine_times by_one_thread = rates;
  by_one_thread.one_copier = true;
  by_one_thread.product_rate = 1e9;
  auto const copied =
      simulate_transfers(build_transfer_schedule(shape, {16, 16, 64, block_walk::shells, 4, 4, 3}), by_one_thread);
  CHECK(copied.seconds >= copied.load_seconds + copied.store_seconds * 0.9);
}

TEST_CASE("the covered share is that of the union of the intervals") {
  CHECK(covered_share({}, {}) == 1);
  CHECK(covered_share({{0, 2}}, {}) == 0);
  CHECK(covered_share({{0, 2}, {1, 4}}, {{3, 9}}) == Approx(0.25));
  CHECK(covered_share({{0, 1}, {2, 3}}, {{0.5, 2.5}, {0.75, 1}}) == Approx(0.5));
}

TEST_CASE("a product is cut to the device memory that it may take") {
  auto const device = cuda::default_device_profile();
  cuda::options const wishes;
  for (element_type const type : {element_type::f64, element_type::f32})
    for (bool const beta_zero : {true, false}) {
      problem shape = shape_of(3000, 2500, 4100, beta_zero);
      shape.b_row_major = beta_zero;
      std::int64_t before = std::numeric_limits<std::int64_t>::max();
      for (std::size_t const bytes :
           {std::size_t{300'000}, std::size_t{4} << 20, std::size_t{60} << 20, std::size_t{4} << 30}) {
        auto const how = cuda::choose_transfer_plan(type, shape, {bytes, true, 1}, device, wishes);
        INFO(bytes << " bytes: " << how.reason);
        CHECK(how.block_bytes + how.workspace_bytes <= bytes);
        CHECK(how.work.loaded <= before);
        before = how.work.loaded;
        CHECK(how.work.stored == 3000 * 2500);
        CHECK(how.resident == (bytes > std::size_t{1} << 30));
      }
      std::int64_t const once = 3000 * 4100 + 4100 * 2500 + (beta_zero ? 0 : 3000 * 2500);
      CHECK(before == once);
    }
}

TEST_CASE("device memory too small for any block is refused with the number of bytes") {
  CHECK_THROWS_WITH(cuda::choose_transfer_plan(element_type::f64, shape_of(500, 500, 500, true), {50'000, true, 1},
                                               cuda::default_device_profile(), {}),
                    Contains("50000 bytes"));
}

TEST_CASE("blocks lie in their slots in lines of 128 bytes, aligned to 256") {
  auto const columns = cuda::layout_of_slot(100, 7, false, element_type::f64);
  CHECK(columns.ld == 112);
  CHECK(columns.bytes == (112 * 7 * 8 + 255) / 256 * 256);
  auto const rows = cuda::layout_of_slot(100, 7, true, element_type::f32);
  CHECK(rows.ld == 32);
  CHECK(rows.bytes == 32 * 100 * 4);
}
