// SPDX-License-Identifier: BSD-3-Clause
// The five loops around the micro-kernel (Van Zee & van de Geijn 2015) with Strassen's sums in the packing and its
// updates in the epilogue (Huang 2018, §3.2.2).
#include "codelets/cpu/product.hpp"

#include <algorithm>

#include "codelets/cpu/dot_products.hpp"
#include "codelets/cpu/source_stream.hpp"
#include "codelets/cpu/terms.hpp"
#include "codelets/cpu/thin_product.hpp"

namespace heptad::cpu {
namespace {

// Equal blocks of at most `largest`, a multiple of `granule`.
std::int64_t balanced(std::int64_t extent, std::int64_t largest, std::int64_t granule) {
  std::int64_t const count = std::max<std::int64_t>(1, (extent + largest - 1) / largest);
  return std::max(granule, round_up((extent + count - 1) / count, granule));
}

// How the problem is cut, and where the pieces lie in the scratch (in elements).
//
// Long A (many row blocks): a k-block of B is packed whole, then each block of A is packed and multiplied by it.
// Short A (all rows fit one block): A is packed once a k-block and stays in L2, and B comes in groups of a few columns,
// so that no packing step is longer than the multiplication that can hide its memory traffic.
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
  // Shallow blocks have room for more rows or columns: C is then walked down long columns, few times.
  auto const extended = [&](std::int64_t extent, std::int64_t depth, std::int64_t granule) -> std::int64_t {
    if (extent == 0) return 0;  // the set has no short blocks
    std::int64_t const larger = extent * depth / round_up(std::clamp<std::int64_t>(k, 1, depth), 16);
    return std::max(larger / granule, std::int64_t{1}) * granule;
  };
  bool const short_a = m > 0 && m <= extended(b.short_mc, b.short_kc, b.mr);
  l.kc = balanced(k, short_a ? b.short_kc : b.kc, 16);
  l.mc = short_a ? round_up(m, b.mr) : balanced(m, extended(b.mc, b.kc, b.mr), b.mr);
  l.nc = balanced(n, short_a ? extended(b.short_nc, b.short_kc, b.nr) : std::max(b.nc / b.nr, 1) * b.nr, b.nr);
  l.packed_a = 0;
  l.packed_b = l.packed_a + l.mc * l.kc + slack;
  l.buffer = l.packed_b + l.nc * l.kc + slack;
  bool const gathers = how == variant::ab && k > l.kc;
  l.total = l.buffer + (gathers ? round_up(m, l.mc) * round_up(n, l.nc) + slack : 0);
  return l;
}

// One macro-kernel call of a product, and the one after it.
template <typename T>
struct position {
  product_call<T> const* call;
  std::int64_t pc, jc, ic;

