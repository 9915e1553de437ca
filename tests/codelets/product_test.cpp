// SPDX-License-Identifier: BSD-3-Clause
// product() with every kernel set that this processor can run, against triple loops in long double.
#include "codelets/cpu/product.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>

#include "tests/codelets/processors.hpp"
#include "tests/codelets/reference.hpp"

namespace {

using heptad::cpu::variant;
using heptad::test::framed_matrix;
using heptad::test::order;

constexpr order orders[] = {order::column_major, order::row_major, order::strided};

/// One call of product(): the shape, one coefficient per operand, (coefficient, beta) per destination, and where the
/// matrices lie in memory.
template <typename T>
struct scenario {
  std::int64_t m, n, k;
  std::vector<T> a{1}, b{1};
  std::vector<std::pair<T, T>> c{{T(1), T(1)}};
  order a_order = order::column_major, b_order = order::column_major, c_order = order::column_major;
  int before = 0, gap = 0;
  std::int64_t part = 0;                           // rows and columns at once; 0: all
  std::vector<std::int64_t> a_lacks{}, b_lacks{};  // k-steps at the end of each operand; none, or one number an operand
};

/// Scratch of exactly the size asked for, full of NaN, with a guard behind it.
class guarded_scratch {
public:
  explicit guarded_scratch(std::size_t bytes) : bytes_(bytes) {
    std::size_t const total = (bytes + guard + 63) / 64 * 64;
    memory_.reset(static_cast<std::byte*>(std::aligned_alloc(64, total)));
    std::memset(memory_.get(), 0xff, total);
  }
  [[nodiscard]] std::byte* data() const { return memory_.get(); }
  [[nodiscard]] bool guard_intact() const {
    return std::all_of(data() + bytes_, data() + bytes_ + guard, [](std::byte x) { return x == std::byte{0xff}; });
  }

private:
  static constexpr std::size_t guard = 256;
  struct release {
    void operator()(std::byte* p) const { std::free(p); }
  };
  std::size_t bytes_;
  std::unique_ptr<std::byte, release> memory_;
};

template <typename T>
class experiment {
public:
  explicit experiment(scenario<T> const& s) : s_(s) {
    for (std::size_t q = 0; q < s.a.size(); ++q) A_.push_back(operand(s.m, s.k, s.a_order));
    for (std::size_t q = 0; q < s.b.size(); ++q) B_.push_back(operand(s.k, s.n, s.b_order));
    for (auto const& [coefficient, beta] : s.c) {
      framed_matrix<T> C(s.m, s.n, s.c_order, s.before, s.gap, 70, T(-77));
      C.randomize(random_);
      if (beta == T(0)) C.fill(std::numeric_limits<T>::quiet_NaN());
      C_.push_back(C);
    }
    for (std::size_t q = 0; q < s.a.size(); ++q) a_terms_.push_back({&A_[q], s.a[q]});
    for (std::size_t q = 0; q < s.b.size(); ++q) b_terms_.push_back({&B_[q], s.b[q]});
    let_end(s.a_lacks, A_, s.m, T(0), [](auto& X, auto i, auto p) -> T& { return X(i, p); });
    let_end(s.b_lacks, B_, s.n, T(0), [](auto& X, auto j, auto p) -> T& { return X(p, j); });
    M_ = heptad::test::multiply(a_terms_, b_terms_, s.m, s.n, s.k);
    T const nan = std::numeric_limits<T>::quiet_NaN();
    let_end(s.a_lacks, A_, s.m, nan, [](auto& X, auto i, auto p) -> T& { return X(i, p); });
    let_end(s.b_lacks, B_, s.n, nan, [](auto& X, auto j, auto p) -> T& { return X(p, j); });
  }

