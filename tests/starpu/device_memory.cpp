// SPDX-License-Identifier: BSD-3-Clause
// Products that a device's memory does not hold, of which StarPU is told to use two megabytes.
#include <heptad/starpu.hpp>

#include "tests/starpu/listener.hpp"
#include "tests/starpu/runtime.hpp"

using namespace heptad;
using namespace heptad::test;

namespace {

constexpr std::size_t room = std::size_t{2} << 20;

/// One CPU worker and a device.
class small_device {
public:
  explicit small_device(char const* policy)
      : runtime_(policy, {{"STARPU_NCPU", "1"},
                          {"STARPU_NOPENCL", "1"},
                          {"STARPU_OPENCL_ON_CPUS", "1"},
                          {"STARPU_LIMIT_OPENCL_MEM", "2"}}) {}

private:
  own_starpu runtime_;
};

/// In memory of StarPU's, where columns follow each other.
std::size_t bytes_of(handled_matrix<double> const& X) {
  return static_cast<std::size_t>(X.rows * X.cols) * sizeof(double);
}

/// C := C + A B and D := D + B A, from sizes of which the device holds three matrices to those of which not even two
/// fit.
template <typename Products>
void check_sizes(Products const& products) {
  std::mt19937 random(51);
  for (std::int64_t const n : {292, 300, 356, 364, 520}) {
    handled_matrix<double> A(n, n, random), B(n, n, random), C(n, n, random), D(n, n, random), sum_C(C), sum_D(D);
    classical(1.0, A, false, B, false, 1.0, sum_C);
    classical(1.0, B, false, A, false, 1.0, sum_D);
    for (char const* policy : {"eager", "lws", "prio", "dmda", "dmdas"})
      for (int const levels : {0, 2}) {
        small_device const nodes(policy);
        SKIP_WITHOUT_DEVICE
        CAPTURE(n, policy, levels);
        handled_matrix<double> first(C), second(D);
        products(levels, A, B, first, second);
        REQUIRE((first.data == sum_C.data));
        REQUIRE((second.data == sum_D.data));
      }
  }
}

}  // namespace

TEST_CASE("submitted products are exact whether a device's memory holds their operands or not") {
  std::size_t with_device = 0, without = 0;
  check_sizes([&](int levels, auto& A, auto& B, auto& C, auto& D) {
    starpu::submit_options how;
    how.wishes.force_levels = levels;
    A.share(), B.share(), C.share(), D.share();
    listener const ear;
    (void)starpu::submit_gemm(1.0, A.handle, B.handle, 1.0, C.handle, how);
    (void)starpu::submit_gemm(1.0, B.handle, A.handle, 1.0, D.handle, how);
    std::size_t const operands = 2 * bytes_of(A), all = operands + bytes_of(C);
    for (heard::task const& t : ear.so_far().of_graph()) {
      if (!t.name.starts_with("product")) continue;
      bool const device = (t.where & STARPU_OPENCL) != 0;
      CHECK((device || all > room));
      CHECK((!device || operands <= room));
      ++(device ? with_device : without);
    }
    C.release(), D.release(), A.release(), B.release();
  });
  CHECK((with_device > 0) == (without > 0));  // both, if there is a device
}

TEST_CASE("blocking products are exact whether a device's memory holds their operands or not") {
  heptad::context workers(1);
  check_sizes([&](int levels, auto& A, auto& B, auto& C, auto& D) {
    options blocking;
    blocking.scheduler = scheduler_kind::starpu;
    blocking.force_levels = levels;
    auto const product = [&](auto& X, auto& Y, auto& Z) {
      (void)gemm<double>(workers, 1.0, column_major<double const>(X.data.data(), X.rows, X.cols, X.ld),
                         column_major<double const>(Y.data.data(), Y.rows, Y.cols, Y.ld), 1.0,
                         column_major(Z.data.data(), Z.rows, Z.cols, Z.ld), blocking);
    };
    product(A, B, C);
    product(B, A, D);
  });
}
