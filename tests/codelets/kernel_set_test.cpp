// SPDX-License-Identifier: BSD-3-Clause
// The registry of kernel sets, and what each set promises to the loops around it.
#include "codelets/cpu/kernel_set.hpp"

#include <catch2/catch.hpp>

#include <dlfcn.h>

#include <algorithm>
#include <string>

#include "codelets/cpu/plain_loops.hpp"
#include "codelets/cpu/slab_product.hpp"
#include "codelets/cpu/thin_blocks.hpp"
#include "src/matrix/limits.hpp"
#include "tests/codelets/processors.hpp"
#include "tests/codelets/reference.hpp"

namespace {

template <typename T>
std::vector<std::string> names() {
  std::vector<std::string> all;
  for (auto const* set : heptad::cpu::kernel_sets<T>()) all.emplace_back(set->name);
  return all;
}

}  // namespace

TEMPLATE_TEST_CASE("kernel sets are listed best first, the portable one last", "[kernel_set]", float, double) {
  auto all = names<TestType>();
  REQUIRE(all.back() == "portable");
#if defined(__x86_64__)
  REQUIRE(all[0] == "avx512");
  REQUIRE(all[1] == "avx2");
#endif
  std::sort(all.begin(), all.end());
  REQUIRE(std::unique(all.begin(), all.end()) == all.end());
}

TEMPLATE_TEST_CASE("kernel sets are found by name", "[kernel_set]", float, double) {
  for (auto const* set : heptad::cpu::kernel_sets<TestType>())
    REQUIRE(heptad::cpu::find_kernel_set<TestType>(set->name) == set);
  REQUIRE(heptad::cpu::find_kernel_set<TestType>("no such set") == nullptr);
  REQUIRE(heptad::cpu::find_kernel_set<TestType>("") == nullptr);
}

TEMPLATE_TEST_CASE("the best kernel set is the first that this processor can run", "[kernel_set]", float, double) {
  REQUIRE(heptad::cpu::find_kernel_set<TestType>("portable")->available());
  auto const& best = heptad::cpu::best_kernel_set<TestType>();
  REQUIRE(best.available());
  for (auto const* set : heptad::cpu::kernel_sets<TestType>()) {
    if (set == &best) break;
    REQUIRE_FALSE(set->available());
  }
}

TEMPLATE_TEST_CASE("blocks hold whole panels", "[kernel_set]", float, double) {
  for (auto const* set : heptad::cpu::kernel_sets<TestType>()) {
    if (!set->available()) continue;
    CAPTURE(set->name);
    auto const b = set->blocks();
    REQUIRE(b.mr > 0);
    REQUIRE(b.nr > 0);
    REQUIRE(b.kc > 0);
    REQUIRE(b.mc >= b.mr);
    REQUIRE(b.mc % b.mr == 0);
    REQUIRE(b.nc >= b.nr);
    REQUIRE(b.nc % b.nr == 0);
    REQUIRE(b.kept % b.nr == 0);
    REQUIRE(b.mc_beside_kept >= b.mr);
    REQUIRE(b.mc_beside_kept <= b.mc);
    REQUIRE(b.mc_beside_kept % b.mr == 0);
  }
}

namespace {

using heptad::cpu::microarchitecture;

/// The set with the ways of another processor.
template <typename T, microarchitecture There = microarchitecture::amd_up_to_zen4>
heptad::cpu::kernel_set<T> there(heptad::cpu::kernel_set<T> set) {
  set.processor = [] { return There; };
  return set;
}

/// What `ask` finds for C := A B with a column-major A whose columns are so many bytes apart.
template <typename T, typename Ask>
auto ask_for(int m, int n, int k, int apart, bool row_major_b, Ask ask) {
  heptad::cpu::term<T> const A{nullptr, T(1)}, B{nullptr, T(1)};
  heptad::cpu::destination<T> const C{nullptr, T(1), T(0)};
  return ask(heptad::cpu::product_call<T>{.m = m,
                                          .n = n,
                                          .k = k,
                                          .a = {&A, 1},
                                          .a_rs = 1,
                                          .a_cs = apart / int(sizeof(T)),
                                          .b = {&B, 1},
                                          .b_rs = row_major_b ? n : 1,
                                          .b_cs = row_major_b ? 1 : k,
                                          .c = {&C, 1},
                                          .c_rs = 1,
                                          .c_cs = m});
}
template <typename T>
heptad::cpu::thin_sides sides_in_place(heptad::cpu::kernel_set<T> const& set, int m, int n, int k, int apart,
                                       bool row_major_b = false) {
  return ask_for<T>(m, n, k, apart, row_major_b, [&](auto const& call) { return find_thin_sides(set, call); });
}
template <typename T>
bool copies_a(heptad::cpu::kernel_set<T> const& set, int m, int n, int k, int apart) {
  return ask_for<T>(m, n, k, apart, false, [&](auto const& call) {
    auto const thin = find_thin_sides(set, call);
    return thin.a && choose_thin_blocks(set, call, thin).copies;
  });
}

}  // namespace

