// SPDX-License-Identifier: BSD-3-Clause
// What the program says to what it does not take: the option, its value and the rule, and nothing of the libraries that
// it reads with.
#include <algorithm>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <string>

#include "codelets/cpu/kernel_set.hpp"
#include "tests/tools/program.hpp"

using namespace heptad::test;

namespace {

std::string const explain = "explain gemm -m 50 -n 50 -k 50 ";

}  // namespace

TEST_CASE("an option that has no such value is named with the value and what it must be") {
  folder const here;
  auto const [arguments, message] = GENERATE(table<std::string, std::string>({
      {explain + "--threads -1", "--threads: '-1' must be an integer from 0 to 16384"},
      {explain + "--threads 1.5", "--threads: '1.5' must be an integer from 0 to 16384"},
      {explain + "--max-levels -1", "--max-levels: '-1' must be an integer of at least 0"},
      {explain + "--max-error 0.5", "--max-error: '0.5' must be a number of at least 1"},
      {explain + "--max-error nan", "--max-error: 'nan' must be a number of at least 1"},
      {explain + "--max-error inf", "--max-error: 'inf' must be a number of at least 1"},
      {explain + "--workers 1,0", "--workers: '0' must be an integer from 1 to 16384"},
      {explain + "--scheduler omp", "--scheduler: omp not in {tbb,sequential,starpu}"},
      {explain + "--scaling up", "--scaling: up not in {none,outside,inside,both,automatic}"},
      {explain + "--max-workspace -5",
       "--max-workspace: '-5' must be a number of bytes, with a suffix k, m or g for powers of 1024, below 2^64 in "
       "all"},
      {explain + "--max-workspace 99999999999999999999",
       "--max-workspace: '99999999999999999999' must be a number of bytes, with a suffix k, m or g for powers of 1024, "
       "below 2^64 in all"},
      {explain + "--max-workspace 99999999999g",
       "--max-workspace: '99999999999g' must be a number of bytes, with a suffix k, m or g for powers of 1024, below "
       "2^64 in all"},
      {explain + "--device cuda --devices 17", "--devices: '17' must be an integer from 1 to 16"},
      {explain + "--algorithm quick",
       "algorithm = 'quick' must be auto, a name or a shape that `heptad info` lists, names joined by '*', or the path "
       "of "
       "a file"},
      {"explain gemm -m 4294967296 -n 4294967296 -k 1",
       "C of 4294967296 x 4294967296 elements is larger than the address space"},
      {"explain gemm -m 4294967296 -n 4294967296 -k 1 --device cuda",
       "C of 4294967296 x 4294967296 elements is larger than the address space"},
      {"explain gemm -m 99999999999999999999 -n 5 -k 5",
       "-m: '99999999999999999999' must be an integer of at least 0, and at most 9223372036854775807"},
      {"explain gemm -m -1 -n 5 -k 5", "-m: '-1' must be an integer of at least 0"},
      {"gemm A B -o C --repeat 0", "--repeat: '0' must be an integer of at least 1"},
      {"search 2 2 17", "N: '17' must be an integer from 1 to 16"},
      {"search 2 2 2 --rank 9", "rank = 9 must be from 1 to 8, that of the classical algorithm"},
      {"search 2 2 2 --rank 2000000000 --method least-squares",
       "rank = 2000000000 must be from 1 to 8, that of the classical algorithm"},
      {"search 2 2 2 --method least-squares", "least squares need the rank to look for"},
      {"search 9 9 1", "an operand of <9,9,1> has 81 blocks, more than 64"},
      {"search 2 2 2 --from quick", "--from quick: there is no such algorithm"},
      {"search 2 2 2 --from 3x3x3", "sparse333 <3,3,3> does not fit into <2,2,2>"},
      {"search 2 2 2 --objective predicted-time --problem 9223372036854775807,1,1",
       "--problem: '9223372036854775807' must be an integer from 1 to 134217728"},
      {"search 2 2 2 --seconds 0", "--seconds: '0' must be a number above 0"},
      {"search 2 2 2 --seconds 1e-400", "--seconds: '1e-400' must be a number above 0; in double precision it is 0"},
      {"search 2 2 2 --seconds 1e400",
       "--seconds: '1e400' must be a number above 0, and at most 1.7976931348623157e+308"},
      {explain + "--max-error 1e-400",
       "--max-error: '1e-400' must be a number of at least 1; in double precision it is 0"},
      {"--bogus", "The following argument was not expected: --bogus"},
      {"explain --bogus", "The following argument was not expected: --bogus"},
      {"search 2 2 2 --seed -1", "--seed: '-1' must be an integer of at least 0"},
      {"bench gemm --reps 0", "--reps: '0' must be an integer of at least 1"},
      {"bench gemm --max-workspace -1",
       "--max-workspace: '-1' must be a number of bytes, with a suffix k, m or g for powers of 1024, below 2^64 in "
       "all"},
      {"bench gemm --sizes 64,6x4", "--sizes: shape '6x4': want N or MxNxK"},
      {"bench gemm --peers none,openblas", "--peers: 'none' must stand alone"},
      {"bench gemm --peers nope", "--peers: 'nope' must be auto, none, mkl, openblas or blis"},
      {"bench accuracy --sizes 64,63", "--sizes: '63' must be an integer from 64 to 65536"},
      {"gemm A B -o C --c0 D", "--c0 requires --beta"},
      {"gemm A B -o C --beta 2", "--beta 2 needs --c0"},
      {"gemm A B -o C --alpha ''", "--alpha: '' must be a number that is finite"},
      {"gemm A B -o C --alpha inf", "--alpha: 'inf' must be a number that is finite"},
      {"gemm A B -o C --beta nan", "--beta: 'nan' must be a number that is finite"},
      {"bench gemm --beta nan", "--beta: 'nan' must be a number that is finite"},
      {explain + "--type 100", "--type: 100 not in {d,s}"},
      {"frob", "'frob' must be gemm, explain, calibrate, info, search, verify, simulate, bench"},
      {"", "the command must be gemm, explain, calibrate, info, search, verify, simulate, bench"},
      {"explain frob", "'frob' must be gemm"},
  }));
  auto const result = heptad_run(here, arguments);
  INFO(arguments);
  CHECK(result.code == 2);
  CHECK(result.err == "heptad: " + message + '\n');
}