  // On every processor, by its ways; most sets have one way for all.
  void run(heptad::cpu::kernel_set<T> const& kernels, variant how) {
    heptad::cpu::kernel_set<T> set = kernels;
    for (auto const processor : heptad::test::every_processor) {
      set.processor = processor;
      run_here(set, how);
      if (!set.asks_below) return;
    }
  }

private:
  void run_here(heptad::cpu::kernel_set<T> const& kernels, variant how) {
    CAPTURE(kernels.name, int(kernels.processor()), how == variant::abc, s_.m, s_.n, s_.k, s_.a, s_.b, s_.c,
            int(s_.a_order), int(s_.b_order), int(s_.c_order), s_.before, s_.gap);
    std::vector<framed_matrix<T>> results = C_;
    std::vector<heptad::cpu::term<T>> a, b;
    std::vector<heptad::cpu::destination<T>> c;
    for (auto const& t : a_terms_) a.push_back({t.matrix->data(), t.coefficient});
    for (auto const& t : b_terms_) b.push_back({t.matrix->data(), t.coefficient});
    for (std::size_t q = 0; q < s_.a_lacks.size(); ++q) a[q].steps = s_.k - s_.a_lacks[q];
    for (std::size_t q = 0; q < s_.b_lacks.size(); ++q) b[q].steps = s_.k - s_.b_lacks[q];
    for (std::size_t q = 0; q < results.size(); ++q) c.push_back({results[q].data(), s_.c[q].first, s_.c[q].second});

    T largest_a = 0, largest_b = 0;
    heptad::cpu::product_call<T> const call{s_.m,    s_.n,       s_.k,      a, A_[0].rs,      A_[0].cs,
                                            b,       B_[0].rs,   B_[0].cs,  c, results[0].rs, results[0].cs,
                                            nullptr, &largest_a, &largest_b};
    std::size_t bytes = 0;
    std::int64_t const rows = s_.part > 0 ? s_.part : s_.m, cols = s_.part > 0 ? s_.part : s_.n;
    for (std::int64_t const m : {rows, s_.m - rows})
      for (std::int64_t const n : {cols, s_.n - cols})
        if (m > 0 && n > 0) bytes = std::max(bytes, product_scratch(kernels, m, n, s_.k, how));
    guarded_scratch scratch(bytes);
    if (s_.part > 0) product_in_parts(kernels, call, how, scratch.data(), s_.part);
    else product(kernels, call, how, scratch.data());

    REQUIRE(scratch.guard_intact());
    if (s_.m > 0 && s_.n > 0 && s_.k > 0) {
      expect_seen(largest_a, A_, s_.m, s_.a_lacks, [](auto& X, auto i, auto p) { return X(i, p); });
      expect_seen(largest_b, B_, s_.n, s_.b_lacks, [](auto& X, auto j, auto p) { return X(p, j); });
    }
    auto const roundings = s_.k + static_cast<std::int64_t>(s_.a.size() + s_.b.size()) + 8;
    for (std::size_t q = 0; q < results.size(); ++q) {
      CAPTURE(q);
      REQUIRE(heptad::test::count_wrong(results[q], C_[q], s_.c[q].second, s_.c[q].first, M_, roundings) == 0);
      REQUIRE(results[q].surroundings_intact());
    }
  }

  /// The product has seen all elements that the operands have, and none around them, where NaN are.
  template <typename At>
  void expect_seen(T largest, std::vector<framed_matrix<T>>& operands, std::int64_t lines,
                   std::vector<std::int64_t> const& lacks, At at) {
    T most = 0;
    for (std::size_t q = 0; q < operands.size(); ++q)
      for (std::int64_t p = 0; p < s_.k - (lacks.empty() ? 0 : lacks[q]); ++p)
        for (std::int64_t i = 0; i < lines; ++i) most = std::max(most, std::abs(at(operands[q], i, p)));
    REQUIRE(largest >= most);
    REQUIRE(static_cast<double>(largest) <= static_cast<double>(most) * (1 + 0x1p-20));
  }

  /// The last k-steps of operands, in every row of A or column of B.
  template <typename At>
  void let_end(std::vector<std::int64_t> const& lacks, std::vector<framed_matrix<T>>& operands, std::int64_t lines,
               T value, At at) {
    for (std::size_t q = 0; q < lacks.size(); ++q)
      for (std::int64_t p = s_.k - lacks[q]; p < s_.k; ++p)
        for (std::int64_t i = 0; i < lines; ++i) at(operands[q], i, p) = value;
  }

