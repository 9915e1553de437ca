// SPDX-License-Identifier: BSD-3-Clause
// Who may take part in one shared product, what is predicted for them, and which block of C each is given.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include <heptad/hybrid.hpp>

#include "schedulers/cuda/backend.hpp"
#include "src/api/learned_rates.hpp"
#include "src/plan/split.hpp"

namespace heptad::hybrid {

struct logical_device {
  device_share what;
  int number;  // among those of its device
  std::string name;
};

class crew {
public:
  /// `shape`: C column-major, positive extents of C. The CPU alone, until asked().
  crew(context& workers, element_type type, problem const& shape, options const& wishes);

  /// Asks `find` for devices, where the wishes have room for them. It throws error that says why there is none;
  /// `pinned` may say that an operand is memory of a device, which is refused.
  void ask(device_backend& (*find)(), std::function<bool(device_backend&)> const& pinned);

  /// The blocks of C and the predictions for them: participants()[i] computes part i; 0 is the CPU, others are devices.
  [[nodiscard]] plan make();
  [[nodiscard]] std::vector<std::size_t> const& participants() const { return who_; }

  /// Says in the parts of such a plan how they would be computed.
  void describe(plan& p) const;

  /// After the product: how wrong the predictions were, and what it took.
  void learn(report const& told) const;

  [[nodiscard]] device_backend* backend() const { return backend_; }
  [[nodiscard]] device_share const& device(std::size_t who) const { return devices_[who - 1].what; }
  [[nodiscard]] bool has_devices() const { return !devices_.empty(); }
  [[nodiscard]] std::vector<std::string> const& absent() const { return absent_; }

private:
  void find_devices();
  [[nodiscard]] std::vector<participant> participants_by_rates();
  [[nodiscard]] split fastest_alone(std::vector<participant> const& all) const;
  void whole_by_cpu();
  [[nodiscard]] part part_of(split_part const& s);
  [[nodiscard]] problem block_of(std::int64_t rows, std::int64_t cols) const;
  [[nodiscard]] heptad::plan on_cpu(std::int64_t rows, std::int64_t cols) const;
  [[nodiscard]] double on_device(std::size_t d, std::int64_t rows, std::int64_t cols);

  context& workers_;
  element_type const type_;
  problem const shape_;
  options const& wishes_;
  bool pinned_ = false;
  device_backend* backend_ = nullptr;
  std::vector<logical_device> devices_;
  std::vector<std::string> absent_;
  shared_product_key key_{};
  learned_split known_;
  std::vector<std::size_t> who_;
};

}  // namespace heptad::hybrid
