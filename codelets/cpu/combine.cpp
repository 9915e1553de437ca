// SPDX-License-Identifier: BSD-3-Clause
// The pass: chunk by chunk (a few cache lines of every block) the steps run out of an inner cache, each writing one
// destination in an unbroken run, while the chunks ahead are prefetched across the ends of columns, and with them the
// destinations of ordinary stores: without that the stores alone halve the speed beyond L2.
#include "codelets/cpu/combine.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <memory_resource>
#include <utility>

#include "codelets/cpu/combine_schedule.hpp"
#include "codelets/cpu/combine_steps.hpp"
#include "codelets/cpu/scan.hpp"
#include "src/matrix/limits.hpp"

namespace heptad::cpu {
namespace {

constexpr std::int64_t line_bytes = cache_line;

struct alignas(line_bytes) one_line {
  std::byte bytes[line_bytes];
};

/// One block as the pass sees it: `inner` runs along a chunk, `outer` from column to column (or from row to row).
template <typename T>
struct block_stream {
  T* data;
  std::int64_t inner, outer;
  bool read;
  bool written = false;
  T* staging = nullptr;  // in L1, for a block that is not contiguous along the chunk
  // Of a block that is looked at: the largest magnitudes along and across the chunks, and those of the line so far.
  T *of_inner = nullptr, *of_outer = nullptr, *of_line = nullptr;
};

struct pass_shape {
  std::int64_t inner, outer;  // extents
  std::int64_t chunk;         // elements
};

/// Walks over the chunks in memory order.
struct chunk_cursor {
  pass_shape const& shape;
  std::int64_t offset = 0, line = 0;

  [[nodiscard]] bool done() const { return line >= shape.outer; }
  [[nodiscard]] std::int64_t count() const { return std::min(shape.chunk, shape.inner - offset); }
  void advance() {
    offset += shape.chunk;
    if (offset < shape.inner) return;
    offset = 0;
    ++line;
  }
};

constexpr std::int64_t most_lines = 16, fewest_lines = 4;

/// The values of a chunk, and what is prefetched ahead of it, must fit in a cache together; longer runs gain nothing.
template <typename T>
std::int64_t chunk_elements(far_access const& far, std::size_t places) {
  std::int64_t const budget = far.chunk_bytes / line_bytes;
  std::int64_t const lines = std::clamp(budget / static_cast<std::int64_t>(places + 1), fewest_lines, most_lines);
  return lines * line_bytes / static_cast<std::int64_t>(sizeof(T));
}

template <typename T>
class combine_pass {
public:
  combine_pass(step_kernels<T> const& kernels, far_access const& far, combine_program<T> const& program,
               std::span<combine_input<T> const> inputs, std::span<combine_output<T> const> outputs, std::int64_t rows,
               std::int64_t cols, bool streaming, std::pmr::memory_resource* memory)
      : kernels_(kernels),
        far_(far),
        inputs_(inputs.size()),
        blocks_(memory),
        schedule_{std::pmr::vector<chunk_step<T>>(memory)},
        prefetched_(memory),
        places_(memory) {
    blocks_.reserve(inputs.size() + outputs.size());
    bool const along_rows = prefer_rows(inputs, outputs, rows, cols);
    for (auto const& x : inputs) {
      add_block(const_cast<T*>(x.data), x.row_stride, x.col_stride, along_rows, true);
      blocks_.back().of_inner = along_rows ? x.of_rows : x.of_cols;
      blocks_.back().of_outer = along_rows ? x.of_cols : x.of_rows;
    }
    for (auto const& y : outputs) add_block(y.data, y.row_stride, y.col_stride, along_rows, y.beta != 0);
    shape_ = along_rows ? pass_shape{rows, cols, 0} : pass_shape{cols, rows, 0};
    join_columns();

    std::pmr::vector<output_facts<T>> facts(outputs.size(), memory);
    for (std::size_t q = 0; q < outputs.size(); ++q) {
      facts[q].beta = outputs[q].beta;
      for (std::size_t i = 0; i < inputs_; ++i)
        if (inputs[i].data == outputs[q].data) facts[q].same_as = static_cast<int>(i);
      bool const fresh = facts[q].same_as < 0 && outputs[q].beta == 0;
      facts[q].streaming = streaming && fresh && streamable(blocks_[inputs_ + q]);
    }
    schedule_ = schedule_builder<T>(program, facts, memory).build();
    for (auto const& step : schedule_.steps)
      if (static_cast<std::size_t>(step.to) < blocks_.size()) blocks_[step.to].written = true;
    streams_ = std::any_of(facts.begin(), facts.end(), [](auto const& f) { return f.streaming; });
    list_prefetches(facts, memory);
    lay_out_scratch(memory);
  }

