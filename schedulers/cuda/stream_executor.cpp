// SPDX-License-Identifier: BSD-3-Clause
#include "schedulers/cuda/stream_executor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <span>

#include "codelets/cuda/fused.hpp"
#include "codelets/cuda/product.hpp"
#include "schedulers/cuda/check.hpp"
#include "schedulers/cuda/side_streams.hpp"

namespace heptad::cuda {
namespace {

// Three composed levels of a ⟨2,2,2;7⟩ algorithm: the widest pass that stages may have.
constexpr std::size_t most_operands = 343;

}  // namespace

/// Where each block is, given the operands.
template <typename T>
struct stream_executor::frame {
  stream_executor const& owner;
  bound_operands<T> const& x;

  struct place {
    T* data;
    std::int64_t ld;
    orientation order;
  };

  [[nodiscard]] place of(block const& b) const {
    place p{};
    if (b.space == space_A) p = {const_cast<T*>(x.A.data), x.A.ld, x.A.order};
    else if (b.space == space_B) p = {const_cast<T*>(x.B.data), x.B.ld, x.B.order};
    else if (b.space == space_C) p = {x.C.data, x.C.ld, x.C.order};
    else {
      buffer const& w = owner.sequence_.body.buffers[static_cast<std::size_t>(b.space - first_buffer)];
      p = {x.workspace + w.offset, w.ld, w.order};
    }
    bool const columns = p.order == orientation::column_major;
    p.data += columns ? b.row + b.col * p.ld : b.row * p.ld + b.col;
    return p;
  }

  [[nodiscard]] T beta_of(update how) const {
    return how == update::overwrite ? T(0) : how == update::accumulate ? T(1) : x.beta;
  }

  void pass(cudaStream_t stream, combine_step const& step) const {
    std::array<combine_input<T>, most_operands> in;
    std::array<combine_output<T>, most_operands> out;
    for (std::size_t i = 0; i < step.sources.size(); ++i) {
      place const p = of(step.sources[i]);
      in[i] = {p.data, p.ld};
    }
    for (std::size_t q = 0; q < step.targets.size(); ++q) {
      place const p = of(step.targets[q].where);
      out[q] = {p.data, p.ld, beta_of(step.targets[q].how)};
    }
    block const& shape = step.targets.front().where;
    bool const columns = of(shape).order == orientation::column_major;
    combine_call<T> const call{{in.data(), step.sources.size()},
                               {out.data(), step.targets.size()},
                               columns ? shape.rows : shape.cols,
                               columns ? shape.cols : shape.rows};
    check_running(owner.programs_[static_cast<std::size_t>(step.program)].launch(stream, call), "combine");
  }

  void products(cublasHandle_t handle, product_batch const& batch) const {
    product_step const& p = batch.first;
    block const &a = p.a.front().where, &b = p.b.front().where, &c = p.c.front().where;
    place const A = of(a), B = of(b), C = of(c);
    check_running(product<T>(handle, owner.arithmetic_,
                             {c.rows,
                              c.cols,
                              a.cols,
                              {A.data, A.ld, A.order, batch.stride_a},
                              {B.data, B.ld, B.order, batch.stride_b},
                              C.data,
                              C.ld,
                              batch.stride_c,
                              x.alpha * static_cast<T>(p.c.front().coefficient),
                              beta_of(p.c.front().how),
                              batch.count}),
                  "product");
  }

  [[nodiscard]] fused_product<T> bind(fused_group::product const& p) const {
    fused_product<T> bound{};
    auto const sum = [this](std::vector<source> const& from, fused_source<T>(&into)[most_fused_terms], int& count) {
      for (source const& s : from) into[count++] = {of(s.where).data, static_cast<T>(s.coefficient)};
    };
    sum(p.a, bound.a, bound.sources_a);
    sum(p.b, bound.b, bound.sources_b);
    for (fused_group::feed const& f : p.c)
      bound.c[bound.targets++] = {of(f.where.where).data, x.alpha * static_cast<T>(f.where.coefficient),
                                  beta_of(f.where.how), f.block, f.turn};
    return bound;
  }