  framed_matrix<T> operand(std::int64_t rows, std::int64_t cols, order o) {
    framed_matrix<T> X(rows, cols, o, s_.before, s_.gap, 0, std::numeric_limits<T>::quiet_NaN());
    X.randomize(random_);
    return X;
  }

  scenario<T> s_;
  std::mt19937_64 random_{20240229};
  std::vector<framed_matrix<T>> A_, B_, C_;
  std::vector<heptad::test::weighted<T>> a_terms_, b_terms_;
  heptad::test::exact_product M_;
};

template <typename T>
void expect_right(scenario<T> const& s) {
  experiment<T> e(s);
  for (heptad::cpu::kernel_set<T> const* kernels : heptad::cpu::kernel_sets<T>())
    if (kernels->available())
      for (variant how : {variant::abc, variant::ab}) e.run(*kernels, how);
}

}  // namespace

// Every shape of a tile, of operands in place and packed.
TEMPLATE_TEST_CASE("product is right for every small number of rows and columns", "[product]", float, double) {
  using T = TestType;
  for (std::int64_t m = 0; m <= 50; ++m)
    for (std::int64_t n = 0; n <= 18; ++n) {
      std::int64_t const k = 1 + (m + n) % 19;
      expect_right<T>({.m = m, .n = n, .k = k});
      expect_right<T>({.m = m, .n = n, .k = k, .b_order = order::row_major, .gap = 1});
      expect_right<T>({.m = m, .n = n, .k = k, .a = {1, -1}, .b = {1, 1}, .c = {{-1, 0}}, .gap = 3});
    }
}

TEMPLATE_TEST_CASE("product is right for sizes around the blocks of every kernel set", "[product]", float, double) {
  constexpr std::int64_t sizes[] = {0,  1,  2,  3,  5,  7,  8,  13, 16,  17,  23,  24, 25,
                                    31, 32, 33, 47, 48, 49, 64, 97, 113, 193, 241, 257};
  constexpr int count = static_cast<int>(std::size(sizes));
  for (int i = 0; i < count; ++i)
    for (int shift : {1, 8, 19}) {
      std::int64_t const m = sizes[i], n = sizes[(i * 7 + shift) % count], k = sizes[(i * 11 + 3 * shift) % count];
      expect_right<TestType>({.m = m, .n = n, .k = k, .c = {{1, 0}}, .gap = shift});
    }
}

TEMPLATE_TEST_CASE("product is right over several blocks of rows, columns and depth", "[product]", float, double) {
  using T = TestType;
  for (heptad::cpu::kernel_set<T> const* kernels : heptad::cpu::kernel_sets<T>()) {
    if (!kernels->available()) continue;
    heptad::cpu::blocking const b = kernels->blocks();
    std::int64_t const mr = b.mr, nr = b.nr, mc = b.mc, kc = b.kc, nc = b.nc;
    std::int64_t const shapes[][3] = {{mr + 3, nr + 1, 3 * kc + 5}, {mc, nr, 2 * kc},          {2 * mc + 3, 2 * nr, kc},
                                      {mr, 2 * nc + 3, 5},          {mc + 13, 30, 2 * kc + 1}, {9, nc + 13, kc + 1},
                                      {4 * mc + 1, 11, 33}};
    for (auto const& [m, n, k] : shapes) {
      experiment<T> e({.m = m, .n = n, .k = k, .a = {1, -1}, .c = {{1, 0}, {-1, T(0.5)}}, .before = 1});
      for (variant how : {variant::abc, variant::ab}) e.run(*kernels, how);
    }
  }
}

TEMPLATE_TEST_CASE("product is right over more columns than whose packed B is kept", "[product]", float, double) {
  using T = TestType;
  for (heptad::cpu::kernel_set<T> const* kernels : heptad::cpu::kernel_sets<T>()) {
    if (!kernels->available()) continue;
    heptad::cpu::blocking b = kernels->blocks();
    std::int64_t const m = 2 * b.mc + 3, n = b.kept + b.nc + 3, k = b.kc + 3;
    experiment<T> e({.m = m, .n = n, .k = k, .a = {1, -1}, .b = {1, 2}, .c = {{1, 0}, {-1, T(0.5)}}, .before = 1});
    for (variant how : {variant::abc, variant::ab}) e.run(*kernels, how);
  }
}

