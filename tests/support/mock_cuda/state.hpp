// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cuda_runtime_api.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "support/mock_cuda/captures.hpp"
#include "support/mock_cuda/mock_cuda.hpp"
#include "support/mock_cuda/runtime.hpp"
#include "support/mock_cuda/stream_queues.hpp"
#include "support/mock_cuda/work_order.hpp"

// The state of the mock, for the files that implement CUDA's functions.

namespace devplace::test::mock_cuda {

struct block {
  std::size_t bytes;
  int device;
  const void* pool;                      ///< the pool that allocated the block
  std::vector<unsigned char> written{};  ///< for each byte, whether a value has been written
  const void* freed_by = nullptr;        ///< the stream in whose order the block was freed
  bool idle = false;                     ///< the stream has executed the free; the pool may use the block again
};

/// A stream or a pool.
struct on_device {
  int device;
  std::string name{};
  int priority = 0;
};

/// A block of page-locked host memory.
struct pinned_block {
  std::size_t bytes;
};

struct event {
  int device;
  bool interprocess = false;
  bool recorded = false;
  bool waited_for = false;
};

/// The page before memory of cudaMalloc, which is a file without a name that other processes can open.
struct exportable {
  std::size_t bytes;        ///< including this page
  int file;                 ///< descriptor in the process that allocated the memory
  std::atomic<int> opened;  ///< number of open handles in all processes
};
constexpr std::size_t exportable_page = 4096;

inline exportable& exportable_at(void* data) {
  return *reinterpret_cast<exportable*>(static_cast<char*>(data) - exportable_page);
}

struct planned_failure {
  cudaError_t code;
  int calls_left;
  int times;
};

struct runtime {
  std::recursive_mutex mutex;
  int devices = 2;
  cudaError_t none_found = cudaErrorNoDevice;
  std::size_t memory = std::size_t{1} << 30;
  bool driver = true;
  bool done = true;
  bool peers = true;
  std::map<int, cudaError_t> broken;
  std::map<int, std::string> failed_kernels;  ///< by device, until a call returns the error
  std::set<int> contexts;                     ///< devices with a primary context of this process
  std::set<int> occupied;                     ///< devices in exclusive-process mode that another process uses
  std::size_t device_changes = 0;
  std::map<std::uintptr_t, block> blocks;
  std::map<std::uintptr_t, pinned_block> pinned;
  std::set<void*> exportable;  ///< memory of cudaMalloc, not of pools
  std::set<void*> opened;      ///< memory of other processes that this process has open
  work_order order;
  stream_queues queues;
  mock_cuda::captures captures;
  const void* launching = nullptr;  ///< the stream of the graph that is being launched
  std::set<event*> events;
  std::map<std::string, planned_failure> failures;
  std::vector<std::string> calls;
  std::vector<launch> launches;
  std::map<std::string, std::size_t> kept_arguments;  ///< argument size by a part of the kernel's name
  std::vector<std::string> violations;
  bool test_looks_at_violations = false;
};

/// Returns the state of this process.
runtime& of_process();

/// The error that the thread's calls returned last, and that cudaGetLastError returns.
extern thread_local cudaError_t last_error;

/// Makes the primary context of a device, unless it exists or another process has the device for itself.
cudaError_t make_context(int device);

/// The part of a device that a call uses: nothing, the properties, or the context, which the call creates if needed.
enum class need { nothing, description, context };

/// Records a call and returns its planned failure, or cudaSuccess.
cudaError_t begin(const std::string& function, const std::string& arguments = {}, need needs = need::context);

/// Records a violation unless all bytes from `data` on belong to one block on `device`.
void require_device_memory(const char* call, const void* data, std::size_t bytes, int device);

/// Records that bytes of device memory have values, or have them as the bytes at `from` do.
void mark_written(const void* data, std::size_t bytes, const void* from = nullptr);

inline std::string bytes_of(std::size_t bytes) { return std::to_string(bytes) + " bytes"; }

}  // namespace devplace::test::mock_cuda
