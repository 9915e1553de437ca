// SPDX-License-Identifier: BSD-3-Clause
// The search against trying everything.
#include "src/plan/search_space.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

#include "src/plan/block_search.hpp"
#include "tests/plan/machines.hpp"

using namespace heptad;

namespace {

problem shape_of(std::int64_t m, std::int64_t n, std::int64_t k, bool beta_zero) {
  problem p{m, n, k};
  p.beta_zero = beta_zero;
  return p;
}

/// Every list of at most `most` levels of which at most one does not halve, in every variant and order.
class everything {
public:
  everything(palette const& from, problem const& shape, int workers, machine_profile const& machine, int most)
      : from_(from), shape_(shape), workers_(workers), machine_(machine), most_(most) {
    extend({});
  }

  double least_seconds = 1e300;
  std::size_t tried = 0;

private:
  void extend(std::vector<outline_level> const& levels) {
    if (!levels.empty()) weigh(levels);
    if (static_cast<int>(levels.size()) == most_) return;
    for (level_kind const kind : {level_kind::task, level_kind::explicit_passes, level_kind::fused}) {
      if (!levels.empty() && kind < levels.back().kind) continue;
      if (kind == level_kind::task && workers_ == 1) continue;
      if (std::ranges::count(levels, level_kind::fused, &outline_level::kind) == 2) continue;
      for (auto const& shape : from_.shapes)
        for (known_algorithm const* x : kind == level_kind::fused ? shape->fused() : shape->passes()) {
          auto longer = levels;
          longer.push_back({x, kind});
          auto const other = std::ranges::count_if(
              longer, [](outline_level const& l) { return l.traffic().m * l.traffic().k * l.traffic().n != 8; });
          if (other <= 1 && fits(longer)) extend(longer);
        }
    }
  }

  [[nodiscard]] bool fits(std::vector<outline_level> const& levels) const {
    double m = double(shape_.m), n = double(shape_.n), k = double(shape_.k);
    for (outline_level const& l : levels) m /= l.traffic().m, n /= l.traffic().n, k /= l.traffic().k;
    return std::min({m, n, k}) >= 64;
  }

  void weigh(std::vector<outline_level> const& levels) {
    for (bool const buffer : {true, false})
      for (auto const& [slots, independent] : {std::pair{1, false}, {2, false}, {3, false}, {3, true}}) {
        outline o;
        o.levels = levels;
        o.product_buffer = buffer;
        o.slots = slots;
        o.independent = independent;
        if (levels.front().kind != level_kind::task) o.strips = workers_;
        ++tried;
        least_seconds = std::min(least_seconds, predict(element_type::f64, shape_, workers_, machine_, o).seconds);
      }
  }

  palette const& from_;
  problem const& shape_;
  int const workers_;
  machine_profile const& machine_;
  int const most_;
};

bool has(std::vector<known_algorithm const*> const& list, char const* name) {
  return std::ranges::any_of(list, [&](known_algorithm const* x) { return x->coefficients->name == name; });
}

/// Few enough algorithms to try everything.
palette five_algorithms() {
  return palette(std::vector<std::string>{"winograd", "strassen", "huang323", "huang233", "huang332"});
}

}  // namespace

TEST_CASE("the search finds plans as cheap as trying everything does, within one and a half percent") {
  palette const from = five_algorithms();
  for (machine_profile const& machine : {test::zen4(), test::server()})
    for (int const workers : {1, 2})
      for (problem const& shape :
           {shape_of(1024, 1024, 1024, true), shape_of(3072, 3072, 1024, false), shape_of(1536, 1024, 1536, true),
            shape_of(4096, 4096, 4096, false), shape_of(2300, 1717, 999, true), shape_of(600, 5000, 700, true)}) {
        everything const all(from, shape, workers, machine, 4);
        search_limits limits;
        limits.most_levels = 4;
        double least = 1e300;
        for (outline const& o : search(from, element_type::f64, shape, workers, machine, limits, 24).outlines)
          least = std::min(least, predict(element_type::f64, shape, workers, machine, o).seconds);
        CAPTURE(machine.cpu, workers, shape.m, shape.n, shape.k, all.tried);
        CHECK(least <= 1.015 * all.least_seconds);
      }
}

TEST_CASE("a way that only fuses levels costs what its plan does, with the look at A and B") {
  palette const from = five_algorithms();
  machine_profile const machine = test::zen4();
  problem const shape = shape_of(1536, 1536, 1536, true);
  block_search blocks(from, element_type::f64, shape, 1, machine);
  blocks.set({});
  int ways = 0;
  for (way const& w : blocks.ways(blocks.at({1, 1, 1}, false), 1)) {
    if (!w.fused) continue;
    double least = 1e300;
    for (bool const product_buffer : {false, true}) {
      outline const o{.levels = {{w.outer, level_kind::fused}}, .product_buffer = product_buffer};
      least = std::min(least, predict(element_type::f64, shape, 1, machine, o).seconds);
    }
    CHECK(w.overwrite == Catch::Detail::Approx(least).epsilon(1e-3));
    ++ways;
  }
  CHECK(ways > 0);
}

