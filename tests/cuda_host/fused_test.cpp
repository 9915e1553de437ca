// SPDX-License-Identifier: BSD-3-Clause
// The fused kernels run from their own source on the host, a thread for each thread of the device, and are compared
// with the definition of the product. Small integers: every sum is exact, in any order.
#include "codelets/cuda/fused.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <limits>
#include <set>

#include "codelets/cuda/fused_math.cuh"
#include "src/algorithm/algorithm.hpp"
#include "tests/cuda_host/fused_case.hpp"

using namespace heptad;
using namespace heptad::cuda;
using namespace heptad::test;

TEST_CASE("every tile of every product is one item, in bands of rows") {
  for (auto const& [rows, cols] : std::vector<std::pair<int, int>>{{1, 1}, {3, 5}, {16, 2}, {17, 4}, {40, 3}})
    for (int const band : {1, 2, 16}) {
      tile_grid const grid{rows, cols};
      std::set<std::array<int, 3>> seen;
      for (std::int64_t item = 0; item < 3 * grid.tiles(); ++item) {
        tile_place const p = place_of(item, grid, band);
        CHECK(p.product == item / grid.tiles());
        REQUIRE((p.row >= 0 && p.row < rows && p.col >= 0 && p.col < cols));
        CHECK(p.row / band == item % grid.tiles() / (band * cols));
        seen.insert({p.product, p.row, p.col});
      }
      CHECK(static_cast<std::int64_t>(seen.size()) == 3 * grid.tiles());
    }
}

namespace {

template <typename Share, int Side, int Depth, int Width>
void check_share(int threads) {
  for (bool const along_k : {false, true}) {
    std::vector<int> visits(Side * Depth);
    for (int t = 0; t < threads; ++t)
      for (int v = 0; v < Share::vectors; ++v) {
        panel_place const p = Share::first(t, along_k);
        for (int e = 0; e < Width; ++e) {
          int const line = p.line + v * Share::line_step(along_k) + (along_k ? 0 : e),
                    step = p.step + (along_k ? e : 0);
          REQUIRE((line < Side && step < Depth));
          ++visits[line * Depth + step];
        }
      }
    CHECK(std::ranges::all_of(visits, [](int n) { return n == 1; }));
  }
}

}  // namespace

TEST_CASE("the threads of a block bring every element of a panel once") {
  auto const check = []<typename... Shapes>(std::tuple<Shapes...> const*) {
    (check_share<typename Shapes::share_a, Shapes::m, Shapes::depth, Shapes::width>(Shapes::threads), ...);
    (check_share<typename Shapes::share_b, Shapes::n, Shapes::depth, Shapes::width>(Shapes::threads), ...);
  };
  check(static_cast<compiled_shapes<float>::list*>(nullptr));
  check(static_cast<compiled_shapes<double>::list*>(nullptr));
}

TEST_CASE("the threads of a block own every element of a tile once") {
  auto const check = []<typename Shape>(Shape) {
    std::vector<int> owners(std::size_t(Shape::m) * Shape::n);
    for (int t = 0; t < Shape::threads; ++t) {
      threadIdx.x = static_cast<unsigned>(t);
      tile_math<Shape> const math(t);
      for (int j = 0; j < tile_math<Shape>::columns; ++j)
        for (int v = 0; v < tile_math<Shape>::vectors; ++v)
          for (int e = 0; e < Shape::width; ++e)
            ++owners.at(static_cast<std::size_t>(math.row(v) + e + math.col(j) * Shape::m));
    }
    CHECK(std::ranges::all_of(owners, [](int n) { return n == 1; }));
  };
  std::apply([&](auto... shapes) { (check(shapes), ...); }, compiled_shapes<float>::list{});
  std::apply([&](auto... shapes) { (check(shapes), ...); }, compiled_shapes<double>::list{});
}

namespace {

// Each tile takes 256 threads, which ThreadSanitizer makes slow.
#ifdef __SANITIZE_THREAD__
constexpr bool few = true;
#else
constexpr bool few = false;
#endif

}  // namespace

