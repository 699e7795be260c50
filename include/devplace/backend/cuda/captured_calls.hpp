// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <memory>
#include <vector>

#include <devplace/backend/cuda/call_sequence.hpp>
#include <devplace/backend/cuda/check.hpp>
#include <devplace/backend/cuda/runtime.hpp>

namespace devplace::detail {

/// The graph of a call_sequence, with a branch for each of its streams. The functions are called while the device of
/// the first stream is the current one.
class cuda_captured_calls {
 public:
  cuda_captured_calls() = default;
  cuda_captured_calls& operator=(cuda_captured_calls&&) = delete;
  ~cuda_captured_calls() {
    for (const int place : places_)
      if (cuda_device_lost(place)) return;
    if (graph_ != nullptr) ignore_cuda(cudaGraphExecDestroy(graph_));
    for (const cudaEvent_t end : ends_) ignore_cuda(cudaEventDestroy(end));
  }

  /// Captures calls in streams of its own, because other threads may use the places' streams. Returns null if CUDA
  /// cannot capture a call; nothing was enqueued then.
  DEVPLACE_COMPILABLE([[gnu::noinline]]) static std::unique_ptr<cuda_captured_calls> of(const call_sequence& calls) {
    auto made = std::make_unique<cuda_captured_calls>();
    cudaGraph_t graph = nullptr;
    {
      capturing_streams own;
      cudaError_t code = made->create(calls.streams(), own.all);
      if (code == cudaSuccess) code = cudaStreamBeginCapture(own.all[0].stream, cudaStreamCaptureModeThreadLocal);
      if (code == cudaSuccess) {
        bool whole = true;  // a call can fail and leave the capture valid
        try {
          made->fork(own.all);
          calls.enqueue(own.all);
          made->join(own.all);
        } catch (...) {
          whole = false;  // the call throws again, or succeeds, when it is enqueued alone
        }
        code = cudaStreamEndCapture(own.all[0].stream, &graph);
        if (code == cudaSuccess && whole) code = cudaGraphInstantiate(&made->graph_, graph, 0);
      }
      ignore_cuda(code);
      if (graph != nullptr) ignore_cuda(cudaGraphDestroy(graph));
    }
    return made->graph_ == nullptr ? nullptr : std::move(made);
  }

  /// Launches the graph after the streams' present work and before their later work. Also records the events of the
  /// calls, which the graph does not record.
  DEVPLACE_COMPILABLE([[gnu::noinline]]) void launch(const call_sequence& calls) const {
    const std::vector<cuda_place_stream>& streams = calls.streams();
    const auto [ordinal, stream] = streams[0];
    join(streams);
    check_cuda(cudaGraphLaunch(graph_, stream), "cudaGraphLaunch", ordinal);
    last_launch(ordinal).store(calls.last_name(), std::memory_order_relaxed);
    fork(streams);
    for (std::size_t k = 0; k != streams.size(); ++k)
      on_device(streams, k, [&] { calls.record_events(k, streams[k]); });
  }

 private:
  struct capturing_streams {
    std::vector<cuda_place_stream> all;
    ~capturing_streams() {
      for (const cuda_place_stream& own : all) ignore_cuda(cudaStreamDestroy(own.stream));
    }
  };

  /// Creates an event of each stream's place, and a stream for the capture.
  cudaError_t create(const std::vector<cuda_place_stream>& streams, std::vector<cuda_place_stream>& own) {
    for (const cuda_place_stream& each : streams) places_.push_back(each.ordinal);
    own.reserve(streams.size());
    ends_.reserve(streams.size());
    cudaError_t code = cudaSuccess;
    for (std::size_t k = 0; k != streams.size() && code == cudaSuccess; ++k)
      on_device(streams, k, [&] {
        cudaStream_t stream = nullptr;
        code = cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
        if (code != cudaSuccess) return;
        own.push_back({streams[k].ordinal, stream});
        if (streams.size() == 1) return;
        cudaEvent_t event = nullptr;
        code = cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
        if (code == cudaSuccess) ends_.push_back(event);
      });
    return code;
  }

  /// Lets all other streams wait for the first one.
  void fork(const std::vector<cuda_place_stream>& streams) const {
    if (streams.size() == 1) return;
    record(ends_[0], streams[0]);
    for (std::size_t k = 1; k != streams.size(); ++k) on_device(streams, k, [&] { wait(streams[k], ends_[0]); });
  }
  /// Lets the first stream wait for all other streams.
  void join(const std::vector<cuda_place_stream>& streams) const {
    for (std::size_t k = 1; k != streams.size(); ++k) {
      on_device(streams, k, [&] { record(ends_[k], streams[k]); });
      wait(streams[0], ends_[k]);
    }
  }

  /// Calls f while the device of stream k is the current one.
  static void on_device(const std::vector<cuda_place_stream>& streams, std::size_t k, const auto& f) {
    if (streams[k].ordinal == streams[0].ordinal) return f();
    const cuda_device_guard device(streams[k].ordinal);
    f();
  }
  static void record(cudaEvent_t event, const cuda_place_stream& on) {
    check_cuda(cudaEventRecord(event, on.stream), "cudaEventRecord", on.ordinal);
  }
  static void wait(const cuda_place_stream& on, cudaEvent_t event) {
    check_cuda(cudaStreamWaitEvent(on.stream, event, 0), "cudaStreamWaitEvent", on.ordinal);
  }

  std::vector<int> places_;  ///< of the streams
  cudaGraphExec_t graph_ = nullptr;
  std::vector<cudaEvent_t> ends_;  ///< of the streams, if there are several
};
DEVPLACE_COMPILED_APART(std::unique_ptr<cuda_captured_calls> cuda_captured_calls::of(const call_sequence&))
DEVPLACE_COMPILED_APART(void cuda_captured_calls::launch(const call_sequence&) const)

}  // namespace devplace::detail
