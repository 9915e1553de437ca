// SPDX-License-Identifier: BSD-3-Clause
// scan against two plain loops, for every instruction set that this processor has.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "codelets/cpu/combine_steps.hpp"
#include "codelets/cpu/scan.hpp"
#include "tests/codelets/reference.hpp"

using namespace heptad;
using namespace heptad::test;

namespace {

/// The larger magnitude, NaN above all.
template <typename T>
T reference_larger(T x, T y) {
  if (std::isnan(x) || std::isnan(y)) return std::numeric_limits<T>::quiet_NaN();
  return x > y ? x : y;
}

template <typename T>
bool same(T x, T y) {
  return (std::isnan(x) && std::isnan(y)) || x == y;
}

}  // namespace

TEMPLATE_TEST_CASE("scan finds the largest magnitude of every row and column, NaN and infinity above all", "", double,
                   float) {
  using T = TestType;
  using limits = std::numeric_limits<T>;
  T const specials[] = {limits::quiet_NaN(),
                        -limits::quiet_NaN(),
                        limits::infinity(),
                        -limits::infinity(),
                        limits::max(),
                        limits::denorm_min(),
                        T(0),
                        -T(0)};
  std::mt19937_64 random(5);
  for (std::int64_t const rows : {1, 3, 16, 37, 129, 4100})
    for (std::int64_t const cols : {1, 4, 7, 66})
      for (order const o : {order::column_major, order::row_major, order::strided})
        for (int const planted : {0, 1, 5}) {
          framed_matrix<T> X(rows, cols, o, 3, 5, 2, limits::quiet_NaN());  // the frame must not be seen
          X.randomize(random);
          for (int s = 0; s < planted; ++s) X(random() % rows, random() % cols) = specials[random() % 8];
          std::vector<T> of_rows(rows, T(0)), of_cols(cols, T(0)), expected_rows(rows, T(0)), expected_cols(cols, T(0));
          of_rows[0] = expected_rows[0] = T(2);  // on top of what is known
          for (std::int64_t i = 0; i < rows; ++i)
            for (std::int64_t j = 0; j < cols; ++j) {
              expected_rows[i] = reference_larger(expected_rows[i], std::abs(X(i, j)));
              expected_cols[j] = reference_larger(expected_cols[j], std::abs(X(i, j)));
            }
          cpu::scan<T>(X.data(), rows, cols, X.rs, X.cs, of_rows.data(), of_cols.data());
          bool right = true;
          for (std::int64_t i = 0; i < rows; ++i) right = right && same(of_rows[i], expected_rows[i]);
          for (std::int64_t j = 0; j < cols; ++j) right = right && same(of_cols[j], expected_cols[j]);
          of_rows[0] = T(0);
          T most = 0, largest = 0;
          for (std::int64_t j = 0; j < cols; ++j) of_rows[0] = reference_larger(of_rows[0], std::abs(X(0, j)));
          for (T const x : of_rows) most = reference_larger(most, x);
          largest = cpu::largest_magnitude<T>(X.data(), rows, cols, X.rs, X.cs);
          CAPTURE(rows, cols, static_cast<int>(o), planted);
          CHECK(right);
          CHECK(same(largest, most));
        }
}

TEMPLATE_TEST_CASE("every instruction set scans alike", "", double, float) {
  using T = TestType;
  std::mt19937_64 random(6);
  for (std::int64_t const length : {0, 1, 15, 64, 333, 1100}) {
    std::vector<std::vector<T>> lines(cpu::scan_lines, std::vector<T>(length));
    T const* from[cpu::scan_lines];
    for (int q = 0; q < cpu::scan_lines; ++q) {
      for (T& x : lines[q]) x = random_element<T>(random);
      if (length > 20) lines[q][random() % length] = std::numeric_limits<T>::infinity();
      from[q] = lines[q].data();
    }
    for (int const count : {1, cpu::scan_lines}) {
      std::vector<T> expected_places(length, T(0)), expected_lines(count, T(0));
      for (int q = 0; q < count; ++q)
        for (std::int64_t e = 0; e < length; ++e) {
          expected_places[e] = reference_larger(expected_places[e], std::abs(lines[q][e]));
          expected_lines[q] = reference_larger(expected_lines[q], std::abs(lines[q][e]));
        }
      for (auto const* kernels : cpu::combine_kernels<T>()) {
        if (!kernels->available()) continue;
        INFO(kernels->name << ", " << count << " lines of " << length);
        std::vector<T> places;
        for (auto const how : {cpu::request::reading, cpu::request::second_level}) {
          std::vector<T> largest(count, T(0));
          places.assign(length, T(0));
          kernels->scan(from, from, count, length, how, places.data(), largest.data());
          CHECK(places == expected_places);
          CHECK(largest == expected_lines);
        }
        if (count > 1) continue;
        std::ranges::fill(places, T(0));
        std::vector<T> along(cpu::look_lanes<T>, T(0));
        std::int64_t const half = length / 2 / 16 * 16;  // in two chunks of a line
        kernels->look(from[0], half, places.data(), along.data());
        kernels->look(from[0] + half, length - half, places.data() + half, along.data());
        T most = 0;
        for (T const x : along) most = reference_larger(most, x);
        CHECK(places == expected_places);
        CHECK(most == expected_lines[0]);
      }
    }
  }
}
