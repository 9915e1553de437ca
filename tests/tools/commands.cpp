// SPDX-License-Identifier: BSD-3-Clause
// The program as its user sees it: what it prints, writes and returns.
#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "codelets/cpu/kernel_set.hpp"
#include "src/plan/profile.hpp"
#include "tests/tools/program.hpp"
#include "tools/npy.hpp"

using namespace heptad::test;

TEST_CASE("a factor that elements of the files cannot hold is refused") {
  folder const here;
  write_random<float>(here / "A.npy", 20, 20, false);
  auto const [factor, becomes] = GENERATE(table<std::string, std::string>(
      {{"--alpha=1e300", "infinite"}, {"--alpha=-1e300", "infinite"}, {"--alpha=1e-60", "0"}}));
  std::string const command = "gemm A.npy A.npy -o C.npy " + factor;
  auto const result = heptad_run(here, command);
  INFO(factor << ": " << result.err);
  CHECK(result.code == 2);
  CHECK(result.err.ends_with(": elements are float32, where this is " + becomes + "\n"));
  CHECK_FALSE(fs::exists(here / "C.npy"));
}

TEMPLATE_TEST_CASE("gemm multiplies two files into a third", "", double, float) {
  folder const here;
  std::int64_t const m = 70, n = 50, k = 60;
  auto const a = write_random<TestType>(here / "A.npy", m, k, true);
  auto const b = write_random<TestType>(here / "B.npy", k, n, false);
  auto const c0 = write_random<TestType>(here / "C0.npy", m, n, true);
  auto const result =
      heptad_run(here, "gemm A.npy B.npy -o C.npy --alpha 2 --beta -1 --c0 C0.npy --check --json --threads 2");
  auto const json = json_of(result);
  CHECK(json["check"]["passed"] == true);
  CHECK(json["check"]["max_error"].get<double>() <= json["check"]["bound"].get<double>());
  CHECK(json["plan"].is_object());
  heptad::tools::npy_file const file(here / "C.npy");
  auto const C = file.view<TestType>();
  REQUIRE((C.rows == m && C.cols == n));
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      long double sum = 0;
      for (std::int64_t l = 0; l < k; ++l) sum += static_cast<long double>(a[i + l * m]) * b[l * n + j];
      auto const error = std::abs(2 * sum - c0[i + j * m] - C.data[i * C.row_stride + j * C.col_stride]);
      CHECK(error < 1000 * std::numeric_limits<TestType>::epsilon());
    }
  }
}

TEST_CASE("what alpha or beta = 0 leaves unread does not fail the check, whatever it holds") {
  folder const here;
  write_random<double>(here / "A.npy", 20, 20, false);
  std::vector<double> elements(400, HUGE_VAL);
  heptad::tools::write_npy<double>(here / "inf.npy", heptad::row_major<double const>(elements.data(), 20, 20, 20));
  auto const arguments = GENERATE(as<std::string>(), "gemm inf.npy A.npy --alpha 0 --beta 1 --c0 A.npy",
                                  "gemm A.npy A.npy --beta 0 --c0 inf.npy");
  auto const check = json_of(heptad_run(here, arguments + " -o C.npy --check --json"))["check"];
  INFO(arguments);
  CHECK(check["passed"] == true);
  CHECK(check["bound"].get<double>() < 1);
}

TEST_CASE("gemm tells the sizes of its files, and how the plan's came about") {
  folder const here;
  write_random<double>(here / "A.npy", 20, 40, false);
  write_random<double>(here / "B.npy", 40, 30, false);
  write_random<double>(here / "C0.npy", 20, 30, true);
  auto const rows = json_of(heptad_run(here, "gemm A.npy B.npy -o C.npy --json"));
  auto const columns = json_of(heptad_run(here, "gemm A.npy B.npy -o C.npy --json --beta 1 --c0 C0.npy"));
  for (auto const& json : {rows, columns}) CHECK((json["m"] == 20 && json["n"] == 30 && json["k"] == 40));
  CHECK((rows["plan"]["m"] == 30 && rows["plan"]["run_as"] == "C^T = B^T A^T"));
  CHECK((columns["plan"]["m"] == 20 && columns["plan"]["run_as"] == "C = A B"));
}