TEMPLATE_TEST_CASE("fused levels give the product in every way of accumulation", "", float, double) {
  for (accumulation const how : {accumulation::ordered, accumulation::atomic, accumulation::streams})
    for (bool const beta_zero : {true, false}) {
      if (few && beta_zero) continue;
      fused_case<TestType> x({280, 268, 40}, "strassen", 0, 7);  // more tiles than one, none of them whole at the end
      INFO("way " << int(how) << ", beta zero " << beta_zero);
      x.run(how, 3, beta_zero ? 0 : -2);
      CHECK(x.errors() == 0);
    }
  fused_case<TestType> x({280, 268, 40}, "classical", 0, 7);
  x.run(accumulation::ordered, 3, 0);
  CHECK(x.errors() == 0);
}

TEMPLATE_TEST_CASE("fused products in every layout, misaligned, and thinner than a panel", "", float, double) {
  auto const check = [](fused_sizes const& s, int layouts, int offset) {
    fused_case<TestType> x(s, "strassen", offset, 11);
    x.set_layouts((layouts & 1) != 0, (layouts & 2) != 0);
    INFO("layouts " << layouts << ", m " << s.m << ", offset " << offset);
    x.run(accumulation::ordered, 1, 2);
    CHECK(x.errors() == 0);
  };
  for (int layouts = few ? 2 : 0; layouts < 4; ++layouts) {
    check({64, 260, 40}, layouts, 0);  // whole vectors
    check({262, 34, 22}, layouts, 1);
  }
  check({6, 10, 2}, 0, 0);
}

TEMPLATE_TEST_CASE("sums of up to four blocks, up to four targets", "", float, double) {
  for (char const* name : {"winograd", "strassen*strassen"}) {
    if (few && name[0] == 's') continue;
    fused_case<TestType> x({72, 40, 48}, name, 0, 5);
    INFO(name);
    x.run(accumulation::ordered, -1, 0);
    CHECK(x.errors() == 0);
  }
}

TEMPLATE_TEST_CASE("every tile that is compiled gives the product", "", float, double) {
  auto const tiles = fused_tiles(sizeof(TestType) == 8 ? element_type::f64 : element_type::f32);
  for (std::size_t tile = 1; tile < tiles.size(); ++tile)
    for (int layouts : few ? std::vector{1} : std::vector{0, 3}) {
      fused_case<TestType> x({280, 140, 24}, "strassen", 0, 9);
      x.tile = static_cast<int>(tile);
      x.set_layouts((layouts & 1) != 0, (layouts & 2) != 0);
      INFO("tile " << tile << ", layouts " << layouts);
      x.run(accumulation::ordered, 2, 0);
      CHECK(x.errors() == 0);
    }
}

TEST_CASE("a tile that the device cannot run, or that there is not, is refused") {
  fused_case<double> x({36, 24, 16}, "strassen", 0, 3);
  shim_capability = 7;
  CHECK_THROWS_WITH(x.run(accumulation::ordered, 1, 0), Catch::Contains("refused"));
  x.tile = 2;  // needs no tensor core
  x.run(accumulation::ordered, 1, 0);
  CHECK(x.errors() == 0);
  shim_capability = 9;
  fused_call<double> call{x.products, 18, 12, 8, {40, orientation::column_major}, {20, orientation::column_major}, 40};
  call.how = accumulation::streams, call.tile = 3;
  CHECK(launch_fused<double>(nullptr, call) == cudaErrorInvalidValue);
}

TEMPLATE_TEST_CASE("launches may share counters, and a launch without its counters is refused", "", float, double) {
  fused_case<TestType> x({36, 24, 16}, "strassen", 0, 3);
  x.launches = 3;
  x.run(accumulation::ordered, 1, 1);
  CHECK(x.errors() == 0);
  fused_call<TestType> call{x.products, 18, 12, 8, {18, orientation::column_major}, {8, orientation::column_major}, 18};
  CHECK(launch_fused<TestType>(nullptr, call) == cudaErrorInvalidValue);
}
