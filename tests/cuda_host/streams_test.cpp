// SPDX-License-Identifier: BSD-3-Clause
// Side streams and pinned rings on the streams of the shim: captures stay apart, devices too, and nothing is lost or
// left running when a call fails.
#include <cuda_runtime_api.h>
#include <pthread.h>

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <set>
#include <span>
#include <system_error>
#include <thread>
#include <vector>

#include "schedulers/cuda/check.hpp"
#include "schedulers/cuda/side_streams.hpp"
#include "src/api/cuda/idle_rings.hpp"

using namespace heptad;
using namespace heptad::cuda;

namespace {

constexpr std::size_t pieces = 7;

struct own_stream {
  cudaStream_t stream = nullptr;
  own_stream() { REQUIRE(cudaStreamCreateWithFlags(&stream, 0) == cudaSuccess); }
  ~own_stream() { cudaStreamDestroy(stream); }
  own_stream(own_stream const&) = delete;
  own_stream& operator=(own_stream const&) = delete;
};

/// Pieces, of which each third one follows the one before, queued up to `stop`, where an exception goes through. Their
/// numbers, which no other call has, go to `queued`.
void queue_pieces(cudaStream_t main, std::set<int>& queued, std::size_t stop = pieces) {
  static int number = 0;
  side_streams beside(main, pieces);
  for (std::size_t p = 0; p < pieces; ++p) {
    std::array<std::size_t, 1> const before{p - 1};
    cudaStream_t const on = beside.begin(p, p % 3 == 2 ? before : std::span<std::size_t const>());
    if (p == stop) throw error(status::internal_error, "a launch");
    on->holds.insert(++number);
    queued.insert(number);
    beside.end(p);
  }
  beside.join();
}
void queue_pieces(cudaStream_t main) {
  std::set<int> queued;
  queue_pieces(main, queued);
  CHECK(std::ranges::includes(main->holds, queued));
}

/// While it lives no thread can be had: none can have a stack of that size.
class no_threads {
public:
  no_threads() {
    pthread_getattr_default_np(&before_);
    pthread_attr_t huge = before_;
    pthread_attr_setstacksize(&huge, std::size_t{1} << 60);
    pthread_setattr_default_np(&huge);
  }
  ~no_threads() {
    pthread_setattr_default_np(&before_);
    pthread_attr_destroy(&before_);
  }
  no_threads(no_threads const&) = delete;
  no_threads& operator=(no_threads const&) = delete;

private:
  pthread_attr_t before_;
};

}  // namespace

TEST_CASE("side streams that are in a capture are used again by that capture alone, until it ends") {
  own_stream captured, other;
  shim_begin_capture(captured.stream);
  queue_pieces(captured.stream);
  int const streams = shim_made.streams;
  queue_pieces(captured.stream);
  CHECK(shim_made.streams == streams);
  queue_pieces(other.stream);
  CHECK(other.stream->capture == 0);
  own_stream second;
  shim_begin_capture(second.stream);
  queue_pieces(second.stream);
  CHECK(second.stream->capture != captured.stream->capture);
  shim_end_capture(captured.stream);
  shim_end_capture(second.stream);
  int const all = shim_made.streams;
  queue_pieces(other.stream);
  queue_pieces(captured.stream);
  CHECK(shim_made.streams == all);
}

TEST_CASE("whichever call fails, no side stream or event is lost, and the thread has no last error") {
  own_stream main;
  int const streams = shim_made.streams, events = shim_made.events;
  for (int succeeding = 0;; ++succeeding) {
    INFO(succeeding << " calls succeed");
    int const idle = shim_made.streams;
    shim_succeeding = succeeding;
    bool done = true;
    try {
      queue_pieces(main.stream);
    } catch (error const& e) {
      CHECK(e.code() == status::internal_error);
      done = false;
    }
    done = done && shim_succeeding >= 0;
    shim_succeeding = -1;
    CHECK(shim_made.streams <= std::max(idle, streams + 3));
    CHECK(shim_made.events <= events + static_cast<int>(1 + pieces));
    CHECK(cudaGetLastError() == cudaSuccess);
    if (done) break;
  }
}

TEST_CASE("what was queued when a launch fails comes before what the caller's stream gets next") {
  for (std::size_t stop = 0; stop < pieces; ++stop) {
    own_stream main;
    std::set<int> queued;
    CHECK_THROWS_WITH(queue_pieces(main.stream, queued, stop), "a launch");
    CHECK(queued.size() == stop);
    CHECK(std::ranges::includes(main.stream->holds, queued));
  }
}

TEST_CASE("a failure that is thrown is not left in the thread's last error") {
  shim_last_error = cudaErrorInvalidValue;
  CHECK_THROWS_WITH(check_running(cudaErrorInvalidValue, "a pass"), Catch::Contains("a pass"));
  CHECK(cudaGetLastError() == cudaSuccess);
  shim_last_error = cudaErrorInvalidValue;
  CHECK_THROWS_WITH(check_running(CUBLAS_STATUS_EXECUTION_FAILED, "a product"), Catch::Contains("cuBLAS"));
  CHECK(cudaGetLastError() == cudaSuccess);
}

TEST_CASE("rings are used again on their device alone") {
  constexpr std::size_t bytes = std::size_t{64} << 10;
  std::vector<char> from(3 * bytes), to(from.size());
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<char>(i % 251);
  auto const whole = [](std::vector<char>& x) { return byte_lines{x.data(), 1000, 1000, x.size() / 1000}; };
  rings* first_used[2] = {};
  for (int const device : {0, 1, 0, 1}) {
    INFO("device " << device);
    shim_device = device;
    own_stream on;
    auto through = idle_rings::take(device, bytes, 2);
    if (first_used[device] == nullptr) first_used[device] = through.get();
    CHECK(through.get() == first_used[device]);
    std::vector<char> there(from.size());
    std::ranges::fill(to, '\0');
    CHECK_NOTHROW(through->in.to_device(on.stream, whole(there), whole(from)));
    CHECK_NOTHROW(through->out.to_host(on.stream, whole(to), whole(there)));
    CHECK_NOTHROW(through->out.finish());
    CHECK(std::equal(from.begin(), from.end() - static_cast<std::ptrdiff_t>(from.size() % 1000), to.begin()));
    idle_rings::give(std::move(through));
  }
  shim_device = 0;
  CHECK(shim_made.buffers == 2 * 2 * 4);
  idle_rings::release();
  CHECK(shim_made.buffers == 0);
}

TEST_CASE("where no thread can be had the caller copies all lines") {
  std::vector<char> from(1000), to(from.size());
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<char>(i % 251);
  no_threads const meanwhile;
  CHECK_THROWS_AS(std::jthread([] {}), std::system_error);
  copy_lines({to.data(), 10, 10, 100}, {from.data(), 10, 10, 100}, 7);
  CHECK(to == from);
}
