// SPDX-License-Identifier: BSD-3-Clause
#include <atomic>
#include <catch2/catch.hpp>
#include <stdexcept>
#include <thread>
#include <vector>

#include "src/process/lasting.hpp"

using namespace heptad;

TEST_CASE("what throws while it is made is made by the next call, and then never again") {
  static constinit lasting<int> number;
  int calls = 0;
  auto const make = [&] { return ++calls < 3 ? throw std::runtime_error("not yet") : calls; };
  CHECK_THROWS_AS(number.get(make), std::runtime_error);
  CHECK_THROWS_AS(number.get(make), std::runtime_error);
  CHECK(number.get(make) == 3);
  CHECK(number.get(make) == 3);
}

TEST_CASE("of many threads one makes it, those that wait for one that throws go on, and all get the same") {
  constexpr int threads = 8;
  static constinit lasting<int> number;
  std::atomic<int> calls{0}, thrown{0}, right{0};
  auto const make = [&] { return ++calls < 5 ? throw std::runtime_error("not yet") : 7; };
  auto const ask_until_it_is_made = [&] {
    for (;;) try {
        right += number.get(make) == 7;
        return;
      } catch (std::runtime_error const&) {
        ++thrown;
      }
  };
  std::vector<std::thread> all;
  for (int i = 0; i < threads; ++i) all.emplace_back(ask_until_it_is_made);
  for (auto& thread : all) thread.join();
  CHECK(right == threads);
  CHECK(calls == 5);
  CHECK(thrown == 4);
}

TEST_CASE("what is made lies in its own place, as tasks ask for it, and may not lack memory") {
  static constinit lasting<int const> number;
  auto const* const from = reinterpret_cast<char const*>(&number);
  auto const* const at = reinterpret_cast<char const*>(&number.get([] { return 7; }));
  CHECK((at >= from && at < from + sizeof number));
}
