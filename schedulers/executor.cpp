// SPDX-License-Identifier: BSD-3-Clause
// Steps are data; this is their interpreter. A frame is what their block coordinates refer to: the caller's operands
// and the graph's buffers for the steps of tasks, a task's own blocks and its worker's buffers for those of a sequence.
// A worker's scratch holds: the frame, the argument arrays of two codelet calls, the sequence's buffers, the packing.
#include "schedulers/executor.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <variant>

#include "codelets/cpu/combine.hpp"
#include "codelets/cpu/product.hpp"

namespace heptad {
namespace {

constexpr std::size_t alignment = 64;

constexpr std::size_t aligned(std::size_t bytes) noexcept { return (bytes + alignment - 1) / alignment * alignment; }

template <typename X>
constexpr std::size_t array_bytes(std::size_t count) noexcept {
  return aligned(count * sizeof(X));
}

/// Hands out arrays from a piece of scratch, each counted by array_bytes.
class array_source {
public:
  explicit array_source(std::byte* first) noexcept : next_(first) {}
  template <typename X>
  std::span<X> take(std::size_t count) noexcept {
    X* const first = reinterpret_cast<X*>(next_);
    std::uninitialized_default_construct_n(first, count);
    next_ += array_bytes<X>(count);
    return {first, count};
  }

private:
  std::byte* next_;
};

constexpr std::int64_t unbounded = std::numeric_limits<std::int64_t>::max() / 2;

/// Where a space begins and how it is strided. Operands A and B are here too, and never written. Blocks of them may
/// reach beyond `rows` and `cols`: what they lack is zero.
template <typename T>
struct bound_space {
  T* data;
  std::int64_t rs, cs;
  std::int64_t rows = unbounded, cols = unbounded;

  [[nodiscard]] T* at(block const& b) const noexcept { return data + b.row * rs + b.col * cs; }
  /// Of the rows, or columns, of a block, those that are there.
  [[nodiscard]] std::int64_t rows_of(block const& b) const noexcept {
    return std::clamp<std::int64_t>(rows - b.row, 0, b.rows);
  }
  [[nodiscard]] std::int64_t cols_of(block const& b) const noexcept {
    return std::clamp<std::int64_t>(cols - b.col, 0, b.cols);
  }
};

template <typename T>
bound_space<T> bind(matrix_view<T> const& X) noexcept {
  return {X.data, X.row_stride, X.col_stride};
}
template <typename T>
bound_space<T> bind_operand(matrix_view<T const> const& X) noexcept {
  return {const_cast<T*>(X.data), X.row_stride, X.col_stride, X.rows, X.cols};
}
template <typename T>
bound_space<T> bind(buffer const& b, T* base) noexcept {
  bool const rows_contiguous = b.order == orientation::row_major;
  T* const first = base == nullptr ? nullptr : base + b.offset;
  return {first, rows_contiguous ? b.ld : 1, rows_contiguous ? 1 : b.ld};
}
template <typename T>
bound_space<T> bind(block const& b, std::span<bound_space<T> const> spaces) noexcept {
  bound_space<T> const& whole = spaces[static_cast<std::size_t>(b.space)];
  return {whole.at(b), whole.rs, whole.cs, whole.rows - b.row, whole.cols - b.col};
}

template <typename T>
struct frame {
  std::span<bound_space<T> const> spaces;
  array_source arguments;  // of a codelet call: copied, so that every call starts afresh
  T alpha;
  std::byte* packing;

  [[nodiscard]] bound_space<T> const& space_of(block const& b) const noexcept {
    return spaces[static_cast<std::size_t>(b.space)];
  }
  [[nodiscard]] T* at(block const& b) const noexcept { return space_of(b).at(b); }
};

template <typename T>
std::size_t argument_bytes(combine_step const& s, cpu::combine_program<T> const& program) {
  return array_bytes<cpu::combine_input<T>>(s.sources.size()) + array_bytes<cpu::combine_output<T>>(s.targets.size()) +
         array_bytes<std::byte>(cpu::combine_memory(program, s.sources.size(), s.targets.size()));
}
template <typename T>
std::size_t argument_bytes(product_step const& s) noexcept {
  return array_bytes<cpu::term<T>>(s.a.size()) + array_bytes<cpu::term<T>>(s.b.size()) +
         array_bytes<cpu::destination<T>>(s.c.size());
}

template <typename T>
cpu::kernel_set<T> const& choose_kernels(std::string const& name) {
  if (name.empty() || name == "auto") return cpu::best_kernel_set<T>();
  cpu::kernel_set<T> const* const found = cpu::find_kernel_set<T>(name);
  if (found == nullptr || !found->available()) {
    throw error(status::invalid_argument, "kernel \"" + name + "\" is " +
                                              (found == nullptr ? "unknown" : "not available on this processor") +
                                              "; see `heptad info`");
  }
  return *found;
}

template <typename T>
class gemm_executor final : public executor {
public:
  gemm_executor(graph const& g, plan const& how, gemm_operands<T> const& operands, T* workspace)
      : graph_(g),
        kernels_(choose_kernels<T>(how.kernel)),
        variant_(how.product_buffer ? cpu::variant::ab : cpu::variant::abc) {
    spaces_.resize(first_buffer + g.buffers.size());
    set(operands, workspace);
    for (additions_program const& p : g.programs) programs_.push_back(cpu::compile<T>(p));
    size_scratch();
  }