TEST_CASE("a product without elements says so") {
  folder const here;
  write_random<double>(here / "A.npy", 0, 20, false);
  write_random<double>(here / "B.npy", 20, 20, false);
  auto const result = heptad_run(here, "gemm A.npy B.npy -o C.npy");
  INFO(result.err);
  CHECK(result.out.find("reason      C has no elements\n") != std::string::npos);
  CHECK(result.out.find("predicted") == std::string::npos);
}

TEST_CASE("a product that no memory can hold is named with its shape and size") {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  WARN("skipped: the sanitizers end a program that asks for so much");
  return;
#endif
  folder const here;
  write_random<double>(here / "A.npy", std::int64_t{1} << 27, 0, false);
  write_random<double>(here / "B.npy", 0, std::int64_t{1} << 27, false);
  write_random<double>(here / "wide.npy", 0, std::int64_t{1} << 40, false);
  auto const held = heptad_run(here, "gemm A.npy B.npy -o C.npy");
  CHECK(held.code == 1);
  CHECK(held.err == "heptad: no memory for C: 134217728 x 134217728 elements, 144115188075855872 bytes\n");
  CHECK(heptad_run(here, "gemm A.npy wide.npy -o C.npy").err ==
        "heptad: C of 134217728 x 1099511627776 elements is larger than the address space\n");
}

TEST_CASE("gemm prints a report in words, repeats, and obeys the options of the plan") {
  folder const here;
  write_random<double>(here / "A.npy", 200, 200, false);
  auto const text = heptad_run(here, "gemm A.npy A.npy -o C.npy --repeat 3 --check --max-levels 0");
  INFO(text.err);
  CHECK(text.code == 0);
  CHECK(text.out.find("classical") != std::string::npos);
  CHECK(text.out.find("over 3 runs") != std::string::npos);
  CHECK(text.out.find("passed") != std::string::npos);
  auto const forced = heptad_run(here, "gemm A.npy A.npy -o C.npy --check --json", "HEPTAD_FORCE_LEVELS=2");
  CHECK(json_of(forced)["plan"]["levels"].size() == 2);
}

TEST_CASE("a trace and a verbose line are written when the environment asks") {
  folder const here;
  write_random<float>(here / "A.npy", 150, 150, false);
  auto const result = heptad_run(here, "gemm A.npy A.npy -o C.npy --check", "HEPTAD_TRACE=t.json HEPTAD_VERBOSE=1");
  CHECK(result.code == 0);
  CHECK(result.err.find("heptad: sgemm m=150 n=150 k=150") != std::string::npos);
  auto const trace = nlohmann::json::parse(read_text(here / "t.json"));
  auto const calls = std::ranges::count_if(trace, [](auto const& event) { return event["name"] == "process_name"; });
  CHECK(calls == 2);  // the product and the one that it is checked against
}

TEST_CASE("failures are one line on stderr and exit code 1") {
  folder const here;
  write_random<double>(here / "A.npy", 20, 30, false);
  write_random<float>(here / "F.npy", 30, 20, false);
  std::ofstream(here / "bad.npy") << "not an array";
  auto const [arguments, variables, message] = GENERATE(table<std::string, std::string, std::string>({
      {"gemm missing.npy A.npy -o C.npy", "", "missing.npy: No such file or directory"},
      {"gemm A.npy bad.npy -o C.npy", "", "bad.npy: not a .npy file"},
      {"gemm A.npy A.npy -o C.npy", "", "A.npy: 20 x 30 elements, must have 30 rows, the columns of A.npy"},
      {"gemm A.npy F.npy -o C.npy", "", "F.npy: elements are float32, must be float64 as in A.npy"},
      {"info", "HEPTAD_NUM_THREADS=many", "HEPTAD_NUM_THREADS = 'many' must be an integer of at least 0"},
      {"explain gemm -m 9 -n 9 -k 9 --svg g.svg", "PATH=/", "g.svg: Graphviz, which draws it, is not installed"},
  }));
  auto const result = heptad_run(here, arguments, variables);
  INFO(arguments << ": " << result.err);
  CHECK(result.code == 1);
  CHECK(is_one_line(result.err));
  CHECK(result.err.find(message) != std::string::npos);
  CHECK_FALSE(fs::exists(here / "C.npy"));
}