  void fused(cudaStream_t stream, fused_group const& group) const {
    fused_group::product const& first = group.products.front();
    block const &a = first.a.front().where, &b = first.b.front().where, &c = first.c.front().where.where;
    std::array<fused_product<T>, most_fused_products> bound;
    std::ranges::transform(group.products, bound.begin(), [this](auto const& p) { return bind(p); });
    std::span<fused_product<T> const> const all(bound.data(), group.products.size());
    place const A = of(a), B = of(b), C = of(c);
    char* const counters = reinterpret_cast<char*>(x.workspace) + owner.counters_at_;
    fused_call<T> call{all,
                       c.rows,
                       c.cols,
                       a.cols,
                       {A.ld, A.order},
                       {B.ld, B.order},
                       C.ld,
                       owner.tile_,
                       owner.accumulation_,
                       reinterpret_cast<unsigned*>(counters),
                       group.first_ticket};
    if (owner.accumulation_ == accumulation::streams) return fused_in_streams(stream, group, call);
    if (owner.accumulation_ == accumulation::atomic) scale_targets(stream, all, c);
    check_running(launch_fused<T>(stream, call), "fused products");
  }

  /// Atomic additions begin with beta C.
  void scale_targets(cudaStream_t stream, std::span<fused_product<T> const> products, block const& c) const {
    for (fused_product<T> const& p : products)
      for (int t = 0; t < p.targets; ++t)
        if (p.c[t].beta != T(1))
          check_running(launch_scale<T>(stream, p.c[t].beta, p.c[t].data, of(c).ld, c.rows, c.cols), "scale");
  }

  void fused_in_streams(cudaStream_t stream, fused_group const& group, fused_call<T> call) const {
    auto const all = call.products;
    side_streams beside(stream, all.size());
    for (std::size_t r = 0; r < all.size(); ++r) {
      call.products = all.subspan(r, 1);
      check_running(launch_fused<T>(beside.begin(r, group.products[r].after), call), "a fused product");
      beside.end(r);
    }
    beside.join();
  }
};

stream_executor::stream_executor(plan const& how)
    : arithmetic_(how.arithmetic),
      batched_(!how.stages.empty() && how.stages.back().batched),
      sequence_(build_device_sequence(how)),
      accumulation_(how.accumulation),
      tile_(how.tile) {
  for (additions_program const& p : sequence_.programs) programs_.emplace_back(p);
  counters_at_ = static_cast<std::size_t>(sequence_.body.scratch_elements) *
                 (how.type == element_type::f64 ? sizeof(double) : sizeof(float));
  auto const tiles = fused_tiles(how.type);
  if (sequence_.fused_products > 0) {
    if (how.arithmetic != arithmetic::exact || sequence_.fused_products > most_fused_products)
      throw error(
          status::invalid_argument,
          fmt::format("plan.stages: a fused level is for exact products, at most {} of them", most_fused_products));
    if (tile_ < 0 || tile_ >= static_cast<int>(tiles.size()))
      throw error(status::invalid_argument, fmt::format("plan.tile = {} must be below {}", tile_, tiles.size()));
  }
  settle(sequence_.body.steps, tiles[static_cast<std::size_t>(std::max(tile_, 0))]);
  sequence_.body.steps.clear();
}

/// Which kernel runs each step, and with which of its neighbours.
void stream_executor::settle(std::span<step> steps, fused_tile const& tile) {
  fused_numbering numbering;
  std::vector<product_step> level;
  std::int64_t tiles = 0;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (auto* const pass = std::get_if<combine_step>(&steps[i])) {
      if (std::max(pass->sources.size(), pass->targets.size()) > most_operands)
        throw error(status::invalid_argument,
                    fmt::format("plan.stages: a pass over {} blocks is more than {}",
                                std::max(pass->sources.size(), pass->targets.size()), most_operands));
      calls_.emplace_back(std::move(*pass));
      continue;
    }
    auto& product = std::get<product_step>(steps[i]);
    if (sequence_.fused_products > 0 && i < sequence_.core_steps) {
      block const& c = product.c.front().where;
      tiles = tile.count(c.rows, c.cols);
      level.push_back(std::move(product));
      if (level.size() < sequence_.fused_products) continue;
      calls_.emplace_back(numbering.add(level, tiles));
      level.clear();
      continue;
    }
    auto* const batch = calls_.empty() ? nullptr : std::get_if<product_batch>(&calls_.back());
    if (batch != nullptr && extends(*batch, product)) ++batch->count;
    else calls_.emplace_back(product_batch{std::move(product)});
  }
  if (numbering.blocks() > 0 && accumulation_ == accumulation::ordered)
    counter_bytes_ = sizeof(unsigned) * (1 + numbering.blocks() * static_cast<std::size_t>(tiles));
}

