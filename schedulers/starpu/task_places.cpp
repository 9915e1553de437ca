// SPDX-License-Identifier: BSD-3-Clause
#include "schedulers/starpu/task_places.hpp"

#include <algorithm>
#include <functional>

namespace heptad::starpu {
namespace {

class placement {
public:
  explicit placement(std::vector<touched_block>& touched) : touched_(touched) {}

  void read(block& b) { touch(b).reads = true; }

  void write(block& b, update how) {
    touched_block& x = touch(b);
    bool const alone = !x.reads && !x.writes;
    x.writes = true;
    x.reads = x.reads || how != update::overwrite;
    x.accumulates = alone && how == update::accumulate;
  }

private:
  touched_block& touch(block& b) {
    auto const found = std::ranges::find(touched_, b, &touched_block::where);
    auto const index = static_cast<int>(found - touched_.begin());
    if (found == touched_.end()) touched_.push_back({b});
    b = {index, 0, 0, b.rows, b.cols};
    return touched_[static_cast<std::size_t>(index)];
  }

  std::vector<touched_block>& touched_;
};

class hasher {
public:
  void add(std::int64_t value) {
    // Fowler, Noll and Vo's, a word at a time.
    hash_ = (hash_ ^ static_cast<std::uint64_t>(value)) * 0x100000001b3ULL;
  }
  void add(block const& b) { add(b.rows), add(b.cols); }
  [[nodiscard]] std::uint32_t value() const { return static_cast<std::uint32_t>(hash_ ^ (hash_ >> 32)); }

private:
  std::uint64_t hash_ = 0xcbf29ce484222325ULL;
};

}  // namespace

placed_task place_task(task const& t, graph const& g, bool beta_zero) {
  placed_task result;
  result.local.body = t.body;
  placement at(result.touched);
  if (auto* const pass = std::get_if<combine_step>(&result.local.body)) {
    for (block& source : pass->sources) at.read(source);
    for (target& to : pass->targets) at.write(to.where, to.how);
  } else if (auto* const product = std::get_if<sequence_step>(&result.local.body)) {
    at.read(product->a);
    at.read(product->b);
    at.write(product->c, g.sequences[static_cast<std::size_t>(product->sequence)].how);
  } else {
    at.write(std::get<scale_step>(result.local.body).where, beta_zero ? update::overwrite : update::scaled);
  }
  return result;
}

std::uint32_t footprint_of(task const& t, graph const& g) {
  hasher hash;
  hash.add(static_cast<std::int64_t>(g.type));
  if (auto const* const pass = std::get_if<combine_step>(&t.body)) {
    hash.add(static_cast<std::int64_t>(pass->sources.size()));
    hash.add(static_cast<std::int64_t>(pass->targets.size()));
    hash.add(pass->targets.front().where);
  } else if (auto const* const product = std::get_if<sequence_step>(&t.body)) {
    hash.add(product->a);
    hash.add(product->c);
    hash.add(static_cast<std::int64_t>(g.sequences[static_cast<std::size_t>(product->sequence)].steps.size()));
  } else if (auto const* const look = std::get_if<scan_step>(&t.body)) {
    hash.add(look->where);
  } else {
    hash.add(std::get<scale_step>(t.body).where);
  }
  return hash.value();
}

}  // namespace heptad::starpu
