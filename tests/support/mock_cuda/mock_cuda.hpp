// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <string>
#include <vector>

/// A CUDA runtime for tests on machines without a GPU, linked in place of NVIDIA's. Its devices have memory of the
/// host. Kernels can be launched where the test is compiled as CUDA, and do not run. It keeps a record of the calls,
/// checks what NVIDIA's would report late or not at all, and fails where a test asks for it. Each test case is a
/// process of its own, so a test finds it as it is described here.
namespace devplace::test::mock_cuda {

/// Devices that cudaGetDeviceCount reports, 2 at first, and the memory of each. Before the first call of CUDA.
void set_devices(int count, std::size_t bytes_each = std::size_t{1} << 30);

/// As if there were no device; cudaGetDeviceCount then answers `code`, which may be cudaSuccess.
void find_none(cudaError_t code);

/// Work that this stream is given is noted with `name` from now on, as "cudaMemcpyAsync device 0 to device, 4 bytes on
/// copies".
void name_stream(void* stream, const std::string& name);

/// As if there were no driver.
void remove_driver();

/// The calls since the start or the last clear_calls(), as "cudaMemcpy device 0 to device, 24 bytes".
const std::vector<std::string>& calls();
void clear_calls();

/// Work for a device: a kernel, named as its body in backend/cuda/kernels, or a call of a library above the runtime.
struct launch {
  std::string name;
  unsigned blocks;
  unsigned threads;  ///< of each block
  int device;
  cudaStream_t stream;
  std::vector<unsigned char> argument;  ///< the bytes of the kernel, where keep_arguments() asked for them
};

/// The launches since the start or the last clear_calls(), which are among the calls too.
const std::vector<launch>& launches();

/// From now on the first argument of kernels whose name contains `kernel` is kept, which has `bytes` bytes.
void keep_arguments(const std::string& kernel, std::size_t bytes);

/// What the mock of a library calls when it is given work for a stream of the current device. Says how the call ends.
cudaError_t launch_of_library(const std::string& function, cudaStream_t stream);

/// The `nth` call of `function` from now on fails with `code`, and so do all until `times` have. (Memory that a pool
/// cannot give is asked for twice, the second time after all pools on the device have given back what they keep.)
void fail(const std::string& function, cudaError_t code, int nth = 1, int times = 1);

/// From now on every call that reaches a device, or this one, answers `code`, as after a kernel that failed.
void break_devices(cudaError_t code);
void break_device(int device, cudaError_t code);

/// From now on no device can reach the memory of another one.
void separate_devices();

/// Whether work that was asked for is done; if not, events are not ready until they are waited for. It is at first.
void set_done(bool done);

/// Blocks of device memory and of pinned memory, and events, that were not given back.
std::size_t live_blocks();
std::size_t live_pinned();
std::size_t live_events();

/// What was asked for against CUDA's rules, such as a copy beyond a block's end; empty if nothing was.
const std::vector<std::string>& violations();

}  // namespace devplace::test::mock_cuda