TEMPLATE_TEST_CASE("blocks of k are as deep as the error bound counts on, and thin products as thin", "[kernel_set]",
                   float, double) {
  for (auto const* set : heptad::cpu::kernel_sets<TestType>()) {
    if (!set->available()) continue;
    heptad::cpu::blocking const b = set->blocks();
    CAPTURE(set->name);
    // Balanced blocks are at least half as deep as the largest.
    CHECK(b.kc / 2 >= heptad::least_k_block);
    CHECK(std::max(14 * b.mr, 40 * b.nr) <= heptad::thin_side);
    for (auto const processor : heptad::test::every_processor) {
      heptad::cpu::kernel_set<TestType> here = *set;
      here.processor = processor;
      auto const [a, b_in_place, _] = sides_in_place(here, heptad::thin_side + 1, heptad::thin_side + 1, 4096, 8192);
      CHECK_FALSE((a || b_in_place));
    }
  }
}

TEMPLATE_TEST_CASE("few columns read an A where it lies, more of them a small one, unless its columns share cache sets",
                   "[kernel_set]", float, double) {
  namespace cpu = heptad::cpu;
  constexpr int m = 32;
  for (auto const* set : cpu::kernel_sets<TestType>()) {
    if (!set->available() || set->unpacked_rows == 0 || set->asks_below) continue;
    CAPTURE(set->name);
    int const nr = set->blocks().nr, mr = set->blocks().mr;
    auto const most_tiles = [&](int rows, int k, int apart) {
      int tiles = 0;
      while (sides_in_place(*set, rows, (tiles + 1) * nr, k, apart).a) ++tiles;
      return tiles;
    };
    for (int const apart : {1024 + 64, 2048 + 64, 8192 + 128}) {
      CHECK(most_tiles(m, 60, apart) == 8);
      CHECK(most_tiles(m, 160, apart) == 6);
      CHECK(most_tiles(m, 480, apart) == 3);
      int const rows = (256 << 10) / (60 * int(sizeof(TestType)));  // of 256 KiB
      CHECK((most_tiles(rows, 60, apart) == 8 && !copies_a(*set, rows, 3 * nr + 1, 60, apart)));
      CHECK((!copies_a(*set, rows + 1, 3 * nr, 60, apart) && copies_a(*set, rows + 1, 3 * nr + 1, 60, apart)));
      CHECK((most_tiles(mr, 2048, apart) == 20 && most_tiles(mr, 2049, apart) == 3));
    }
    for (int const apart : {1024, 3072}) CHECK(most_tiles(m, 60, apart) == 3);
    for (int const apart : {2048, 6144, 65536}) CHECK(most_tiles(m, 60, apart) == 0);
  }
}

