// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The mock's functions for streams, graphs and events.

#include "support/mock_cuda/state.hpp"

namespace devplace::test::mock_cuda {

namespace {

cudaError_t create_stream(const char* call, cudaStream_t* created, unsigned flags, int priority) {
  return perform(call, "", [&] {
    if (flags != cudaStreamNonBlocking) violate("a stream that waits for the default stream");
    *created = reinterpret_cast<cudaStream_t>(new on_device{current, "", priority});
  });
}

}  // namespace

extern "C" {

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* created, unsigned flags) {
  return create_stream("cudaStreamCreateWithFlags", created, flags, 0);
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* created, unsigned flags, int priority) {
  return create_stream("cudaStreamCreateWithPriority", created, flags, priority);
}

cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  *least = 0, *greatest = -5;
  return perform("cudaDeviceGetStreamPriorityRange", "", [] {});
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  const held_lock lock;
  of_process().queues.finish_stream(stream);
  delete reinterpret_cast<on_device*>(stream);
  return begin("cudaStreamDestroy");
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  const held_lock lock;
  of_process().queues.finish_stream(stream);
  return perform_on(stream, "cudaStreamSynchronize", "", [&] {
    for (event* e : of_process().events)
      if (e->device == current) e->waited_for = true;
    of_process().order.host_waits_for_stream(stream);
  });
}

cudaError_t cudaStreamQuery(cudaStream_t stream) {
  return perform_on(stream, "cudaStreamQuery", "", [&] {
    if (!of_process().done) return answer(cudaErrorNotReady);
    of_process().queues.finish_stream(stream);
    of_process().order.host_waits_for_stream(stream);
    return cudaSuccess;
  });
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode) {
  return perform_on(stream, "cudaStreamBeginCapture", "", [&] { of_process().captures.begin(stream, current); });
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  const held_lock lock;
  auto made = of_process().captures.end(stream);
  return perform_on(stream, "cudaStreamEndCapture", "", [&] {
    if (made == nullptr) return answer(cudaErrorIllegalState);
    if (made->invalid) return answer(cudaErrorStreamCaptureInvalidated);
    *graph = reinterpret_cast<cudaGraph_t>(made.release());
    return cudaSuccess;
  });
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph, unsigned long long) {
  return perform("cudaGraphInstantiate", "", [&] {
    *executable = reinterpret_cast<cudaGraphExec_t>(new graph_work(*reinterpret_cast<const graph_work*>(graph)));
  });
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream) {
  return perform_on(stream, "cudaGraphLaunch", "", [&] {
    const auto& graph = *reinterpret_cast<const graph_work*>(executable);
    if (graph.device != current) violate("cudaGraphLaunch: a graph of another device");
    for (const auto& step : graph.steps) step(stream);
    if (!in_reverse_order()) of_process().queues.finish_stream(stream);
  });
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  const held_lock lock;
  delete reinterpret_cast<graph_work*>(graph);
  return begin("cudaGraphDestroy");
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) {
  const held_lock lock;
  of_process().queues.finish_all();
  delete reinterpret_cast<graph_work*>(executable);
  return begin("cudaGraphExecDestroy");
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* created, unsigned flags) {
  return perform("cudaEventCreateWithFlags", "", [&] {
    if ((flags & ~unsigned{cudaEventInterprocess}) != cudaEventDisableTiming)
      violate("cudaEventCreateWithFlags: an event with timing");
    auto* e = new event{current, (flags & cudaEventInterprocess) != 0};
    of_process().events.insert(e);
    *created = reinterpret_cast<cudaEvent_t>(e);
  });
}

cudaError_t cudaEventRecord(cudaEvent_t handle, cudaStream_t stream) {
  return perform_on(stream, "cudaEventRecord", "", [&] {
    auto* e = reinterpret_cast<event*>(handle);
    if (e->device != current) violate("cudaEventRecord: an event of another device");
    e->recorded = true;
    e->waited_for = false;
    of_process().order.record(e, stream);
    of_process().queues.record(e, stream);
    // Another process may wait for the event, but cannot make this process execute what is queued.
    if (e->interprocess || !in_reverse_order()) of_process().queues.finish_stream(stream);
  });
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t handle, unsigned) {
  return perform_on(stream, "cudaStreamWaitEvent", "", [&] {
    if (!reinterpret_cast<event*>(handle)->recorded)
      violate("cudaStreamWaitEvent: the event was never recorded, so nothing is waited for");
    of_process().order.wait(stream, handle);
    of_process().queues.wait(stream, handle);
  });
}

cudaError_t cudaEventSynchronize(cudaEvent_t handle) {
  const held_lock lock;
  reinterpret_cast<event*>(handle)->waited_for = true;
  of_process().queues.finish_event(handle);
  return perform("cudaEventSynchronize", "", [&] { of_process().order.host_waits_for_event(handle); });
}

cudaError_t cudaEventQuery(cudaEvent_t handle) {
  return perform("cudaEventQuery", "", [&] {
    const auto* e = reinterpret_cast<event*>(handle);
    if (!of_process().done && !e->waited_for && e->recorded) return answer(cudaErrorNotReady);
    of_process().queues.finish_event(handle);
    of_process().order.host_waits_for_event(handle);
    return cudaSuccess;
  });
}

cudaError_t cudaEventDestroy(cudaEvent_t handle) {
  const held_lock lock;
  auto* e = reinterpret_cast<event*>(handle);
  of_process().events.erase(e);
  of_process().order.forget_event(e);
  of_process().queues.forget_event(e);
  delete e;
  return begin("cudaEventDestroy");
}

}  // extern "C"

}  // namespace devplace::test::mock_cuda
