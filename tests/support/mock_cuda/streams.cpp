// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The mock's functions for streams, graphs and events.

#include <cstddef>
#include <memory>
#include <vector>

#include "support/mock_cuda/state.hpp"

namespace devplace::test::mock_cuda {

namespace {

cudaError_t create_stream(const char* call, cudaStream_t* created, unsigned flags, int priority) {
  return perform(call, "", [&] {
    if (flags != cudaStreamNonBlocking) violate("a stream that waits for the default stream");
    *created = reinterpret_cast<cudaStream_t>(new on_device{current, "", priority});
  });
}

/// A graph with streams for its branches other than the first, and its events.
struct executable_graph {
  graph_work work;
  std::vector<std::unique_ptr<on_device>> streams;
  std::vector<char> events;  // only their addresses are used

  explicit executable_graph(const graph_work& captured) : work(captured), events(captured.records) {
    for (std::size_t b = 1; b < work.devices.size(); ++b)
      streams.push_back(std::make_unique<on_device>(on_device{work.devices[b]}));
  }
  executable_graph(const executable_graph&) = delete;
  ~executable_graph() {
    for (const char& event : events) {
      of_process().order.forget_event(&event);
      of_process().queues.forget_event(&event);
    }
  }

  /// Executes the first branch in `stream`.
  void launch(cudaStream_t stream) {
    for (const graph_work::step& step : work.steps) {
      const cudaStream_t own =
          step.branch == 0 ? stream : reinterpret_cast<cudaStream_t>(streams[step.branch - 1].get());
      if (step.what == graph_work::step::work) {
        step.run(own);
      } else if (step.what == graph_work::step::record) {
        of_process().order.record(&events[step.event], own);
        of_process().queues.record(&events[step.event], own);
      } else {
        of_process().order.wait(own, &events[step.event]);
        of_process().queues.wait(own, &events[step.event]);
      }
      if (!in_reverse_order()) of_process().queues.finish_stream(own);
    }
  }
};

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
  bool joined = false;
  auto made = of_process().captures.end(stream, joined);
  return perform_on(stream, "cudaStreamEndCapture", "", [&] {
    if (made == nullptr) return answer(cudaErrorIllegalState);
    if (made->invalid) return answer(cudaErrorStreamCaptureInvalidated);
    if (!joined) return answer(cudaErrorStreamCaptureUnjoined);
    *graph = reinterpret_cast<cudaGraph_t>(made.release());
    return cudaSuccess;
  });
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph, unsigned long long) {
  return perform("cudaGraphInstantiate", "", [&] {
    auto* const made = new executable_graph(*reinterpret_cast<const graph_work*>(graph));
    of_process().graphs.insert(made);
    *executable = reinterpret_cast<cudaGraphExec_t>(made);
  });
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream) {
  return perform_on(stream, "cudaGraphLaunch", "", [&] {
    auto& graph = *reinterpret_cast<executable_graph*>(executable);
    if (graph.work.devices[0] != current) violate("cudaGraphLaunch: a graph of another device");
    graph.launch(stream);
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
  of_process().graphs.erase(executable);
  delete reinterpret_cast<executable_graph*>(executable);
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
    e->captured = of_process().captures.of(stream).graph != nullptr;
    if (e->captured) return of_process().captures.record(e, stream);
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
    mock_cuda::captures& all = of_process().captures;
    if (reinterpret_cast<event*>(handle)->captured && all.captured(handle))
      return all.wait(stream, current, handle) ? cudaSuccess : answer(cudaErrorStreamCaptureIsolation);
    if (all.of(stream).graph != nullptr) return all.invalidate(), answer(cudaErrorStreamCaptureIsolation);
    if (reinterpret_cast<event*>(handle)->captured) return answer(cudaErrorCapturedEvent);
    if (!reinterpret_cast<event*>(handle)->recorded)
      violate("cudaStreamWaitEvent: the event was never recorded, so nothing is waited for");
    of_process().order.wait(stream, handle);
    of_process().queues.wait(stream, handle);
    return cudaSuccess;
  });
}

cudaError_t cudaEventSynchronize(cudaEvent_t handle) {
  const held_lock lock;
  reinterpret_cast<event*>(handle)->waited_for = true;
  of_process().queues.finish_event(handle);
  return perform("cudaEventSynchronize", "", [&] {
    if (reinterpret_cast<event*>(handle)->captured) return answer(cudaErrorCapturedEvent);
    of_process().order.host_waits_for_event(handle);
    return cudaSuccess;
  });
}

cudaError_t cudaEventQuery(cudaEvent_t handle) {
  return perform("cudaEventQuery", "", [&] {
    const auto* e = reinterpret_cast<event*>(handle);
    if (e->captured) return answer(cudaErrorCapturedEvent);
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
  of_process().captures.forget_event(e);
  of_process().queues.forget_event(e);
  delete e;
  return begin("cudaEventDestroy");
}

}  // extern "C"

}  // namespace devplace::test::mock_cuda
