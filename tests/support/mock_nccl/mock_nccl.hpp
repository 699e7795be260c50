// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <nccl.h>

#include <cstddef>
#include <string>
#include <vector>

/// A mock of NCCL for tests without a GPU, written from the documentation in nccl.h and linked instead of NVIDIA's
/// library, together with the mock of CUDA's runtime, whose device memory is host memory. It executes the collectives
/// between the devices of a process and, after meet_in_shared_memory(), between forked processes. Sums are added in the
/// order of the ranks, for types of 4 bytes or more; the sends and receives of a group are done when all have arrived.
/// Communicators must be non-blocking; like NCCL's, a call is in progress until ncclCommGetAsyncError says that it is
/// done, and forever if another rank does not call. The mock records the calls, checks rules whose violation makes NCCL
/// hang or compute wrong values, and fails on request. Each test case runs in its own process.
namespace devplace::test::mock_nccl {

/// Moves the state to shared memory. Call it before forking processes that communicate with each other.
void meet_in_shared_memory();

/// Sets the version of the loaded library; the default is the header's.
void set_version(int code);

/// Makes every call take `questions` more queries by ncclCommGetAsyncError until it is done; initially 0.
void set_delay(int questions);

/// Makes the `nth` call of `function` from now on, and every later one, return `code`.
void fail(const std::string& function, ncclResult_t code, int nth = 1);
/// Makes these calls begin successfully and ncclCommGetAsyncError return `code` for them.
void fail_later(const std::string& function, ncclResult_t code, int nth = 1);
/// Makes every further call hang.
void hang();
/// Ends failures and hangs.
void recover();

/// Sets the text of ncclGetLastError().
void set_last_error(const std::string& text);

/// Returns the calls since the start or the last clear_calls(), as "ncclAllReduce rank 1 of 2, 10 float32, sum, on
/// device 1", "ncclGroupStart". Queries by ncclCommGetAsyncError are not recorded.
const std::vector<std::string>& calls();
void clear_calls();

/// Returns the streams of the collectives since the start or the last clear_calls().
const std::vector<cudaStream_t>& streams();

/// Returns the number of communicators that are neither destroyed nor aborted.
int live_communicators();
/// Returns the number of aborted communicators.
int aborted_communicators();

/// Returns the violations of NCCL's rules, such as a collective after an abort.
const std::vector<std::string>& violations();

}  // namespace devplace::test::mock_nccl