TEMPLATE_TEST_CASE("product takes k-steps that blocks lack for zeros and does not read them", "[product]", float,
                   double) {
  using T = TestType;
  for (heptad::cpu::kernel_set<T> const* kernels : heptad::cpu::kernel_sets<T>()) {
    if (!kernels->available()) continue;
    heptad::cpu::blocking const b = kernels->blocks();
    std::int64_t const kc = b.kc;
    std::int64_t const shapes[][3] = {{b.mr + 3, b.nr + 1, 40}, {b.mc + 5, 2 * b.nc + 3, kc + 9}, {3, 5, 70}};
    for (auto const& [m, n, k] : shapes)
      for (order const of_A : orders)
        for (order const of_B : orders)
          for (std::int64_t const lacking : {std::int64_t{1}, std::int64_t{9}, k}) {
            scenario<T> s{.m = m, .n = n, .k = k, .a = {1, -1, 2}, .b = {2, 1}, .a_order = of_A, .b_order = of_B};
            s.a_lacks = {lacking, 0, lacking / 2};
            s.b_lacks = {0, lacking};
            experiment<T> e(s);
            for (variant how : {variant::abc, variant::ab}) e.run(*kernels, how);
          }
  }
  // A single block of the other operand would be read in place.
  expect_right<T>({.m = 1, .n = 33, .k = 100, .a = {1, 1}, .a_lacks = {7, 0}});
  expect_right<T>({.m = 333, .n = 5, .k = 100, .b = {1, 1, 1, 1, 1, 1}, .b_lacks = {7, 0, 3, 2, 1, 100}});
}

TEMPLATE_TEST_CASE("product is right for a few rows or columns and a long depth", "[product]", float, double) {
  using T = TestType;
  for (std::int64_t few = 1; few <= 13; ++few)
    for (std::int64_t many : {1, 2, 3, 4, 7, 33})
      for (std::int64_t k : {63, 64, 79, 127, 257})
        for (order o : {order::column_major, order::row_major}) {
          expect_right<T>({.m = few,
                           .n = many,
                           .k = k,
                           .a = {1, -1},
                           .b = {T(0.5)},
                           .c = {{2, 0}, {-1, T(0.5)}},
                           .a_order = o,
                           .gap = 1});
          expect_right<T>({.m = many,
                           .n = few,
                           .k = k,
                           .a = {T(-0.5)},
                           .b = {1, 2},
                           .c = {{2, 0}, {-1, T(0.5)}},
                           .a_order = order::row_major,
                           .b_order = o,
                           .gap = 1});
        }
  // Over several blocks of depth, beta applies once.
  for (std::int64_t const few : {2, 3, 6, 11})
    expect_right<T>({.m = few, .n = 5, .k = 8100, .c = {{1, 0}, {2, T(0.5)}}});
}

TEMPLATE_TEST_CASE("product is right where operands are read in place, over several blocks of depth", "[product]",
                   float, double) {
  using T = TestType;
  std::int64_t const shapes[][3] = {{131, 203, 1030}, {1203, 29, 450}, {1203, 20, 450}, {1003, 99, 150},
                                    {29, 1003, 300},  {5003, 17, 50},  {331, 67, 1710}, {115, 61, 4700},
                                    {371, 331, 500},  {707, 331, 310}, {1016, 67, 300}, {1036, 45, 600}};
  for (auto const& [m, n, k] : shapes) {
    expect_right<T>({.m = m, .n = n, .k = k, .a = {-2}, .b = {T(0.5)}, .c = {{1, 0}, {-1, T(0.5)}}, .gap = 1});
    expect_right<T>({.m = m, .n = n, .k = k, .a = {1, -1}, .b = {T(0.5)}, .b_order = order::row_major});
  }
}

