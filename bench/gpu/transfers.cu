// SPDX-License-Identifier: BSD-3-Clause
// Rates and latencies of copies between pinned host memory and the CUDA devices of a node, and between devices, each
// link alone and all together. Prints JSON. nvcc -O2 -std=c++17 -arch=sm_90 transfers.cu
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

namespace {

void require(cudaError_t answer, char const* what) {
  if (answer == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(answer));
  std::exit(1);
}
#define REQUIRE(call) require(call, #call)

constexpr std::size_t bytes = std::size_t{1} << 30;
constexpr int rounds = 5;

struct device {
  int id = 0;
  cudaStream_t stream{}, back{};
  char *memory = nullptr, *other = nullptr, *host = nullptr;  // `bytes` each; host: pinned
};

device open_device(int id) {
  device d;
  d.id = id;
  REQUIRE(cudaSetDevice(id));
  REQUIRE(cudaStreamCreateWithFlags(&d.stream, cudaStreamNonBlocking));
  REQUIRE(cudaStreamCreateWithFlags(&d.back, cudaStreamNonBlocking));
  REQUIRE(cudaMalloc(&d.memory, bytes));
  REQUIRE(cudaMalloc(&d.other, bytes));
  REQUIRE(cudaHostAlloc(&d.host, bytes, cudaHostAllocPortable));
  return d;
}

/// Seconds of `copies`, the median of rounds, from the first call until every device is idle.
double seconds_of(std::vector<device> const& all, std::function<void()> const& copies) {
  std::vector<double> seen;
  for (int r = 0; r <= rounds; ++r) {
    timespec begin{}, end{};
    clock_gettime(CLOCK_MONOTONIC, &begin);
    copies();
    for (device const& d : all) {
      REQUIRE(cudaSetDevice(d.id));
      REQUIRE(cudaDeviceSynchronize());
    }
    clock_gettime(CLOCK_MONOTONIC, &end);
    if (r > 0) seen.push_back(double(end.tv_sec - begin.tv_sec) + 1e-9 * double(end.tv_nsec - begin.tv_nsec));
  }
  std::sort(seen.begin(), seen.end());
  return seen[seen.size() / 2];
}

void to_device(device const& d, std::size_t size = bytes) {
  REQUIRE(cudaSetDevice(d.id));
  REQUIRE(cudaMemcpyAsync(d.memory, d.host, size, cudaMemcpyHostToDevice, d.stream));
}
void to_host(device const& d, std::size_t size = bytes) {
  REQUIRE(cudaSetDevice(d.id));
  REQUIRE(cudaMemcpyAsync(d.host, d.other, size, cudaMemcpyDeviceToHost, d.back));
}
void to_peer(device const& from, device const& to, std::size_t size = bytes) {
  REQUIRE(cudaSetDevice(from.id));
  REQUIRE(cudaMemcpyPeerAsync(to.other, to.id, from.memory, from.id, size, from.stream));
}

}  // namespace

int main() {
  int count = 0;
  REQUIRE(cudaGetDeviceCount(&count));
  cudaDeviceProp properties{};
  REQUIRE(cudaGetDeviceProperties(&properties, 0));
  std::vector<device> all;
  for (int i = 0; i < count; ++i) all.push_back(open_device(i));
  int peers = 0;
  for (device const& d : all)
    for (device const& e : all) {
      int can = 0;
      if (d.id == e.id) continue;
      REQUIRE(cudaDeviceCanAccessPeer(&can, d.id, e.id));
      REQUIRE(cudaSetDevice(d.id));
      if (can != 0 && cudaDeviceEnablePeerAccess(e.id, 0) == cudaSuccess) ++peers;
    }
  auto const rate = [&](double copies, std::function<void()> const& what) {
    return copies * double(bytes) / seconds_of(all, what) / 1e9;
  };
  auto const latency = [&](std::function<void()> const& what) { return 1e6 * seconds_of(all, what); };
  device const& first = all.front();
  std::printf("{\n \"device\": \"%s\", \"devices\": %d, \"peer_pairs\": %d,\n", properties.name, count, peers);
  std::printf(" \"copied_bytes\": %zu,\n", bytes);
  std::printf(" \"to_device_gbytes\": %.1f,\n", rate(1, [&] { to_device(first); }));
  std::printf(" \"to_host_gbytes\": %.1f,\n", rate(1, [&] { to_host(first); }));
  std::printf(" \"both_ways_gbytes\": %.1f,\n", rate(2, [&] { to_device(first), to_host(first); }));
  std::printf(" \"all_to_device_gbytes\": %.1f,\n", rate(count, [&] {
                for (device const& d : all) to_device(d);
              }));
  std::printf(" \"all_to_host_gbytes\": %.1f,\n", rate(count, [&] {
                for (device const& d : all) to_host(d);
              }));
  std::printf(" \"all_both_ways_gbytes\": %.1f,\n", rate(2 * count, [&] {
                for (device const& d : all) to_device(d), to_host(d);
              }));
  if (count > 1) {
    std::printf(" \"to_peer_gbytes\": %.1f,\n", rate(1, [&] { to_peer(all[0], all[1]); }));
    std::printf(" \"peers_in_a_ring_gbytes\": %.1f,\n", rate(count, [&] {
                  for (int i = 0; i < count; ++i) to_peer(all[i], all[(i + 1) % count]);
                }));
    std::printf(" \"to_peer_microseconds\": %.1f,\n", latency([&] { to_peer(all[0], all[1], 8); }));
  }
  std::printf(" \"to_device_microseconds\": %.1f,\n", latency([&] { to_device(first, 8); }));
  std::printf(" \"to_host_microseconds\": %.1f,\n", latency([&] { to_host(first, 8); }));
  std::printf(" \"nothing_microseconds\": %.1f\n}\n", latency([] {}));
}
