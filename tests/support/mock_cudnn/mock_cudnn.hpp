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
/// attributes of descriptors, computes convolutions and attention from them in double, records the calls, rejects what
/// NVIDIA's library rejects (attributes of the wrong type or count, of finalised descriptors, or that refer to
/// descriptors that are not finalised), and fails on request. Each test case runs in its own process.
namespace devplace::test::mock_cudnn {

/// An engine that the heuristic offers.
struct engine {
  std::vector<cudnnBackendNumericalNote_t> notes;
  std::int64_t workspace = 0;
  bool supported = true;  ///< whether its plans can be finalised
};

/// A convolution that was executed.
struct convolution {
  cudnnBackendDescriptorType_t operation;
  cudnnDataType_t type;
  int engine;  ///< index among those offered in `mode`
  cudnnBackendHeurMode_t mode;
  double beta;
  const void* workspace;
  cudaStream_t stream;
};

/// A graph of several operations that was executed.
struct graph {
  std::size_t operations;
  int engine;
  cudnnBackendHeurMode_t mode;
  const void* workspace;
  cudaStream_t stream;
};

/// Sets the engines that the heuristic offers in a mode, best first. By default mode A has one without notes, and the
/// fallback has none.
void offer(cudnnBackendHeurMode_t mode, std::vector<engine> engines);

/// The `nth` call of `function` from now on returns `status`, once.
void fail(const std::string& function, cudnnStatus_t status, int nth = 1);
/// What cudnnGetLastErrorString() says.
void set_last_error(const std::string& text);

/// The names of the functions called since the start or the last clear_calls(), and the convolutions executed.
const std::vector<std::string>& calls();
void clear_calls();
const std::vector<convolution>& convolutions();
const std::vector<graph>& graphs();

/// Handles and descriptors that exist now.
std::size_t live_handles();
std::size_t live_descriptors();

}  // namespace devplace::test::mock_cudnn