TEMPLATE_TEST_CASE("the first of more columns copy a large A, unless its columns share cache sets", "[kernel_set]",
                   float, double) {
  namespace cpu = heptad::cpu;
  constexpr int m = 300, apart = 2400, size = sizeof(TestType), most = 512 / size;
  constexpr int large = (256 << 10) / (m * size) + 1;  // k-steps
  for (auto const* set : cpu::kernel_sets<TestType>()) {
    if (!set->available() || set->asks_below) continue;
    CAPTURE(set->name);
    if (set->unpacked_rows == 0) {
      CHECK_FALSE(copies_a(*set, m, most, large, apart));
      continue;
    }
    int const few = 3 * set->blocks().nr;
    CHECK((copies_a(*set, m, few + 1, large, apart) && copies_a(*set, m, most, large, apart)));
    CHECK((sides_in_place(*set, m, few, large, apart).a && !copies_a(*set, m, few, large, apart)));
    CHECK_FALSE(sides_in_place(*set, m, most + 1, large, apart).a);
    CHECK_FALSE(copies_a(*set, m, most, large - 1, apart));
    CHECK((copies_a(*set, 144, most, 4000, apart) && !sides_in_place(*set, 143, most, 4000, apart).a));
    for (int const shared : {3072, 4096}) CHECK_FALSE(sides_in_place(*set, m, most, large, shared).a);
  }
}

TEMPLATE_TEST_CASE("few columns meet a large A in slabs, unless its columns share cache sets", "[kernel_set]", float,
                   double) {
  namespace cpu = heptad::cpu;
  constexpr int m = 300, apart = 2400, size = sizeof(TestType), most = size == 4 ? 20 : 14;
  constexpr int large = (256 << 10) / (m * size) + 1;  // k-steps
  for (auto const* set : cpu::kernel_sets<TestType>()) {
    if (!set->available()) continue;
    CAPTURE(set->name);
    auto const in_slabs = [&](int rows, int n, int k, int between, bool row_major_b = false) {
      return ask_for<TestType>(rows, n, k, between, row_major_b,
                               [&](auto const& call) { return is_for_slabs(*set, call); });
    };
    if (set->slab_rows == 0) {
      CHECK_FALSE(in_slabs(m, 8, large, apart));
      continue;
    }
    for (bool const row_major_b : {false, true}) {
      CHECK((in_slabs(m, 5, large, apart, row_major_b) && in_slabs(m, most, large, apart, row_major_b)));
      CHECK_FALSE((in_slabs(m, 4, large, apart, row_major_b) || in_slabs(m, most + 1, large, apart, row_major_b)));
    }
    CHECK_FALSE(in_slabs(m, 8, large - 1, apart));
    CHECK((in_slabs(144, 8, 4000, apart) && !in_slabs(143, 8, 4000, apart)));
    for (int const shared : {3072, 4096}) CHECK_FALSE(in_slabs(m, 8, large, shared));
    // Few rows and a row-major B are few columns and a column-major A; but what is a sum is packed.
    CHECK((in_slabs(8, 300, large, 64, true) && !in_slabs(8, 300, large, 64, false)));
    CHECK_FALSE(ask_for<TestType>(m, 8, large, apart, false, [&](auto call) {
      cpu::term<TestType> const sum[] = {call.a[0], call.a[0]};
      call.a = sum;
      return is_for_slabs(*set, call);
    }));
  }
}

TEMPLATE_TEST_CASE("a thin A that is asked for ahead is read where it lies, whatever its columns share", "[kernel_set]",
                   float, double) {
  namespace cpu = heptad::cpu;
  for (auto const* set : cpu::kernel_sets<TestType>()) {
    if (!set->available() || !set->asks_below) continue;
    CAPTURE(set->name);
    cpu::blocking const b = set->blocks();
    auto const in_place = [&](int m, int tiles, int apart) {
      return sides_in_place(there(*set), m, tiles * b.nr, 4096, apart).a;
    };
    CHECK((in_place(4096, 16, 65536) && !in_place(4096, 17, 65536)));
    for (int const apart : {2048 + 64, 65536 + 64}) CHECK((in_place(4096, 32, apart) && !in_place(4096, 33, apart)));
    for (int const apart : {65536 + 8, 65536 + 32}) CHECK((in_place(4096, 24, apart) && !in_place(4096, 25, apart)));
    for (int const apart : {2048, 65536 + 8})
      CHECK((in_place(14 * b.mr, 40, apart) && !in_place(14 * b.mr, 41, apart)));
  }
}

