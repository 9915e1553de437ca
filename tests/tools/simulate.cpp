// SPDX-License-Identifier: BSD-3-Clause
// What `heptad simulate` simulates: the files that describe a node, and the graphs with their costs. The simulation
// itself is StarPU's.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <tuple>

#include "schedulers/scheduler.hpp"
#include "src/plan/profile.hpp"
#include "tasks/gemm_graph.hpp"
#include "tests/temporary_folder.hpp"
#include "tools/simulate/graphs.hpp"
#include "tools/simulate/measured_tasks.hpp"
#include "tools/simulate/node.hpp"

using namespace heptad;
using namespace heptad::tools;

namespace {

std::string text_of(std::filesystem::path const& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::size_t occurrences(std::string const& text, std::string const& word) {
  std::size_t count = 0;
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++count;
  return count;
}

}  // namespace

TEST_CASE("platforms that nobody knows are refused by name") {
  for (char const* name : {"h200x3", "h200x", "h200x08x", "cpux0", "cpux65", "cpux-1", "h100x8", ""})
    CHECK_THROWS_WITH(find_node(name), Catch::Contains("platform = '" + std::string(name) + "' must be"));
  CHECK(find_node("h200x4").devices == 4);
  CHECK(find_node("cpux2").cpus == 2);
}

TEST_CASE("the files of a node have every device, a route both ways between any two, and the rates") {
  test::temporary_folder const own;
  std::filesystem::path const& folder = own.path();
  simulated_node const node = find_node("h200x4");
  write_platform(node, folder, 12);
  std::string const platform = text_of(folder / "bus" / "h200x4.platform.v4.xml");
  CHECK(occurrences(platform, "<host id=\"CUDA") == 4);
  CHECK(occurrences(platform, "<route ") == 4 * 2 + 4 * 3);
  std::istringstream rates(text_of(folder / "bus" / "h200x4.bandwidth"));
  std::string line;
  std::getline(rates, line);  // a comment
  for (int i = 0; i < 12; ++i) {
    REQUIRE(std::getline(rates, line));
    std::istringstream row(line);
    for (int j = 0; j < 12; ++j) {
      std::string word;
      REQUIRE(row >> word);
      double const x = std::stod(word), expected = i == 0 ? node.to_device : j == 0 ? node.to_host : node.to_peer;
      if (i > 4 || j > 4) CHECK(std::isnan(x));
      else CHECK(x == Approx(i == j ? 0 : expected / 1e6));
    }
  }
}

TEST_CASE("the simulated graphs multiply all of A by all of B, and cost what their plans promise") {
  auto const device = cuda::default_device_profile();
  std::size_t const workspace = std::size_t{28} << 30;
  problem shape;
  shape.m = 40000, shape.n = 65536, shape.k = 50000;
  double const flops = 2.0 * 40000 * 65536 * 50000;
  auto const graphs = device_graphs(element_type::f64, shape, 4, workspace, device);
  REQUIRE(graphs.size() > 4);
  int fast = 0;
  for (device_graph const& one : graphs) {
    INFO(one.description << ", " << one.inside);
    graph const g = build_gemm_graph(one.how, default_profile(), tiling::cells);
    bool const winograd = one.how.levels.front().name == "winograd";
    fast += one.fast ? 1 : 0;
    CHECK((one.fast || (!winograd && one.inside == "cuBLAS")));
    device_seconds const seconds(g, device, workspace, !one.fast), classical(g, device, workspace, true);
    double multiplied = 0, all = 0, all_classical = 0;
    for (task const& t : g.tasks) {
      if (auto const* p = std::get_if<sequence_step>(&t.body))
        multiplied += 2.0 * double(p->c.rows) * double(p->c.cols) * double(p->a.cols);
      all += seconds(t), all_classical += classical(t);
    }
    CHECK(multiplied / flops == Approx(winograd ? 7.0 / 8 : 1).epsilon(2e-3));
    CHECK(all <= all_classical);
    CHECK(all > 0.5 * multiplied / 60e12);  // no faster than two levels of savings at the rate of the device
    CHECK(all < 2.5 * multiplied / 45e12);
  }
  CHECK(fast > 0);
  CHECK(fast < static_cast<int>(graphs.size()));
}

TEST_CASE("owners have equal shares, begin with blocks that nobody else wants, and finish blocks while work is left") {
  int const devices = 8;
  problem shape;
  shape.m = shape.n = shape.k = 65536;
  shape.beta_zero = true;
  auto const graphs =
      device_graphs(element_type::f64, shape, devices, std::size_t{28} << 30, cuda::default_device_profile());
  auto const found = std::ranges::find_if(graphs, [](device_graph const& x) { return x.owned && x.fast; });
  REQUIRE(found != graphs.end());
  graph const before = build_gemm_graph(found->how, default_profile(), tiling::cells);
  graph after = before;
  finish_in_turn(after);
  REQUIRE(after.tasks.size() == 512);

  using names = std::vector<std::string>;
  auto const by_block = [](graph const& g) {
    std::map<std::pair<std::int64_t, std::int64_t>, names> list;
    for (task const& t : g.tasks) {
      block const& c = std::get<sequence_step>(t.body).c;
      list[{c.row, c.col}].push_back(t.name);
    }
    return list;
  };
  CHECK(by_block(before) == by_block(after));

  std::vector<int> products(devices);
  std::set<std::tuple<int, std::int64_t, std::int64_t>> wanted_first;
  for (task const& t : after.tasks) {
    auto const& step = std::get<sequence_step>(t.body);
    int const owner = owner_of_block(t, devices);
    REQUIRE((owner >= 0 && owner < devices));
    if (products[static_cast<std::size_t>(owner)]++ > 0) continue;
    for (block const& b : {step.a, step.b}) wanted_first.emplace(b.space, b.row, b.col);
  }
  CHECK(products == std::vector<int>(devices, 64));
  CHECK(wanted_first.size() == 2 * devices);

  std::map<std::pair<std::int64_t, std::int64_t>, std::size_t> last;
  for (std::size_t t = 0; t < after.tasks.size(); ++t) {
    block const& c = std::get<sequence_step>(after.tasks[t].body).c;
    last[{c.row, c.col}] = t;
  }
  // Block number i of 64 is final after half of all products and i + 1 halves of its own eight.
  std::size_t i = 0;
  std::vector<std::size_t> ends;
  for (auto const& [of, end] : last) ends.push_back(end);
  std::ranges::sort(ends);
  for (std::size_t const end : ends) CHECK(end == 256 + 4 * ++i - 1);
}

namespace {

/// Two products and two passes of 2 s and 1 s predicted.
graph four_tasks(std::int64_t n) {
  graph g;
  g.m = g.n = g.k = n;
  for (int i = 0; i < 4; ++i) {
    task& t = g.tasks.emplace_back();
    if (i < 2) t.body = sequence_step{};
    t.cost.seconds = i < 2 ? 2 : 1;
    t.cost.flops = 1e9;
  }
  return g;
}

/// They take so many times that.
std::string trace_of(int call, int workers, std::int64_t n, double products, double passes, double seconds) {
  graph const g = four_tasks(n);
  run_result r;
  r.workers = workers, r.seconds = seconds;
  for (int i = 0; i < 4; ++i) r.records.push_back({i, 0, 0, i < 2 ? 2 * products : passes});
  return to_trace_events({{{g, r}}}, "by hand", call);
}

}  // namespace

TEST_CASE("tasks take as much longer than predicted as they did in the calls of a trace that are not asked for") {
  test::temporary_folder const own;
  auto const path = own.path() / "trace.json";
  std::ofstream(path) << "[" << trace_of(1, 2, 1000, 9, 9, 1) << "," << trace_of(2, 2, 1000, 1.5, 0.5, 1) << ","
                      << trace_of(3, 2, 1000, 1.25, 0.75, 1) << "," << trace_of(4, 2, 2000, 3, 3, 7) << ","
                      << trace_of(5, 2, 2000, 3, 3, 5) << "]";
  task product, pass, scale;
  product.body = sequence_step{}, pass.body = combine_step{}, scale.body = scale_step{};
  product.cost.seconds = 10, pass.cost.seconds = 100, scale.cost.seconds = 1000;

  measured_tasks const of_2000(path, {"f64", 2000, 2000, 2000, 2});
  CHECK(of_2000.seconds(product) == Approx(15));  // the median call, not one that was disturbed
  CHECK(of_2000.seconds(pass) == Approx(75));
  CHECK(of_2000.seconds(scale) == Approx(1000));  // never measured
  graph same = four_tasks(2000), other = same, shorter = same;
  other.tasks.back().cost.flops *= 2;
  shorter.tasks.pop_back();
  CHECK(of_2000.makespan(same) == Approx(6));
  CHECK(of_2000.makespan(other) == 0);
  CHECK(of_2000.makespan(shorter) == 0);
  CHECK(of_2000.assumptions()["calls"] == "3 times f64 1000 1000 1000, 2 workers");

  measured_tasks const alone(path, {"f64", 2000, 2000, 2000, 1});
  CHECK(alone.seconds(product) == Approx(30));
  CHECK(alone.makespan(same) == 0);
}

TEST_CASE("a trace that cannot be read, is none, or has nothing to learn from is refused by name") {
  test::temporary_folder const own;
  auto const path = own.path() / "trace.json";
  traced_call const asked{"f64", 1000, 1000, 1000, 2};
  auto const says = [&](std::string const& what) {
    return Catch::Contains("measured = '" + path.string() + "' " + what);
  };
  CHECK_THROWS_WITH(measured_tasks(path, asked), says("cannot be read"));
  for (char const* text : {"", "[", "{}{}", "3", "[1]", R"([{"pid":1,"name":"call","args":{"type":7}}])"}) {
    std::ofstream(path) << text;
    CHECK_THROWS_WITH(measured_tasks(path, asked), says("must be a trace of HEPTAD_TRACE"));
  }
  std::ofstream(path) << "[" << trace_of(1, 2, 1000, 1, 1, 1) << "]";
  CHECK_THROWS_WITH(measured_tasks(path, asked), says("must have a call with elements f64 other than f64 1000"));
  CHECK_THROWS_WITH(measured_tasks(path, {"f32", 500, 500, 500, 2}), says("must have a call with elements f32"));
}

TEST_CASE("a simulated node says what it assumed, moves every operand once at least, and is faster with more devices") {
  auto const said_by = [](std::string const& arguments) {
    std::unique_ptr<std::FILE, int (*)(std::FILE*)> const pipe(
        popen((HEPTAD_PROGRAM " simulate " + arguments + " 2>&1").c_str(), "r"), pclose);
    REQUIRE(pipe != nullptr);
    std::string text;
    for (int c = std::fgetc(pipe.get()); c != EOF; c = std::fgetc(pipe.get())) text += static_cast<char>(c);
    return text;
  };
  if (!std::filesystem::exists(HEPTAD_SIMULATE_PROGRAM)) {
    WARN("skipped: there is no StarPU of scripts/build-starpu.sh --simgrid");
    CHECK_THAT(said_by("--platform h200x1 -m 1 -n 1 -k 1"),
               Catch::Contains("HEPTAD_STARPU_SIMGRID") && Catch::StartsWith("heptad: "));
    return;
  }
  auto const simulated = [&](std::string const& platform) {
    return nlohmann::json::parse(said_by("--json -m 32768 -n 32768 -k 32768 --platform " + platform));
  };
  double before = 1e9;
  for (char const* platform : {"h200x1", "h200x4"}) {
    nlohmann::json const out = simulated(platform);
    CHECK(out["assumptions"]["between_two_devices_gbytes_a_second"] == 384.5);
    double best = 1e9;
    for (nlohmann::json const& run : out["runs"]) {
      INFO(platform << ": " << run.dump());
      CHECK(run["gbytes_to_devices"] > 2 * 8.58);  // A and B
      CHECK(run["gbytes_to_host"] > 8.58);         // C
      CHECK(run["seconds"] > 8.58 / 72);
      best = std::min(best, run["seconds"].get<double>());
    }
    CHECK(best < before);
    before = best;
  }
}
