// SPDX-License-Identifier: BSD-3-Clause
// What a search knows, as JSON. It comes back from a file that anyone may have changed, so nothing is believed.
#include <nlohmann/json.hpp>

#include <fmt/format.h>

#include <heptad/heptad.hpp>

#include "src/search/search.hpp"

namespace heptad::search {
namespace {

[[noreturn]] void reject_state(std::string const& why) {
  throw error(status::invalid_argument, fmt::format("the state of the search {}", why));
}

knowledge read(nlohmann::json const& state, shape const& what) {
  shape const s{state.at("m"), state.at("k"), state.at("n")};
  if (!(s == what))
    reject_state(fmt::format("is for <{},{},{}>, not <{},{},{}>", s.m, s.k, s.n, what.m, what.k, what.n));
  knowledge known;
  known.lowest.shape = s;
  known.lowest.factors = state.at("lowest").get<std::array<std::vector<bits>, 3>>();
  auto const& f = known.lowest.factors;
  auto const most = static_cast<std::size_t>(s.m) * s.k * s.n;
  if (f[0].empty() || f[0].size() > most || f[1].size() != f[0].size() || f[2].size() != f[0].size() ||
      !holds(known.lowest))
    reject_state("holds a scheme that does not solve the Brent equations over GF(2)");
  known.moves = state.at("moves");
  known.walks = state.at("walks");
  known.inexact = state.value("inexact", std::int64_t{0});  // older states have none
  known.runs = state.at("runs");
  if (auto const& best = state.at("best"); !best.is_null()) {
    known.best = parse_algorithm(best.get<std::string>(), "best");
    if (known.best->m != s.m || known.best->k != s.k || known.best->n != s.n)
      reject_state("holds an algorithm of another shape");
  }
  return known;
}

}  // namespace

std::string to_text(knowledge const& known) {
  shape const& s = known.lowest.shape;
  nlohmann::json state = {{"m", s.m},
                          {"k", s.k},
                          {"n", s.n},
                          {"runs", known.runs},
                          {"moves", known.moves},
                          {"walks", known.walks},
                          {"inexact", known.inexact},
                          {"lowest", known.lowest.factors},
                          {"best", nullptr}};
  if (known.best) {
    algorithm named = *known.best;
    named.name = "best";
    named.source = "state of a search";
    state["best"] = heptad::to_text(named);
  }
  return state.dump(1) + "\n";
}

knowledge from_text(std::string const& text, shape const& what) {
  auto const state = nlohmann::json::parse(text, nullptr, false);
  if (state.is_discarded()) reject_state("is not JSON");
  try {
    return read(state, what);
  } catch (nlohmann::json::exception const&) {
    reject_state("lacks a field, or has one of another type");
  }
}

}  // namespace heptad::search