/// The next product of a batch: in workspace as the first one, with its coefficient, evenly spaced.
/// Only in a batched stage are neighbours independent.
bool stream_executor::extends(product_batch& batch, product_step const& next) const {
  if (!batched_) return false;
  auto const distance = [this](block const& from, block const& to) -> std::optional<std::int64_t> {
    if (from.space < first_buffer || to.space < first_buffer) return std::nullopt;
    buffer const& f = sequence_.body.buffers[static_cast<std::size_t>(from.space - first_buffer)];
    buffer const& t = sequence_.body.buffers[static_cast<std::size_t>(to.space - first_buffer)];
    bool const same = f.ld == t.ld && f.order == t.order && from.rows == to.rows && from.cols == to.cols &&
                      from.row == to.row && from.col == to.col;
    return same ? std::optional(t.offset - f.offset) : std::nullopt;
  };
  product_step const& first = batch.first;
  auto const a = distance(first.a.front().where, next.a.front().where);
  auto const b = distance(first.b.front().where, next.b.front().where);
  auto const c = distance(first.c.front().where, next.c.front().where);
  if (!a || !b || !c || first.c.front().how != next.c.front().how ||
      first.c.front().coefficient != next.c.front().coefficient)
    return false;
  if (batch.count == 1) batch.stride_a = *a, batch.stride_b = *b, batch.stride_c = *c;
  bool const even =
      *a == batch.count * batch.stride_a && *b == batch.count * batch.stride_b && *c == batch.count * batch.stride_c;
  return even && *c != 0;
}

stream_executor::counts stream_executor::count() const {
  counts n;
  for (auto const& call : calls_) {
    if (auto const* const pass = std::get_if<combine_step>(&call)) {
      ++n.passes;
      n.general_passes += !programs_[static_cast<std::size_t>(pass->program)].is_generated();
    } else if (auto const* const group = std::get_if<fused_group>(&call)) {
      n.fused_products += static_cast<int>(group->products.size());
    } else {
      ++n.product_calls;
      n.products += std::get<product_batch>(call).count;
    }
  }
  return n;
}

template <typename T>
void stream_executor::run(cudaStream_t stream, cublasHandle_t handle, bound_operands<T> const& x) const {
  frame<T> const f{*this, x};
  if (counter_bytes_ > 0)
    check_running(cudaMemsetAsync(reinterpret_cast<char*>(x.workspace) + counters_at_, 0, counter_bytes_, stream),
                  "counters of fused products");
  for (auto const& call : calls_) {
    if (auto const* const pass = std::get_if<combine_step>(&call)) f.pass(stream, *pass);
    else if (auto const* const batch = std::get_if<product_batch>(&call)) f.products(handle, *batch);
    else f.fused(stream, std::get<fused_group>(call));
  }
}

template void stream_executor::run(cudaStream_t, cublasHandle_t, bound_operands<double> const&) const;
template void stream_executor::run(cudaStream_t, cublasHandle_t, bound_operands<float> const&) const;

}  // namespace heptad::cuda
