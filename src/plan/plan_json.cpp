// SPDX-License-Identifier: BSD-3-Clause
#include "src/plan/plan_json.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "src/algorithm/algorithm.hpp"
#include "src/plan/choice_words.hpp"

namespace heptad {
namespace {

nlohmann::json levels_to_json(plan const& how) {
  auto levels = nlohmann::json::array();
  for (plan_level const& l : how.levels) levels.push_back({{"algorithm", l.name}, {"kind", word_of(l.kind)}});
  return levels;
}

nlohmann::json candidates_to_json(std::vector<candidate> const& candidates) {
  auto list = nlohmann::json::array();
  for (candidate const& c : candidates)
    list.push_back({{"description", c.description},
                    {"seconds", c.seconds},
                    {"workspace", c.workspace},
                    {"growth", c.growth},
                    {"bound", c.bound},
                    {"verdict", c.verdict}});
  return list;
}

}  // namespace

nlohmann::json choices_to_json(plan const& how) {
  return {{"levels", levels_to_json(how)},
          {"variant", how.product_buffer ? "AB" : "ABC"},
          {"slots", how.slots},
          {"independent", how.independent},
          {"strips", how.strips},
          {"pads", letters_of(how.pads)},
          {"deterministic", how.deterministic},
          {"kernel", how.kernel}};
}

plan choices_from_json(nlohmann::json const& choices) {
  plan p;
  for (nlohmann::json const& l : choices.at("levels")) {
    auto const name = l.at("algorithm").get<std::string>();
    auto const kind = level_kind_of(l.at("kind").get<std::string>());
    auto const x = find_algorithm(name);
    if (x == nullptr || !kind) throw error(status::invalid_argument, "plan: level " + l.dump() + " is not known");
    p.levels.push_back({name, *kind, x});
  }
  p.product_buffer = choices.at("variant") == "AB";
  p.slots = choices.at("slots");
  p.independent = choices.at("independent");
  p.strips = choices.at("strips");
  p.pads = padding_of(choices.value("pads", std::string()));  // older files do not tell
  p.deterministic = choices.at("deterministic");
  p.kernel = choices.at("kernel");
  return p;
}

nlohmann::json plan_to_json(plan const& how) {
  using nlohmann::json;
  problem const& s = how.shape;
  double const flops = 2.0 * static_cast<double>(s.m) * static_cast<double>(s.n) * static_cast<double>(s.k);
  return {{"type", how.type == element_type::f64 ? "f64" : "f32"},
          {"m", s.m},
          {"n", s.n},
          {"k", s.k},
          {"beta_zero", s.beta_zero},
          {"levels", levels_to_json(how)},
          {"variant", how.product_buffer ? "AB" : "ABC"},
          {"core", {{"m", how.core_m}, {"n", how.core_n}, {"k", how.core_k}}},
          {"workers", how.workers},
          {"slots", how.slots},
          {"independent", how.independent},
          {"strips", how.strips},
          {"pads", letters_of(how.pads)},
          {"deterministic", how.deterministic},
          {"kernel", how.kernel},
          {"seconds", how.seconds},
          {"classical_seconds", how.classical_seconds},
          {"gflops", how.seconds > 0 ? flops / how.seconds / 1e9 : 0.0},
          {"workspace", how.workspace},
          {"workspace_cap", how.workspace_cap},
          {"bound", how.bound},
          {"bound_of_C", how.bound_of_C},
          {"likely_bound", how.likely_bound},
          {"growth", how.growth},
          {"tasks", how.tasks},
          {"reason", how.reason},
          {"candidates", candidates_to_json(how.candidates)}};
}

nlohmann::json plan_to_json(cuda::plan const& how) {
  auto stages = nlohmann::json::array();
  for (cuda::stage const& s : how.stages)
    stages.push_back({{"algorithm", s.name}, {"levels", s.levels}, {"batched", s.batched}, {"fused", s.fused}});
  constexpr char const* arithmetics[] = {"exact", "tf32", "bf16"};
  constexpr char const* accumulations[] = {"ordered", "atomic", "streams"};
  problem const& s = how.shape;
  return {{"type", how.type == element_type::f64 ? "f64" : "f32"},
          {"m", s.m},
          {"n", s.n},
          {"k", s.k},
          {"beta_zero", s.beta_zero},
          {"device", how.device},
          {"arithmetic", arithmetics[static_cast<int>(how.arithmetic)]},
          {"stages", stages},
          {"accumulation", accumulations[static_cast<int>(how.accumulation)]},
          {"tile", how.tile},
          {"core", {{"m", how.core_m}, {"n", how.core_n}, {"k", how.core_k}}},
          {"seconds", how.seconds},
          {"classical_seconds", how.classical_seconds},
          {"workspace", how.workspace},
          {"workspace_cap", how.workspace_cap},
          {"bound", how.bound},
          {"growth", how.growth},
          {"reason", how.reason},
          {"candidates", candidates_to_json(how.candidates)}};
}

}  // namespace heptad
