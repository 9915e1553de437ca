// SPDX-License-Identifier: BSD-3-Clause
#include "src/api/decisions.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "src/plan/choice_words.hpp"
#include "src/plan/json_fields.hpp"
#include "src/plan/replace_file.hpp"

namespace heptad {
namespace {

constexpr char const *ab = "AB", *independent = "independent";

/// A JSON string with its quotes.
std::string quoted(std::string const& text) { return nlohmann::json(text).dump(); }

std::vector<plan_level> read_levels(json_fields const& from, std::string const& field) {
  constexpr std::size_t most = 64;
  std::size_t const count = from.length(field, "levels", 0);
  if (count > most) from.fail(json_path(field, "levels"), fmt::format("must have at most {}", most));
  std::vector<plan_level> levels;
  for (std::size_t i = 0; i < count; ++i) {
    std::string const level = fmt::format("{}.levels[{}]", field, i);
    auto const kind = level_kind_of(from.text(level, "kind"));
    if (!kind) from.fail(level, "is of no known kind");
    levels.push_back({from.text(level, "algorithm"), *kind, nullptr});
  }
  return levels;
}

decision read_decision(json_fields const& from, std::string const& field) {
  decision d;
  d.of = from.text(field, "of");
  d.how.levels = read_levels(from, field);
  auto const number = from.numbers(field);
  number("slots", d.how.slots);
  number("strips", d.how.strips);
  number("seconds", d.seconds);
  d.how.product_buffer = from.text(field, "variant") == ab;
  d.how.independent = from.text(field, "order") == independent;
  d.how.pads = padding_of(from.text(field, "pads"));
  d.how.kernel = from.text(field, "kernel");
  return d;
}

std::string to_text(decision const& d) {
  plan const& p = d.how;
  std::string levels;
  for (plan_level const& l : p.levels)
    levels += fmt::format(R"({}{{"algorithm": {}, "kind": "{}"}})", levels.empty() ? "" : ", ", quoted(l.name),
                          word_of(l.kind));
  return fmt::format(
      R"({{"of": {}, "levels": [{}], "variant": "{}", "slots": {}, "order": "{}", "strips": {}, "pads": "{}", )"
      R"("kernel": {}, "seconds": {}}})",
      quoted(d.of), levels, p.product_buffer ? ab : "ABC", p.slots, p.independent ? independent : "in place", p.strips,
      letters_of(p.pads), quoted(p.kernel), d.seconds);
}

}  // namespace

std::string refined_path() { return (std::filesystem::path(profile_path()).parent_path() / "refined.json").string(); }

std::vector<decision> read_decisions(machine_profile const& machine) try {
  std::string const path = refined_path();
  std::ifstream file(path);
  json_fields const from("decisions " + path, file);
  auto const is = [&](char const* name, std::string const& value) { return from.text("machine", name) == value; };
  if (!is("cpu", machine.cpu) || !is("version", machine.version) || !is("kernel", machine.kernel)) return {};
  std::vector<decision> all;
  for (std::size_t i = 0, count = from.length("", "plans", 0); i < count; ++i)
    all.push_back(read_decision(from, fmt::format("plans[{}]", i)));
  return all;
} catch (error const&) {
  return {};
}

void write_decisions(std::vector<decision> const& all, machine_profile const& machine) {
  std::string plans;
  for (decision const& d : all) plans += (plans.empty() ? "\n  " : ",\n  ") + to_text(d);
  std::string const text =
      fmt::format("{{\"machine\": {{\"cpu\": {}, \"version\": {}, \"kernel\": {}}},\n \"plans\": [{}]}}\n",
                  quoted(machine.cpu), quoted(machine.version), quoted(machine.kernel), plans);
  static_cast<void>(replace_file(refined_path(), text));
}

}  // namespace heptad