  /// An upper bound of the bytes that it takes.
  static std::size_t bytes(far_access const& far, combine_program<T> const& program, std::size_t inputs,
                           std::size_t outputs) {
    std::size_t const blocks = inputs + outputs;
    std::size_t const places = blocks + schedule_builder<T>::most_temporaries(program);
    std::size_t const chunks = std::max(static_cast<std::size_t>(far.chunk_bytes), places * fewest_lines * line_bytes);
    constexpr std::size_t allocations = 16;
    return inputs * line_bytes + blocks * (sizeof(block_stream<T>) + sizeof(std::size_t) + 1) +
           outputs * sizeof(output_facts<T>) + places * sizeof(T*) + schedule_builder<T>::bytes(program, outputs) +
           chunks + allocations * line_bytes;
  }

  void run() {
    chunk_cursor ahead{shape_};
    int const chunks = streams_ ? far_.ahead_streaming : far_.ahead;
    for (int i = 0; i < chunks && !ahead.done(); ++i) ahead.advance();
    for (chunk_cursor here{shape_}; !here.done(); here.advance()) {
      run_chunk(here, ahead);
      if (!ahead.done()) ahead.advance();
    }
    if (streams_) kernels_.fence();
  }

private:
  static bool prefer_rows(std::span<combine_input<T> const> inputs, std::span<combine_output<T> const> outputs,
                          std::int64_t rows, std::int64_t cols) {
    std::int64_t by_rows = 0, by_cols = 0;
    auto const count = [&](auto const& x) {
      by_rows += x.row_stride == 1;
      by_cols += x.col_stride == 1;
    };
    std::for_each(inputs.begin(), inputs.end(), count);
    std::for_each(outputs.begin(), outputs.end(), count);
    return by_rows != by_cols ? by_rows > by_cols : rows >= cols;
  }

  void add_block(T* data, std::int64_t rs, std::int64_t cs, bool along_rows, bool read) {
    blocks_.push_back({data, along_rows ? rs : cs, along_rows ? cs : rs, read});
  }

  /// Blocks without gaps are one long column, unless one is looked at by lines.
  void join_columns() {
    auto const seamless = [&](auto const& x) {
      return x.inner == 1 && x.outer == shape_.inner && x.of_inner == nullptr;
    };
    if (!std::all_of(blocks_.begin(), blocks_.end(), seamless)) return;
    shape_.inner *= shape_.outer;
    shape_.outer = 1;
  }

  /// Whole lines are written: a single column must end with one, others have the room between them.
  [[nodiscard]] bool streamable(block_stream<T> const& x) const {
    std::int64_t const apart = shape_.outer == 1 ? shape_.inner : x.outer;
    return x.inner == 1 && reinterpret_cast<std::uintptr_t>(x.data) % line_bytes == 0 &&
           apart * static_cast<std::int64_t>(sizeof(T)) % line_bytes == 0;
  }

  /// What must come from far: inputs, and the destinations of ordinary stores; a block in both roles once.
  void list_prefetches(std::span<output_facts<T> const> facts, std::pmr::memory_resource* memory) {
    std::pmr::vector<bool> far(blocks_.size(), true, memory);
    prefetched_.reserve(blocks_.size());
    for (std::size_t q = 0; q < facts.size(); ++q) {
      far[inputs_ + q] = blocks_[inputs_ + q].written && !facts[q].streaming;
      if (far[inputs_ + q] && facts[q].same_as >= 0) far[facts[q].same_as] = false;
    }
    for (std::size_t i = 0; i < blocks_.size(); ++i)
      if (far[i] && blocks_[i].inner == 1) prefetched_.push_back(i);
  }

  void lay_out_scratch(std::pmr::memory_resource* memory) {
    std::int64_t areas = schedule_.temporaries;
    for (auto const& x : blocks_) areas += x.inner != 1;
    shape_.chunk = chunk_elements<T>(far_, blocks_.size() + schedule_.temporaries);
    T* area = static_cast<T*>(memory->allocate(static_cast<std::size_t>(areas * shape_.chunk) * sizeof(T), line_bytes));
    auto const next_area = [&] { return std::exchange(area, area + shape_.chunk); };
    for (auto& x : blocks_) {
      if (x.inner != 1) x.staging = next_area();
      if (x.of_inner != nullptr) x.of_line = static_cast<T*>(memory->allocate(line_bytes, line_bytes));
    }
    places_.reserve(blocks_.size() + static_cast<std::size_t>(schedule_.temporaries));
    places_.resize(blocks_.size());
    for (int t = 0; t < schedule_.temporaries; ++t) places_.push_back(next_area());
  }

  void prefetch(block_stream<T> const& x, chunk_cursor const& where) const {
    kernels_.prefetch(x.data + where.line * x.outer + where.offset,
                      where.count() * static_cast<std::int64_t>(sizeof(T)),
                      x.written ? far_.destinations : far_.inputs);
  }

  void look(block_stream<T> const& x, T const* chunk, chunk_cursor const& here) const {
    if (here.offset == 0) std::fill_n(x.of_line, look_lanes<T>, T(0));
    kernels_.look(chunk, here.count(), x.of_inner + here.offset, x.of_line);
    if (here.offset + here.count() < shape_.inner) return;
    T& largest = x.of_outer[here.line];
    for (int lane = 0; lane < look_lanes<T>; ++lane) largest = larger_magnitude(largest, x.of_line[lane]);
  }

