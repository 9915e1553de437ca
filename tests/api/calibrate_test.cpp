// SPDX-License-Identifier: BSD-3-Clause
// A calibration by clocks that count their readings: it must make the same complete profile every time.
#include "src/api/calibrate.hpp"

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <memory>

#include <heptad/heptad.hpp>

#include "codelets/cpu/kernel_set.hpp"

using namespace heptad;

namespace {

/// Every reading of the thread's clock is a millisecond after the one before; those of the wall's are so far apart that
/// no measurement is repeated for long.
calibration_settings quick() {
  calibration_settings s;
  s.sides = {8, 40};
  s.fused_sizes = {32, 64};
  s.level_sizes = {16};
  s.largest_pass = 40e6;
  auto const ticks = std::make_shared<std::atomic<int>>(0);
  s.clocks.thread = [ticks] { return 1e-3 * ++*ticks; };
  s.clocks.wall = [ticks] { return 0.1 * ++*ticks; };
  return s;
}

/// Of a kernel set that reads A where it is the rows that it reads at once, of another one those of a tile.
template <typename T>
int vector_rows_of(std::string const& kernel) {
  auto const& kernels = *cpu::find_kernel_set<T>(kernel);
  return kernels.unpacked_rows > 0 ? kernels.unpacked_rows : kernels.blocks().mr;
}

/// A Strassen level of 64 cubed whose blocks have 26 or 29 rows takes a millisecond, as that of 32 rows does, instead
/// of what its vectors would by theirs: what is beyond that is due to its 12 updates.
double ragged_gbytes_of(int vector_rows, int element_bytes) {
  auto const vectors = [vector_rows](int rows) { return (rows + vector_rows - 1) / vector_rows; };
  double bytes = 0, seconds = 0;
  for (int const rows : {26, 29}) {
    bytes += 2. * element_bytes * 12 * rows * 32;
    seconds += 1e-3 * (1 - double(vectors(rows)) / vectors(32));
  }
  return std::clamp(1e-9 * bytes / std::max(seconds, 1e-12), 2., 500.);
}

}  // namespace

TEST_CASE("calibration fills every table, says how far it is, and ends at one") {
  calibration_settings s = quick();
  std::vector<double> fractions;
  std::vector<std::string> words;
  s.progress = [&](double fraction, std::string const& what) {
    fractions.push_back(fraction);
    words.push_back(what);
  };
  machine_profile const p = calibrate(s);
  CHECK(p.measured);
  for (rate_table const* r : {&p.f64, &p.f32}) {
    CHECK(r->sides == s.sides);
    REQUIRE(r->product_gflops.size() == 8);
    REQUIRE(r->terms.size() == 2);
    // One reading before a run and one after it: a run takes a millisecond, whatever it does.
    CHECK(r->product_gflops.front() == Approx(2e-9 * 8 * 8 * 8 / 1e-3));
    CHECK(r->product_gflops.back() == Approx(2e-9 * 40 * 40 * 40 / 1e-3));
    CHECK(r->terms[1].size == 64);
    CHECK(r->terms[1].ragged_gbytes == Approx(ragged_gbytes_of(r->vector_rows, r == &p.f64 ? 8 : 4)));
  }
  CHECK(p.f64.vector_rows == vector_rows_of<double>(p.kernel));
  CHECK(p.f32.vector_rows == vector_rows_of<float>(p.kernel));
  REQUIRE(p.passes.size() >= 2);
  for (std::size_t i = 1; i < p.passes.size(); ++i) CHECK(p.passes[i].bytes > p.passes[i - 1].bytes);
  for (double const bytes : {most_stored_bytes, least_streamed_bytes})
    CHECK(std::ranges::find(p.passes, bytes, &pass_rate::bytes) != p.passes.end());
  for (pass_rate const& x : p.passes) CHECK(x.scan_gbytes > 0);
  REQUIRE(p.widths.size() == 3);
  for (std::size_t i = 1; i < p.widths.size(); ++i) CHECK(p.widths[i].blocks > p.widths[i - 1].blocks);
  CHECK(std::is_sorted(fractions.begin(), fractions.end()));
  CHECK(fractions.front() == 0);
  CHECK(fractions.back() == 1);
  CHECK(fractions.size() >= 2 * (2 + 2) + p.passes.size());
  CHECK(words.front() != words[1]);
}

TEST_CASE("calibration with a kernel set that there is not is refused") {
  calibration_settings s = quick();
  s.kernel = "abacus";
  CHECK_THROWS_WITH(calibrate(s), Catch::Contains("abacus"));
}