  void set(gemm_operands<T> const& operands, T* workspace, bool opened = false) noexcept {
    opened_ = opened;
    alpha_ = operands.alpha;
    beta_ = operands.beta;
    spaces_[space_A] = bind_operand(operands.A);
    spaces_[space_B] = bind_operand(operands.B);
    spaces_[space_C] = bind(operands.C);
    for (std::size_t i = 0; i < graph_.buffers.size(); ++i)
      spaces_[first_buffer + i] = bind(graph_.buffers[i], workspace);
  }

  [[nodiscard]] std::size_t scratch_bytes() const noexcept override { return scratch_bytes_; }

  void run(task const& t, std::byte* scratch) const noexcept override { run_in(spaces_, t, scratch); }

  void run_at(task const& t, std::span<location const> places, std::byte* scratch) const noexcept override {
    std::array<bound_space<T>, most_places> spaces;
    std::ranges::transform(places, spaces.begin(), [](location const& p) {
      return bound_space<T>{static_cast<T*>(p.data), p.rs, p.cs};
    });
    run_in({spaces.data(), places.size()}, t, scratch);
  }

  void open(task const& t, line_maxima<T> const& of_A, line_maxima<T> const& of_B, std::byte* scratch) const noexcept {
    look const at{of_A, of_B};
    frame<T> const whole{spaces_, array_source(scratch), alpha_, nullptr};
    if (auto const* const pass = std::get_if<combine_step>(&t.body)) return execute(*pass, whole, &at);
    auto const& product = std::get<sequence_step>(t.body);
    frame<T> const inside = frame_of(product, whole, scratch);
    for (step const& each : sequence_of(product).steps)
      if (auto const* const pass = std::get_if<combine_step>(&each); pass != nullptr && pass->opening)
        execute(*pass, inside, &at);
  }

private:
  struct look {
    line_maxima<T> of_A, of_B;
  };

  void run_in(std::span<bound_space<T> const> spaces, task const& t, std::byte* scratch) const noexcept {
    frame<T> const whole{spaces, array_source(scratch), alpha_, nullptr};
    if (auto const* const product = std::get_if<sequence_step>(&t.body))
      run_steps(sequence_of(*product).steps, frame_of(*product, whole, scratch));
    else if (auto const* const pass = std::get_if<combine_step>(&t.body)) execute(*pass, whole);
    else execute(std::get<scale_step>(t.body), whole);
  }

  void size_scratch() {
    for (task const& t : graph_.tasks) {
      if (auto const* const pass = std::get_if<combine_step>(&t.body))
        take_call(argument_bytes(*pass, program_of(*pass)));
    }
    std::size_t spaces = 0;
    std::size_t buffers_and_packing = 0;
    for (sequence const& s : graph_.sequences) {
      std::size_t packing = 0;
      for (step const& each : s.steps) {
        if (auto const* const pass = std::get_if<combine_step>(&each))
          take_call(argument_bytes(*pass, program_of(*pass)));
        if (auto const* const product = std::get_if<product_step>(&each)) {
          take_call(argument_bytes<T>(*product));
          block const& a = product->a.front().where;
          packing = std::max(packing,
                             cpu::product_scratch(kernels_, a.rows, product->b.front().where.cols, a.cols, variant_));
        }
      }
      spaces = std::max(spaces, first_buffer + s.buffers.size());
      buffers_and_packing = std::max(buffers_and_packing, buffer_bytes(s) + packing);
    }
    buffers_offset_ = array_bytes<bound_space<T>>(spaces) + 2 * call_arguments_;
    scratch_bytes_ = buffers_offset_ + buffers_and_packing;
  }

  [[nodiscard]] cpu::combine_program<T> const& program_of(combine_step const& s) const noexcept {
    return programs_[static_cast<std::size_t>(s.program)];
  }

  void take_call(std::size_t bytes) noexcept { call_arguments_ = std::max(call_arguments_, bytes); }

