// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The mock captures work of a stream as CUDA does, and refuses what CUDA refuses during a capture.

#include <cuda_runtime_api.h>

#include <cstring>

#include "support/catch.hpp"
#include "support/mock_cuda/mock_cuda.hpp"

namespace mock = devplace::test::mock_cuda;
using Catch::Matchers::ContainsSubstring;

namespace {

/// A stream, memory of the device with an 8-byte number, and a graph of the stream's work.
struct device_number {
  cudaStream_t stream = nullptr;
  void* data = nullptr;
  cudaGraphExec_t graph = nullptr;

  device_number() {
    REQUIRE(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) == cudaSuccess);
    REQUIRE(cudaMalloc(&data, 8) == cudaSuccess);
    set(1);
  }
  ~device_number() {
    if (graph != nullptr) CHECK(cudaGraphExecDestroy(graph) == cudaSuccess);
    CHECK(cudaStreamDestroy(stream) == cudaSuccess);
  }
  void set(int byte) const { CHECK(cudaMemsetAsync(data, byte, 8, stream) == cudaSuccess); }
  int byte() const {
    unsigned char bytes[8];
    CHECK(cudaMemcpyAsync(bytes, data, 8, cudaMemcpyDeviceToHost, stream) == cudaSuccess);
    CHECK(cudaStreamSynchronize(stream) == cudaSuccess);
    return bytes[0];
  }
  /// Captures calls, and returns the result of the capture.
  template <class F> cudaError_t capture(const F& f) {
    cudaGraph_t captured = nullptr;
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal) == cudaSuccess);
    f();
    const cudaError_t code = cudaStreamEndCapture(stream, &captured);
    if (code != cudaSuccess) return code;
    CHECK(cudaGraphInstantiate(&graph, captured, 0) == cudaSuccess);
    CHECK(cudaGraphDestroy(captured) == cudaSuccess);
    return code;
  }
};

}  // namespace

TEST_CASE("captured work is executed by each launch of the graph, and not before", "[support]") {
  device_number x;
  REQUIRE(x.capture([&] { x.set(7); }) == cudaSuccess);
  CHECK(x.byte() == 1);
  for (int i = 0; i != 2; ++i) {
    CHECK(cudaGraphLaunch(x.graph, x.stream) == cudaSuccess);
    CHECK(x.byte() == 7);
    x.set(1);
    CHECK(x.byte() == 1);
  }
  CHECK(mock::violations().empty());
}

TEST_CASE("a wait or an allocation during a capture makes the capture invalid", "[support]") {
  device_number x;
  CHECK(x.capture([&] { CHECK(cudaStreamSynchronize(x.stream) == cudaErrorStreamCaptureUnsupported); }) ==
        cudaErrorStreamCaptureInvalidated);
  void* more = nullptr;
  CHECK(x.capture([&] { CHECK(cudaMalloc(&more, 8) == cudaErrorStreamCaptureUnsupported); }) ==
        cudaErrorStreamCaptureInvalidated);
  CHECK(cudaGetLastError() == cudaErrorStreamCaptureInvalidated);
  CHECK(x.byte() == 1);
  CHECK(mock::violations().empty());
}

