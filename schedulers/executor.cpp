// SPDX-License-Identifier: BSD-3-Clause
// Steps are data; this is their interpreter. A frame is what their block coordinates refer to: the caller's operands
// and the graph's buffers for the steps of tasks, a task's own blocks and its worker's buffers for those of a sequence.
// A worker's scratch holds: the frame, the argument arrays of two codelet calls, the sequence's buffers, the packing.
#include "schedulers/executor.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <span>
#include <string>
#include <variant>

#include "codelets/cpu/combine.hpp"
#include "codelets/cpu/product.hpp"
#include "schedulers/bound_space.hpp"

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

template <typename T>
struct frame {
  std::span<bound_space<T> const> spaces;
  array_source arguments;  // of a codelet call: copied, so that every call starts afresh
  T alpha;
  std::byte* packing;
  bool ragged;                                   // blocks of A, B or C may end early
  T *largest_A = nullptr, *largest_B = nullptr;  // of what products pack, or null

  [[nodiscard]] bound_space<T> const& space_of(block const& b) const noexcept { return heptad::space_of(spaces, b); }
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
        variant_(how.product_buffer ? cpu::variant::ab : cpu::variant::abc),
        pads_(how.pads != padding{}) {
    spaces_.resize(first_buffer + g.buffers.size());
    set(operands, workspace);
    for (additions_program const& p : g.programs) programs_.push_back(cpu::compile<T>(p));
    size_scratch();
  }

  void set(gemm_operands<T> const& operands, T* workspace, run_kind kind = run_kind::whole) noexcept {
    kind_ = kind;
    largest_A_ = largest_B_ = T(0);
    alpha_ = operands.alpha;
    beta_ = operands.beta;
    spaces_[space_A] = bind<T>(operands.A);
    spaces_[space_B] = bind<T>(operands.B);
    spaces_[space_C] = bind<T>(operands.C);
    for (std::size_t i = 0; i < graph_.buffers.size(); ++i)
      spaces_[first_buffer + i] = bind(graph_.buffers[i], workspace);
  }

  [[nodiscard]] std::size_t scratch_bytes() const noexcept override { return scratch_bytes_; }

  void run(task const& t, std::byte* scratch) const noexcept override { run_in(spaces_, t, scratch); }

  [[nodiscard]] largest_elements<T> looked_at() const noexcept { return {largest_A_, largest_B_}; }

  void run_at(task const& t, std::span<location const> places, std::byte* scratch) const noexcept override {
    std::array<bound_space<T>, most_places> spaces;
    std::ranges::transform(places, spaces.begin(), [](location const& p) {
      return bound_space<T>{static_cast<T*>(p.data), p.rs, p.cs};
    });
    run_in({spaces.data(), places.size()}, t, scratch);
  }

  void open(task const& t, line_maxima<T> const& of_A, line_maxima<T> const& of_B, std::byte* scratch) const noexcept {
    look const at{of_A, of_B};
    frame<T> const whole{spaces_, array_source(scratch), alpha_, nullptr, pads_};
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
    frame<T> const whole{spaces, array_source(scratch), alpha_, nullptr, pads_};
    if (auto const* const product = std::get_if<sequence_step>(&t.body)) {
      frame<T> inside = frame_of(*product, whole, scratch);
      T of_A = 0, of_B = 0;
      if (kind_ == run_kind::looking) inside.largest_A = &of_A, inside.largest_B = &of_B;
      run_steps(sequence_of(*product).steps, inside);
      raise(largest_A_, of_A);
      raise(largest_B_, of_B);
    } else if (auto const* const pass = std::get_if<combine_step>(&t.body)) execute(*pass, whole);
    else execute(std::get<scale_step>(t.body), whole);
  }

  void size_scratch() {
    for (task const& t : graph_.tasks) {
      if (auto const* const pass = std::get_if<combine_step>(&t.body))
        take_call(argument_bytes(*pass, program_of(*pass)));
    }
    std::size_t spaces = 0;
    std::size_t buffers_and_packing = 0;
    auto const packs = [&](sequence const& s, std::int64_t m, std::int64_t n, std::int64_t k) {
      buffers_and_packing =
          std::max(buffers_and_packing, buffer_bytes(s) + cpu::product_scratch(kernels_, m, n, k, variant_));
    };
    for (sequence const& s : graph_.sequences) {
      buffers_and_packing = std::max(buffers_and_packing, buffer_bytes(s));
      for (step const& each : s.steps) {
        if (auto const* const pass = std::get_if<combine_step>(&each))
          take_call(argument_bytes(*pass, program_of(*pass)));
        if (auto const* const product = std::get_if<product_step>(&each)) {
          take_call(argument_bytes<T>(*product));
          block const& c = product->c.front().where;
          packs(s, c.rows, c.cols, product->a.front().where.cols);
        }
      }
      spaces = std::max(spaces, first_buffer + s.buffers.size());
    }
    if (pads_) for_each_early_end(packs);
    buffers_offset_ = array_bytes<bound_space<T>>(spaces) + 2 * call_arguments_;
    scratch_bytes_ = buffers_offset_ + buffers_and_packing;
  }

