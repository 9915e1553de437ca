// SPDX-License-Identifier: BSD-3-Clause
#include "tools/bench/measure.hpp"

#include <fmt/format.h>

#include <chrono>
#include <numeric>
#include <thread>

#include "src/api/median.hpp"

namespace heptad::bench {

double measured::median_seconds() const { return median(seconds); }

namespace {

double total(std::vector<double> const& seconds) { return std::accumulate(seconds.begin(), seconds.end(), 0.0); }

bool enough(measured const& result, int rounds_done, effort const& how) {
  return !result.failure.empty() || (rounds_done >= how.rounds && total(result.seconds) >= how.min_seconds);
}

void take_turn(worker_process& worker, measured& result, gemm_case const& what, effort const& how) {
  if (what.threads > 1) std::this_thread::sleep_for(std::chrono::duration<double>(how.pause));
  auto const timing = worker.run(how.turn_seconds);
  result.seconds.insert(result.seconds.end(), timing.seconds.begin(), timing.seconds.end());
  result.idle.insert(result.idle.end(), timing.idle.begin(), timing.idle.end());
}

}  // namespace

std::vector<measured> measure(gemm_case const& what, std::vector<worker_process>& workers, effort const& how,
                              progress const& say) {
  std::vector<measured> results(workers.size());
  auto attempt = [&](std::size_t i, auto action) {
    try {
      if (results[i].failure.empty()) action(workers[i], results[i]);
    } catch (std::exception const& reason) {
      results[i].failure = reason.what();
    }
  };

  for (std::size_t i = 0; i < workers.size(); ++i) {
    results[i].library = workers[i].info().name;
    say(fmt::format("{} prepares and checks", results[i].library));
    attempt(i, [&](worker_process& worker, measured& result) { result.check = worker.prepare(what); });
  }

  auto const unfinished = [&](int round) {
    return std::any_of(results.begin(), results.end(), [&](measured const& r) { return !enough(r, round, how); });
  };
  for (int round = 0; unfinished(round); ++round) {
    for (std::size_t turn = 0; turn < workers.size(); ++turn) {
      std::size_t const i =
          (turn + static_cast<std::size_t>(round)) % workers.size();  // nobody always follows the same
      say(fmt::format("round {}: {}", round + 1, results[i].library));
      attempt(i, [&](worker_process& worker, measured& result) { take_turn(worker, result, what, how); });
    }
  }

  for (std::size_t i = 0; i < workers.size(); ++i) {
    attempt(i, [&](worker_process& worker, measured& result) {
      nlohmann::json answer = worker.finish();
      result.memory = answer.at("memory");
      result.last_call = answer.at("last_call");
    });
  }
  return results;
}

measured const* best_peer(std::vector<measured> const& results) {
  measured const* best = nullptr;
  for (std::size_t i = 1; i < results.size(); ++i)
    if (results[i].valid() && (best == nullptr || results[i].median_seconds() < best->median_seconds()))
      best = &results[i];
  return best;
}

std::optional<double> ratio(std::vector<measured> const& results) {
  measured const* peer = best_peer(results);
  if (peer == nullptr || !results.front().valid()) return std::nullopt;
  return peer->median_seconds() / results.front().median_seconds();
}

}  // namespace heptad::bench
