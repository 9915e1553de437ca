// SPDX-License-Identifier: BSD-3-Clause
// The passes at realistic shapes: blocks of a parent with a padded leading dimension. The sets of blocks are visited in
// turn, so that a pass finds its sources where a real one would: `sets` of them fill L3 or go beyond.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstddef>
#include <new>
#include <span>
#include <vector>

#include "codelets/cpu/combine.hpp"
#include "src/matrix/orientation.hpp"

namespace {

using namespace heptad;
using namespace heptad::cpu;

additions_program winograd_sums() {
  return {
      4, {{{2, 1}, {3, 1}}, {{4, 1}, {0, -1}}, {{0, 1}, {2, -1}}, {{1, 1}, {5, -1}}}, {{4, 1}, {5, 1}, {6, 1}, {7, 1}}};
}

/// P1, P6, P7, P5 (in the order of the quadrants of C that hold them) to C11, C12, C21, C22.
additions_program winograd_post() {
  return {
      4, {{{0, 1}, {1, 1}}, {{4, 1}, {2, 1}}, {{4, 1}, {3, 1}}, {{5, 1}, {3, 1}}}, {{0, 1}, {6, 1}, {5, 1}, {7, 1}}};
}

/// 15 sums of one to four of 6 blocks, as many as ⟨3,2,3;15⟩ has for A.
additions_program wide_sums() {
  additions_program program{6, {}, {}};
  for (int q = 0; q < 15; ++q) {
    auto& sum = program.steps.emplace_back();
    for (int t = 0; t <= q % 4; ++t) sum.push_back({(q + t * (1 + q / 6)) % 6, t % 2 == 0 ? 1 : -1});
    program.outputs.push_back({6 + q, 1});
  }
  return program;
}

/// Sets of inputs (blocks of one parent each) and outputs (blocks of their own).
template <typename T>
class operands {
public:
  operands(int sets, int inputs, int outputs, std::int64_t extent)
      : extent_(extent),
        parent_ld_(padded_leading_dimension(2 * extent, sizeof(T))),
        block_ld_(padded_leading_dimension(extent, sizeof(T))),
        parent_size_(parent_ld_ * extent * ((inputs + 1) / 2)),
        set_size_(parent_size_ + outputs * block_ld_ * extent),
        data_(new (std::align_val_t{4096}) T[static_cast<std::size_t>(set_size_ * sets)]) {
    std::fill_n(data_, set_size_ * sets, T{1} / 3);
  }
  operands(operands const&) = delete;
  operands& operator=(operands const&) = delete;
  ~operands() { operator delete[](data_, std::align_val_t{4096}); }

