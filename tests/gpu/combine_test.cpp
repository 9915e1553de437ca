// SPDX-License-Identifier: BSD-3-Clause
// On the device the generated kernels agree with the general one, whose terms come from the coefficient matrices.
#include "codelets/cuda/combine.hpp"

#include "src/algorithm/algorithm.hpp"
#include "src/plan/level_schedule.hpp"
#include "tests/gpu/device.hpp"

using namespace heptad;
using namespace heptad::test;

namespace {

template <typename T>
void check(additions_program const& program, bool adds, std::int64_t rows, std::int64_t padding, std::size_t offset) {
  constexpr std::int64_t cols = 5;
  std::int64_t const ld = rows + padding;
  auto const inputs = static_cast<std::size_t>(program.inputs), outputs = program.outputs.size();
  auto const each = static_cast<std::size_t>(ld * cols);
  device_array<T> in(random_values<T>(inputs * each, 1), offset), out(random_values<T>(outputs * each, 2), offset);
  std::vector<cuda::combine_input<T>> from;
  std::vector<cuda::combine_output<T>> to;
  for (std::size_t i = 0; i < inputs; ++i) from.push_back({in.data() + i * each, ld});
  for (std::size_t q = 0; q < outputs; ++q) to.push_back({out.data() + q * each, ld, adds ? T(0.5) : T(0)});
  auto const before = out.host;
  require(cuda::combine_program(program).launch<T>(nullptr, {from, to, rows, cols}));
  out.download();
  auto const matrix = evaluate(program);
  for (std::size_t q = 0; q < outputs; ++q)
    for (std::size_t e = 0; e < each; ++e) {
      bool const padded = static_cast<std::int64_t>(e) % ld >= rows;
      double sum = padded ? before[q * each + e] : adds ? 0.5 * before[q * each + e] : 0.0;
      for (std::size_t p = 0; p < inputs && !padded; ++p)
        sum += matrix[p * outputs + q].value() * in.host[p * each + e];
      REQUIRE(std::abs(out.host[q * each + e] - sum) <= 400 * std::numeric_limits<T>::epsilon());
    }
}

}  // namespace

TEST_CASE("every generated kernel forms its sums on the device, aligned or not") {
  for (auto const& [name, most] : std::vector<std::pair<std::string, int>>{{"winograd", 3}, {"strassen", 2}}) {
    auto const one = find_algorithm(name);
    algorithm x = *one;
    for (int levels = 1; levels <= most; ++levels) {
      for (bool const batched : {true, false}) {
        INFO(name << " x" << levels << ", batched " << batched);
        auto const s = schedule_level(x, {update::accumulate, false, true, true, batched});
        for (scheduled_pass const* p : {&s.sums_A, &s.sums_B, &s.update_C})
          for (bool const adds : {false, true}) {
            if (adds && p != &s.update_C) continue;
            check<double>(p->program, adds, 300, 4, 0);
            check<double>(p->program, adds, 77, 2, 1);
            check<float>(p->program, adds, 1032, 8, 0);
            check<float>(p->program, adds, 77, 2, 1);
          }
      }
      x = kronecker(*one, x);
    }
  }
}