  /// packs(sequence, m, n, k) of the parts of products whose blocks end early: they may need more scratch.
  template <typename Packs>
  void for_each_early_end(Packs const& packs) const {
    std::vector<bound_space<T>> outer(first_buffer + graph_.buffers.size());
    outer[space_A] = {nullptr, 0, 0, graph_.m, graph_.k};
    outer[space_B] = {nullptr, 0, 0, graph_.k, graph_.n};
    outer[space_C] = {nullptr, 0, 0, graph_.m, graph_.n};
    for (task const& t : graph_.tasks) {
      auto const* const call = std::get_if<sequence_step>(&t.body);
      if (call == nullptr) continue;
      std::span<bound_space<T> const> const spaces = outer;
      if (!ends_early(spaces, call->a) && !ends_early(spaces, call->b) && !ends_early(spaces, call->c)) continue;
      sequence const& body = sequence_of(*call);
      std::vector<bound_space<T>> inner(first_buffer + body.buffers.size());
      inner[space_A] = bind(call->a, spaces);
      inner[space_B] = bind(call->b, spaces);
      inner[space_C] = bind(call->c, spaces);
      for (step const& each : body.steps)
        if (auto const* const product = std::get_if<product_step>(&each))
          each_part(*product, std::span<bound_space<T> const>(inner), [&](block const& part) {
            packs(body, part.rows, part.cols, depth_of(*product, part, std::span<bound_space<T> const>(inner)));
          });
    }
  }

  [[nodiscard]] cpu::combine_program<T> const& program_of(combine_step const& s) const noexcept {
    return programs_[static_cast<std::size_t>(s.program)];
  }

  static void raise(std::atomic<T>& largest, T x) noexcept {
    for (T known = largest; known < x && !largest.compare_exchange_weak(known, x);) {
    }
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
    bool const ragged = outer.ragged && (ends_early(outer.spaces, s.a) || ends_early(outer.spaces, s.b) ||
                                         ends_early(outer.spaces, s.c));
    return {spaces, arrays, outer.alpha * static_cast<T>(s.coefficient), buffers + buffer_bytes(body), ragged};
  }

  /// A product that follows another one is bound before that runs, which prefetches its operands; unless blocks of C or
  /// of the operands end early across the depth, which takes a product for each part of them.
  void run_steps(std::vector<step> const& steps, frame<T> const& f) const noexcept {
    array_source second = f.arguments;
    second.take<std::byte>(call_arguments_);
    array_source const arguments[2] = {f.arguments, second};
    cpu::product_call<T> calls[2]{};
    bool bound = false;
    auto const whole = [&](std::size_t i) -> product_step const* {
      auto const* const product = i < steps.size() ? std::get_if<product_step>(&steps[i]) : nullptr;
      return product != nullptr && is_whole(*product, f) ? product : nullptr;
    };
    for (std::size_t i = 0; i < steps.size(); ++i) {
      auto const* const now = whole(i);
      auto const* const next = now != nullptr ? whole(i + 1) : nullptr;
      if (now == nullptr) {
        std::visit([&](auto const& other) { execute(other, f); }, steps[i]);
        continue;
      }
      cpu::product_call<T>& call = calls[i % 2];
      if (!bound) call = bind_product(*now, whole_of(*now), f, arguments[i % 2]);
      bound = next != nullptr;
      if (bound) {
        calls[(i + 1) % 2] = bind_product(*next, whole_of(*next), f, arguments[(i + 1) % 2]);
        call.next = &calls[(i + 1) % 2];
      }
      cpu::product(kernels_, call, variant_, f.packing);
    }
  }

  static block whole_of(product_step const& s) noexcept {
    block const& c = s.c.front().where;
    return {c.space, 0, 0, c.rows, c.cols};
  }

  static bool is_whole(product_step const& s, frame<T> const& f) noexcept {
    if (!f.ragged) return true;
    int parts = 0;
    each_part(s, f.spaces, [&](block const&) { ++parts; });
    return parts == 1 && f.space_of(s.c.front().where).has(s.c.front().where);
  }

  void execute(product_step const& s, frame<T> const& f) const noexcept {
    each_part(s, f.spaces, [&](block const& part) {
      cpu::product_call<T> const call = bind_product(s, part, f, f.arguments);
      if (!call.c.empty()) cpu::product(kernels_, call, variant_, f.packing);
    });
  }

