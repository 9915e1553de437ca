// SPDX-License-Identifier: BSD-3-Clause
// Dependencies from accesses: for every space the parts that the last tasks touched are kept as rectangles; a write
// takes its rectangle out of all older ones, so that what remains is just what a later access must wait for.
#include "tasks/graph.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <tuple>

namespace heptad {
namespace {

struct touch {
  block where;
  int task;
  int origin;  // of accumulates: number of the declared block, which names the lock
};

/// x without y, as at most four rectangles. They must overlap.
void subtract(touch const& x, block const& y, std::vector<touch>& rest) {
  block const& w = x.where;
  std::int64_t const top = std::max(w.row, y.row), bottom = std::min(w.row + w.rows, y.row + y.rows);
  std::int64_t const left = std::max(w.col, y.col), right = std::min(w.col + w.cols, y.col + y.cols);
  std::array<block, 4> const pieces{block{w.space, w.row, w.col, w.rows, left - w.col},
                                    block{w.space, w.row, right, w.rows, w.col + w.cols - right},
                                    block{w.space, w.row, left, top - w.row, right - left},
                                    block{w.space, bottom, left, w.row + w.rows - bottom, right - left}};
  for (block const& piece : pieces)
    if (piece.rows > 0 && piece.cols > 0) rest.push_back({piece, x.task, x.origin});
}

/// What the tasks so far did to one band of a space since each element was last written.
struct history {
  std::vector<touch> writes, reads, accumulates;
};

/// A space in bands across its contiguous dimension, as tiles are cut: an access meets those in its own bands only.
class space_history {
public:
  space_history(bool by_columns, std::int64_t extent) : by_columns_(by_columns), width_(extent / bands + 1) {}

  bool written = false;  // by any task; otherwise nothing is recorded

  /// visit(part of x, its band) for each band.
  template <typename Visit>
  void each_band(block const& x, Visit visit) {
    std::int64_t const begin = by_columns_ ? x.col : x.row, end = begin + (by_columns_ ? x.cols : x.rows);
    for (std::int64_t low = begin; low < end;) {
      std::int64_t const band = std::min<std::int64_t>(low / width_, bands - 1);
      std::int64_t const high = band == bands - 1 ? end : std::min(end, (band + 1) * width_);
      block const part =
          by_columns_ ? x.sub(0, low - begin, x.rows, high - low) : x.sub(low - begin, 0, high - low, x.cols);
      visit(part, bands_[band]);
      low = high;
    }
  }

private:
  static constexpr int bands = 16;
  bool by_columns_;
  std::int64_t width_;
  std::array<history, bands> bands_;
};

/// The tasks that a task comes after, as far as they are among the last few thousand before it: enough to see that an
/// edge is implied by others, in memory that grows with the tasks only.
class recent_ancestors {
public:
  explicit recent_ancestors(int task) : word_(task / 64) {}

  [[nodiscard]] bool contains(int p) const {
    return p / 64 > word_ - words && (bits_[p / 64 % words] >> (p % 64) & 1) != 0;
  }
  void add(int p, recent_ancestors const& of_p) {
    for (int w = std::max(0, word_ - words + 1); w <= of_p.word_; ++w) bits_[w % words] |= of_p.bits_[w % words];
    if (p / 64 > word_ - words) bits_[p / 64 % words] |= std::uint64_t{1} << (p % 64);
  }

private:
  static constexpr int words = 64;
  int word_;                                 // the newest of the window
  std::array<std::uint64_t, words> bits_{};  // a ring
};

class derivation {
public:
  derivation(graph const& g, bool ordered) : ordered_(ordered) {
    ancestors_.reserve(g.tasks.size());
    result_.successors.resize(g.tasks.size());
    result_.predecessors.resize(g.tasks.size());
    result_.exclusions.resize(g.tasks.size());
    for (std::int64_t extent : {g.k, g.n, g.n}) spaces_.emplace_back(true, extent);
    for (buffer const& x : g.buffers) {
      bool const by_columns = x.order == orientation::column_major;
      spaces_.emplace_back(by_columns, by_columns ? x.cols : x.rows);
    }
    for (task const& t : g.tasks)
      for (access const& a : t.accesses)
        if (a.mode != access_mode::read) spaces_[a.where.space].written = true;
  }

