// SPDX-License-Identifier: BSD-3-Clause
#include "src/search/search.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <tuple>
#include <vector>

#include <fmt/format.h>

#include <heptad/heptad.hpp>

#include "src/matrix/reject.hpp"
#include "src/search/anneal.hpp"
#include "src/search/assemble.hpp"
#include "src/search/flip_walk.hpp"
#include "src/search/least_squares.hpp"
#include "src/search/lift.hpp"

namespace heptad::search {
namespace {

using seconds_clock = std::chrono::steady_clock;

constexpr std::int64_t moves_a_look = 100'000;         // between two looks at the clock
constexpr std::int64_t moves_to_lift_again = 300'000;  // a lift that fails depends on where the walk is
constexpr std::int64_t moves_a_round = 1'000'000;      // of annealing
constexpr int rounds_from_one_lift = 6;
constexpr int attempts_a_hensel_lift = 4;  // which is slower than finding signs
constexpr std::int64_t moves_to_sparsify = 1'000'000;

/// What the threads share.
class blackboard {
public:
  blackboard(settings const& how, knowledge known) : how_(how), known_(std::move(known)) {
    if (known_.best) value_ = value_of(*known_.best, how_);
  }

  [[nodiscard]] bool over() const {
    return stop_ || std::chrono::duration<double>(seconds_clock::now() - start_).count() > how_.seconds;
  }
  void stop() { stop_ = true; }
  void count_moves(std::int64_t moves) { moves_ += moves; }
  void count_walk() { ++walks_; }
  void count_inexact() { ++inexact_; }

  [[nodiscard]] int lowest_rank() const { return lowest_rank_; }
  [[nodiscard]] binary_scheme lowest() {
    std::lock_guard const lock(mutex_);
    return known_.lowest;
  }
  void offer(binary_scheme const& x) {
    std::lock_guard const lock(mutex_);
    if (x.rank() >= known_.lowest.rank()) return;
    known_.lowest = x;
    lowest_rank_ = x.rank();
  }

  /// The best algorithm where it has this rank and can be annealed.
  [[nodiscard]] std::optional<ternary_scheme> best_scheme(int rank) {
    std::lock_guard const lock(mutex_);
    return known_.best && known_.best->rank() <= rank ? to_ternary(*known_.best) : std::nullopt;
  }
  void offer(algorithm x) {
    share_sums(x);
    std::lock_guard const lock(mutex_);
    double const value = value_of(x, how_);
    auto const order = [](algorithm const& y, double v) { return std::tuple(y.rank(), v, nonzeros(y)); };
    if (known_.best && order(*known_.best, value_) <= order(x, value)) return;
    known_.best = std::move(x);
    value_ = value;
  }
  [[nodiscard]] bool has_rank(int rank) {
    std::lock_guard const lock(mutex_);
    return known_.best && known_.best->rank() <= rank;
  }

  [[nodiscard]] double seconds() const { return std::chrono::duration<double>(seconds_clock::now() - start_).count(); }
  void tell(std::function<void(progress const&)> const& watch) {
    std::lock_guard const lock(mutex_);
    watch({seconds(), known_now(), moves_});
  }
  /// When all threads have ended.
  [[nodiscard]] knowledge result() { return known_now(); }

private:
  [[nodiscard]] knowledge known_now() const {
    knowledge now = known_;
    now.moves += moves_;
    now.walks += walks_;
    now.inexact += inexact_;
    ++now.runs;
    return now;
  }

  settings const& how_;
  seconds_clock::time_point const start_ = seconds_clock::now();
  std::mutex mutex_;
  knowledge known_;
  double value_ = 0;  // of known_.best
  std::atomic<int> lowest_rank_ = known_.lowest.rank();
  std::atomic<std::int64_t> moves_ = 0, walks_ = 0, inexact_ = 0;
  std::atomic<bool> stop_ = false;
};

/// One thread's search.
class searcher {
public:
  searcher(settings const& how, blackboard& board, std::uint64_t seed)
      : how_(how), board_(board), random_(seed), walk_(board.lowest(), random_) {}

