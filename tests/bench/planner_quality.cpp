// SPDX-License-Identifier: BSD-3-Clause
#include "tools/bench/planner_quality.hpp"

#include <catch2/catch.hpp>
#include <set>

using namespace heptad::bench;
using nlohmann::json;

TEST_CASE("the planner's grid has 200 different cases") {
  std::set<std::string> names;
  for (gemm_case const& what : planner_grid()) names.insert(json(what).dump());
  CHECK(names.size() == 200);
}

TEST_CASE("a summary counts how far chosen plans and predictions are off") {
  auto const entry = [](double predicted, double seconds) {
    return json{{"predicted_seconds", predicted}, {"seconds", seconds}};
  };
  json record;
  record["cases"] = {json{{"plans", {entry(1.1, 1.0), entry(1.2, 1.25)}}},  // chosen is best
                     json{{"plans", {entry(2.0, 2.0), entry(2.1, 1.6)}}}};  // 25 % behind
  json const s = summarize(record);
  CHECK(s["cases"] == 2);
  CHECK(s["chosen_within_5_percent"] == 0.5);
  CHECK(s["chosen_behind_best"]["most"].get<double>() == Approx(0.25));
  CHECK(s["chosen_behind_least_time"] == s["chosen_behind_best"]);
  CHECK(s["prediction_error_of_chosen"]["most"].get<double>() == Approx(0.1));
  CHECK(s["prediction_error_of_all"]["most"].get<double>() == Approx(2.1 / 1.6 - 1));
  CHECK_FALSE(s.contains("prediction_error_at_speed"));
  record["cases"][0]["machine_slower"] = 0.9;
  record["cases"][1]["machine_slower"] = 1.2;
  CHECK(summarize(record)["prediction_error_at_speed"]["most"].get<double>() == Approx(0.2));
  record["cases"][1]["chosen_behind"] = 0.04;  // the other plan's 1.6 was luck
  json const again = summarize(record);
  CHECK(again["chosen_within_5_percent"] == 1.0);
  CHECK(again["chosen_behind_best"]["most"].get<double>() == Approx(0.04));
  CHECK(again["chosen_within_5_percent_of_least_time"] == 0.5);
  CHECK(again["chosen_behind_least_time"]["most"].get<double>() == Approx(0.25));
}

TEST_CASE("plans of a small case are measured and told") {
  quality_effort how;
  how.plans = 4;
  how.plan_seconds = 0.001;
  gemm_case what;
  what.m = what.n = what.k = 500, how.yardstick = 240;
  json const one = measure_plans(what, how);
  REQUIRE(one["plans"].size() >= 2);
  CHECK(one["plans"].size() <= 4);
  CHECK(one["machine_slower"].get<double>() > 0);
  auto const leader = one["leader"].get<std::size_t>();
  REQUIRE(leader < one["plans"].size());
  for (json const& p : one["plans"]) CHECK(one["plans"][leader]["seconds"] <= p["seconds"]);
  CHECK(one["chosen_behind"].get<double>() >= 0);
  if (leader == 0) CHECK(one["chosen_behind"] == 0.0);
  for (json const& p : one["plans"]) {
    CHECK(p["seconds"].get<double>() > 0);
    CHECK(p["predicted_seconds"].get<double>() > 0);
  }
  json record = {{"cases", {one}}};
  predict_again(record);
  CHECK_FALSE(summarize(record).contains("prediction_error_at_speed"));
  for (std::size_t i = 0; i < one["plans"].size(); ++i)
    CHECK(record["cases"][0]["plans"][i]["predicted_seconds"].get<double>() ==
          Approx(one["plans"][i]["predicted_seconds"].get<double>()));
}