  void add(int t, std::vector<access> const& accesses) {
    for (access const& a : accesses) {
      space_history& space = spaces_[a.where.space];
      if (!space.written || a.where.rows == 0 || a.where.cols == 0) continue;
      bool const commutes = a.mode == access_mode::accumulate && !ordered_;
      int const origin = commutes ? origin_of(a.where) : 0;
      space.each_band(a.where, [&](block const& part, history& band) {
        if (a.mode == access_mode::read) read(t, part, band);
        else if (commutes) accumulate(t, part, origin, band);
        else write(t, part, band);
      });
    }
    add_edges(t);
    share_locks(t);
  }

  dependencies finish() && {
    for (auto& locks : result_.exclusions) {
      std::ranges::sort(locks);
      locks.erase(std::ranges::unique(locks).begin(), locks.end());
    }
    return std::move(result_);
  }

private:
  /// An accumulate of the task being added on a block (origin) that overlaps one of an older task.
  struct meeting {
    int task, its_origin, origin;
  };

  void wait_for(int t, block const& where, std::vector<touch> const& list) {
    for (touch const& old : list)
      if (old.task != t && old.where.overlaps(where)) predecessors_.push_back(old.task);
  }

  void read(int t, block const& where, history& band) {
    wait_for(t, where, band.writes);
    wait_for(t, where, band.accumulates);
    band.reads.push_back({where, t, 0});
  }

  void write(int t, block const& where, history& band) {
    for (auto* list : {&band.writes, &band.reads, &band.accumulates}) {
      wait_for(t, where, *list);
      std::vector<touch> rest;
      std::erase_if(*list, [&](touch const& old) {
        if (!old.where.overlaps(where)) return false;
        subtract(old, where, rest);
        return true;
      });
      list->insert(list->end(), rest.begin(), rest.end());
    }
    band.writes.push_back({where, t, 0});
  }

  void accumulate(int t, block const& where, int origin, history& band) {
    wait_for(t, where, band.writes);
    wait_for(t, where, band.reads);
    for (touch const& old : band.accumulates)
      if (old.task != t && old.where.overlaps(where)) commuting_.push_back({old.task, old.origin, origin});
    band.accumulates.push_back({where, t, origin});
  }

  int origin_of(block const& x) {
    auto const key = std::tuple(x.space, x.row, x.col, x.rows, x.cols);
    return origins_.try_emplace(key, static_cast<int>(origins_.size())).first->second;
  }

  /// One lock for each pair of overlapping blocks: tasks that meet nowhere never exclude each other. Tasks that are
  /// ordered anyway need none.
  void share_locks(int t) {
    for (meeting const& m : commuting_) {
      if (ancestors_[t].contains(m.task)) continue;
      auto const [lock, fresh] = locks_.try_emplace(std::minmax(m.its_origin, m.origin), result_.locks);
      if (fresh) ++result_.locks;
      result_.exclusions[m.task].push_back(lock->second);
      result_.exclusions[t].push_back(lock->second);
    }
    commuting_.clear();
  }

  /// Leaves out a predecessor that another predecessor waits for anyway.
  void add_edges(int t) {
    auto& direct = predecessors_;
    std::ranges::sort(direct, std::greater<>());
    direct.erase(std::ranges::unique(direct).begin(), direct.end());
    ancestors_.emplace_back(t);
    for (int p : direct) {
      if (ancestors_[t].contains(p)) continue;
      ancestors_[t].add(p, ancestors_[p]);
      result_.successors[p].push_back(t);
      ++result_.predecessors[t];
    }
    direct.clear();
  }

  bool const ordered_;
  dependencies result_;
  std::vector<int> predecessors_;  // of the task being added, with repetitions
  std::vector<recent_ancestors> ancestors_;
  std::vector<meeting> commuting_;  // of the task being added
  std::vector<space_history> spaces_;
  std::map<std::tuple<int, std::int64_t, std::int64_t, std::int64_t, std::int64_t>, int> origins_;
  std::map<std::pair<int, int>, int> locks_;
};

}  // namespace

char const* codelet_name(task const& t) {
  static constexpr char const* names[] = {"combine", "scale", "product", "scan"};
  static_assert(std::size(names) == std::variant_size_v<decltype(t.body)>);
  return names[t.body.index()];
}

dependencies derive_dependencies(graph const& g, bool ordered) {
  derivation d(g, ordered);
  for (int t = 0; t < static_cast<int>(g.tasks.size()); ++t) d.add(t, g.tasks[t].accesses);
  return std::move(d).finish();
}

}  // namespace heptad
