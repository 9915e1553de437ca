// SPDX-License-Identifier: BSD-3-Clause
// The five loops around the micro-kernel (Van Zee & van de Geijn 2015) with Strassen's sums in the packing and its
// updates in the epilogue (Huang 2018, §3.2.2).
#include "codelets/cpu/product.hpp"

#include <algorithm>

#include "codelets/cpu/source_stream.hpp"

namespace heptad::cpu {
namespace {

constexpr std::int64_t round_up(std::int64_t x, std::int64_t granule) { return (x + granule - 1) / granule * granule; }

// Equal blocks of at most `largest`, a multiple of `granule`.
std::int64_t balanced(std::int64_t extent, std::int64_t largest, std::int64_t granule) {
  std::int64_t const count = std::max<std::int64_t>(1, (extent + largest - 1) / largest);
  return std::max(granule, round_up((extent + count - 1) / count, granule));
}

// How the problem is cut, and where the pieces lie in the scratch (in elements).
struct layout {
  std::int64_t mc, kc, nc;
  std::int64_t packed_a, packed_b, buffer, total;
};

template <typename T>
layout lay_out(kernel_set<T> const& kernels, std::int64_t m, std::int64_t n, std::int64_t k, variant how) {
  // Micro-kernels may read one k-step past a panel, and packed blocks a whole number of panels apart would share cache
  // sets.
  constexpr std::int64_t slack = 4096 / sizeof(T) + 64 / sizeof(T);
  blocking const b = kernels.blocks();
  layout l{};
  l.kc = balanced(k, b.kc, 16);
  l.mc = balanced(m, std::max(b.mc / b.mr, 1) * b.mr, b.mr);
  l.nc = balanced(n, std::max(b.nc / b.nr, 1) * b.nr, b.nr);
  l.packed_a = 0;
  l.packed_b = l.packed_a + l.mc * l.kc + slack;
  l.buffer = l.packed_b + l.nc * l.kc + slack;
  bool const gathers = how == variant::ab && k > l.kc;
  l.total = l.buffer + (gathers ? round_up(m, l.mc) * l.nc + slack : 0);
  return l;
}

// The part of a sum's blocks that starts at (row, col), for the background prefetch.
template <typename T>
void stream_part(source_stream& stream, std::span<term<T> const> terms, std::int64_t rs, std::int64_t cs,
                 std::int64_t row, std::int64_t col, std::int64_t rows, std::int64_t cols) {
  constexpr auto bytes = static_cast<std::int64_t>(sizeof(T));
  for (term<T> const& t : terms) {
    T const* first = t.data + row * rs + col * cs;
    if (rs == 1) stream.add(first, rows * bytes, cs * bytes, cols);
    else if (cs == 1) stream.add(first, cols * bytes, rs * bytes, rows);
  }
}

template <typename T>
void scale_destinations(product_call<T> const& call) {
  for (destination<T> const& d : call.c)
    for (std::int64_t j = 0; j < call.n; ++j)
      for (std::int64_t i = 0; i < call.m; ++i) {
        T& at = d.data[i * call.c_rs + j * call.c_cs];
        at = d.beta == T(0) ? T(0) : d.beta * at;
      }
}

}  // namespace

template <typename T>
std::size_t product_scratch(kernel_set<T> const& kernels, std::int64_t m, std::int64_t n, std::int64_t k, variant how) {
  return static_cast<std::size_t>(lay_out(kernels, m, n, k, how).total) * sizeof(T);
}

template <typename T>
void product(kernel_set<T> const& kernels, product_call<T> const& call, variant how, std::byte* scratch) {
  if (call.m <= 0 || call.n <= 0) return;
  if (call.k <= 0) return scale_destinations(call);

  constexpr int most_destinations = 64;
  destination<T> targets[most_destinations];
  int const count = static_cast<int>(call.c.size());

  layout const l = lay_out(kernels, call.m, call.n, call.k, how);
  T* const base = reinterpret_cast<T*>(scratch);
  T* const packed_a = base + l.packed_a;
  T* const packed_b = base + l.packed_b;

  for (std::int64_t jc = 0; jc < call.n; jc += l.nc) {
    int const cols = static_cast<int>(std::min(l.nc, call.n - jc));
    for (std::int64_t pc = 0; pc < call.k; pc += l.kc) {
      int const depth = static_cast<int>(std::min(l.kc, call.k - pc));
      bool const first = pc == 0, last = pc + l.kc >= call.k;
      term<T> b[most_destinations];
      for (std::size_t q = 0; q < call.b.size(); ++q)
        b[q] = {call.b[q].data + pc * call.b_rs + jc * call.b_cs, call.b[q].coefficient};
      kernels.pack_b(b, static_cast<int>(call.b.size()), call.b_rs, call.b_cs, depth, cols, packed_b);

      gather mode = gather::direct;
      if (how == variant::ab && !(first && last)) mode = first ? gather::set : last ? gather::finish : gather::add;
      for (std::int64_t ic = 0; ic < call.m; ic += l.mc) {
        int const rows = static_cast<int>(std::min(l.mc, call.m - ic));
        term<T> a[most_destinations];
        for (std::size_t q = 0; q < call.a.size(); ++q)
          a[q] = {call.a[q].data + ic * call.a_rs + pc * call.a_cs, call.a[q].coefficient};
        kernels.pack_a(a, static_cast<int>(call.a.size()), call.a_rs, call.a_cs, rows, depth, packed_a);

        for (int q = 0; q < count; ++q) {
          destination<T> const& d = call.c[q];
          bool const scaled = how == variant::ab || first;  // later k-blocks of ABC add to what the first one left
          targets[q] = {d.data + ic * call.c_rs + jc * call.c_cs, d.coefficient, scaled ? d.beta : T(1)};
        }

        source_stream stream;
        if (ic + l.mc < call.m) {
          stream_part<T>(stream, call.a, call.a_rs, call.a_cs, ic + l.mc, pc, std::min(l.mc, call.m - ic - l.mc),
                         depth);
        } else if (!last) {
          stream_part<T>(stream, call.b, call.b_rs, call.b_cs, pc + l.kc, jc, std::min(l.kc, call.k - pc - l.kc), cols);
        } else if (jc + l.nc >= call.n && call.next) {
          product_call<T> const& next = *call.next;
          stream_part<T>(stream, next.b, next.b_rs, next.b_cs, 0, 0, std::min(l.kc, next.k), std::min(l.nc, next.n));
          stream_part<T>(stream, next.a, next.a_rs, next.a_cs, 0, 0, std::min(l.mc, next.m), std::min(l.kc, next.k));
        }
        kernels.macro({rows, cols, depth, packed_a, packed_b, mode, base + l.buffer + ic * l.nc, targets, count,
                       call.c_rs, call.c_cs, stream.lines() > 0 ? &stream : nullptr});
      }
    }
  }
}

template std::size_t product_scratch<float>(kernel_set<float> const&, std::int64_t, std::int64_t, std::int64_t,
                                            variant);
template std::size_t product_scratch<double>(kernel_set<double> const&, std::int64_t, std::int64_t, std::int64_t,
                                             variant);
template void product<float>(kernel_set<float> const&, product_call<float> const&, variant, std::byte*);
template void product<double>(kernel_set<double> const&, product_call<double> const&, variant, std::byte*);

}  // namespace heptad::cpu