TEST_CASE("help lists the words of an option without the values that they stand for") {
  folder const here;
  std::string const help = heptad_run(here, "gemm --help").out;
  CHECK(help.find("{tbb,sequential,starpu}") != std::string::npos);
  CHECK(help.find("{none,outside,inside,both,automatic}") != std::string::npos);
  CHECK(help.find("->") == std::string::npos);
  CHECK(heptad_run(here, "manual bash").out.find("-W \"tbb sequential starpu\"") != std::string::npos);
}

TEST_CASE("workspaces take a suffix in either case, in every command and in the variable") {
  folder const here;
  auto const cap = [&here](std::string const& text, std::string const& variables) {
    return json_of(heptad_run(here, explain + text + " --json", variables))["plan"]["workspace_cap"].get<double>();
  };
  for (auto const& [text, bytes] :
       {std::pair{"0", 0.0}, {"3k", 3072.0}, {"3K", 3072.0}, {"2M", 0x1p21}, {"1g", 0x1p30}}) {
    CHECK(cap(std::string("--max-workspace ") + text, "") == bytes);
    CHECK(cap("", std::string("HEPTAD_MAX_WORKSPACE=") + text) == bytes);
  }
  auto const bench = heptad_run(here,
                                "bench gemm --sizes 96 --reps 1 --min-seconds 0 --peers none --max-workspace 1g "
                                "--json r.json");
  INFO(bench.err);
  CHECK(bench.code == 0);
  CHECK(nlohmann::json::parse(read_text(here / "r.json"))["libraries"][0]["options"]["max_workspace"] == 0x1p30);
}

