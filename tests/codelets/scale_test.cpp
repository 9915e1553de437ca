// SPDX-License-Identifier: BSD-3-Clause
#include <catch2/catch.hpp>
#include <limits>
#include <vector>

#include "codelets/cpu/combine.hpp"

using heptad::cpu::scale;

TEMPLATE_TEST_CASE("scale multiplies every element of the block and none beside it", "", double, float) {
  using T = TestType;
  for (std::int64_t const rows : {0, 1, 7, 64, 131})
    for (std::int64_t const cols : {0, 1, 5, 67})
      for (T const beta : {T(0), T(1), T(-1), T(2.5)})
        for (int const order : {0, 1, 2}) {
          std::int64_t const rs = order == 0 ? 1 : order == 1 ? cols + 3 : 2;
          std::int64_t const cs = order == 0 ? rows + 3 : order == 1 ? 1 : 2 * rows + 1;
          std::vector<T> X(static_cast<std::size_t>(rows * rs + cols * cs + 8));
          for (std::size_t e = 0; e < X.size(); ++e) X[e] = static_cast<T>(e % 17) - 8;
          auto expected = X;
          for (std::int64_t j = 0; j < cols; ++j)
            for (std::int64_t i = 0; i < rows; ++i) expected[i * rs + j * cs] = beta * expected[i * rs + j * cs];
          scale<T>(beta, X.data(), rows, cols, rs, cs);
          CHECK(X == expected);
        }
}

TEST_CASE("scale by zero clears NaN") {
  std::vector<double> X(300, std::numeric_limits<double>::quiet_NaN());
  scale<double>(0, X.data(), 30, 10, 1, 30);
  CHECK(X == std::vector<double>(300, 0.0));
}