  combine_input<T> input(int set, int i) const {
    return {data_ + set * set_size_ + (i / 2) * extent_ * parent_ld_ + (i % 2) * extent_, 1, parent_ld_};
  }
  combine_output<T> in_place(int set, int i, T beta) const {
    return {const_cast<T*>(input(set, i).data), 1, parent_ld_, beta};
  }
  combine_output<T> output(int set, int q) const {
    return {data_ + set * set_size_ + parent_size_ + q * block_ld_ * extent_, 1, block_ld_, 0};
  }

private:
  std::int64_t extent_;
  std::int64_t parent_ld_, block_ld_, parent_size_, set_size_;
  T* data_;
};

/// What a pass takes, in the memory that a worker keeps for it.
template <typename T>
class scratch {
public:
  scratch(combine_program<T> const& program, std::size_t inputs, std::size_t outputs)
      : lines_(combine_memory(program, inputs, outputs) / sizeof(line) + 1) {}
  std::span<std::byte> room() { return std::as_writable_bytes(std::span(lines_)); }

private:
  struct alignas(64) line {
    std::byte bytes[64];
  };
  std::vector<line> lines_;
};

int sets_for(std::int64_t extent, std::int64_t element_bytes) {
  constexpr std::int64_t enough = 96 << 20;  // beyond any L2, within a large L3
  return extent <= 128 ? 1
                       : static_cast<int>(std::max<std::int64_t>(1, enough / (8 * extent * extent * element_bytes)));
}

template <typename T>
void fresh_sums(benchmark::State& state, additions_program const& exact, bool streaming, bool looking = false) {
  std::int64_t const extent = state.range(0);
  int const sets = sets_for(extent, sizeof(T)), outputs = static_cast<int>(exact.outputs.size());
  operands<T> const blocks(sets, exact.inputs, outputs, extent);
  auto const program = compile<T>(exact);
  std::vector<combine_input<T>> in(exact.inputs);
  std::vector<combine_output<T>> out(exact.outputs.size());
  scratch<T> memory(program, in.size(), out.size());
  std::vector<T> of_rows(extent), of_cols(extent);
  int set = 0;
  for (auto _ : state) {
    for (int i = 0; i < exact.inputs; ++i) {
      in[i] = blocks.input(set, i);
      if (looking) in[i].of_rows = of_rows.data(), in[i].of_cols = of_cols.data();
    }
    for (int q = 0; q < outputs; ++q) out[q] = blocks.output(set, q);
    combine<T>(program, in, out, extent, extent, streaming, memory.room());
    set = (set + 1) % sets;
  }
  state.SetBytesProcessed(state.iterations() * (exact.inputs + outputs) * extent * extent *
                          static_cast<std::int64_t>(sizeof(T)));
}

template <typename T>
void post_in_place(benchmark::State& state) {
  std::int64_t const extent = state.range(0);
  int const sets = sets_for(extent, sizeof(T));
  operands<T> const blocks(sets, 4, 0, extent);
  auto const program = compile<T>(winograd_post());
  std::vector<combine_input<T>> in(4);
  std::vector<combine_output<T>> out(4);
  scratch<T> memory(program, in.size(), out.size());
  int set = 0;
  for (auto _ : state) {
    for (int i = 0; i < 4; ++i) {
      in[i] = blocks.input(set, i);
      out[i] = blocks.in_place(set, i, 0);
    }
    combine<T>(program, in, out, extent, extent, false, memory.room());
    set = (set + 1) % sets;
  }
  state.SetBytesProcessed(state.iterations() * 7 * extent * extent * static_cast<std::int64_t>(sizeof(T)));
}

/// C := C + …, from products in workspace: 8 blocks read, 4 written.
template <typename T>
void post_into_C(benchmark::State& state) {
  std::int64_t const extent = state.range(0);
  int const sets = sets_for(extent, sizeof(T));
  operands<T> const blocks(sets, 4, 4, extent);
  auto const program = compile<T>(winograd_post());
  std::vector<combine_input<T>> in(4);
  std::vector<combine_output<T>> out(4);
  scratch<T> memory(program, in.size(), out.size());
  int set = 0;
  for (auto _ : state) {
    for (int i = 0; i < 4; ++i) {
      auto const product = blocks.output(set, i);
      in[i] = {product.data, product.row_stride, product.col_stride};
      out[i] = blocks.in_place(set, i, 1);
    }
    combine<T>(program, in, out, extent, extent, false, memory.room());
    set = (set + 1) % sets;
  }
  state.SetBytesProcessed(state.iterations() * 12 * extent * extent * static_cast<std::int64_t>(sizeof(T)));
}

/// Powers of two, and columns that are no whole cache lines.
void sizes(benchmark::internal::Benchmark* b) {
  b->RangeMultiplier(2)->Range(128, 2048)->Arg(255)->Arg(510)->Arg(1020)->UseRealTime();
}

void double_sums(benchmark::State& state, additions_program const& exact, bool streaming, bool looking) {
  fresh_sums<double>(state, exact, streaming, looking);
}
void float_sums(benchmark::State& state, additions_program const& exact, bool streaming, bool looking) {
  fresh_sums<float>(state, exact, streaming, looking);
}

BENCHMARK_CAPTURE(double_sums, winograd, winograd_sums(), false, false)->Apply(sizes);
BENCHMARK_CAPTURE(double_sums, winograd_streaming, winograd_sums(), true, false)->Apply(sizes);
BENCHMARK_CAPTURE(double_sums, winograd_looking, winograd_sums(), true, true)->Apply(sizes);
BENCHMARK_CAPTURE(double_sums, wide_looking, wide_sums(), true, true)->Apply(sizes);
BENCHMARK_CAPTURE(double_sums, wide, wide_sums(), false, false)->Apply(sizes);
BENCHMARK_CAPTURE(double_sums, wide_streaming, wide_sums(), true, false)->Apply(sizes);
BENCHMARK_TEMPLATE(post_in_place, double)->Apply(sizes);
BENCHMARK_TEMPLATE(post_into_C, double)->Apply(sizes);
BENCHMARK_CAPTURE(float_sums, winograd, winograd_sums(), false, false)->Apply(sizes);
BENCHMARK_CAPTURE(float_sums, winograd_streaming, winograd_sums(), true, false)->Apply(sizes);
BENCHMARK_CAPTURE(float_sums, winograd_looking, winograd_sums(), true, true)->Apply(sizes);
BENCHMARK_TEMPLATE(post_in_place, float)->Apply(sizes);

}  // namespace

BENCHMARK_MAIN();
