// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cuda_runtime_api.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "support/mock_cuda/captures.hpp"
#include "support/mock_cuda/mock_cuda.hpp"
#include "support/mock_cuda/planned_failures.hpp"
#include "support/mock_cuda/stream_queues.hpp"
#include "support/mock_cuda/work_order.hpp"
#include "support/software_gpu/software_gpu.hpp"

// The state of the mock, for the files that implement CUDA's functions.

namespace devplace::test::mock_cuda {

/// Where a block comes from: a pool, cudaMalloc, another process, or cudaHostAlloc.
enum class memory_kind { pool, exportable, opened, pinned };

/// The device of pinned and of ordinary memory.
inline constexpr int host = -1;

struct block {
  std::size_t bytes;
  int device;
  memory_kind kind;
  const void* pool = nullptr;            ///< the pool that allocated the block
  std::vector<unsigned char> written{};  ///< for each byte of device memory, whether a value has been written
  const void* freed_by = nullptr;        ///< the stream in whose order the block was freed
  bool idle = false;                     ///< the stream has executed the free; the pool may use the block again
};

/// A stream or a pool.
struct on_device {
  int device;
  std::string name{};
  int priority = 0;
};

struct event {
  int device;
  bool interprocess = false;
  bool recorded = false;
  bool waited_for = false;
  bool captured = false;  ///< the last record was captured
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
  work_order order;
  stream_queues queues;
  mock_cuda::captures captures;
  cudaStream_t launching = nullptr;  ///< the stream of the graph that is being launched
  std::set<event*> events;
  std::set<const void*> graphs;  ///< those that can be launched; a lost device's are never destroyed
  planned_failures<cudaError_t> failures;
  std::vector<std::string> calls;
  std::vector<launch> launches;
  std::map<std::string, std::size_t> kept_arguments;  ///< argument size by a part of the kernel's name
  std::vector<std::string> violations;
  bool test_looks_at_violations = false;
};

/// Returns the state of this process.
runtime& of_process();

/// Locks the mock: every call holds the lock, because threads may call CUDA at the same time.
class held_lock {
  std::lock_guard<std::recursive_mutex> lock_{of_process().mutex};
};

/// The thread's current device; 0 in a new thread, without a context.
extern thread_local int current;

/// The error that the thread's calls returned last, and that cudaGetLastError returns.
extern thread_local cudaError_t last_error;

/// Makes cudaGetLastError return an error; returns its argument.
cudaError_t answer(cudaError_t code);

void violate(const std::string& what);

/// Makes the primary context of a device, unless it exists or another process has the device for itself.
cudaError_t make_context(int device);

/// The part of a device that a call uses: nothing, the properties, or the context, which the call creates if needed.
enum class need { nothing, description, context };

/// Records a call and returns its planned failure, or cudaSuccess.
cudaError_t begin(const std::string& function, const std::string& arguments = {}, need needs = need::context);

/// Records a call that enqueues work on a stream, which must belong to the current device and not be the default
/// stream. Returns the planned failure, or cudaSuccess.
cudaError_t begin_on(const std::string& function, cudaStream_t stream, const std::string& arguments = {});

/// Executes `f` unless a call has failed; returns the result of `f`, if any, or of the call.
template <class F> cudaError_t finish(cudaError_t begun, const F& f) {
  if (begun != cudaSuccess) return begun;
  if constexpr (std::is_void_v<decltype(f())>)
    f();
  else
    return f();
  return cudaSuccess;
}

/// Records a call and, unless it fails, executes `f`; returns the call's result.
template <class F>
cudaError_t perform(const std::string& function, const std::string& arguments, const F& f, need needs = need::context) {
  const held_lock lock;
  return finish(begin(function, arguments, needs), f);
}
template <class F>
cudaError_t perform_on(cudaStream_t stream, const std::string& function, const std::string& arguments, const F& f) {
  const held_lock lock;
  return finish(begin_on(function, stream, arguments), f);
}

/// Makes a device unusable after a wrong access to memory: further calls return cudaErrorIllegalAddress. A violation
/// unless the program gets that error.
void fail_kernel(int device, const std::string& what);

/// Lets a stream execute work: at once, or in reverse order when the host waits for the stream.
void enqueue(cudaStream_t stream, std::function<void()> work);

/// Returns whether kernels execute blocks and threads in reverse order, and streams execute work when the host waits
/// for it, instead of when it is enqueued: if DEVPLACE_TEST_CUDA_ORDER is "reverse".
bool in_reverse_order();

/// Adds a kernel to the launches and keeps the start of its first argument if the test requested that.
void record_launch(launch l, const void* first_argument);

/// Records that a stream's work accesses bytes; a violation if a conflicting access is unordered.
void use(const char* call, cudaStream_t stream, const void* data, std::size_t bytes, bool writes);

/// Returns the block that contains an address, with its own address; null for ordinary memory of the host.
std::pair<const std::uintptr_t, block>* block_at(const void* data);

/// Returns the device or pinned memory at an address that a kernel may access; no bytes: none.
software_gpu::memory_block memory_at(const void* data);

/// Records a violation unless all bytes from `data` on are memory of `device`, in one block, or of the host.
void require_memory(const char* call, const void* data, std::size_t bytes, int device);

/// Records that bytes of device memory have values, or have them as the bytes at `from` do.
void mark_written(const void* data, std::size_t bytes, const void* from = nullptr);

/// Returns the block in use that begins at an address; null, with a violation, if there is none of this kind.
block* block_from(const char* call, memory_kind kind, void* data);

inline std::string bytes_of(std::size_t bytes) { return std::to_string(bytes) + " bytes"; }

}  // namespace devplace::test::mock_cuda