  /// A part of the destinations, with what is there of everything; without a block of A or of B that is, they are only
  /// scaled.
  [[nodiscard]] cpu::product_call<T> bind_product(product_step const& s, block const& part, frame<T> const& f,
                                                  array_source arrays) const noexcept {
    auto const bind_terms = [&](std::vector<source> const& sources, auto part_of, auto steps_of) {
      auto const terms = arrays.template take<cpu::term<T>>(sources.size());
      std::size_t count = 0;
      for (source const& x : sources) {
        block const b = part_of(x.where);
        if (f.space_of(b).has(b)) terms[count++] = {f.at(b), static_cast<T>(x.coefficient), steps_of(b)};
      }
      return terms.first(count);
    };
    auto const a = bind_terms(
        s.a, [&](block const& x) { return x.sub(part.row, 0, part.rows, x.cols); },
        [&](block const& x) { return f.space_of(x).cols_of(x); });
    auto const b = bind_terms(
        s.b, [&](block const& x) { return x.sub(0, part.col, x.rows, part.cols); },
        [&](block const& x) { return f.space_of(x).rows_of(x); });
    auto const c = arrays.template take<cpu::destination<T>>(s.c.size());
    std::size_t count = 0;
    for (target const& t : s.c) {
      block const to = within(t.where, part);
      if (f.space_of(to).has(to)) c[count++] = {f.at(to), f.alpha * static_cast<T>(t.coefficient), beta_of(t.how)};
    }
    std::int64_t const k = depth_of(s, part, f.spaces);
    bound_space<T> const& in_a = f.space_of(s.a.front().where);
    bound_space<T> const& in_b = f.space_of(s.b.front().where);
    bound_space<T> const& in_c = f.space_of(s.c.front().where);
    return {part.rows,
            part.cols,
            k,
            a,
            in_a.rs,
            in_a.cs,
            b,
            in_b.rs,
            in_b.cs,
            c.first(count),
            in_c.rs,
            in_c.cs,
            nullptr,
            s.new_a || f.ragged ? f.largest_A : nullptr,
            s.new_b || f.ragged ? f.largest_B : nullptr};
  }

  /// `at`: where the pass also leaves the maxima of what it reads of A and B; null: it does not look.
  void execute(combine_step const& s, frame<T> const& f, look const* at = nullptr) const noexcept {
    if (at == nullptr && kind_ == run_kind::opened && s.opening) return;
    block const& whole = s.targets.front().where;
    if (!f.ragged) return execute(s, {0, 0, 0, whole.rows, whole.cols}, f, at);
    auto const ends = [&](auto const& meet) {
      auto const of = [&](block const& b) { meet(f.space_of(b).rows_of(b), f.space_of(b).cols_of(b)); };
      std::ranges::for_each(s.sources, of);
      for (target const& t : s.targets) of(t.where);
    };
    each_part(whole.rows, whole.cols, ends, [&](block const& part) { execute(s, part, f, at); });
  }

  /// The part of all blocks in which each is there, or is not.
  void execute(combine_step const& s, block const& part, frame<T> const& f, look const* at) const noexcept {
    T zero = 0, nowhere = 0;
    array_source arrays = f.arguments;
    auto const inputs = arrays.template take<cpu::combine_input<T>>(s.sources.size());
    std::ranges::transform(s.sources, inputs.begin(), [&](block const& source) {
      block const b = within(source, part);
      bound_space<T> const& in = f.space_of(b);
      if (!in.has(b)) return cpu::combine_input<T>{&zero, 0, 0};
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
      block const b = within(t.where, part);
      bound_space<T> const& in = f.space_of(b);
      if (!in.has(b)) return cpu::combine_output<T>{&nowhere, 0, 0, T(0)};
      return cpu::combine_output<T>{in.at(b), in.rs, in.cs, beta_of(t.how)};
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
  run_kind kind_ = run_kind::whole;
  mutable std::atomic<T> largest_A_ = 0, largest_B_ = 0;
  cpu::kernel_set<T> const& kernels_;
  cpu::variant const variant_;
  bool const pads_;
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
void rebind(executor& work, gemm_operands<T> const& operands, T* workspace, run_kind kind) noexcept {
  static_cast<gemm_executor<T>&>(work).set(operands, workspace, kind);
}

template <typename T>
largest_elements<T> looked_at(executor const& work) noexcept {
  return static_cast<gemm_executor<T> const&>(work).looked_at();
}

template <typename T>
void open(executor const& work, task const& t, line_maxima<T> const& of_A, line_maxima<T> const& of_B,
          std::byte* scratch) noexcept {
  static_cast<gemm_executor<T> const&>(work).open(t, of_A, of_B, scratch);
}

#define HEPTAD_FOR(T)                                                                                       \
  template std::unique_ptr<executor> make_executor(graph const&, plan const&, gemm_operands<T> const&, T*); \
  template void rebind(executor&, gemm_operands<T> const&, T*, run_kind) noexcept;                          \
  template largest_elements<T> looked_at(executor const&) noexcept;                                         \
  template void open(executor const&, task const&, line_maxima<T> const&, line_maxima<T> const&, std::byte*) noexcept;
HEPTAD_FOR(double)
HEPTAD_FOR(float)
#undef HEPTAD_FOR

}  // namespace heptad
