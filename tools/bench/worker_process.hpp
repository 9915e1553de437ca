// SPDX-License-Identifier: BSD-3-Clause
// The bench's side of one worker: this program again, in a process of its own with an environment of its own, so
// that no library meets another's threads, pinning or symbols.
#pragma once

#include <sys/types.h>

#include <map>
#include <string>
#include <vector>

#include "tools/bench/channel.hpp"
#include "tools/bench/library.hpp"

namespace heptad::bench {

using environment = std::map<std::string, std::string>;

/// What a worker is asked to hold.
struct contestant {
  std::string name;      ///< of the library
  std::string path;      ///< of its shared object; empty: the usual place
  environment settings;  ///< beyond those that every worker gets
  own_options own;       ///< Heptad's only
};

class worker_process {
public:
  /// Starts `heptad bench-worker`; throws std::runtime_error with the library's reason when it cannot be loaded.
  worker_process(contestant const& who, int threads);
  worker_process(worker_process&&) noexcept;
  worker_process& operator=(worker_process&&) = delete;
  ~worker_process();

  [[nodiscard]] library_info const& info() const { return info_; }

  [[nodiscard]] verdict prepare(gemm_case const& what);
  struct timing {
    std::vector<double> seconds;  ///< of each call
    std::vector<double> idle;     ///< idle fraction of each call, where the library reports it
    NLOHMANN_DEFINE_TYPE_INTRUSIVE(timing, seconds, idle)
  };
  [[nodiscard]] timing run(double seconds);
  [[nodiscard]] nlohmann::json finish();

private:
  nlohmann::json ask(nlohmann::json const& request);

  std::string name_;
  pid_t process_ = -1;
  std::vector<channel> line_;  // one, until the process is told to go
  library_info info_;
};

}  // namespace heptad::bench