TEMPLATE_TEST_CASE("product is right where its first tiles tell where A comes from", "[product]", float, double) {
  for (std::int64_t const n : {9, 10, 13, 17, 25}) expect_right<TestType>({.m = 1203, .n = n, .k = 450});
}

// A product may ask for less of what caches have.
TEMPLATE_TEST_CASE("product has the same bits from memory as from caches", "[product]", float, double) {
  using T = TestType;
  std::int64_t const m = 1203, k = 450;
  std::vector<char> others(std::size_t{64} << 20);
  for (std::int64_t const n : {10, 13, 17, 20, 29, 50}) {
    std::mt19937_64 random(7);
    framed_matrix<T> A(m, k, order::column_major, 0, 1, 0, T(0)), B(k, n, order::column_major, 0, 1, 0, T(0));
    A.randomize(random), B.randomize(random);
    for (heptad::cpu::kernel_set<T> const* found : heptad::cpu::kernel_sets<T>()) {
      if (!found->available()) continue;
      heptad::cpu::kernel_set<T> kernels = *found;
      for (auto const processor : heptad::test::every_processor) {
        kernels.processor = processor;
        guarded_scratch const scratch(product_scratch(kernels, m, n, k, variant::abc));
        auto const product_of = [&](bool from_memory) {
          if (from_memory) std::fill(others.begin(), others.end(), char(n));
          std::vector<T> C(static_cast<std::size_t>(m * n));
          heptad::cpu::term<T> const a[] = {{A.data(), T(1)}}, b[] = {{B.data(), T(1)}};
          heptad::cpu::destination<T> const c[] = {{C.data(), T(1), T(0)}};
          product(kernels, heptad::cpu::product_call<T>{m, n, k, a, A.rs, A.cs, b, B.rs, B.cs, c, 1, m}, variant::abc,
                  scratch.data());
          return C;
        };
        CAPTURE(kernels.name, n, int(processor()));
        std::vector<T> const expected = product_of(true);
        CHECK(product_of(false) == expected);
        CHECK(product_of(true) == expected);
      }
    }
  }
}

TEMPLATE_TEST_CASE("product is right for few rows and a row-major B, over several blocks of depth", "[product]", float,
                   double) {
  using T = TestType;
  for (std::int64_t const m : {1, 7, 24, 45}) {
    expect_right<T>({.m = m, .n = 29, .k = 1030, .a = {2}, .b = {-2}, .b_order = order::row_major, .gap = 1});
    expect_right<T>({.m = m,
                     .n = 517,
                     .k = 1030,
                     .a = {T(0.5), -1},
                     .b = {-2},
                     .c = {{1, 0}, {-1, T(0.5)}, {2, 1}},
                     .b_order = order::row_major,
                     .gap = 1});
  }
  // The copy of what is then A takes more than the packed loops ask for.
  expect_right<T>({.m = 47, .n = 1003, .k = 255, .b_order = order::row_major});
  expect_right<T>({.m = 305, .n = 355, .k = 48, .b_order = order::row_major});
}

TEMPLATE_TEST_CASE("product is right for few rows beside the rows of B, whatever the order of A and C", "[product]",
                   float, double) {
  using T = TestType;
  for (std::int64_t const m : {2, 5, 13, 36, 72})
    for (order const o : orders) {
      expect_right<T>({.m = m, .n = 551, .k = 530, .a_order = o, .b_order = order::row_major, .c_order = o, .gap = 1});
      expect_right<T>({.m = m,
                       .n = m + 1,
                       .k = 70,
                       .a = {1, -1},
                       .b = {T(0.5)},
                       .c = {{1, 0}, {-1, 2}},
                       .a_order = o,
                       .b_order = order::row_major,
                       .gap = 1,
                       .a_lacks = {0, 3}});
    }
}

