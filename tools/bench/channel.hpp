// SPDX-License-Identifier: BSD-3-Clause
// One JSON object a line over a socket: how the bench and its workers talk.
#pragma once

#include <cstdio>
#include <nlohmann/json.hpp>

namespace heptad::bench {

class channel {
public:
  explicit channel(int descriptor);  ///< takes the descriptor over
  channel(channel&& other) noexcept;
  channel& operator=(channel&&) = delete;
  ~channel();

  /// Throws std::runtime_error when the other side is gone.
  void send(nlohmann::json const& message);
  [[nodiscard]] nlohmann::json receive();

private:
  int descriptor_;
  std::FILE* input_;
};

}  // namespace heptad::bench