  void run() {
    if (how_.by == method::least_squares) return fit_from_random_starts();
    descend();
    for (bool from_best = true; !over(); from_best = !from_best) {
      // In turn: on from the best that is known, and from somewhere else.
      auto start = from_best ? board_.best_scheme(walk_.best().rank()) : std::nullopt;
      if (!start) start = lift();
      if (start && how_.aim != objective::rank) improve(*start);
      if (how_.aim == objective::rank && board_.has_rank(how_.rank.value_or(0))) return board_.stop();
      if (!over()) wander(moves_to_lift_again);
    }
  }

private:
  /// Of the clock: what is begun within the limit on moves is done to its end.
  keep_going const in_time_ = [this] { return !board_.over(); };

  [[nodiscard]] bool over() const { return board_.over() || (how_.most_moves > 0 && moves_ >= how_.most_moves); }

  void spend(std::int64_t moves) {
    moves_ += moves;
    board_.count_moves(moves);
  }

  /// The rank is reached: by this thread or another, or, where none was asked for, when half of the time is over.
  [[nodiscard]] bool low_enough() const {
    if (how_.rank) return board_.lowest_rank() <= *how_.rank;
    return how_.most_moves > 0 ? 2 * moves_ >= how_.most_moves : 2 * board_.seconds() >= how_.seconds;
  }

  void fit_from_random_starts() {
    while (!over()) {
      board_.count_walk();
      auto const report = fit(
          how_.what, *how_.rank, how_.symmetry, random_,
          [this] {
            if (over()) return false;
            spend(1);
            return true;
          },
          in_time_);
      if (report.exact) board_.offer(*report.exact);
      else if (report.solved) board_.count_inexact();
      if (how_.aim == objective::rank && board_.has_rank(*how_.rank)) return board_.stop();
    }
  }

  void descend() {
    while (!over() && !low_enough()) wander(moves_a_look);
    board_.count_walk();
    if (walk_.best().rank() > board_.lowest_rank()) walk_.restart(board_.lowest());
  }

  void wander(std::int64_t moves) {
    std::int64_t const before = walk_.flips();
    if (walk_.run(moves, in_time_)) board_.offer(walk_.best());
    spend(walk_.flips() - before + 1);
  }

  /// A scheme over the numbers that can be annealed; one with other coefficients than −1, 0, 1 is only offered.
  std::optional<ternary_scheme> lift() {
    for (int attempt = 0; !over(); ++attempt) {
      board_.count_walk();
      binary_scheme const found = how_.by == method::sparse_flips ? sparser(walk_.best()) : walk_.best();
      auto lifted = lift_signs(found, in_time_);
      if (!lifted && attempt % attempts_a_hensel_lift == 0)
        if (auto const exact = hensel_lift(found, in_time_)) {
          board_.offer(*exact);
          lifted = to_ternary(*exact);
        }
      if (lifted) {
        board_.offer(to_algorithm(*lifted));
        return lifted;
      }
      if (how_.aim == objective::rank && board_.has_rank(walk_.best().rank())) return std::nullopt;
      wander(moves_to_lift_again);
    }
    return std::nullopt;
  }

  binary_scheme sparser(binary_scheme const& x) {
    auto const best = sparsify(x, moves_to_sparsify, random_, in_time_);
    spend(best.moves);
    return best.scheme;
  }

  void improve(ternary_scheme x) {
    aim const what = how_.aim == objective::stability ? aim::stable : aim::sparse;
    for (int round = 0; round < rounds_from_one_lift && !over(); ++round) {
      board_.count_walk();
      auto const best = anneal(x, what, moves_a_round, random_, in_time_);
      spend(best.moves);
      board_.offer(to_algorithm(best.scheme));
      x = best.scheme;
    }
  }