  void run_chunk(chunk_cursor const& here, chunk_cursor const& ahead) {
    std::int64_t const count = here.count();
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
      auto const& x = blocks_[i];
      T* const data = x.data + here.line * x.outer + here.offset * x.inner;
      places_[i] = x.staging != nullptr ? x.staging : data;
      if (x.staging != nullptr && x.read)
        for (std::int64_t e = 0; e < count; ++e) x.staging[e] = data[e * x.inner];
      if (x.of_inner != nullptr) look(x, places_[i], here);
    }
    std::size_t const steps = schedule_.steps.size();
    std::size_t issued = 0;
    for (std::size_t s = 0; s < steps; ++s) {
      // Spread over the steps, so that the requests do not queue up.
      for (; !ahead.done() && issued * steps < (s + 1) * prefetched_.size(); ++issued)
        prefetch(blocks_[prefetched_[issued]], ahead);
      kernels_.run(schedule_.steps[s], places_.data(), count);
    }
    for (auto const& x : blocks_) {
      if (x.staging == nullptr || !x.written) continue;
      T* const data = x.data + here.line * x.outer + here.offset * x.inner;
      for (std::int64_t e = 0; e < count; ++e) data[e * x.inner] = x.staging[e];
    }
  }

  step_kernels<T> const& kernels_;
  far_access const& far_;
  std::size_t inputs_;
  std::pmr::vector<block_stream<T>> blocks_;  // inputs, then outputs
  pass_shape shape_{};
  combine_schedule<T> schedule_;
  std::pmr::vector<std::size_t> prefetched_;  // indices of blocks
  std::pmr::vector<T*> places_;
  bool streams_ = false;
};

/// A pass in `room`.
template <typename T>
void run_pass(step_kernels<T> const& kernels, far_access const& far, combine_program<T> const& program,
              std::span<combine_input<T> const> inputs, std::span<combine_output<T> const> outputs, std::int64_t rows,
              std::int64_t cols, bool streaming, std::span<std::byte> room) {
  if (rows <= 0 || cols <= 0) return;
  std::pmr::monotonic_buffer_resource memory(room.data(), room.size(), std::pmr::null_memory_resource());
  combine_pass<T>(kernels, far, program, inputs, outputs, rows, cols, streaming, &memory).run();
}

}  // namespace

template <typename T>
void combine(step_kernels<T> const& kernels, far_access const& far, combine_program<T> const& program,
             std::span<combine_input<T> const> inputs, std::span<combine_output<T> const> outputs, std::int64_t rows,
             std::int64_t cols, bool streaming) {
  std::size_t const bytes = combine_pass<T>::bytes(far, program, inputs.size(), outputs.size());
  auto const room = std::make_unique_for_overwrite<one_line[]>(bytes / sizeof(one_line) + 1);
  run_pass(kernels, far, program, inputs, outputs, rows, cols, streaming, {room[0].bytes, bytes});
}

template <typename T>
void combine(combine_program<T> const& program, std::span<combine_input<T> const> inputs,
             std::span<combine_output<T> const> outputs, std::int64_t rows, std::int64_t cols, bool streaming) {
  combine(best_combine_kernels<T>(), best_far_access(), program, inputs, outputs, rows, cols, streaming);
}

template <typename T>
std::size_t combine_memory(combine_program<T> const& program, std::size_t inputs, std::size_t outputs) {
  return combine_pass<T>::bytes(best_far_access(), program, inputs, outputs);
}

template <typename T>
void combine(combine_program<T> const& program, std::span<combine_input<T> const> inputs,
             std::span<combine_output<T> const> outputs, std::int64_t rows, std::int64_t cols, bool streaming,
             std::span<std::byte> room) {
  run_pass(best_combine_kernels<T>(), best_far_access(), program, inputs, outputs, rows, cols, streaming, room);
}

#define HEPTAD_INSTANTIATE(T)                                                                                   \
  template void combine<T>(step_kernels<T> const&, far_access const&, combine_program<T> const&,                \
                           std::span<combine_input<T> const>, std::span<combine_output<T> const>, std::int64_t, \
                           std::int64_t, bool);                                                                 \
  template void combine<T>(combine_program<T> const&, std::span<combine_input<T> const>,                        \
                           std::span<combine_output<T> const>, std::int64_t, std::int64_t, bool);               \
  template std::size_t combine_memory<T>(combine_program<T> const&, std::size_t, std::size_t);                  \
  template void combine<T>(combine_program<T> const&, std::span<combine_input<T> const>,                        \
                           std::span<combine_output<T> const>, std::int64_t, std::int64_t, bool, std::span<std::byte>)
HEPTAD_INSTANTIATE(double);
HEPTAD_INSTANTIATE(float);
#undef HEPTAD_INSTANTIATE

}  // namespace heptad::cpu
