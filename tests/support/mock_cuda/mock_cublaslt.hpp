// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cublasLt.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

/// A cuBLASLt for tests on machines without a GPU, written from the words of cublasLt.h and linked in place of
/// NVIDIA's, beside the mock of CUDA's runtime, whose memory is the host's. It multiplies in double, notes what it is
/// asked for, refuses what NVIDIA's refuses and more than once was seen to refuse (one row or column), and fails where
/// a test asks for it. Each test case is a process of its own.
namespace devplace::test::mock_cublaslt {

/// A product that was asked for by cublasLtMatmul, in cuBLASLt's words: column-major, D is m x n.
struct product {
  std::uint64_t m, n, k;
  std::int64_t lda, ldb, ldd;
  cublasOperation_t op_a, op_b;
  cudaDataType_t type;
  cublasComputeType_t compute;
  cublasLtEpilogue_t epilogue;
  std::uint64_t algorithm;  ///< the number of the query of heuristics that it came from, from 1
  std::uint64_t flags;      ///< numerical, of the algorithm
  const void* workspace;
  cudaStream_t stream;
};

/// What was multiplied so far.
const std::vector<product>& products();

/// The names of the functions that were called since the start or the last clear_calls().
const std::vector<std::string>& calls();
void clear_calls();

/// The `nth` call of `function` from now on answers `status`, once.
void fail(const std::string& function, cublasStatus_t status, int nth = 1);

/// From now on there are no algorithms with this epilogue.
void refuse(cublasLtEpilogue_t epilogue);

/// The numerical flags (CUBLASLT_NUMERICAL_IMPL_FLAGS_...) of the algorithms that are offered, best first. At first
/// one, of the precision asked for.
void offer(std::vector<std::uint64_t> flags);

/// Schemes for parts along k that the last query allowed, and its workspace.
std::uint32_t allowed_reductions();
std::uint64_t allowed_workspace();

/// Handles, and descriptors of all kinds, that were not destroyed.
std::size_t live_handles();
std::size_t live_descriptors();

/// What was asked for against the rules of cublasLt.h; empty if nothing was.
const std::vector<std::string>& violations();

}  // namespace devplace::test::mock_cublaslt