  settings const& how_;
  blackboard& board_;
  generator random_;
  descent walk_;
  std::int64_t moves_ = 0;
};

void check_blocks(shape const& s) {
  for (int f = 0; f < 3; ++f)
    if (s.blocks(f) > most_blocks)
      reject(
          fmt::format("an operand of <{},{},{}> has {} blocks, more than {}", s.m, s.k, s.n, s.blocks(f), most_blocks));
}

}  // namespace

void check(settings const& how) {
  shape const& s = how.what;
  for (auto const& [name, side] : {std::pair{"m", s.m}, {"k", s.k}, {"n", s.n}})
    if (side < 1 || side > largest_side) reject(fmt::format("{} = {} must be from 1 to {}", name, side, largest_side));
  check_blocks(s);
  int const classical = s.m * s.k * s.n;
  if (how.rank && (*how.rank < 1 || *how.rank > classical))
    reject(fmt::format("rank = {} must be from 1 to {}, that of the classical algorithm", *how.rank, classical));
  if (how.threads < 1 || how.threads > 1024) reject(fmt::format("threads = {} must be from 1 to 1024", how.threads));
  if (!(how.seconds > 0)) reject(fmt::format("seconds = {} must be positive", how.seconds));
  if (how.most_moves < 0) reject(fmt::format("moves = {} must not be negative", how.most_moves));
  if (how.by == method::least_squares && !how.rank) reject("least squares need the rank to look for");
  if (how.symmetry < 1 || how.symmetry > 16) reject(fmt::format("symmetry = {} must be from 1 to 16", how.symmetry));
  if (how.symmetry > 1 && how.by != method::least_squares)
    reject(fmt::format("symmetry = {} is for least squares alone", how.symmetry));
  if (how.aim == objective::predicted_time && !how.predicted_seconds) reject("there is no model to predict times with");
}

double value_of(algorithm const& x, settings const& how) {
  switch (how.aim) {
    case objective::additions:
      return all_additions(x);
    case objective::stability:
      return stability_factor(x) * stability_factor(rotate(x)) * stability_factor(rotate(rotate(x)));
    case objective::predicted_time:
      return how.predicted_seconds(x);
    case objective::rank:
      break;
  }
  return nonzeros(x);
}

knowledge knowledge_of(algorithm const& x) {
  knowledge known{{{x.m, x.k, x.n}, {}}, x, 0, 0, 0};
  shape const& s = known.lowest.shape;
  check_blocks(s);
  for (int f = 0; f < 3; ++f)
    for (int r = 0; r < x.rank(); ++r) {
      bits vector = 0;
      for (int i = 0; i < s.blocks(f); ++i) {
        rational const& value = matrix_of(x, f)(i, r);
        if (value.den() % 2 == 0) reject(fmt::format("{} has the coefficient {}", x.name, to_string(value)));
        if (value.num() % 2 != 0) vector |= bits{1} << i;
      }
      known.lowest.factors[f].push_back(vector);
    }
  return known;
}

knowledge run(settings const& how, std::function<void(progress const&)> const& watch, std::optional<knowledge> from) {
  check(how);
  if (!from) from = knowledge{classical_scheme(how.what), std::nullopt, 0, 0, 0};
  // A search that goes on must not repeat the first one.
  std::uint64_t const seed = how.seed + static_cast<std::uint64_t>(from->runs) * 1'000'003;
  blackboard board(how, std::move(*from));

  std::mutex mutex;
  std::condition_variable ended;
  int running = how.threads;
  std::exception_ptr failure;  // the first one
  std::vector<std::jthread> threads;
  struct stop_when_left {  // by an exception, too, which waits for the threads
    blackboard& board;
    ~stop_when_left() { board.stop(); }
  } const stop{board};
  for (int t = 0; t < how.threads; ++t)
    threads.emplace_back([&, t] {
      std::exception_ptr thrown;
      try {
        searcher(how, board, seed + 7919 * static_cast<std::uint64_t>(t)).run();
      } catch (...) {
        thrown = std::current_exception();
        board.stop();
      }
      std::lock_guard const lock(mutex);
      if (!failure) failure = thrown;
      --running;
      ended.notify_one();
    });
  std::unique_lock lock(mutex);
  while (!ended.wait_for(lock, std::chrono::seconds(1), [&running] { return running == 0; })) board.tell(watch);
  lock.unlock();
  threads.clear();
  if (failure) std::rethrow_exception(failure);
  return board.result();
}

}  // namespace heptad::search
