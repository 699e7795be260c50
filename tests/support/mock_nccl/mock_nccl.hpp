// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <nccl.h>

#include <cstddef>
#include <string>
#include <vector>

/// A mock of NCCL for tests without a GPU, written from the documentation in nccl.h and linked instead of NVIDIA's
/// library, together with the mock of CUDA's runtime, whose device memory is host memory. It executes the collectives,
/// between the devices of a process and, after meet_in_shared_memory(), between forked processes: sums are added in the
/// order of the ranks, of numbers of 4 bytes or more; the sends and receives of a group are done when all have come.
/// Communicators must be non-blocking; a call works, as NCCL's do, until ncclCommGetAsyncError says that it is done,
/// and for ever if another rank does not come. The mock records the calls, checks rules whose violation NCCL answers by
/// a hang or by wrong values, and fails on request. Each test case runs in its own process.
namespace devplace::test::mock_nccl {

/// To be called before processes are forked that communicate with each other.
void meet_in_shared_memory();

/// The version that is loaded; the header's by default.
void set_version(int code);

/// Every call takes that many questions of ncclCommGetAsyncError more until it is done; 0 at the start.
void set_delay(int questions);

/// The `nth` call of `function` from now on returns `code`, and so does every later one.
void fail(const std::string& function, ncclResult_t code, int nth = 1);
/// The same, but the call works at first, and ncclCommGetAsyncError returns `code` for it.
void fail_later(const std::string& function, ncclResult_t code, int nth = 1);
/// From now on no call is ever done.
void hang();
/// From now on calls neither fail nor hang.
void recover();

/// What ncclGetLastError() says.
void set_last_error(const std::string& text);

/// The calls since the start or the last clear_calls(), as "ncclAllReduce rank 1 of 2, 10 float32, sum, on device 1",
/// "ncclGroupStart". Questions of ncclCommGetAsyncError are not recorded.
const std::vector<std::string>& calls();
void clear_calls();

/// The streams of the collectives since the start or the last clear_calls().
const std::vector<cudaStream_t>& streams();

/// Communicators that exist now: neither destroyed nor aborted.
int live_communicators();
/// Communicators that were aborted.
int aborted_communicators();

/// Violations of NCCL's rules, such as a collective after an abort; empty if there were none.
const std::vector<std::string>& violations();

}  // namespace devplace::test::mock_nccl
