// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cublasLt.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

/// A mock of cuBLASLt for tests without a GPU, written from the documentation in cublasLt.h and linked instead of
/// NVIDIA's library, together with the mock of CUDA's runtime, whose device memory is host memory. It multiplies in
/// double, records the calls, fails on request, and rejects what NVIDIA's library rejects, including products of one
/// row or column. Each test case runs in its own process.
namespace devplace::test::mock_cublaslt {

/// A product passed to cublasLtMatmul, in cuBLASLt's terms: column-major, D is m x n.
struct product {
  std::uint64_t m, n, k;
  std::int64_t lda, ldb, ldd;
  cublasOperation_t op_a, op_b;
  cudaDataType_t type, operand_type;
  cublasComputeType_t compute;
  cublasLtEpilogue_t epilogue;
  std::uint64_t algorithm;  ///< number of the heuristics query that returned it, from 1
  std::uint64_t flags;      ///< numerical flags of the algorithm
  const void* workspace;
  cudaStream_t stream;
  std::int32_t batch;  ///< number of matrices; the strides are elements between them
  std::int64_t stride_a, stride_b, stride_d;

  bool operator==(const product&) const = default;
};

/// Returns the products computed so far.
const std::vector<product>& products();

/// Returns the names of the functions called since the start or the last clear_calls().
const std::vector<std::string>& calls();
void clear_calls();

/// Makes the `nth` call of `function` from now on return `status`, once.
void fail(const std::string& function, cublasStatus_t status, int nth = 1);

/// Makes all further queries find no algorithm for this epilogue.
void refuse(cublasLtEpilogue_t epilogue);

/// Sets the numerical flags (CUBLASLT_NUMERICAL_IMPL_FLAGS_...) of the algorithms that a query returns, best first. The
/// default is one algorithm of the requested precision.
void offer(std::vector<std::uint64_t> flags);

/// Return the split-k reduction schemes that the last query allowed, and its workspace size.
std::uint32_t allowed_reductions();
std::uint64_t allowed_workspace();

/// Return the number of existing handles, and of existing descriptors of all kinds.
std::size_t live_handles();
std::size_t live_descriptors();

/// Returns the violations of the rules of cublasLt.h.
const std::vector<std::string>& violations();

}  // namespace devplace::test::mock_cublaslt