TEMPLATE_TEST_CASE("product is right for few columns beside the rows of A, whatever the order of B and C", "[product]",
                   float, double) {
  using T = TestType;
  for (std::int64_t const n : {7, 13, 24, 47, 70, 96})
    for (order const o : orders) {
      expect_right<T>({.m = n + 50, .n = n, .k = 4 * n + 100, .a_order = order::row_major, .b_order = o, .c_order = o});
      expect_right<T>({.m = n + 1,
                       .n = n,
                       .k = 401,
                       .a = {T(0.5)},
                       .b = {1, -1},
                       .c = {{2, T(0.5)}},
                       .a_order = order::row_major,
                       .b_order = o,
                       .c_order = o,
                       .gap = 1,
                       .b_lacks = {0, 3}});
    }
}

TEMPLATE_TEST_CASE("product is right for few rows beside long columns of B, in one block of depth and in several",
                   "[product]", float, double) {
  using T = TestType;
  std::int64_t const shapes[][3] = {{13, 14, 2040},  {25, 26, 2040},  {32, 40, 4100},
                                    {41, 100, 2100}, {41, 400, 2500}, {96, 140, 1500}};
  for (auto const& [m, n, k] : shapes)
    expect_right<T>({.m = m, .n = n, .k = k, .a = {-2}, .b = {T(0.5)}, .c = {{1, T(0.5)}, {-1, 0}}, .gap = 1});
}

TEMPLATE_TEST_CASE("product is right for few columns and an A that fills no cache", "[product]", float, double) {
  std::int64_t const shapes[][3] = {{60007, 3, 73}, {8003, 7, 530}};
  for (auto const& [m, n, k] : shapes)
    expect_right<TestType>({.m = m, .n = n, .k = k, .a = {-2}, .c = {{1, 0}, {-1, TestType(0.5)}}, .gap = 1});
}

// A change of other blocks had once made them large, and no result told.
TEMPLATE_TEST_CASE("an A that is packed beside few columns comes in small blocks where packed B is kept", "[product]",
                   float, double) {
  using T = TestType;
  static heptad::cpu::blocking blocks;
  static std::int64_t most_rows, most_steps;
  for (heptad::cpu::kernel_set<T> const* found : heptad::cpu::kernel_sets<T>()) {
    if (!found->available() || found->asks_below) continue;
    CAPTURE(found->name);
    blocks = found->blocks();
    int const mr = blocks.mr;
    blocks.mc = 10 * mr, blocks.mc_beside_kept = 7 * mr, blocks.kc = 256, blocks.kept = 64 * blocks.nr;
    heptad::cpu::kernel_set<T> kernels = *found;
    kernels.blocks = [] { return blocks; };
    kernels.macro = [](heptad::cpu::macro_call<T> const& call) {
      most_rows = std::max<std::int64_t>(most_rows, call.rows);
      most_steps = std::max<std::int64_t>(most_steps, call.depth);
    };
    std::int64_t const m = 40 * mr, k = 960;
    auto const expect_blocks = [&](std::int64_t n, std::int64_t rows, std::int64_t steps) {
      std::vector<T> const A(static_cast<std::size_t>(m * k)), B(static_cast<std::size_t>(k * n));
      std::vector<T> C(static_cast<std::size_t>(m * n));
      heptad::cpu::term<T> const a[] = {{A.data(), T(1)}}, b[] = {{B.data(), T(1)}};
      heptad::cpu::destination<T> const c[] = {{C.data(), T(1), T(0)}};
      guarded_scratch const scratch(product_scratch(kernels, m, n, k, variant::abc));
      most_rows = most_steps = 0;
      product(kernels, heptad::cpu::product_call<T>{m, n, k, a, 1, m, b, 1, k, c, 1, m}, variant::abc, scratch.data());
      CHECK(most_rows == rows);
      CHECK(most_steps == steps);
      CHECK(scratch.guard_intact());
    };
    expect_blocks(160, 4 * mr, 192);  // three tiles of 256 k-steps, four of 192
    expect_blocks(161, 7 * mr, 240);
  }
}

