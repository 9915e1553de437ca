// SPDX-License-Identifier: BSD-3-Clause
// What a plan costs on a device: seconds = bytes of the passes over the bandwidth of the memory + products at the rate
// that cuBLAS reaches at their size + the fringes.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "src/algorithm/algorithm.hpp"
#include "src/plan/accuracy.hpp"
#include "src/plan/cost_model.hpp"
#include "src/plan/device_profile.hpp"

namespace heptad::cuda {

/// A stage with what the models count of it.
struct known_stage {
  std::shared_ptr<algorithm const> composed;
  level_traffic traffic;
  level_accuracy accuracy;  // of one level
};

/// Made at the first use and kept.
known_stage const& known(std::string const& name, int levels);

struct extent {
  double m = 0, n = 0, k = 0;
  [[nodiscard]] double flops() const { return 2 * m * n * k; }
  [[nodiscard]] bool empty() const { return m <= 0 || n <= 0 || k <= 0; }
};

class device_cost {
public:
  device_cost(plan const& p, device_profile const& device)
      : plan_(p),
        device_(device),
        rates_(device.rates(p.type, p.arithmetic)),
        bytes_(p.type == element_type::f64 ? 8 : 4) {}

  /// Seconds of a product by cuBLAS.
  [[nodiscard]] double product(extent const& x, bool batched) const;

  /// Seconds of the plan, and bytes of workspace.
  [[nodiscard]] std::pair<double, double> run() const;

  /// Of the cube whose rate fused products have.
  [[nodiscard]] static double fused_size(extent const& leaf);

private:
  [[nodiscard]] std::pair<double, double> fused(extent const& x) const;
  [[nodiscard]] double filled(double tiles) const;
  [[nodiscard]] bool aligned(extent const& x) const;
  [[nodiscard]] double bandwidth(int levels) const;
  [[nodiscard]] double pass(double bytes, int levels) const;
  [[nodiscard]] double cube_rate(double size, bool batched) const;
  [[nodiscard]] double thin_rate(double k) const;
  [[nodiscard]] double fringes() const;

  plan const& plan_;
  device_profile const& device_;
  product_rates const& rates_;
  double const bytes_;
};

}  // namespace heptad::cuda
