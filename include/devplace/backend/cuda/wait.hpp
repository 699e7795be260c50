// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cuda_runtime_api.h>
#include <time.h>

#include <algorithm>
#include <cstdint>

#include <devplace/backend/cuda/check.hpp>
#include <devplace/base/clock.hpp>
#include <devplace/memory/detail/device_timeout.hpp>

namespace devplace::detail {

inline std::int64_t in_seconds(int seconds) { return monotonic_nanoseconds() + std::int64_t{1000000000} * seconds; }

/// Polls `query()`, which is cudaStreamQuery or cudaEventQuery, until the work is done or has failed. Returns
/// cudaErrorNotReady once the clock reaches `end`. Between polls, calls `meanwhile()` and sleeps, longer each time, but
/// never long enough to delay a training step noticeably.
template <class Query, class Meanwhile = void (*)()>
cudaError_t poll_cuda(const Query& query, std::int64_t end, const Meanwhile& meanwhile = [] {}) {
  timespec pause{0, 1000};
  cudaError_t code = query();
  while (code == cudaErrorNotReady && monotonic_nanoseconds() < end) {
    meanwhile();
    static_cast<void>(nanosleep(&pause, nullptr));
    pause.tv_nsec = std::min(2 * pause.tv_nsec, 50000L);
    code = query();
  }
  ignore_cuda(code);
  return code;
}

/// Checks the device watches while the host waits for a device.
class watched_wait {
 public:
  explicit watched_wait(int ordinal) : ordinal_(ordinal) {}
  watched_wait& operator=(watched_wait&&) = delete;
  ~watched_wait() { device_watches::of_process().end_wait(); }

  void operator()() const {
    device_watches::of_process().check(ordinal_, 1e-9 * static_cast<double>(monotonic_nanoseconds() - since_));
  }

 private:
  int ordinal_;
  std::int64_t since_ = monotonic_nanoseconds();
};

inline bool device_waits_are_bounded() { return device_timeout() != 0 || device_watches::of_process().any(); }

/// Waits for `work`, a stream or an event, with CUDA's blocking function `wait`. With a device_timeout() or
/// device_watches, polls `query` instead. A device that exceeds the timeout is marked as lost, so that neither this
/// call nor a later one waits for it forever.
DEVPLACE_COMPILABLE()
void wait_for_cuda(int ordinal, void* work, cudaError_t (*wait)(void*), const char* wait_call,
                   cudaError_t (*query)(void*), const char* query_call) {
  if (!device_waits_are_bounded()) return check_cuda(wait(work), wait_call, ordinal);
  const watched_wait watched(ordinal);
  const std::int64_t end = device_timeout() == 0 ? INT64_MAX : in_seconds(device_timeout());
  const cudaError_t code = poll_cuda([&] { return query(work); }, end, watched);
  if (code == cudaErrorNotReady) {
    mark_cuda_device_timed_out(ordinal);
    require_cuda_device_usable(ordinal);
  }
  check_cuda(code, query_call, ordinal);
}
DEVPLACE_COMPILED_APART(void wait_for_cuda(int, void*, cudaError_t (*)(void*), const char*, cudaError_t (*)(void*),
                                           const char*))

inline void wait_for_cuda_stream(cudaStream_t stream, int ordinal) {
  wait_for_cuda(
      ordinal, stream, [](void* s) { return cudaStreamSynchronize(static_cast<cudaStream_t>(s)); },
      "cudaStreamSynchronize", [](void* s) { return cudaStreamQuery(static_cast<cudaStream_t>(s)); },
      "cudaStreamQuery");
}

inline void wait_for_cuda_event(cudaEvent_t event, int ordinal) {
  wait_for_cuda(
      ordinal, event, [](void* e) { return cudaEventSynchronize(static_cast<cudaEvent_t>(e)); }, "cudaEventSynchronize",
      [](void* e) { return cudaEventQuery(static_cast<cudaEvent_t>(e)); }, "cudaEventQuery");
}

}  // namespace devplace::detail
