// SPDX-License-Identifier: BSD-3-Clause
#include "schedulers/cuda/side_streams.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>

#include "schedulers/cuda/check.hpp"

namespace heptad::cuda {
namespace {

std::mutex idle_mutex;
// Never destroyed: at exit the driver may be gone before static objects are.
std::map<int, std::vector<std::unique_ptr<side_streams::kit>>>& idle_kits() {
  static auto* const all = new std::map<int, std::vector<std::unique_ptr<side_streams::kit>>>;
  return *all;
}

using capture_number = unsigned long long;
constexpr capture_number no_capture = 0, failed_capture = ~0ULL;

/// Which capture the stream is in.
capture_number capture_of(cudaStream_t stream) {
  cudaStreamCaptureStatus how = cudaStreamCaptureStatusNone;
  capture_number number = no_capture;
  if (cudaStreamGetCaptureInfo(stream, &how, &number) != cudaSuccess) {
    (void)cudaGetLastError();  // the default stream, which no capture holds, while another one is captured
    return no_capture;
  }
  return how == cudaStreamCaptureStatusNone     ? no_capture
         : how == cudaStreamCaptureStatusActive ? number
                                                : failed_capture;
}

/// One whose streams are in no capture but that of `main`. A new one is empty.
std::unique_ptr<side_streams::kit> take_idle(int device, cudaStream_t main) {
  auto const fits = [in = capture_of(main)](auto const& kit) {
    return std::ranges::all_of(kit->streams, [in](cudaStream_t s) {
      capture_number const its = capture_of(s);
      return its == no_capture || its == in;
    });
  };
  std::lock_guard const lock(idle_mutex);
  auto& idle = idle_kits()[device];
  auto const found = std::ranges::find_if(idle, fits);
  if (found == idle.end()) return std::make_unique<side_streams::kit>();
  auto taken = std::move(*found);
  idle.erase(found);
  return taken;
}

}  // namespace

side_streams::kit::~kit() {
  for (cudaEvent_t const e : events)
    if (e != nullptr) cudaEventDestroy(e);
  for (cudaStream_t const s : streams)
    if (s != nullptr) cudaStreamDestroy(s);
}

side_streams::side_streams(cudaStream_t main, std::size_t pieces) : main_(main), pieces_(pieces) {
  check_running(cudaGetDevice(&device_), "the device");
  kit_ = take_idle(device_, main);
  for (cudaStream_t& s : kit_->streams)
    if (s == nullptr) check_running(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking), "a stream");
  while (kit_->events.size() <= pieces) {
    kit_->events.push_back(nullptr);
    check_running(cudaEventCreateWithFlags(&kit_->events.back(), cudaEventDisableTiming), "an event");
  }
  check_running(cudaEventRecord(kit_->events[0], main), "an event");
  for (cudaStream_t const s : kit_->streams) check_running(cudaStreamWaitEvent(s, kit_->events[0]), "an event");
}

side_streams::~side_streams() {
  if (!joined_) {
    for (cudaStream_t const s : kit_->streams) {
      cudaEventRecord(kit_->events[0], s);
      cudaStreamWaitEvent(main_, kit_->events[0]);
    }
    (void)cudaGetLastError();  // what went wrong first is on its way to the caller
  }
  std::lock_guard const lock(idle_mutex);
  idle_kits()[device_].push_back(std::move(kit_));
}

cudaStream_t side_streams::begin(std::size_t piece, std::span<std::size_t const> after) {
  cudaStream_t const stream = stream_of(piece);
  for (std::size_t const earlier : after)
    if (stream_of(earlier) != stream) check_running(cudaStreamWaitEvent(stream, kit_->events[1 + earlier]), "an event");
  return stream;
}

void side_streams::end(std::size_t piece) {
  check_running(cudaEventRecord(kit_->events[1 + piece], stream_of(piece)), "an event");
}

void side_streams::join() {
  // The last piece of each stream ends after the others of that stream. A stream without a piece ends with the fork.
  std::size_t const first = pieces_ > width ? pieces_ - width : 0;
  for (std::size_t piece = first; piece < pieces_; ++piece)
    if (stream_of(piece) != main_) check_running(cudaStreamWaitEvent(main_, kit_->events[1 + piece]), "an event");
  for (std::size_t s = pieces_; s < width; ++s)
    if (stream_of(s) != main_) {
      check_running(cudaEventRecord(kit_->events[0], stream_of(s)), "an event");
      check_running(cudaStreamWaitEvent(main_, kit_->events[0]), "an event");
    }
  joined_ = true;
}

}  // namespace heptad::cuda
