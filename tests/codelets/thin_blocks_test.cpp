// SPDX-License-Identifier: BSD-3-Clause
// However a thin product is cut, its pieces fit the scratch that products of its shape are given.
#include "codelets/cpu/thin_blocks.hpp"

#include <catch2/catch.hpp>
#include <random>

#include "codelets/cpu/terms.hpp"
#include "tests/codelets/processors.hpp"

using namespace heptad::cpu;

namespace {

template <typename T>
product_call<T> call_of(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t lda, bool row_major_b) {
  static term<T> const one{nullptr, T(1)};
  static destination<T> const to{nullptr, T(1), T(0)};
  return {.m = m,
          .n = n,
          .k = k,
          .a = {&one, 1},
          .a_rs = 1,
          .a_cs = lda,
          .b = {&one, 1},
          .b_rs = row_major_b ? n : 1,
          .b_cs = row_major_b ? 1 : k,
          .c = {&to, 1},
          .c_rs = 1,
          .c_cs = m};
}

/// Bytes that the pieces of a thin product take; 0 when it is none.
template <typename T>
std::size_t laid_out(kernel_set<T> const& kernels, product_call<T> const& given) {
  thin_sides thin = find_thin_sides(kernels, given);
  if (!thin.a && !thin.b) return 0;
  product_call<T> const call = thin.transposed ? transposed(given) : given;
  thin.transposed = false;
  return static_cast<std::size_t>(lay_out(kernels, call, thin, choose_thin_blocks(kernels, call, thin)).total) *
         sizeof(T);
}

}  // namespace

TEMPLATE_TEST_CASE("the pieces of thin products fit the scratch of their shape, on every processor", "[product]", float,
                   double) {
  using T = TestType;
  std::mt19937 random(3);
  auto const below = [&random](std::initializer_list<int> limits) {
    int const limit = limits.begin()[random() % limits.size()];
    return static_cast<std::int64_t>(1 + random() % static_cast<unsigned>(limit));
  };
  for (kernel_set<T> const* found : kernel_sets<T>()) {
    kernel_set<T> kernels = *found;
    if (kernels.unpacked_rows == 0) continue;
    for (auto const processor : heptad::test::every_processor) {
      kernels.processor = processor;
      int thin = 0;
      for (int i = 0; i < 20'000; ++i) {
        std::int64_t const m = below({64, 400, 1500}), n = below({64, 400, 1500}), k = below({60, 600, 5000});
        std::size_t const given = product_scratch(kernels, m, n, k, variant::abc);
        std::int64_t const line = round_up(m, 16), page = round_up(m, 512);
        for (std::int64_t const lda : {m, m + 1, line, line + 16, page})
          for (bool const row_major_b : {false, true}) {
            std::size_t const taken = laid_out(kernels, call_of<T>(m, n, k, lda, row_major_b));
            thin += taken > 0;
            if (taken <= given) continue;
            CAPTURE(kernels.name, int(processor()), m, n, k, lda, row_major_b);
            REQUIRE(taken <= given);
          }
      }
      CHECK(thin > 0);
    }
  }
}