TEST_CASE("what several workers fetch between large passes they fetch from memory") {
  palette const from(std::vector<std::string>{"strassen"});
  machine_profile machine = test::zen4();
  machine.f64.terms = {{128, 5, 5, 5, 5, 80, 80, 500},
                       {448, 5, 5, 5, 5, 45, 40, 500}};  // a fused level spares workspace, never time
  problem const shape = shape_of(768, 768, 768, true);
  prices const price(element_type::f64, machine);
  auto const further = [&](double size, bool fused) {
    return price.fetching(size, size, size, fused, distance::in_memory) -
           price.fetching(size, size, size, fused, distance::passed);
  };
  REQUIRE(std::min(further(384, true), further(384, false)) > 0);
  // The only way of its kind: an explicit level around another one or a fused one, or none.
  auto const seconds = [&](int workers, int levels, bool inner_fused) {
    block_search blocks(from, element_type::f64, shape, workers, machine);
    search_limits limits;
    limits.any_kind = true;
    blocks.set(limits);
    for (way const& w : blocks.ways(blocks.at({1, 1, 1}, false), levels)) {
      if (w.fused) continue;
      if (levels == 1) return w.overwrite;
      way const& inner = blocks.ways(blocks.at(w.inner_block, false), 1)[static_cast<std::size_t>(w.inner)];
      if (inner.fused == inner_fused) return w.overwrite;
    }
    FAIL("no such way");
    return 0.0;
  };
  using Catch::Detail::Approx;
  CHECK(seconds(2, 1, false) - seconds(1, 1, false) == Approx(7 * further(384, false)));
  CHECK(seconds(2, 2, true) - seconds(1, 2, true) == Approx(7 * further(384, true)));
  // The inner passes of two explicit levels are over little.
  CHECK(seconds(2, 2, false) == seconds(1, 2, false));
}

TEST_CASE("algorithms of up to sixteen blocks are searched, but those that another one of their shape beats") {
  palette const all("auto");
  for (algorithm_header const& x : known_algorithms()) {
    auto const shape = std::ranges::find_if(all.shapes, [&](auto const& group) {
      return group->blocks().m == x.m && group->blocks().k == x.k && group->blocks().n == x.n;
    });
    CAPTURE(x.name);
    bool const few_blocks = std::max({x.m * x.k, x.k * x.n, x.m * x.n}) <= 16;
    CHECK((shape != all.shapes.end()) == (few_blocks && x.rank < x.m * x.k * x.n));
    CHECK(palette(x.name).shapes.size() == (x.rank < x.m * x.k * x.n ? 1 : 0));
    if (shape != all.shapes.end()) CHECK((*shape)->blocks().rank <= x.rank);
  }
  auto const halves = std::ranges::find_if(all.shapes, [](auto const& group) { return group->blocks().halves(); });
  REQUIRE(halves != all.shapes.end());
  CHECK(has((*halves)->passes(), "winograd"));  // fewer sums
  CHECK(has((*halves)->fused(), "strassen"));   // fewer terms
  CHECK_FALSE(has((*halves)->fused(), "winograd"));
  CHECK(palette("classical").shapes.empty());
  CHECK(palette("strassen").shapes.size() == 1);
  CHECK(palette("auto", true).shapes.size() == 1);
}

TEST_CASE("an algorithm whose sums are longer than priced is used by its name alone") {
  auto const offers = [](palette const& from, char const* name) {
    return std::ranges::any_of(from.shapes,
                               [&](auto const& s) { return has(s->fused(), name) || has(s->passes(), name); });
  };
  CHECK_FALSE(offers(palette("auto"), "fewest444"));
  CHECK(offers(palette("fewest444"), "fewest444"));
  for (char const* name : {"strassen", "sparse333", "stable344"}) CHECK(offers(palette("auto"), name));
}

TEST_CASE("a search keeps to its limits") {
  palette const all("auto");
  machine_profile const machine = test::zen4();
  problem const shape = shape_of(4096, 4096, 4096, true);
  search_limits limits;
  limits.growth = 5;
  for (outline const& o : search(all, element_type::f64, shape, 2, machine, limits, 24).outlines) {
    double growth = 1;
    for (outline_level const& l : o.levels) growth *= l.algorithm->accuracy.growth;
    CHECK(growth <= 5);
  }
  limits = {};
  limits.workspace = 0;
  auto const fused = search(all, element_type::f64, shape, 2, machine, limits, 24).outlines;
  CHECK_FALSE(fused.empty());
  for (outline const& o : fused)
    for (outline_level const& l : o.levels) CHECK(l.kind == level_kind::fused);
  limits = {};
  limits.least_levels = limits.most_levels = 3;
  for (outline const& o : search(all, element_type::f64, shape, 1, machine, limits, 24).outlines)
    CHECK(o.levels.size() == 3);
}

TEST_CASE("a search finds the same whatever was searched for before within other limits") {
  palette const all("auto");
  machine_profile const machine = test::zen4();
  std::vector<search_limits> within(7);
  within[0].workspace = 0;
  within[2].workspace = 30e6;
  within[3].growth = 4;
  within[4].most_levels = 2;
  within[5].growth = 60, within[5].proved = true;
  within[6].smallest_leaf = 1, within[6].any_kind = true, within[6].least_levels = within[6].most_levels = 2;
  for (int const workers : {1, 4})
    for (problem const& shape :
         {shape_of(2048, 2048, 2048, true), shape_of(1717, 2300, 999, false), shape_of(300, 300, 300, true)}) {
      block_search blocks(all, element_type::f64, shape, workers, machine);
      for (int const turn : {0, 1})
        for (search_limits const& limits : within) {
          CAPTURE(workers, shape.m, turn, &limits - within.data());
          auto const found = search(blocks, workers, limits, 24).outlines;
          CHECK((!found.empty() || shape.m < 1000));
          CHECK(found == search(all, element_type::f64, shape, workers, machine, limits, 24).outlines);
        }
    }
}