  void next(layout const& l) {
    if ((ic += l.mc) < call->m) return;
    ic = 0;
    if ((jc += l.nc) < call->n) return;
    jc = 0;
    if ((pc += l.kc) < call->k) return;
    pc = 0;
    call = call->next;
  }
};

// What will be packed after the macro-kernel at `here`: the next group of B, the next block of A; when A is short, the
// slice of the next k-block's A that falls to this group.
template <typename T>
void stream_next(source_stream& stream, position<T> here, layout const& l) {
  position<T> after = here;
  after.next(l);
  auto add_b = [&](position<T> const& p) {
    stream_part<T>(stream, p.call->b, p.call->b_rs, p.call->b_cs, p.pc, p.jc, std::min(l.kc, p.call->k - p.pc),
                   std::min(l.nc, p.call->n - p.jc));
  };
  bool const short_a = l.mc >= here.call->m;
  if (after.call && (after.jc != here.jc || after.pc != here.pc || after.call != here.call)) add_b(after);
  if (!short_a) {
    if (after.call)
      stream_part<T>(stream, after.call->a, after.call->a_rs, after.call->a_cs, after.ic, after.pc,
                     std::min(l.mc, after.call->m - after.ic), std::min(l.kc, after.call->k - after.pc));
    return;
  }
  product_call<T> const* call = here.pc + l.kc < here.call->k ? here.call : here.call->next;
  if (!call) return;
  std::int64_t const pc = call == here.call ? here.pc + l.kc : 0;
  std::int64_t const depth = std::min(l.kc, call->k - pc);
  std::int64_t const groups = (here.call->n + l.nc - 1) / l.nc, group = here.jc / l.nc;
  std::int64_t const first = depth * group / groups, end = depth * (group + 1) / groups;
  stream_part<T>(stream, call->a, call->a_rs, call->a_cs, 0, pc + first, std::min(l.mc, call->m), end - first);
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
  return std::max({static_cast<std::size_t>(lay_out(kernels, m, n, k, how).total) * sizeof(T),
                   thin_scratch(kernels, m, n, k), dots_scratch(kernels)});
}

template <typename T>
void product(kernel_set<T> const& kernels, product_call<T> const& call, variant how, std::byte* scratch) {
  if (call.m <= 0 || call.n <= 0) return;
  if (call.k <= 0) return scale_destinations(call);
  if (is_for_dots(kernels, call)) return dot_products(kernels, call, scratch);
  if (thin_sides const thin = find_thin_sides(kernels, call); thin.a || thin.b)
    return thin_product(kernels, call, thin, scratch);

  destination<T> targets[most_terms];
  int const count = static_cast<int>(call.c.size());

  layout const l = lay_out(kernels, call.m, call.n, call.k, how);
  T* const base = reinterpret_cast<T*>(scratch);
  T* const packed_a = base + l.packed_a;
  T* const packed_b = base + l.packed_b;

  for (std::int64_t pc = 0; pc < call.k; pc += l.kc) {
    int const depth = static_cast<int>(std::min(l.kc, call.k - pc));
    bool const first = pc == 0, last = pc + l.kc >= call.k;
    gather mode = gather::direct;
    if (how == variant::ab && !(first && last)) mode = first ? gather::set : last ? gather::finish : gather::add;

    for (std::int64_t jc = 0; jc < call.n; jc += l.nc) {
      int const cols = static_cast<int>(std::min(l.nc, call.n - jc));
      term<T> sum[most_terms];
      kernels.pack_b(sum, move_terms(call.b, pc * call.b_rs + jc * call.b_cs, sum), call.b_rs, call.b_cs, depth, cols,
                     packed_b);

      for (std::int64_t ic = 0; ic < call.m; ic += l.mc) {
        int const rows = static_cast<int>(std::min(l.mc, call.m - ic));
        if (jc == 0 || l.mc < call.m)  // a short A is still there
          kernels.pack_a(sum, move_terms(call.a, ic * call.a_rs + pc * call.a_cs, sum), call.a_rs, call.a_cs, rows,
                         depth, packed_a);
        for (int q = 0; q < count; ++q) {
          destination<T> const& d = call.c[q];
          bool const scaled = how == variant::ab || first;  // later k-blocks of ABC add to what the first one left
          targets[q] = {d.data + ic * call.c_rs + jc * call.c_cs, d.coefficient, scaled ? d.beta : T(1)};
        }
        source_stream stream;
        stream_next<T>(stream, {&call, pc, jc, ic}, l);
        T* const gathered = base + l.buffer + jc * round_up(call.m, l.mc) + ic * round_up(cols, kernels.blocks().nr);
        kernels.macro({.rows = rows,
                       .cols = cols,
                       .depth = depth,
                       .a = packed_a,
                       .b = packed_b,
                       .mode = mode,
                       .buffer = gathered,
                       .destinations = targets,
                       .count = count,
                       .rs = call.c_rs,
                       .cs = call.c_cs,
                       .prefetch = stream.lines() > 0 ? &stream : nullptr});
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