TEST_CASE("a stream that waits for a captured event becomes a branch of the graph", "[support]") {
  device_number x, y;
  cudaEvent_t fork = nullptr, join = nullptr;
  REQUIRE(cudaEventCreateWithFlags(&fork, cudaEventDisableTiming) == cudaSuccess);
  REQUIRE(cudaEventCreateWithFlags(&join, cudaEventDisableTiming) == cudaSuccess);
  const auto branch = [&] {
    CHECK(cudaEventRecord(fork, x.stream) == cudaSuccess);
    CHECK(cudaStreamWaitEvent(y.stream, fork, 0) == cudaSuccess);
    CHECK(cudaMemcpyAsync(y.data, x.data, 8, cudaMemcpyDeviceToDevice, y.stream) == cudaSuccess);
  };
  SECTION("which must be joined") { CHECK(x.capture(branch) == cudaErrorStreamCaptureUnjoined); }
  SECTION("whose work has the order of the events") {
    CHECK(x.capture([&] {
      x.set(7);
      branch();
      CHECK(cudaEventRecord(join, y.stream) == cudaSuccess);
      CHECK(cudaStreamWaitEvent(x.stream, join, 0) == cudaSuccess);
      x.set(3);
    }) == cudaSuccess);
    CHECK(y.byte() == 1);
    CHECK(cudaGraphLaunch(x.graph, x.stream) == cudaSuccess);
    CHECK(x.byte() == 3);
    CHECK(y.byte() == 7);
    CHECK(cudaEventQuery(join) == cudaErrorCapturedEvent);
    CHECK(cudaEventRecord(join, x.stream) == cudaSuccess);
    CHECK(cudaEventQuery(join) == cudaSuccess);
  }
  SECTION("and which does not wait for events outside of the graph") {
    CHECK(cudaEventRecord(join, y.stream) == cudaSuccess);
    CHECK(x.capture([&] { CHECK(cudaStreamWaitEvent(x.stream, join, 0) == cudaErrorStreamCaptureIsolation); }) ==
          cudaErrorStreamCaptureInvalidated);
  }
  CHECK(mock::violations().empty());
  CHECK(cudaEventDestroy(fork) == cudaSuccess);
  CHECK(cudaEventDestroy(join) == cudaSuccess);
}

TEST_CASE("detected: branches of a graph that are not ordered", "[support]") {
  device_number x, y;
  cudaEvent_t fork = nullptr, join = nullptr;
  REQUIRE(cudaEventCreateWithFlags(&fork, cudaEventDisableTiming) == cudaSuccess);
  REQUIRE(cudaEventCreateWithFlags(&join, cudaEventDisableTiming) == cudaSuccess);
  REQUIRE(x.capture([&] {
    CHECK(cudaEventRecord(fork, x.stream) == cudaSuccess);
    CHECK(cudaStreamWaitEvent(y.stream, fork, 0) == cudaSuccess);
    x.set(7);
    CHECK(cudaMemcpyAsync(y.data, x.data, 8, cudaMemcpyDeviceToDevice, y.stream) == cudaSuccess);
    CHECK(cudaEventRecord(join, y.stream) == cudaSuccess);
    CHECK(cudaStreamWaitEvent(x.stream, join, 0) == cudaSuccess);
  }) == cudaSuccess);
  CHECK(mock::violations().empty());
  static_cast<void>(cudaGraphLaunch(x.graph, x.stream));
  CHECK_FALSE(mock::violations().empty());
  CHECK(cudaEventDestroy(fork) == cudaSuccess);
  CHECK(cudaEventDestroy(join) == cudaSuccess);
}

TEST_CASE("detected: a graph that reads ordinary host memory", "[support]") {
  device_number x;
  const double host = 1;
  static_cast<void>(
      x.capture([&] { CHECK(cudaMemcpyAsync(x.data, &host, 8, cudaMemcpyHostToDevice, x.stream) == cudaSuccess); }));
  REQUIRE(mock::violations().size() == 1);
  CHECK_THAT(mock::violations()[0], ContainsSubstring("ordinary host memory"));
}

TEST_CASE("detected: a graph that uses memory after the free", "[support]") {
  device_number x;
  REQUIRE(x.capture([&] { x.set(7); }) == cudaSuccess);
  CHECK(x.byte() == 1);
  CHECK(cudaFree(x.data) == cudaSuccess);
  CHECK(mock::violations().empty());
  static_cast<void>(cudaGraphLaunch(x.graph, x.stream));
  REQUIRE(mock::violations().size() == 1);
  CHECK_THAT(mock::violations()[0], ContainsSubstring("memory that was given back"));
}