TEST_CASE("bad usage is one line on stderr and exit code 2") {
  folder const here;
  std::string const arguments = GENERATE(
      "", "multiply", "gemm", "gemm A.npy B.npy", "explain", "explain gemm -m 5", "explain gemm -m 5 -n 5 -k x",
      "explain gemm -m -5 -n 5 -k 5", "explain gemm -m 5 -n 5 -k 5 --type q", "info --wrong",
      "explain gemm -m 5 -n 5 -k 5 --scheduler fast", "explain gemm -m 5 -n 5 -k 5 --max-error 0.5");
  auto const result = heptad_run(here, arguments);
  INFO(arguments << ": " << result.err);
  CHECK(result.code == 2);
  CHECK(is_one_line(result.err));
}

TEST_CASE("help and version are on stdout with exit code 0") {
  folder const here;
  CHECK(heptad_run(here, "--help").out.find("gemm") != std::string::npos);
  CHECK(heptad_run(here, "gemm --help").code == 0);
  CHECK(heptad_run(here, "--version").out.find('.') != std::string::npos);
}

TEST_CASE("explain prints the plan, writes the graph and runs it dry") {
  folder const here;
  auto const text = heptad_run(here, "explain gemm -m 8192 -n 8192 -k 8192 --type d --threads 2");
  INFO(text.err);
  REQUIRE(text.code == 0);
  for (char const* word : {"levels", "tasks", "bound", "workspace", "reason", "predicted"}) {
    CHECK(text.out.find(word) != std::string::npos);
  }
  auto const json =
      json_of(heptad_run(here, "explain gemm -m 4096 -n 4096 -k 4096 --type s --workers 1,8,64 --dot g.dot --json"));
  REQUIRE(json["dry_runs"].size() == 3);
  for (auto const& run : json["dry_runs"]) {
    CHECK(run["efficiency"].get<double>() > 0);
    CHECK(run["efficiency"].get<double>() <= 1.000001);
    CHECK(run["seconds"] >= run["critical_path_seconds"]);
  }
  CHECK(read_text(here / "g.dot").starts_with("digraph"));
  CHECK(heptad_run(here, "explain gemm -m 2048 -n 2048 -k 2048 --threads 2 --svg g.svg").code == 0);
  CHECK(read_text(here / "g.svg").find("product 1") != std::string::npos);
}

TEST_CASE("search writes an algorithm that verifies, with how to find it again, and goes on from its state") {
  folder const here;
  std::string const again =
      "search 2 3 2 --rank 11 --seconds 1000000 --moves 50000000 --seed 3 --resume s.json -o f.txt";
  auto const found = heptad_run(here, again);
  INFO(found.err);
  REQUIRE(found.code == 0);
  CHECK(found.out.find("f.txt: <2,3,2;11>") != std::string::npos);
  CHECK(read_text(here / "f.txt").find("source heptad search 2 3 2 --rank 11 --objective rank --seed 3") !=
        std::string::npos);
  auto const verified = json_of(heptad_run(here, "verify f.txt --json"));
  CHECK((verified[0]["passed"] == true && verified[0]["rank"] == 11 && verified[0]["name"] == "found232"));
  CHECK(json_of(heptad_run(here, again + " --json"))["source"].get<std::string>().find("(run 2, ") !=
        std::string::npos);
  auto const missed = heptad_run(here, "search 2 2 2 --rank 6 --seconds 1000000 --moves 200000");
  CHECK(missed.code == 1);
  CHECK(missed.err.find("rank 6 was not reached: the lowest is") != std::string::npos);
  auto const unsolved = heptad_run(here, "search 2 2 2 --rank 6 --method least-squares --seconds 1000000 --moves 500");
  CHECK(unsolved.code == 1);
  CHECK(unsolved.err.find("rank 6 was not reached: 3 starts\n") != std::string::npos);
  std::ofstream(here / "s.json") << "{}";
  CHECK(heptad_run(here, again).err ==
        "heptad: --resume s.json: the state of the search lacks a field, or has one of another type\n");
  std::ofstream(here / "s.json") << "{";
  CHECK(heptad_run(here, again).err == "heptad: --resume s.json: the state of the search is not JSON\n");
}

