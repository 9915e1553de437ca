// SPDX-License-Identifier: BSD-3-Clause
// Shared products in which an allocation fails, for one after the other until none does.
#include <array>
#include <atomic>
#include <cstring>
#include <new>
#include <string>

#include "schedulers/parts.hpp"
#include "tests/cuda_host/hybrid_case.hpp"
#include "tests/fuzz/failing_memory.hpp"

using namespace heptad;
using namespace heptad::test;
using heptad::fuzz::failing_memory;
using heptad::fuzz::failure;

namespace {

struct counted_parts final : part_work {
  std::array<std::atomic<int>, 3> done{};

  part_end on_device(std::size_t part) noexcept override {
    ++done[part];
    return part_end::done;
  }
  void on_cpu(std::size_t part) noexcept override { ++done[part]; }
};

enum class outcome { done, refused, spoilt };

outcome call(exact_product<double>& x, context& workers, paper_devices& devices, hybrid::options const& wishes,
             std::string& said) {
  try {
    (void)x.run(workers, devices, wishes);
    return outcome::done;
  } catch (std::bad_alloc const&) {
    return outcome::refused;
  } catch (error const& e) {
    said = e.what();
    return e.code() == status::out_of_memory ? outcome::refused : outcome::spoilt;
  }
}

}  // namespace

TEST_CASE("without memory for the threads of devices all parts are done once, or none has begun") {
  for (failure const how : {failure::one, failure::all_from_there})
    for (long number = 0;; ++number) {
      counted_parts parts;
      bool done = true;
      {
        failing_memory const memory(number, how);
        try {
          run_parts(std::array<std::size_t, 1>{0}, std::array<std::size_t, 2>{1, 2}, parts);
        } catch (std::bad_alloc const&) {
          done = false;
        }
      }
      INFO("allocation " << number);
      for (auto const& count : parts.done) CHECK(count == (done ? 1 : 0));
      if (fuzz::failures == 0) break;
    }
}

TEST_CASE("whichever allocation of a shared product fails, C is right, or as it was, or the error says what is not") {
  context workers(2);
  hybrid::options wishes = half_by_cpu();
  wishes.learn = true;
  wishes.product.max_levels = 0;
  auto const [broken, beta] = GENERATE(table<fault, double>({{fault::none, -3.0},
                                                             {fault::at_once, -3.0},
                                                             {fault::strange, 0.0},
                                                             {fault::touched, 0.0},
                                                             {fault::touched, -3.0}}));
  paper_devices devices;
  devices.broken = broken;
  exact_product<double> x(40, 150, 10, beta);
  auto const how = GENERATE(failure::one, failure::all_from_there);
  for (long number = 0;; ++number) {
    x.c = x.before;
    std::string said(600, ' ');  // its memory is there before
    outcome end;
    {
      failing_memory const memory(number, how);
      end = call(x, workers, devices, wishes, said);
    }
    INFO("allocation " << number << ", fault " << static_cast<int>(broken) << ", beta " << beta << ": " << said);
    if (end == outcome::done) REQUIRE(x.c == x.expected);
    else if (end == outcome::refused)
      REQUIRE(std::memcmp(x.c.data(), x.before.data(), x.c.size() * sizeof(double)) == 0);
    else REQUIRE_THAT(said, Catch::Contains("of C (it ") || Catch::Contains("C may be partly updated"));
    if (fuzz::failures > 0) continue;
    CHECK(end == (broken == fault::touched && beta != 0 ? outcome::spoilt : outcome::done));
    break;
  }
}
