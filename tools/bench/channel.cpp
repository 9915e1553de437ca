// SPDX-License-Identifier: BSD-3-Clause
#include "tools/bench/channel.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

namespace heptad::bench {

// Both descriptors close on exec: a worker that inherited one would never see the other side go.
channel::channel(int descriptor) : descriptor_(descriptor), input_(fdopen(fcntl(descriptor, F_DUPFD_CLOEXEC, 0), "r")) {
  if (input_ == nullptr) throw std::runtime_error("cannot open the channel between the bench and its worker");
}

channel::channel(channel&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), input_(std::exchange(other.input_, nullptr)) {}

channel::~channel() {
  if (input_ != nullptr) std::fclose(input_);
  if (descriptor_ >= 0) close(descriptor_);
}

void channel::send(nlohmann::json const& message) {
  std::string const line = message.dump() + '\n';
  std::size_t sent = 0;
  while (sent < line.size()) {
    ssize_t const count = ::send(descriptor_, line.data() + sent, line.size() - sent, MSG_NOSIGNAL);
    if (count <= 0) throw std::runtime_error("the other process is gone");
    sent += static_cast<std::size_t>(count);
  }
}

nlohmann::json channel::receive() {
  char* line = nullptr;
  std::size_t capacity = 0;
  ssize_t const length = getline(&line, &capacity, input_);
  std::unique_ptr<char, decltype(&std::free)> const owner(line, &std::free);
  if (length <= 0) throw std::runtime_error("the other process is gone");
  return nlohmann::json::parse(line, line + length);
}

}  // namespace heptad::bench