TEST_CASE("the search that a file under algorithms/ names writes that file again") {
  folder const here;
  auto const found = [](std::string text) {  // but for the line that has the version and the date
    auto const from = text.find("\nsource "), to = text.find('\n', from + 1);
    return text.erase(from, to - from);
  };
  for (std::string const name : {"sparse223", "sparse233", "stable225"}) {
    INFO(name);
    std::string const text = read_text(fs::path(HEPTAD_ALGORITHMS_DIR) / (name + ".txt"));
    std::string const mark = "\nsource heptad ";
    auto const from = text.find(mark) + mark.size(), to = text.find(" (run", from);
    REQUIRE(to != std::string::npos);
    auto const result = heptad_run(here, text.substr(from, to - from) + " -o again.txt");
    INFO(result.err);
    REQUIRE(result.code == 0);
    CHECK(found(read_text(here / "again.txt")) == found(text));
  }
  // Of the rank of Strassen's algorithm it finds one with as few additions as Winograd's.
  auto const seven = heptad_run(here,
                                "search 2 2 2 --rank 7 --objective additions --seed 1 --seconds 3600 --moves 2000000 "
                                "-o seven.txt");
  CHECK(seven.out.find("<2,2,2;7>, 42 nonzeros, 15 additions") != std::string::npos);
}

TEST_CASE("search for a predicted time uses the model of this machine") {
  folder const here;
  auto const json = json_of(heptad_run(
      here,
      "search 2 2 3 --rank 11 --seconds 1000000 --moves 3000000 --objective predicted-time --problem 960,960,960 "
      "--json"));
  CHECK(json["rank"] == 11);
  CHECK(json["additions"].get<int>() < 40);
  CHECK(json["text"].get<std::string>().find(" --objective predicted-time --problem 960,960,960 --seed") !=
        std::string::npos);
}

TEST_CASE("verify says what holds of each file, and which equation fails") {
  folder const here;
  std::string good = read_text(HEPTAD_ALGORITHMS_DIR "/winograd.txt");
  std::ofstream(here / "good.txt") << good;
  good[good.find("\nU\n") + 4] = '2';
  std::ofstream(here / "bad.txt") << good;
  auto const one = heptad_run(here, "verify good.txt");
  CHECK(one.code == 0);
  CHECK(one.out.find("PASS  good.txt: winograd <2,2,2;7>, 42 nonzeros, 15 additions (24 without program), stability "
                     "factor 18") != std::string::npos);
  auto const both = heptad_run(here, "verify bad.txt good.txt missing.txt");
  CHECK(both.code == 1);
  CHECK(both.out.find("FAIL  bad.txt: algorithm winograd: the Brent equation (i,i',j,j',p,p')") != std::string::npos);
  CHECK(both.out.find("PASS  good.txt") != std::string::npos);
  CHECK(both.out.find("FAIL  missing.txt: No such file") != std::string::npos);
  CHECK(both.err == "heptad: 2 of 3 files failed\n");
}

TEST_CASE("algorithms of the user's are used by path, and by name from HEPTAD_ALGORITHMS") {
  folder const here;
  fs::create_directories(here / "mine");
  std::string text = read_text(HEPTAD_ALGORITHMS_DIR "/huang323.txt");
  text.replace(text.find("huang323"), 8, "mine323");
  std::ofstream(here / "mine/mine.txt") << text;
  write_random<double>(here / "A.npy", 60, 60, false);
  std::string const gemm = "gemm A.npy A.npy -o C.npy --check --json --algorithm ";
  for (auto const& [name, variables, is] :
       std::vector<std::array<std::string, 3>>{{"mine/mine.txt", "", "mine323"},
                                               {"mine233", "HEPTAD_ALGORITHMS=mine", "mine233"},
                                               {"3x2x4", "", "sparse324"},
                                               {"'<3,3,3;23>'", "", "sparse333"},
                                               {"3x4x5", "", "sparse345"}}) {
    INFO(name);
    auto const json = json_of(heptad_run(here, gemm + name, "HEPTAD_FORCE_LEVELS=1 " + variables));
    CHECK(json["check"]["passed"] == true);
    CHECK(json.dump().find(is) != std::string::npos);
  }
  text[text.find("\nU\n") + 4] = '1';
  std::ofstream(here / "mine/wrong.txt") << text;
  auto const refused = heptad_run(here, gemm + "auto", "HEPTAD_ALGORITHMS=mine");
  CHECK(refused.code == 1);
  CHECK(is_one_line(refused.err));
  CHECK(refused.err.find("mine/wrong.txt: algorithm mine323: the Brent equation") != std::string::npos);
}