TEST_CASE("a kernel set that is not there is answered with those that are") {
  folder const here;
  auto const result = heptad_run(here, explain + "--kernel sse");
  CHECK(result.code == 2);
  CHECK(result.err.starts_with("heptad: kernel = 'sse' must be auto or "));
  CHECK(result.err.find(heptad::cpu::best_kernel_set<double>().name) != std::string::npos);
  CHECK(result.err.ends_with(" on this processor\n"));
}

TEST_CASE("what has no meaning on a device, or without one, is refused by name") {
  folder const here;
  std::string const no_part = "is for the CPU, which takes no part with --device cuda alone";
  auto const [arguments, message] = GENERATE_COPY(table<std::string, std::string>({
      {"--device cuda --dot g.dot", "--dot: is not for --device cuda"},
      {"--device cuda --svg g.svg", "--svg: is not for --device cuda"},
      {"--device cuda --trace t.json", "--trace: is not for --device cuda"},
      {"--device cuda --workers 2", "--workers: is not for --device cuda"},
      {"--device cuda --threads 2", "--threads: " + no_part},
      {"--device cuda --deterministic", "--deterministic: " + no_part},
      {"--device cuda --scheduler tbb", "--scheduler: " + no_part},
      {"--device cuda --kernel auto", "--kernel: " + no_part},
      {"--device cuda --scaling none", "--scaling: " + no_part},
      {"--device cuda --refine", "--refine: " + no_part},
      {"--device cuda --type d --arithmetic tf32", "--arithmetic: tf32 is for --type s"},
      {"--device cuda --devices 2 --type s --arithmetic tf32",
       "--arithmetic: is not for products that --devices shares: they are exact"},
      {"--type s --arithmetic tf32", "--arithmetic: needs --device cuda"},
      {"--devices 2", "--devices: needs --device cuda"},
  }));
  auto const result = heptad_run(here, explain + arguments);
  INFO(arguments);
  CHECK(result.code == 2);
  CHECK(result.err == "heptad: " + message + '\n');
}

TEST_CASE("a plan for a device by the built-in table says that no device was measured") {
  folder const here;
  std::string const device = "no device measured here: the built-in table of an NVIDIA H200";
  auto const alone = heptad_run(here, explain + "--device cuda --type s --arithmetic tf32");
  INFO(alone.err);
  CHECK(alone.out.find("device      " + device + '\n') != std::string::npos);
  CHECK(alone.out.find("TF32") != std::string::npos);
  CHECK(heptad_run(here, explain + "--device cuda --devices 2 --threads 2").out.starts_with("device      " + device));
}

TEST_CASE("of a file that is no record the bench says the option, the file and the rule") {
  folder const here;
  std::ofstream(here / "half.json") << "{\"cases\": [";
  for (char const* name : {"accuracy.json", "gemm.json", "list.json", "empty.json"}) std::ofstream(here / name) << "";
  std::ofstream(here / "accuracy.json") << R"({"kind": "accuracy", "rows": []})";
  std::ofstream(here / "gemm.json") << R"({"cases": [{"type": "d", "m": 96, "n": 96, "k": 96, "results": []}]})";
  std::ofstream(here / "list.json") << "[1, 2]";
  std::ofstream(here / "no_plans.json") << R"({"cases": [{"type": "d", "m": 96, "n": 96, "k": 96, "plans": []}]})";
  auto const [arguments, message] = GENERATE(table<std::string, std::string>({
      {"--again --json none.json", "--json none.json cannot be read, and --again measures nothing"},
      {"--json half.json", "--json half.json is not JSON"},
      {"--json empty.json", "--json empty.json is not JSON"},
      {"--json accuracy.json", "--json accuracy.json must be a record of `heptad bench planner`"},
      {"--again --json gemm.json", "--json gemm.json must be a record of `heptad bench planner`"},
      {"--json gemm.json", "--json gemm.json must be a record of `heptad bench planner`"},
      {"--json list.json", "--json list.json must be a record of `heptad bench planner`"},
      {"--json no_plans.json", "--json no_plans.json must be a record of `heptad bench planner`"},
  }));
  auto const result = heptad_run(here, "bench planner " + arguments);
  INFO(arguments);
  CHECK(result.code == 1);
  CHECK(result.err == "heptad: " + message + '\n');
}

