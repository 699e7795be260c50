// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <vector>

/// A mock of CUDA's runtime for tests without a GPU, linked instead of NVIDIA's. Device memory is host memory. Kernels
/// run on the GPU in software (kernels.hpp) if the test is compiled as CUDA. The mock records the calls, checks rules
/// whose violation NVIDIA's runtime reports late or never, and fails on request. Each test case runs in its own process
/// and so starts in the state described here.
namespace devplace::test::mock_cuda {

/// Sets the number of devices, by default 2, and the memory of each. Call it before the first CUDA call.
void set_devices(int count, std::size_t bytes_each = std::size_t{1} << 30);

/// Simulates the absence of devices; cudaGetDeviceCount then returns `code`, which may be cudaSuccess.
void find_none(cudaError_t code);

/// Returns the priority of a stream; 0 unless it was created with one.
int priority_of(cudaStream_t stream);

/// Adds `name` to the records of this stream's work, as in "cudaMemcpyAsync device 0 to device, 4 bytes on copies".
void name_stream(void* stream, const std::string& name);

/// Simulates the absence of a driver.
void remove_driver();

/// Returns the calls since the start or the last clear_calls(), as "cudaMemcpy device 0 to device, 24 bytes".
const std::vector<std::string>& calls();
void clear_calls();

/// Work for a device: a kernel, named like its body in backend/cuda/kernels, or a call of a library on top of the
/// runtime.
struct launch {
  std::string name;
  unsigned blocks;
  unsigned threads;  ///< per block
  int device;
  cudaStream_t stream;
  std::vector<unsigned char> argument;  ///< the kernel's bytes, if keep_arguments() requested them
};

/// Returns the launches since the start or the last clear_calls(); calls() contains them, too.
const std::vector<launch>& launches();

/// Returns the number of calls() that launch kernels, libraries' work or graphs, or that capture a graph.
std::size_t launching_calls();

/// Makes all further launches of kernels whose name contains `kernel` record their first argument, of `bytes` bytes.
void keep_arguments(const std::string& kernel, std::size_t bytes);

/// Records work that a library's mock enqueues on a stream of the current device. Returns the call's result. Without
/// `work`, the stream executes all earlier work, so that the caller can do the library's work itself.
cudaError_t launch_of_library(const std::string& function, cudaStream_t stream, std::function<void()> work = nullptr);
/// Records memory of the current device that such work reads or writes.
void library_uses(const char* function, cudaStream_t stream, const void* data, std::size_t bytes, bool writes);

/// Makes the `nth` call of `function` from now on, and the calls after it, fail with `code`, `times` in total. (A
/// failed pool allocation is retried once, after all pools of the device were trimmed.)
void fail(const std::string& function, cudaError_t code, int nth = 1, int times = 1);

/// Makes every further call that reaches a device, or this device, return `code`, as after a failed kernel.
void break_devices(cudaError_t code);
void break_device(int device, cudaError_t code);

/// Simulates another process that uses a device in exclusive-process mode: a call that would create a context on the
/// device returns cudaErrorDevicesUnavailable.
void occupy_device(int device);

/// Returns the devices on which this process has a primary context. As in CUDA 12 and later, cudaSetDevice creates the
/// context, and so does a call that needs the current device, which is device 0 in a new thread.
const std::set<int>& contexts();

/// Returns the number of calls of cudaSetDevice.
std::size_t device_changes();

/// Removes peer access between all devices.
void separate_devices();

/// Sets whether enqueued work counts as done (the default); if not, an event is not ready until it is waited for.
void set_done(bool done);

/// Return the numbers of existing blocks of device memory, blocks of pinned memory, and events.
std::size_t live_blocks();
std::size_t live_pinned();
std::size_t live_events();

/// Returns the violations of CUDA's rules, such as a copy beyond a block's end. A program that never calls this
/// function fails at its end if there are any.
const std::vector<std::string>& violations();

}  // namespace devplace::test::mock_cuda
