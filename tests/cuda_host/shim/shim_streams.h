// SPDX-License-Identifier: BSD-3-Clause
// Streams, events and pinned memory of the shim. Nothing is queued, as copies are done at once, but a stream knows
// which pieces of work come before what it gets next, in which capture it is, and of which device. Calls fail when a
// test says so. For one thread.
#pragma once

#include <cstddef>
#include <cstring>
#include <set>

struct shim_queue {
  int device = 0;
  unsigned long long capture = 0;  // 0: none
  std::set<int> holds;             // work, by the numbers of the test
};
struct CUstream_st : shim_queue {};
struct CUevent_st : shim_queue {};
typedef struct CUevent_st* cudaEvent_t;

inline int shim_device = 0;  // the current one
struct shim_things {
  int streams = 0, events = 0, buffers = 0;
};
inline shim_things shim_made;  // that live
inline std::set<CUstream_st*> shim_streams;
inline cudaError_t shim_last_error = cudaSuccess;
inline int shim_succeeding = -1;  // so many calls more; negative: all

inline cudaError_t shim_result(cudaError_t status = cudaSuccess) {
  if (shim_succeeding >= 0 && shim_succeeding-- == 0) status = cudaErrorMemoryAllocation;
  if (status != cudaSuccess) shim_last_error = status;
  return status;
}

inline cudaError_t cudaGetLastError() {
  cudaError_t const last = shim_last_error;
  shim_last_error = cudaSuccess;
  return last;
}
inline char const* cudaGetErrorString(cudaError_t) { return "a failure"; }
inline char const* cudaGetErrorName(cudaError_t) { return "cudaError"; }
inline cudaError_t cudaGetDevice(int* device) {
  *device = shim_device;
  return cudaSuccess;
}

constexpr unsigned cudaStreamNonBlocking = 1, cudaEventDisableTiming = 2, cudaHostAllocDefault = 0;
inline cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  if (cudaError_t const status = shim_result(); status != cudaSuccess) return status;
  *stream = new CUstream_st{{shim_device, 0, {}}};
  shim_streams.insert(*stream);
  ++shim_made.streams;
  return cudaSuccess;
}
inline cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  shim_streams.erase(stream);
  --shim_made.streams;
  delete stream;
  return cudaSuccess;
}
inline cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  if (cudaError_t const status = shim_result(); status != cudaSuccess) return status;
  *event = new CUevent_st{{shim_device, 0, {}}};
  ++shim_made.events;
  return cudaSuccess;
}
inline cudaError_t cudaEventDestroy(cudaEvent_t event) {
  --shim_made.events;
  delete event;
  return cudaSuccess;
}

inline cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  if (event->device != stream->device) return shim_result(cudaErrorInvalidResourceHandle);
  if (cudaError_t const status = shim_result(); status != cudaSuccess) return status;
  event->capture = stream->capture;
  event->holds = stream->holds;
  return cudaSuccess;
}
/// A stream that waits for work of a capture joins it.
inline cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event) {
  if (stream->capture != 0 && stream->capture != event->capture) return shim_result(cudaErrorStreamCaptureIsolation);
  if (cudaError_t const status = shim_result(); status != cudaSuccess) return status;
  stream->capture = event->capture;
  stream->holds.insert(event->holds.begin(), event->holds.end());
  return cudaSuccess;
}
inline cudaError_t cudaEventSynchronize(cudaEvent_t) { return shim_result(); }

enum cudaStreamCaptureStatus {
  cudaStreamCaptureStatusNone,
  cudaStreamCaptureStatusActive,
  cudaStreamCaptureStatusInvalidated
};
inline void shim_begin_capture(cudaStream_t stream) {
  static unsigned long long number = 0;
  stream->capture = ++number;
}
inline void shim_end_capture(cudaStream_t stream) {
  unsigned long long const ended = stream->capture;
  for (CUstream_st* const s : shim_streams)
    if (s->capture == ended) s->capture = 0;
}
inline cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus* how,
                                            unsigned long long* number) {
  *how = stream->capture == 0 ? cudaStreamCaptureStatusNone : cudaStreamCaptureStatusActive;
  *number = stream->capture;
  return cudaSuccess;
}

inline cudaError_t cudaHostAlloc(void** data, std::size_t bytes, unsigned) {
  if (cudaError_t const status = shim_result(); status != cudaSuccess) return status;
  *data = new char[bytes];
  ++shim_made.buffers;
  return cudaSuccess;
}
inline cudaError_t cudaFreeHost(void* data) {
  shim_made.buffers -= data != nullptr;
  delete[] static_cast<char*>(data);
  return cudaSuccess;
}
enum cudaMemcpyKind { cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost };
inline cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_pitch, void const* from, std::size_t from_pitch,
                                     std::size_t bytes, std::size_t lines, cudaMemcpyKind, cudaStream_t) {
  if (cudaError_t const status = shim_result(); status != cudaSuccess) return status;
  for (std::size_t i = 0; i < lines; ++i)
    std::memcpy(static_cast<char*>(to) + i * to_pitch, static_cast<char const*>(from) + i * from_pitch, bytes);
  return cudaSuccess;
}