TEST_CASE("explain runs the graph dry with the times that its tasks take here") {
  folder const here;
  std::string const command = "explain gemm -m 400 -n 380 -k 420 --workers 1,4 --json";
  auto const predicted = json_of(heptad_run(here, command, "HEPTAD_FORCE_LEVELS=1"));
  auto const measured = json_of(heptad_run(here, command + " --measured", "HEPTAD_FORCE_LEVELS=1"));
  CHECK(predicted["dry_runs_assume"]["seconds_of_tasks"] == "predicted");
  CHECK(measured["dry_runs_assume"]["seconds_of_tasks"] == "measured");
  for (std::size_t i : {0, 1}) {
    auto const &before = predicted["dry_runs"][i], &after = measured["dry_runs"][i];
    CHECK(after["plan"]["tasks"] == before["plan"]["tasks"]);
    CHECK(after["work_seconds"].get<double>() > 0);
    CHECK(after["work_seconds"] != before["work_seconds"]);
    CHECK(after["critical_path_seconds"] <= after["seconds"]);
  }
  CHECK(heptad_run(here, "explain gemm -m 4 -n 4 -k 4 --measured").code != 0);
}

TEST_CASE("explain writes the predicted run as a trace of all tasks") {
  folder const here;
  auto const json = json_of(heptad_run(here, "explain gemm -m 2048 -n 2048 -k 2048 --threads 2 --trace t.json --json"));
  auto const trace = nlohmann::json::parse(read_text(here / "t.json"));
  std::size_t tasks = 0;
  for (auto const& event : trace) tasks += event["ph"] == "X";
  CHECK(tasks == json["plan"]["tasks"].get<std::size_t>());
  for (auto const& declined : json["plan"]["candidates"]) {
    CHECK(declined["workspace"].get<double>() > 0);
    CHECK(declined["bound"].get<double>() > 0);
    CHECK_FALSE(declined["verdict"].get<std::string>().empty());
  }
}

TEST_CASE("info lists kernel sets and algorithms") {
  folder const here;
  auto const json = json_of(heptad_run(here, "info --json"));
  CHECK(json["profile"]["measured"] == false);
  int chosen = 0;
  for (auto const& set : json["kernels"]["f64"]) chosen += set["chosen"].get<bool>();
  CHECK(chosen == 1);
  bool winograd = false;
  for (auto const& x : json["algorithms"]) winograd = winograd || (x["name"] == "winograd" && x["rank"] == 7);
  CHECK(winograd);
  CHECK(heptad_run(here, "info").out.find("kernel") != std::string::npos);
}

TEST_CASE("plans follow the profile that calibration keeps, or the defaults where it cannot be used, and say which") {
  folder const here;
  std::string const path = here / "profile.json", explain = "explain gemm -m 500 -n 500 -k 500 ";
  auto const classical_seconds = [&] {
    return json_of(heptad_run(here, explain + "--json"))["plan"]["classical_seconds"].get<double>();
  };
  double const by_defaults = classical_seconds();
  heptad::machine_profile slow = heptad::default_profile();
  slow.kernel = heptad::cpu::best_kernel_set<double>().name;
  for (double& gflops : slow.f64.product_gflops) gflops /= 10;
  heptad::machine_profile elsewhere = slow;
  elsewhere.cpu = "Another";

  auto const check = [&](bool measured, std::string const& source) {
    auto const profile = json_of(heptad_run(here, "info --json"))["profile"];
    CHECK(profile["measured"] == measured);
    CHECK(profile["source"] == source);
    CHECK(heptad_run(here, explain).out.find("\nmachine     " + source + '\n') != std::string::npos);
    if (measured) CHECK(classical_seconds() > 5 * by_defaults);
    else CHECK(classical_seconds() == by_defaults);
  };
  check(false, "defaults: no profile at " + path + "; `heptad calibrate` makes one");
  save_profile(slow, path);
  check(true, path);
  save_profile(elsewhere, path);
  check(false, "defaults: measured on CPU 'Another', this one is '" + slow.cpu + "'");
  std::string const half = read_text(path).substr(0, 1000);
  std::ofstream(path) << half;
  check(false, "defaults: profile " + path + ": field '(whole file)' is not JSON");
}