TEMPLATE_TEST_CASE("operands of few k-steps are read where they lie, an A only if its columns begin with cache lines",
                   "[kernel_set]", float, double) {
  namespace cpu = heptad::cpu;
  for (auto const* set : cpu::kernel_sets<TestType>()) {
    if (!set->available() || !set->asks_below) continue;
    CAPTURE(set->name);
    auto const sides = [&](int m, int tiles, int k, int apart) {
      return sides_in_place(there(*set), m, tiles * set->blocks().nr, k, apart);
    };
    CHECK((sides(1200, 80, 48, 9600).a && sides(1200, 80, 48, 9600).b));
    for (int const apart : {9608, 10240}) CHECK((!sides(1200, 80, 48, apart).a && sides(1200, 80, 48, apart).b));
    CHECK_FALSE((sides(1201, 80, 48, 9664).a || sides(1201, 80, 48, 9664).b));
    CHECK_FALSE((sides(1200, 81, 48, 9600).a || sides(1200, 81, 48, 9600).b));
    CHECK_FALSE((sides(1200, 80, 49, 9600).a || sides(1200, 80, 49, 9600).b));
  }
}

TEMPLATE_TEST_CASE("on an Intel core few columns read a thin A where it lies, and the first of more copy it",
                   "[kernel_set]", float, double) {
  namespace cpu = heptad::cpu;
  for (auto const* found : cpu::kernel_sets<TestType>()) {
    if (!found->available() || !found->asks_below) continue;
    CAPTURE(found->name);
    auto const set = there<TestType, microarchitecture::intel>(*found);
    int const nr = set.blocks().nr, size = int(sizeof(TestType)), m = 1000;
    auto const copies = [&](int rows, int n, int k, int apart) { return copies_a(set, rows, n, k, apart); };
    auto const copies_beyond = [&](int tiles, int rows, int k, int apart) {
      return !copies(rows, tiles * nr, k, apart) && copies(rows, tiles * nr + 1, k, apart);
    };
    int const small_k = (1 << 20) / m / size;
    for (int const apart : {8000, 8192, 65536}) CHECK(copies_beyond(16, m, small_k, apart));
    CHECK(copies_beyond(4, m, small_k, 8008));
    for (int const apart : {8000, 8008, 8192}) CHECK(copies_beyond(4, m, small_k + 2, apart));
    for (int const k : {100, 4096}) {
      CHECK((copies(m, 40 * nr, k, 8008) && sides_in_place(set, m, 40 * nr, k, 8008).a));
      CHECK_FALSE(sides_in_place(set, m, 40 * nr + 1, k, 8008).a);
    }
    CHECK((sides_in_place(set, heptad::thin_side, 4096, 4096, 8000).b &&
           !sides_in_place(set, heptad::thin_side + 1, 4096, 4096, 8000).b));
    CHECK((sides_in_place(set, m, 600, 48, 8000).b && !sides_in_place(set, m, 600, 48, 8000).a));
  }
}

TEMPLATE_TEST_CASE("a row-major B is read where it lies for one tile of rows of a small one", "[kernel_set]", float,
                   double) {
  namespace cpu = heptad::cpu;
  constexpr int n = 1000, apart = 2048 + 64;
  constexpr int rows_of_4_mib = (4 << 20) / int(n * sizeof(TestType));
  for (auto const* set : cpu::kernel_sets<TestType>()) {
    if (!set->available() || set->unpacked_rows == 0) continue;
    CAPTURE(set->name);
    int const tile = set->blocks().mr;
    auto const in_place = [&](int m, int k, bool row_major) {
      return sides_in_place(*set, m, n, k, apart, row_major).b;
    };
    CHECK((in_place(4 * tile, 256, false) && in_place(tile, rows_of_4_mib + 1, false)));
    if (set->asks_below) continue;
    CHECK((in_place(tile, 256, true) && in_place(tile, rows_of_4_mib, true)));
    CHECK_FALSE(in_place(tile + 1, 256, true));
    CHECK_FALSE(in_place(tile, rows_of_4_mib + 1, true));
  }
}