  static std::size_t buffer_bytes(sequence const& s) noexcept {
    return array_bytes<T>(static_cast<std::size_t>(s.scratch_elements));
  }

  [[nodiscard]] T beta_of(update how) const noexcept {
    return how == update::overwrite ? T(0) : how == update::accumulate ? T(1) : beta_;
  }

  [[nodiscard]] sequence const& sequence_of(sequence_step const& s) const noexcept {
    return graph_.sequences[static_cast<std::size_t>(s.sequence)];
  }

  /// Of the steps of a product's sequence.
  [[nodiscard]] frame<T> frame_of(sequence_step const& s, frame<T> const& outer, std::byte* scratch) const noexcept {
    sequence const& body = sequence_of(s);
    std::byte* const buffers = scratch + buffers_offset_;
    array_source arrays(scratch);
    std::span<bound_space<T>> const spaces = arrays.take<bound_space<T>>(first_buffer + body.buffers.size());
    spaces[space_A] = bind(s.a, outer.spaces);
    spaces[space_B] = bind(s.b, outer.spaces);
    spaces[space_C] = bind(s.c, outer.spaces);
    for (std::size_t i = 0; i < body.buffers.size(); ++i) {
      spaces[first_buffer + i] = bind(body.buffers[i], reinterpret_cast<T*>(buffers));
    }
    return {spaces, arrays, outer.alpha * static_cast<T>(s.coefficient), buffers + buffer_bytes(body)};
  }

  /// A product that follows another one is bound before that runs, which prefetches its operands.
  void run_steps(std::vector<step> const& steps, frame<T> const& f) const noexcept {
    array_source second = f.arguments;
    second.take<std::byte>(call_arguments_);
    array_source const arguments[2] = {f.arguments, second};
    cpu::product_call<T> calls[2]{};
    bool bound = false;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      auto const* const now = std::get_if<product_step>(&steps[i]);
      auto const* const next = i + 1 < steps.size() ? std::get_if<product_step>(&steps[i + 1]) : nullptr;
      if (now == nullptr) {
        if (auto const* const pass = std::get_if<combine_step>(&steps[i])) execute(*pass, f);
        else execute(std::get<scale_step>(steps[i]), f);
        continue;
      }
      cpu::product_call<T>& call = calls[i % 2];
      if (!bound) call = bind_product(*now, f, arguments[i % 2]);
      bound = next != nullptr;
      if (bound) {
        calls[(i + 1) % 2] = bind_product(*next, f, arguments[(i + 1) % 2]);
        call.next = &calls[(i + 1) % 2];
      }
      cpu::product(kernels_, call, variant_, f.packing);
    }
  }

  [[nodiscard]] cpu::product_call<T> bind_product(product_step const& s, frame<T> const& f,
                                                  array_source arrays) const noexcept {
    auto const bind_terms = [&](std::vector<source> const& sources, auto steps_of) {
      auto const terms = arrays.template take<cpu::term<T>>(sources.size());
      std::ranges::transform(sources, terms.begin(), [&](source const& x) {
        return cpu::term<T>{f.at(x.where), static_cast<T>(x.coefficient), steps_of(x.where)};
      });
      return terms;
    };
    auto const a = bind_terms(s.a, [&](block const& x) { return f.space_of(x).cols_of(x); });
    auto const b = bind_terms(s.b, [&](block const& x) { return f.space_of(x).rows_of(x); });
    auto const most_steps = [](auto const& terms) { return std::ranges::max(terms, {}, &cpu::term<T>::steps).steps; };
    auto const c = arrays.template take<cpu::destination<T>>(s.c.size());
    std::ranges::transform(s.c, c.begin(), [&](target const& t) {
      return cpu::destination<T>{f.at(t.where), f.alpha * static_cast<T>(t.coefficient), beta_of(t.how)};
    });
    block const& first_a = s.a.front().where;
    block const& first_b = s.b.front().where;
    bound_space<T> const& in_a = f.space_of(first_a);
    bound_space<T> const& in_b = f.space_of(first_b);
    bound_space<T> const& in_c = f.space_of(s.c.front().where);
    std::int64_t const k = std::min(most_steps(a), most_steps(b));
    return {first_a.rows, first_b.cols, k, a, in_a.rs, in_a.cs, b, in_b.rs, in_b.cs, c, in_c.rs, in_c.cs, nullptr};
  }

