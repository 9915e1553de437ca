// SPDX-License-Identifier: BSD-3-Clause
#include "schedulers/cuda/pinned_ring.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <thread>

#include <heptad/heptad.hpp>

#include "schedulers/cuda/check.hpp"

namespace heptad::cuda {
namespace {

/// Lines [first, last), each from byte `offset`.
byte_lines part(byte_lines const& x, std::size_t first, std::size_t last, std::size_t offset, std::size_t bytes) {
  return {x.data + first * x.pitch + offset, x.pitch, bytes, last - first};
}

void copy_serially(byte_lines const& to, byte_lines const& from) {
  if (to.pitch == from.bytes && from.pitch == from.bytes) {
    std::memcpy(to.data, from.data, from.bytes * from.lines);
    return;
  }
  for (std::size_t i = 0; i < from.lines; ++i)
    std::memcpy(to.data + i * to.pitch, from.data + i * from.pitch, from.bytes);
}

}  // namespace

void copy_lines(byte_lines const& to, byte_lines const& from, int threads) {
  std::size_t const shares = std::min(static_cast<std::size_t>(threads), from.lines);
  auto const copy_share = [&](std::size_t s) {
    std::size_t const first = from.lines * s / shares, last = from.lines * (s + 1) / shares;
    copy_serially(part(to, first, last, 0, from.bytes), part(from, first, last, 0, from.bytes));
  };
  std::vector<std::jthread> others;
  std::size_t taken = 1;  // the caller has the first one, and those for which there is no thread
  try {
    for (; taken < shares; ++taken) others.emplace_back(copy_share, taken);
  } catch (std::exception const&) {  // std::system_error, std::bad_alloc
  }
  if (shares > 0) copy_share(0);
  for (std::size_t s = taken; s < shares; ++s) copy_share(s);
}

pinned_ring::pinned_ring(std::size_t bytes, int copy_threads)
    : buffer_bytes_(std::max<std::size_t>(bytes / buffers, 4096)), copy_threads_(copy_threads), buffers_(buffers) {
  for (buffer& b : buffers_) {
    void* data = nullptr;
    cudaError_t status = cudaHostAlloc(&data, buffer_bytes_, cudaHostAllocDefault);
    if (status == cudaSuccess) status = cudaEventCreateWithFlags(&b.passed, cudaEventDisableTiming);
    b.data = static_cast<char*>(data);
    if (status == cudaSuccess) continue;
    for (buffer& made : buffers_) {
      if (made.passed != nullptr) cudaEventDestroy(made.passed);
      cudaFreeHost(made.data);
    }
    fail(heptad::status::out_of_memory,
         fmt::format("{} bytes of pinned host memory: {}; C is as it was", bytes, cudaGetErrorString(status)));
  }
}

pinned_ring::~pinned_ring() {
  for (buffer& b : buffers_) {
    if (b.busy) cudaEventSynchronize(b.passed);
    cudaEventDestroy(b.passed);
    cudaFreeHost(b.data);
  }
}

void pinned_ring::settle(buffer& b) {
  if (!b.busy) return;
  check_running(cudaEventSynchronize(b.passed), "a copy");
  b.busy = false;
  if (b.waiting.data == nullptr) return;
  copy_lines(b.waiting, {b.data, b.waiting.bytes, b.waiting.bytes, b.waiting.lines}, copy_threads_);
  b.waiting = {};
}

pinned_ring::buffer& pinned_ring::take() {
  buffer& b = buffers_[next_];
  next_ = (next_ + 1) % buffers_.size();
  settle(b);
  return b;
}

/// Whole lines where a buffer holds one, otherwise pieces of each.
template <typename Visit>
void pinned_ring::for_each_piece(byte_lines const& x, Visit const& visit) const {
  std::size_t const bytes = std::min(x.bytes, buffer_bytes_);
  std::size_t const lines =
      bytes < x.bytes ? 1 : std::max<std::size_t>(buffer_bytes_ / std::max<std::size_t>(bytes, 1), 1);
  for (std::size_t first = 0; first < x.lines; first += lines)
    for (std::size_t offset = 0; offset < x.bytes; offset += bytes)
      visit(first, std::min(first + lines, x.lines), offset, std::min(bytes, x.bytes - offset));
}

void pinned_ring::to_device(cudaStream_t stream, byte_lines const& device, byte_lines const& host) {
  for_each_piece(host, [&](std::size_t first, std::size_t last, std::size_t offset, std::size_t bytes) {
    buffer& b = take();
    byte_lines const from = part(host, first, last, offset, bytes), to = part(device, first, last, offset, bytes);
    copy_lines({b.data, bytes, bytes, from.lines}, from, copy_threads_);
    check_running(
        cudaMemcpy2DAsync(to.data, to.pitch, b.data, bytes, bytes, from.lines, cudaMemcpyHostToDevice, stream),
        "a copy to the device");
    check_running(cudaEventRecord(b.passed, stream), "an event");
    b.busy = true;
  });
}

void pinned_ring::to_host(cudaStream_t stream, byte_lines const& host, byte_lines const& device) {
  for_each_piece(host, [&](std::size_t first, std::size_t last, std::size_t offset, std::size_t bytes) {
    buffer& b = take();
    byte_lines const to = part(host, first, last, offset, bytes), from = part(device, first, last, offset, bytes);
    check_running(
        cudaMemcpy2DAsync(b.data, bytes, from.data, from.pitch, bytes, to.lines, cudaMemcpyDeviceToHost, stream),
        "a copy to the host");
    check_running(cudaEventRecord(b.passed, stream), "an event");
    b.busy = true;
    b.waiting = to;
  });
}

void pinned_ring::finish() {
  for (std::size_t i = 0; i < buffers_.size(); ++i) take();
}

}  // namespace heptad::cuda