TEMPLATE_TEST_CASE(
    "a row-major B is read where it lies for whole tiles of rows, and any beside short ones, with a large "
    "second-level cache",
    "[kernel_set]", float, double) {
  namespace cpu = heptad::cpu;
  static cpu::blocking blocks;
  constexpr int k = 100, apart = 2048 + 64, long_rows = 2048 / int(sizeof(TestType));
  for (auto const* found : cpu::kernel_sets<TestType>()) {
    if (!found->available() || found->unpacked_rows == 0 || found->asks_below) continue;
    CAPTURE(found->name);
    cpu::kernel_set<TestType> set = *found;
    set.blocks = [] { return blocks; };
    blocks = found->blocks();
    int const tile = blocks.mr;
    for (bool const large : {false, true}) {
      blocks.kc = 256, blocks.mc = (large ? 300 << 10 : 200 << 10) / (256 * int(sizeof(TestType)));
      auto const in_place = [&](int m, int n) { return sides_in_place(set, m, n, k, apart, true).b; };
      CHECK((in_place(tile, long_rows) && !in_place(tile + 1, long_rows)));
      for (int const rows : {2 * tile, 4 * tile}) CHECK(in_place(rows, long_rows) == large);
      CHECK(in_place(tile + 1, long_rows - 1) == large);
      CHECK_FALSE(in_place(4 * tile + 1, long_rows - 1));
    }
  }
}

TEMPLATE_TEST_CASE("few rows and a row-major B that is asked for ahead are few columns and a thin A", "[kernel_set]",
                   float, double) {
  namespace cpu = heptad::cpu;
  for (auto const* set : cpu::kernel_sets<TestType>()) {
    if (!set->available() || !set->asks_below) continue;
    CAPTURE(set->name);
    auto const sides = [&](int tiles, bool row_major) {
      return sides_in_place(there(*set), tiles * set->blocks().nr, 4096, 1000, 2048, row_major);
    };
    CHECK((sides(16, true).transposed && sides(16, true).a && !sides(16, true).b));
    CHECK_FALSE((sides(17, true).transposed || sides(17, true).a));
    CHECK_FALSE(sides(16, false).transposed);
  }
}

TEST_CASE("asking for BLIS leaves the global symbols of the process alone", "[kernel_set]") {
  REQUIRE(dlsym(RTLD_DEFAULT, "bli_init") == nullptr);
  auto const* set = heptad::cpu::find_kernel_set<double>("blis");
  if (set != nullptr) static_cast<void>(set->available());
  REQUIRE(dlsym(RTLD_DEFAULT, "bli_init") == nullptr);
  REQUIRE(dlsym(RTLD_DEFAULT, "dgemm_") == nullptr);
}

TEMPLATE_TEST_CASE("partial products gathered over slices of the depth make the whole product", "[kernel_set]", float,
                   double) {
  using T = TestType;
  using heptad::cpu::gather;
  constexpr int m = 53, n = 21;
  constexpr int depths[] = {17, 40, 9};
  for (auto const* set : heptad::cpu::kernel_sets<T>()) {
    if (!set->available()) continue;
    CAPTURE(set->name);
    auto const b = set->blocks();
    std::mt19937_64 random(3);
    using heptad::test::order;
    heptad::test::framed_matrix<T> A(m, 66, order::column_major, 0, 2, 0, T(0)),
        B(66, n, order::column_major, 0, 1, 0, T(0));
    heptad::test::framed_matrix<T> C(m, n, order::column_major, 0, 4, 0, T(0));
    A.randomize(random), B.randomize(random), C.randomize(random);
    auto before = C;

    std::vector<T> buffer(static_cast<std::size_t>(m + b.mr) * static_cast<std::size_t>(n + b.nr));
    heptad::cpu::destination<T> const target{C.data(), T(-1), T(0.5)};
    int from = 0;
    for (int depth : depths) {
      gather const mode = from == 0 ? gather::set : from + depth == 66 ? gather::finish : gather::add;
      // Room for whole panels, and for the k-step that a micro-kernel may read past the end.
      std::size_t const a_size = static_cast<std::size_t>(m + b.mr) * (static_cast<std::size_t>(depth) + 16) + 512;
      std::size_t const b_size = static_cast<std::size_t>(n + b.nr) * (static_cast<std::size_t>(depth) + 16) + 512;
      std::vector<T> memory(a_size + b_size + 64);
      auto const misaligned = reinterpret_cast<std::uintptr_t>(memory.data()) % 64 / sizeof(T);
      T* const packed_a = memory.data() + (64 / sizeof(T) - misaligned);
      T* const packed_b = packed_a + a_size / 64 * 64;
      heptad::cpu::term<T> const a_term{A.data() + from * A.cs, T(1)}, b_term{B.data() + from * B.rs, T(1)};
      set->pack_a(&a_term, 1, A.rs, A.cs, m, depth, packed_a, nullptr);
      set->pack_b(&b_term, 1, B.rs, B.cs, depth, n, packed_b, nullptr);
      set->macro({m, n, depth, packed_a, packed_b, mode, buffer.data(), &target, 1, C.rs, C.cs, nullptr});
      from += depth;
      if (mode != gather::finish) REQUIRE(C(m / 2, n / 2) == before(m / 2, n / 2));
    }
    auto const M = heptad::test::multiply<T>({{&A, T(1)}}, {{&B, T(1)}}, m, n, 66);
    REQUIRE(heptad::test::count_wrong(C, before, T(0.5), T(-1), M, 66 + 8) == 0);
  }
}

