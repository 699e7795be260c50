// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>

#include "support/mock_cuda/mock_cuda.hpp"
#include "support/software_gpu/software_gpu.hpp"

// Functions of mock_cuda.cpp that kernels.cpp calls.

namespace devplace::test::mock_cuda {

/// Locks the mock: every call holds the lock, because threads may call CUDA at the same time.
class held_lock {
 public:
  held_lock();

 private:
  std::lock_guard<std::recursive_mutex> lock_;
};

/// The thread's current device; 0 in a new thread, without a context.
extern thread_local int current;

/// Makes cudaGetLastError return an error; returns its argument.
cudaError_t answer(cudaError_t code);

/// Records a call that enqueues work on a stream, which must belong to the current device and not be the default
/// stream. Returns the planned failure, or cudaSuccess.
cudaError_t begin_on(const std::string& function, cudaStream_t stream, const std::string& arguments = {});

void violate(const std::string& what);

/// Makes a device unusable after a wrong access to memory: further calls return cudaErrorIllegalAddress. A violation
/// unless the program gets that error.
void fail_kernel(int device, const std::string& what);

/// Lets a stream execute work: at once, or when the host waits for the stream.
void enqueue(cudaStream_t stream, std::function<void()> work);

/// Adds a kernel to the launches and keeps the start of its first argument if the test requested that.
void record_launch(launch l, const void* first_argument);

/// Records that a stream's work accesses bytes; a violation if a conflicting access is unordered.
void use(const char* call, cudaStream_t stream, const void* data, std::size_t bytes, bool writes);

/// Device or pinned memory that a kernel may access; no bytes: none.
struct live_memory {
  std::uintptr_t begin = 0;
  std::size_t bytes = 0;
  unsigned char* written = nullptr;  ///< of device memory: for each byte, whether a value has been written
};
live_memory memory_at(std::uintptr_t address);

using software_gpu::execution_order;

/// Returns the order in which kernels execute blocks and threads, and the seed of execution_order::random, from
/// DEVPLACE_TEST_CUDA_ORDER: forward (the default), reverse, or random:<seed>. In reverse order streams execute work
/// when the host waits for it, otherwise when it is enqueued.
execution_order order_of_execution();
unsigned seed_of_execution();

}  // namespace devplace::test::mock_cuda
