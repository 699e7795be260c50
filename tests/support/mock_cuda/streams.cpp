// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The mock's functions for streams, graphs and events.

#include <memory>
#include <utility>

#include "support/mock_cuda/state.hpp"

namespace mock = devplace::test::mock_cuda;

extern "C" {

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* created, unsigned flags) {
  const mock::held_lock lock;
  const cudaError_t code = mock::begin("cudaStreamCreateWithFlags");
  if (flags != cudaStreamNonBlocking) mock::violate("a stream that waits for the default stream");
  if (code == cudaSuccess) *created = reinterpret_cast<cudaStream_t>(new mock::on_device{mock::current});
  return code;
}

cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  const mock::held_lock lock;
  *least = 0;
  *greatest = -5;
  return mock::begin("cudaDeviceGetStreamPriorityRange");
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* created, unsigned flags, int priority) {
  const mock::held_lock lock;
  const cudaError_t code = mock::begin("cudaStreamCreateWithPriority");
  if (flags != cudaStreamNonBlocking) mock::violate("a stream that waits for the default stream");
  if (code == cudaSuccess) *created = reinterpret_cast<cudaStream_t>(new mock::on_device{mock::current, "", priority});
  return code;
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  const mock::held_lock lock;
  mock::of_process().queues.finish_stream(stream);
  delete reinterpret_cast<mock::on_device*>(stream);
  return mock::begin("cudaStreamDestroy");
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  const mock::held_lock lock;
  mock::of_process().queues.finish_stream(stream);
  const cudaError_t code = mock::begin_on("cudaStreamSynchronize", stream);
  for (mock::event* e : mock::of_process().events)
    if (e->device == mock::current) e->waited_for = true;
  if (code == cudaSuccess) mock::of_process().order.host_waits_for_stream(stream);
  return code;
}

cudaError_t cudaStreamQuery(cudaStream_t stream) {
  const mock::held_lock lock;
  const cudaError_t code = mock::begin_on("cudaStreamQuery", stream);
  if (code != cudaSuccess) return code;
  if (!mock::of_process().done) return mock::answer(cudaErrorNotReady);
  mock::of_process().queues.finish_stream(stream);
  mock::of_process().order.host_waits_for_stream(stream);
  return cudaSuccess;
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode) {
  const mock::held_lock lock;
  const cudaError_t code = mock::begin_on("cudaStreamBeginCapture", stream);
  if (code == cudaSuccess) mock::of_process().captures.begin(stream, mock::current);
  return code;
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  const mock::held_lock lock;
  auto made = mock::of_process().captures.end(stream);
  const cudaError_t code = mock::begin_on("cudaStreamEndCapture", stream);
  if (code != cudaSuccess) return code;
  if (made == nullptr) return mock::answer(cudaErrorIllegalState);
  if (made->invalid) return mock::answer(cudaErrorStreamCaptureInvalidated);
  *graph = reinterpret_cast<cudaGraph_t>(made.release());
  return code;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph, unsigned long long) {
  const mock::held_lock lock;
  const cudaError_t code = mock::begin("cudaGraphInstantiate");
  if (code == cudaSuccess)
    *executable =
        reinterpret_cast<cudaGraphExec_t>(new mock::graph_work(*reinterpret_cast<const mock::graph_work*>(graph)));
  return code;
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream) {
  const mock::held_lock lock;
  const auto& graph = *reinterpret_cast<const mock::graph_work*>(executable);
  const cudaError_t code = mock::begin_on("cudaGraphLaunch", stream);
  if (graph.device != mock::current) mock::violate("cudaGraphLaunch: a graph of another device");
  if (code != cudaSuccess) return code;
  for (const auto& step : graph.steps) step(stream);
  if (mock::order_of_execution() != mock::execution_order::reverse) mock::of_process().queues.finish_stream(stream);
  return code;
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  const mock::held_lock lock;
  delete reinterpret_cast<mock::graph_work*>(graph);
  return mock::begin("cudaGraphDestroy");
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) {
  const mock::held_lock lock;
  mock::of_process().queues.finish_all();
  delete reinterpret_cast<mock::graph_work*>(executable);
  return mock::begin("cudaGraphExecDestroy");
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* created, unsigned flags) {
  const mock::held_lock lock;
  const cudaError_t code = mock::begin("cudaEventCreateWithFlags");
  if (code != cudaSuccess) return code;
  if (flags != cudaEventDisableTiming && flags != (cudaEventDisableTiming | cudaEventInterprocess))
    mock::violate("cudaEventCreateWithFlags: an event with timing");
  auto* e = new mock::event{mock::current, (flags & cudaEventInterprocess) != 0};
  mock::of_process().events.insert(e);
  *created = reinterpret_cast<cudaEvent_t>(e);
  return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t handle, cudaStream_t stream) {
  const mock::held_lock lock;
  const cudaError_t code = mock::begin_on("cudaEventRecord", stream);
  auto* e = reinterpret_cast<mock::event*>(handle);
  if (e->device != mock::current) mock::violate("cudaEventRecord: an event of another device");
  e->recorded = true;
  e->waited_for = false;
  mock::of_process().order.record(e, stream);
  mock::of_process().queues.record(e, stream);
  // Another process may wait for the event, but cannot make this process execute what is queued.
  if (e->interprocess || mock::order_of_execution() != mock::execution_order::reverse)
    mock::of_process().queues.finish_stream(stream);
  return code;
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t handle, unsigned) {
  const mock::held_lock lock;
  if (!reinterpret_cast<mock::event*>(handle)->recorded)
    mock::violate("cudaStreamWaitEvent: the event was never recorded, so nothing is waited for");
  const cudaError_t code = mock::begin_on("cudaStreamWaitEvent", stream);
  if (code != cudaSuccess) return code;
  mock::of_process().order.wait(stream, handle);
  mock::of_process().queues.wait(stream, handle);
  return code;
}

cudaError_t cudaEventSynchronize(cudaEvent_t handle) {
  const mock::held_lock lock;
  reinterpret_cast<mock::event*>(handle)->waited_for = true;
  mock::of_process().queues.finish_event(handle);
  const cudaError_t code = mock::begin("cudaEventSynchronize");
  if (code == cudaSuccess) mock::of_process().order.host_waits_for_event(handle);
  return code;
}

cudaError_t cudaEventQuery(cudaEvent_t handle) {
  const mock::held_lock lock;
  const auto* e = reinterpret_cast<mock::event*>(handle);
  const cudaError_t code = mock::begin("cudaEventQuery");
  if (code != cudaSuccess) return code;
  if (!mock::of_process().done && !e->waited_for && e->recorded) return mock::answer(cudaErrorNotReady);
  mock::of_process().queues.finish_event(handle);
  mock::of_process().order.host_waits_for_event(handle);
  return cudaSuccess;
}

cudaError_t cudaEventDestroy(cudaEvent_t handle) {
  const mock::held_lock lock;
  auto* e = reinterpret_cast<mock::event*>(handle);
  mock::of_process().events.erase(e);
  mock::of_process().order.forget_event(e);
  mock::of_process().queues.forget_event(e);
  delete e;
  return mock::begin("cudaEventDestroy");
}

}  // extern "C"