TEST_CASE("panels are zero-padded and hold the sum of the terms", "[kernel_set]") {
  double const X[] = {1, 2, 3, 4, 5, 6};  // 3×2, column-major
  double const Y[] = {10, 20, 30, 40, 50, 60};
  heptad::cpu::term<double> const terms[] = {{X, 1}, {Y, -0.5}};
  double packed[8];
  heptad::cpu::pack_panels(terms, 2, 1, 3, 3, 2, 2, packed, static_cast<double*>(nullptr));
  double const expected[] = {-4, -8, -16, -20, -12, 0, -24, 0};
  REQUIRE(std::equal(std::begin(packed), std::end(packed), std::begin(expected)));
}

TEMPLATE_TEST_CASE("packing sees the largest magnitude, and what is not finite as infinity", "[kernel_set]", double,
                   float) {
  using T = TestType;
  using heptad::test::order;
  using limits = std::numeric_limits<T>;
  std::mt19937_64 random(9);
  std::vector<T> packed(20000);
  for (auto const* set : heptad::cpu::kernel_sets<T>()) {
    if (!set->available()) continue;
    for (T const special :
         {T(0), T(-3), limits::max(), -limits::max(), limits::infinity(), -limits::infinity(), limits::quiet_NaN()})
      for (order const o : {order::column_major, order::row_major, order::strided})
        for (int const terms : {1, 2, 3, 4, 6})
          for (int const width : {1, 7, 24, 53})
            for (int const depth : {1, 13, 40}) {
              std::vector<heptad::test::framed_matrix<T>> blocks;
              std::vector<heptad::cpu::term<T>> a, b;
              for (int q = 0; q < terms; ++q) {
                blocks.emplace_back(width, depth, o, 3, 2, 70, limits::quiet_NaN());
                blocks.back().randomize(random);
              }
              blocks[random() % terms](random() % width, random() % depth) = special;
              double most = 0;
              for (auto& X : blocks) {
                a.push_back({X.data(), T(0.5)});
                for (int i = 0; i < width; ++i)
                  for (int p = 0; p < depth; ++p) most = std::max(most, std::abs(static_cast<double>(X(i, p))));
              }
              if (std::isnan(special)) most = HUGE_VAL;
              CAPTURE(set->name, special, int(o), terms, width, depth);
              T of_a = 0, of_b = 0;
              std::int64_t const rs = blocks[0].rs, cs = blocks[0].cs;
              set->pack_a(a.data(), terms, rs, cs, width, depth, packed.data(), &of_a);
              set->pack_b(a.data(), terms, cs, rs, depth, width, packed.data(), &of_b);
              for (double const seen : {double(of_a), double(of_b)}) {
                double const above = std::max(most * 0x1p-20, 0x1p-1041);  // and where the upper half is zero
                bool const near = seen >= most && (seen - most <= above || most == limits::max());
                if (!near) CHECK(seen == most);
              }
            }
  }
}