  /// `at`: where the pass also leaves the maxima of what it reads of A and B; null: it does not look.
  void execute(combine_step const& s, frame<T> const& f, look const* at = nullptr) const noexcept {
    if (at == nullptr && opened_ && s.opening) return;
    // Rectangles in which every source is there, or is not: one, unless sources end before the others.
    block const& whole = s.targets.front().where;
    auto const end_of = [&](std::int64_t from, std::int64_t extent, auto there) {
      for (block const& b : s.sources)
        if (std::int64_t const end = there(f.space_of(b), b); end > from) extent = std::min(extent, end);
      return extent;
    };
    block part;
    for (part.row = 0; part.row < whole.rows; part.row += part.rows) {
      part.rows = end_of(part.row, whole.rows, [](auto const& x, block const& b) { return x.rows_of(b); }) - part.row;
      for (part.col = 0; part.col < whole.cols; part.col += part.cols) {
        part.cols = end_of(part.col, whole.cols, [](auto const& x, block const& b) { return x.cols_of(b); }) - part.col;
        execute(s, part, f, at);
      }
    }
  }

  /// The part of all blocks in which every source is there, or is not and counts as zeros.
  void execute(combine_step const& s, block const& part, frame<T> const& f, look const* at) const noexcept {
    array_source arrays = f.arguments;
    auto const in_part = [&](block const& b) { return b.sub(part.row, part.col, part.rows, part.cols); };
    auto const inputs = arrays.template take<cpu::combine_input<T>>(s.sources.size());
    std::ranges::transform(s.sources, inputs.begin(), [&](block const& source) {
      static constexpr T zero = 0;
      block const b = in_part(source);
      bound_space<T> const& in = f.space_of(b);
      if (in.rows_of(b) == 0 || in.cols_of(b) == 0) return cpu::combine_input<T>{&zero, 0, 0};
      cpu::combine_input<T> input{in.at(b), in.rs, in.cs};
      if (at != nullptr && at->of_A.rows != nullptr) {
        line_maxima<T> const& found = b.space == space_A ? at->of_A : at->of_B;
        input.of_rows = found.rows + b.row;
        input.of_cols = found.cols + b.col;
      }
      return input;
    });
    auto const outputs = arrays.template take<cpu::combine_output<T>>(s.targets.size());
    std::ranges::transform(s.targets, outputs.begin(), [&](target const& t) {
      bound_space<T> const& in = f.space_of(t.where);
      return cpu::combine_output<T>{in.at(in_part(t.where)), in.rs, in.cs, beta_of(t.how)};
    });
    cpu::combine_program<T> const& program = program_of(s);
    auto const room = arrays.template take<std::byte>(cpu::combine_memory(program, inputs.size(), outputs.size()));
    cpu::combine<T>(program, inputs, outputs, part.rows, part.cols, s.streaming, room);
  }

  void execute(scale_step const& s, frame<T> const& f) const noexcept {
    bound_space<T> const& space = f.space_of(s.where);
    cpu::scale<T>(beta_, space.at(s.where), s.where.rows, s.where.cols, space.rs, space.cs);
  }

  graph const& graph_;
  T alpha_{}, beta_{};
  bool opened_ = false;  // the opening passes have been run
  cpu::kernel_set<T> const& kernels_;
  cpu::variant const variant_;
  std::vector<bound_space<T>> spaces_;
  std::vector<cpu::combine_program<T>> programs_;
  std::size_t call_arguments_ = 0;  // bytes of the argument arrays of one codelet call, at most
  std::size_t buffers_offset_ = 0;
  std::size_t scratch_bytes_ = 0;
};

}  // namespace

template <typename T>
std::unique_ptr<executor> make_executor(graph const& g, plan const& how, gemm_operands<T> const& operands,
                                        T* workspace) {
  return std::make_unique<gemm_executor<T>>(g, how, operands, workspace);
}

template <typename T>
void rebind(executor& work, gemm_operands<T> const& operands, T* workspace, bool opened) noexcept {
  static_cast<gemm_executor<T>&>(work).set(operands, workspace, opened);
}

template <typename T>
void open(executor const& work, task const& t, line_maxima<T> const& of_A, line_maxima<T> const& of_B,
          std::byte* scratch) noexcept {
  static_cast<gemm_executor<T> const&>(work).open(t, of_A, of_B, scratch);
}

#define HEPTAD_FOR(T)                                                                                       \
  template std::unique_ptr<executor> make_executor(graph const&, plan const&, gemm_operands<T> const&, T*); \
  template void rebind(executor&, gemm_operands<T> const&, T*, bool) noexcept;                              \
  template void open(executor const&, task const&, line_maxima<T> const&, line_maxima<T> const&, std::byte*) noexcept;
HEPTAD_FOR(double)
HEPTAD_FOR(float)
#undef HEPTAD_FOR

}  // namespace heptad