// Of a large A: any rest of rows and of k-steps, tiles of every width, into any layout.
TEMPLATE_TEST_CASE("product is right for few columns and an A in slabs", "[product]", float, double) {
  using T = TestType;
  for (std::int64_t n = 5; n <= 25; ++n)
    expect_right<T>({.m = 340 + n, .n = n, .k = 190 + n, .a = {-2}, .b = {1, -1}, .c = {{1, 0}, {-1, T(0.5)}}});
  for (std::int64_t m = 330; m < 347; ++m) {
    expect_right<T>({.m = m, .n = 13, .k = 203, .b_order = order::row_major, .before = 1, .gap = 1});
    expect_right<T>({.m = m, .n = 7, .k = 203, .c = {{2, 1}}, .c_order = order::row_major});
    expect_right<T>({.m = 6, .n = m, .k = 203, .b_order = order::row_major, .c_order = order::strided});
  }
}

TEMPLATE_TEST_CASE("product is right for few columns and an A that is packed in small blocks", "[product]", float,
                   double) {
  using T = TestType;
  std::int64_t const shapes[][3] = {{701, 57, 530}, {403, 131, 224}, {401, 150, 40}, {1009, 21, 2100}};
  for (auto const& [m, n, k] : shapes)
    for (std::vector<T> const& a : {std::vector<T>{-2}, std::vector<T>{1, -2}})  // a single term may be copied
      for (T const beta : {T(0), T(0.5)})
        expect_right<T>({.m = m, .n = n, .k = k, .a = a, .b = {1, T(0.5)}, .c = {{-1, beta}}, .gap = 1});
}

TEMPLATE_TEST_CASE("product is right for columns of which the first ones copy A", "[product]", float, double) {
  using T = TestType;
  for (std::int64_t const n : {13, 15, 16, 17, 21, 24, 29, 33, 61, 64, 65, 127, 128, 129}) {
    expect_right<T>({.m = 340 + n, .n = n, .k = 260 + n, .a = {-2}, .b = {T(0.5)}, .c = {{1, 0}, {-1, T(0.5)}}});
    expect_right<T>({.m = 340 + n, .n = n, .k = 200 + n, .b = {1, -1}, .c = {{2, 1}}});
  }
  for (std::int64_t m = 330; m < 355; ++m) {
    expect_right<T>({.m = m, .n = 29, .k = 260, .b_order = order::row_major, .before = 1, .gap = 1});
    expect_right<T>({.m = m, .n = 30, .k = 203, .c = {{2, 1}}, .c_order = order::row_major});
    expect_right<T>({.m = m, .n = 31, .k = 203, .c_order = order::strided});
  }
}

TEMPLATE_TEST_CASE("product is right for shallow depths, in place and in blocks of more rows and columns", "[product]",
                   float, double) {
  using T = TestType;
  std::int64_t const shapes[][3] = {{1501, 333, 1}, {1501, 333, 17}, {1101, 333, 17}, {701, 1203, 33}, {5001, 150, 9}};
  for (auto const& [m, n, k] : shapes)
    expect_right<T>({.m = m, .n = n, .k = k, .a = {1, T(0.5)}, .c = {{1, 0}, {-1, T(0.5)}}, .gap = 1});
  expect_right<T>({.m = 1008, .n = 407, .k = 41, .a = {-2}, .c = {{1, 0}, {-1, T(0.5)}}});  // columns of whole lines
}

TEMPLATE_TEST_CASE("product reads and writes every orientation", "[product]", float, double) {
  using T = TestType;
  for (order a : orders)
    for (order b : orders)
      for (order c : orders)
        for (auto const& [m, n, k] : {std::array<std::int64_t, 3>{53, 29, 41}, {7, 50, 19}, {96, 24, 300}})
          expect_right<T>({.m = m,
                           .n = n,
                           .k = k,
                           .a = {1, T(-1)},
                           .b = {1, 1, T(0.5)},
                           .c = {{1, 1}, {-1, 0}},
                           .a_order = a,
                           .b_order = b,
                           .c_order = c,
                           .before = 1,
                           .gap = 3});
}

TEMPLATE_TEST_CASE("product needs no alignment", "[product]", float, double) {
  using T = TestType;
  for (int before = 0; before < 16; ++before)
    for (int gap : {0, 1, 5})
      expect_right<T>({.m = 49, .n = 17, .k = 35, .c = {{1, 0}, {-1, 1}}, .before = before, .gap = gap});
}