TEST_CASE("a variable that has no such value fails every command") {
  folder const here;
  std::string const command =
      GENERATE(as<std::string>(), "search 1 1 1 --rank 1 --moves 10", "verify '" HEPTAD_ALGORITHMS_DIR "/winograd.txt'",
               "info", explain, explain + "--device cuda", explain + "--device cuda --devices 2",
               "bench gemm --sizes 64 --peers none", "bench accuracy --sizes 64 --levels 1 --algorithms winograd");
  auto const levels = heptad_run(here, command, "HEPTAD_MAX_LEVELS=some");
  INFO(command);
  CHECK(levels.code == 1);
  CHECK(levels.err == "heptad: HEPTAD_MAX_LEVELS = 'some' must be an integer of at least 0\n");
  auto const algorithms = heptad_run(here, command, "HEPTAD_ALGORITHMS=none");
  CHECK(algorithms.code == 1);
  CHECK(algorithms.err.starts_with("heptad: HEPTAD_ALGORITHMS = 'none': "));
}

TEST_CASE("what a file holds that is no text is told in characters that print") {
  folder const here;
  std::ofstream(here / "junk.txt") << "\x7f\x45LF\x02\xff\xfe \x1b[31m";
  std::ofstream(here / "zeros.txt") << std::string("name\0", 5);
  std::ofstream(here / "empty.txt") << "";
  auto const text = heptad_run(here, "verify junk.txt zeros.txt empty.txt");
  CHECK(text.code == 1);
  CHECK(text.out ==
        "FAIL  junk.txt:1: 'name' is expected, not '\\x7fELF\\x02\\xff\\xfe'\n"
        "FAIL  zeros.txt: the file is no text: it has a byte 0\n"
        "FAIL  empty.txt: the file ends too early\n");
  auto const json = heptad_run(here, "verify junk.txt --json");
  CHECK(nlohmann::json::parse(json.out)[0]["passed"] == false);
}

TEST_CASE("what is one is told as one, and what is long is told shortly") {
  folder const here;
  write_random<double>(here / "A.npy", 200, 200, false);
  auto const forced = heptad_run(here, "gemm A.npy A.npy -o C.npy --check --threads 1", "HEPTAD_FORCE_LEVELS=1");
  CHECK(forced.out.find(" 1 slot") != std::string::npos);
  CHECK(forced.out.find("1 slots") == std::string::npos);
  CHECK(forced.out.find("1 level was asked for") != std::string::npos);
  CHECK(forced.out.find("not allowed: 1 level was asked for\n") != std::string::npos);
  CHECK(forced.out.find("but less accurate") == std::string::npos);
  CHECK(forced.out.find("passed\n") != std::string::npos);
  auto const classical = heptad_run(here, "gemm A.npy A.npy -o C.npy --check --max-levels 0");
  CHECK(classical.out.find("passed; C is a classical product, too\n") != std::string::npos);
  CHECK(heptad_run(here, explain + "--workers 1").out.find("dry run     1 worker: ") != std::string::npos);

  std::string const info = heptad_run(here, "info").out;
  for (std::size_t from = info.find("\nalgorithm"), to = 0; from != std::string::npos;
       from = info.find("\nalgorithm", to)) {
    to = info.find('\n', from + 1);
    CHECK(to - from < 160);
  }
  auto const whole = json_of(heptad_run(here, "info --json"))["algorithms"];
  CHECK(std::ranges::any_of(whole, [](auto const& x) { return x["source"].template get<std::string>().size() > 150; }));
}
