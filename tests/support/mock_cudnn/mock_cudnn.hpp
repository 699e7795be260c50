// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cudnn_graph.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

/// A mock of cuDNN's graph API for tests without a GPU, written from cuDNN's documentation and linked instead of
/// NVIDIA's library, together with the mock of CUDA's runtime, whose device memory is host memory. It keeps the
/// attributes of descriptors, computes convolutions and attention from them in double, records the calls, and fails on
/// request. It rejects what NVIDIA's library rejects: attributes of the wrong type or count, attributes of finalised
/// descriptors, and attributes that refer to descriptors that are not finalised. Each test case runs in its own
/// process.
namespace devplace::test::mock_cudnn {

/// An engine that the heuristic offers.
struct engine {
  std::vector<cudnnBackendNumericalNote_t> notes;
  std::int64_t workspace = 0;
  bool supported = true;  ///< whether its plans can be finalised
};

/// An executed convolution, or a graph of several operations.
struct execution {
  cudnnDataType_t type;  ///< of the first operation's first operand
  int engine;            ///< index among those offered in `mode`
  cudnnBackendHeurMode_t mode;
  double beta;  ///< of a convolution
  const void* workspace;
  cudaStream_t stream;
};

/// Sets the engines that the heuristic offers in a mode, best first. By default mode A has one without notes, and the
/// fallback has none.
void offer(cudnnBackendHeurMode_t mode, std::vector<engine> engines);

/// Makes the `nth` call of `function` from now on return `status`, once.
void fail(const std::string& function, cudnnStatus_t status, int nth = 1);
/// Sets the text of cudnnGetLastErrorString().
void set_last_error(const std::string& text);

/// Return the functions called since the start or the last clear_calls(), and what was executed since the start.
const std::vector<std::string>& calls();
void clear_calls();
const std::vector<execution>& convolutions();
const std::vector<execution>& graphs();

/// Return the numbers of existing handles and descriptors.
std::size_t live_handles();
std::size_t live_descriptors();

}  // namespace devplace::test::mock_cudnn