TEMPLATE_TEST_CASE("product forms sums of any number of operands", "[product]", float, double) {
  using T = TestType;
  std::vector<T> const coefficients{1, -1, 1, T(0.5), -2, T(1) / 3, 1, -1, T(1.5)};
  for (std::size_t p = 1; p <= coefficients.size(); ++p)
    for (std::size_t q : {std::size_t{1}, std::size_t{2}, 1 + p % 5}) {
      std::vector<T> const a(coefficients.begin(), coefficients.begin() + static_cast<long>(p));
      std::vector<T> const b(coefficients.rbegin(), coefficients.rbegin() + static_cast<long>(q));
      for (order o : orders) {
        expect_right<T>({.m = 50, .n = 18, .k = 21, .a = a, .b = b, .a_order = o, .b_order = o});
        expect_right<T>({.m = 18, .n = 50, .k = 27, .a = b, .b = a, .a_order = o, .b_order = o});
      }
    }
}

TEMPLATE_TEST_CASE("product updates any number of destinations, each with its own coefficient and beta", "[product]",
                   float, double) {
  using T = TestType;
  std::vector<std::pair<T, T>> const all{{1, 1}, {-1, 0},          {1, T(0.5)},   {T(-0.25), -1},
                                         {2, 0}, {T(1) / 7, T(3)}, {-1, T(-0.5)}, {1, 0}};
  for (std::size_t q = 1; q <= all.size(); ++q)
    for (std::size_t first = 0; first + q <= all.size(); ++first) {
      std::vector<std::pair<T, T>> const c(all.begin() + static_cast<long>(first),
                                           all.begin() + static_cast<long>(first + q));
      expect_right<T>({.m = 51, .n = 17, .k = 19, .c = c});
      expect_right<T>({.m = 48, .n = 16, .k = 523, .c = c});  // several blocks of depth: beta applies once
    }
}

TEMPLATE_TEST_CASE("product of an empty depth scales the destinations", "[product]", float, double) {
  using T = TestType;
  for (order o : orders)
    expect_right<T>({.m = 25, .n = 9, .k = 0, .c = {{1, 0}, {-1, T(0.5)}, {3, 1}, {1, -1}}, .c_order = o, .gap = 2});
}

TEMPLATE_TEST_CASE("product is right for random shapes, layouts, sums and updates", "[product]", float, double) {
  using T = TestType;
  std::mt19937_64 random(7);
  auto const pick = [&](auto const& options) { return options[random() % std::size(options)]; };
  auto const size = [&] {
    return static_cast<std::int64_t>(std::exp2(std::uniform_real_distribution(0.0, 7.7)(random)));
  };
  constexpr T coefficients[] = {1, 1, 1, -1, -1, T(0.5), T(-2), T(0.1)};
  constexpr T betas[] = {0, 0, 1, 1, -1, T(0.5), T(-1.7)};
  for (int trial = 0; trial < 150; ++trial) {
    scenario<T> s{.m = size(), .n = size(), .k = size()};
    if (trial % 10 == 0) s.k += 400;
    for (auto extra = random() % 5; extra > 0; --extra) s.a.push_back(pick(coefficients));
    for (auto extra = random() % 5; extra > 0; --extra) s.b.push_back(pick(coefficients));
    s.c.clear();
    for (auto count = 1 + random() % 5; count > 0; --count) s.c.emplace_back(pick(coefficients), pick(betas));
    s.a_order = pick(orders), s.b_order = pick(orders), s.c_order = pick(orders);
    s.before = static_cast<int>(random() % 9), s.gap = static_cast<int>(random() % 9);
    expect_right(s);
  }
}

TEMPLATE_TEST_CASE("product is right in parts of few rows and columns", "[product]", float, double) {
  using T = TestType;
  for (order const o : orders)
    expect_right<T>({.m = 93,
                     .n = 50,
                     .k = 21,
                     .a = {1, -2},
                     .b = {3},
                     .c = {{1, T(0.5)}, {-1, 0}},
                     .a_order = o,
                     .b_order = o,
                     .c_order = o,
                     .gap = 3,
                     .part = 48});
}
