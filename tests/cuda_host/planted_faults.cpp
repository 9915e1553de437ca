// SPDX-License-Identifier: BSD-3-Clause
// Faults that ThreadSanitizer must find: it ends this program with an error, which shows that it would find such a
// fault in the kernels. Without an argument there is none, and the program ends well.
//   pass      columns of a pass overlap: two blocks write one element
//   turns     two fused products of one launch add to one block of C without taking turns
//   barriers  the fused kernel runs without its barriers
//   warps     the lanes of a warp multiply fragments that others have not brought yet
#include <string>
#include <vector>

#include "codelets/cuda/combine_launch.cuh"
#include "codelets/cuda/fused.hpp"

using namespace heptad;
using namespace heptad::cuda;

namespace {

/// Two products, one after the other in C, on panels that several threads fill.
template <typename T>
void run_fused(accumulation how) {
  std::vector<T> A(64 * 16, T(1)), B(16 * 64, T(1)), C(64 * 64);
  std::vector<fused_product<T>> products(2);
  for (unsigned r = 0; r < 2; ++r) {
    products[r].sources_a = products[r].sources_b = products[r].targets = 1;
    products[r].a[0] = {A.data(), 1}, products[r].b[0] = {B.data(), 1};
    products[r].c[0] = {C.data(), 1, T(r), 0, r};
  }
  std::vector<unsigned> counters(fused_counters({64, 64}, 1, 64, 64));  // the smallest tile has the most
  fused_call<T> call{products, 64, 64, 16, {64, orientation::column_major}, {16, orientation::column_major}, 64};
  call.how = how, call.counters = counters.data();
  launch_fused<T>(nullptr, call);
}

}  // namespace

int main(int argc, char** argv) {
  std::string const fault = argc > 1 ? argv[1] : "";
  std::vector<double> X(4096, 1.0);
  launch_scale<double>(nullptr, 2.0, X.data(), fault == "pass" ? 1 : 16, 16, 16);
  shim_barriers = fault != "barriers";
  shim_warp_barriers = fault != "warps";
  run_fused<float>(fault == "turns" ? accumulation::streams : accumulation::ordered);
  run_fused<double>(accumulation::ordered);
  return 0;
}
