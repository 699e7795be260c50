// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The mock's functions for memory and copies.

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "support/mock_cuda/state.hpp"

namespace devplace::test::mock_cuda {

namespace {

void require_host_memory(const char* call, const void* data) {
  const auto address = reinterpret_cast<std::uintptr_t>(data);
  auto at = of_process().blocks.upper_bound(address);
  if (at == of_process().blocks.begin()) return;
  --at;
  if (address - at->first < at->second.bytes) violate(std::string(call) + ": device memory where the host's belongs");
}

const char* direction(cudaMemcpyKind kind) {
  return kind == cudaMemcpyHostToDevice ? "to device" : kind == cudaMemcpyDeviceToHost ? "to host" : "within";
}

/// Enqueues a copy of bytes. CUDA reads ordinary host memory before the call returns, and has written such memory then.
void move_bytes(void* to, const void* from, std::size_t bytes, cudaStream_t stream) {
  if (!of_process().violations.empty()) return;
  if (of_process().captures.of(stream) != nullptr && (memory_at(reinterpret_cast<std::uintptr_t>(from)).bytes == 0 ||
                                                      memory_at(reinterpret_cast<std::uintptr_t>(to)).bytes == 0))
    return violate("a captured copy from or to ordinary host memory, which each launch of the graph would access");
  const bool reads_at_once = memory_at(reinterpret_cast<std::uintptr_t>(from)).bytes == 0;
  std::shared_ptr<char[]> staged;
  if (reads_at_once && order_of_execution() == execution_order::reverse) {
    staged.reset(new char[bytes]);
    std::memcpy(staged.get(), from, bytes);
  }
  enqueue(stream, [to, from, bytes, staged] {
    std::memmove(to, staged == nullptr ? from : staged.get(), bytes);
    mark_written(to, bytes, staged == nullptr ? from : nullptr);
  });
  if (memory_at(reinterpret_cast<std::uintptr_t>(to)).bytes == 0) of_process().queues.finish_stream(stream);
}

void copy_bytes(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
  constexpr const char* call = "cudaMemcpyAsync";
  if (bytes == 0) return;
  const int device = current;
  if (kind == cudaMemcpyDeviceToHost)
    require_host_memory(call, to);
  else
    require_device_memory(call, to, bytes, device);
  if (kind == cudaMemcpyHostToDevice)
    require_host_memory(call, from);
  else
    require_device_memory(call, from, bytes, device);
  use(call, stream, from, bytes, false);
  use(call, stream, to, bytes, true);
  move_bytes(to, from, bytes, stream);
}

}  // namespace

}  // namespace devplace::test::mock_cuda

namespace mock = devplace::test::mock_cuda;

extern "C" {

cudaError_t cudaMemPoolCreate(cudaMemPool_t* created, const cudaMemPoolProps* properties) {
  const mock::held_lock lock;
  const cudaError_t code = mock::begin("cudaMemPoolCreate");
  if (properties->location.id != mock::current) mock::violate("a pool on another device");
  if (code == cudaSuccess) *created = reinterpret_cast<cudaMemPool_t>(new mock::on_device{properties->location.id});
  return code;
}

cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) {
  const mock::held_lock lock;
  delete reinterpret_cast<mock::on_device*>(pool);
  return mock::begin("cudaMemPoolDestroy");
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t, cudaMemPoolAttr, void*) {
  const mock::held_lock lock;
  return mock::begin("cudaMemPoolSetAttribute");
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr, void* value) {
  const mock::held_lock lock;
  std::uint64_t bytes = 0;
  for (const auto& [address, block] : mock::of_process().blocks) bytes += block.pool == pool ? block.bytes : 0;
  std::memcpy(value, &bytes, sizeof bytes);
  return cudaSuccess;
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, std::size_t) {
  const mock::held_lock lock;
  mock::of_process().queues.finish_all();
  auto& blocks = mock::of_process().blocks;
  for (auto at = blocks.begin(); at != blocks.end();) {
    if (at->second.idle && at->second.pool == pool) {
      std::free(reinterpret_cast<void*>(at->first));
      at = blocks.erase(at);
    } else {
      ++at;
    }
  }
  return mock::begin("cudaMemPoolTrimTo");
}

cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const cudaMemAccessDesc* access, std::size_t) {
  const mock::held_lock lock;
  return mock::begin("cudaMemPoolSetAccess", "pool of " +
                                                 std::to_string(reinterpret_cast<mock::on_device*>(pool)->device) +
                                                 " for " + std::to_string(access->location.id));
}

cudaError_t cudaMallocFromPoolAsync(void** data, std::size_t bytes, cudaMemPool_t pool, cudaStream_t stream) {
  const mock::held_lock lock;
  const cudaError_t code = mock::begin_on("cudaMallocFromPoolAsync", stream, mock::bytes_of(bytes));
  if (code != cudaSuccess) return code;
  mock::runtime& r = mock::of_process();
  for (auto& [address, block] : r.blocks) {
    if (block.freed_by == nullptr || block.pool != pool || block.bytes != bytes) continue;
    r.queues.finish_stream(block.freed_by);
    block.idle = false, block.freed_by = nullptr;
    *data = reinterpret_cast<void*>(address);
    std::memset(*data, 0xCD, bytes);
    block.written.assign(bytes, 0);
    r.order.take(stream, *data, bytes);
    return cudaSuccess;
  }
  const int device = reinterpret_cast<mock::on_device*>(pool)->device;
  std::size_t used = 0;
  for (const auto& [address, block] : r.blocks) used += block.device == device ? block.bytes : 0;
  if (bytes > r.memory - used) return mock::answer(cudaErrorMemoryAllocation);
  *data = std::aligned_alloc(256, (bytes + 256) / 256 * 256);
  std::memset(*data, 0xCD, bytes);  // so that uninitialised memory contains garbage, as on a GPU
  r.blocks[reinterpret_cast<std::uintptr_t>(*data)] = {bytes, device, pool, std::vector<unsigned char>(bytes)};
  r.order.take(stream, *data, bytes);
  return cudaSuccess;
}

cudaError_t cudaFreeAsync(void* data, cudaStream_t stream) {
  const mock::held_lock lock;
  const int device = reinterpret_cast<mock::on_device*>(stream)->device;
  const std::string& name = reinterpret_cast<mock::on_device*>(stream)->name;
  const cudaError_t code =
      mock::begin("cudaFreeAsync", "stream of " + std::to_string(device) + (name.empty() ? "" : " on " + name));
  const auto at = mock::of_process().blocks.find(reinterpret_cast<std::uintptr_t>(data));
  if (at == mock::of_process().blocks.end() || at->second.freed_by != nullptr)
    mock::violate("cudaFreeAsync: not the start of a block in use");
  else if (at->second.device != device)
    mock::violate("cudaFreeAsync: memory of another device");
  else
    at->second.freed_by = stream;
  if (const std::string problem = mock::of_process().order.give(stream, data); !problem.empty())
    mock::violate("cudaFreeAsync: " + problem);
  if (at != mock::of_process().blocks.end()) mock::enqueue(stream, [&block = at->second] { block.idle = true; });
  return code;
}

cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes, cudaStream_t stream) {
  const mock::held_lock lock;
  const cudaError_t code = mock::begin_on("cudaMemsetAsync", stream, mock::bytes_of(bytes));
  mock::require_device_memory("cudaMemsetAsync", to, bytes, mock::current);
  if (code == cudaSuccess) mock::use("cudaMemsetAsync", stream, to, bytes, true);
  if (code == cudaSuccess && mock::of_process().violations.empty())
    mock::enqueue(stream, [to, value, bytes] {
      std::memset(to, value, bytes);
      mock::mark_written(to, bytes);
    });
  return code;
}

cudaError_t cudaHostAlloc(void** data, std::size_t bytes, unsigned flags) {
  const mock::held_lock lock;
  const cudaError_t code = mock::begin("cudaHostAlloc", mock::bytes_of(bytes));
  if (flags != cudaHostAllocPortable) mock::violate("cudaHostAlloc: memory for one device only");
  if (code != cudaSuccess) return code;
  *data = std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
  std::memset(*data, 0xCD, bytes);
  mock::of_process().pinned[reinterpret_cast<std::uintptr_t>(*data)] = {bytes};
  mock::of_process().order.take(nullptr, *data, bytes);
  return cudaSuccess;
}

cudaError_t cudaFreeHost(void* data) {
  const mock::held_lock lock;
  mock::of_process().queues.finish_all();
  if (const std::string problem = mock::of_process().order.give(nullptr, data); !problem.empty())
    mock::violate("cudaFreeHost: " + problem);
  if (mock::of_process().pinned.erase(reinterpret_cast<std::uintptr_t>(data)) == 0)
    mock::violate("cudaFreeHost: not the start of pinned memory");
  else
    std::free(data);
  return mock::begin("cudaFreeHost");
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
  const mock::held_lock lock;
  const cudaError_t code =
      mock::begin_on("cudaMemcpyAsync", stream, std::string(mock::direction(kind)) + ", " + mock::bytes_of(bytes));
  const auto x = reinterpret_cast<std::uintptr_t>(to), y = reinterpret_cast<std::uintptr_t>(from);
  if ((x < y ? y - x : x - y) < bytes) mock::violate("cudaMemcpyAsync: the ranges overlap");
  if (code == cudaSuccess) mock::copy_bytes(to, from, bytes, kind, stream);
  return code;
}

cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device, std::size_t bytes,
                                cudaStream_t stream) {
  const mock::held_lock lock;
  const cudaError_t code =
      mock::begin_on("cudaMemcpyPeerAsync", stream, std::to_string(from_device) + " to " + std::to_string(to_device));
  if (code != cudaSuccess || bytes == 0) return code;
  mock::require_device_memory("cudaMemcpyPeerAsync", to, bytes, to_device);
  mock::require_device_memory("cudaMemcpyPeerAsync", from, bytes, from_device);
  mock::use("cudaMemcpyPeerAsync", stream, from, bytes, false);
  mock::use("cudaMemcpyPeerAsync", stream, to, bytes, true);
  mock::move_bytes(to, from, bytes, stream);
  return code;
}

cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  const mock::held_lock lock;
  *can = device != peer && mock::of_process().peers ? 1 : 0;
  return mock::begin("cudaDeviceCanAccessPeer", {}, mock::need::description);
}

cudaError_t cudaMalloc(void** data, std::size_t bytes) {
  const mock::held_lock lock;
  const cudaError_t code = mock::begin("cudaMalloc", mock::bytes_of(bytes));
  if (code != cudaSuccess) return code;
  const std::size_t all = bytes + mock::exportable_page;
  const int file = ::memfd_create("memory of the mock of CUDA", MFD_CLOEXEC);
  if (file < 0 || ::ftruncate(file, static_cast<off_t>(all)) != 0) return mock::answer(cudaErrorMemoryAllocation);
  void* const at = ::mmap(nullptr, all, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (at == MAP_FAILED) return mock::answer(cudaErrorMemoryAllocation);
  *data = static_cast<char*>(at) + mock::exportable_page;
  new (at) mock::exportable{all, file, 0};
  std::memset(*data, 0xCD, bytes);
  mock::runtime& r = mock::of_process();
  r.blocks[reinterpret_cast<std::uintptr_t>(*data)] = {bytes, mock::current, nullptr,
                                                       std::vector<unsigned char>(bytes)};
  r.exportable.insert(*data);
  r.order.take(nullptr, *data, bytes);
  return cudaSuccess;
}

cudaError_t cudaFree(void* data) {
  const mock::held_lock lock;
  mock::runtime& r = mock::of_process();
  r.queues.finish_all();
  if (r.exportable.erase(data) == 0) {
    mock::violate("cudaFree: not the start of memory of cudaMalloc");
    return mock::begin("cudaFree");
  }
  if (mock::exportable_at(data).opened != 0) mock::violate("cudaFree: a process has the memory open");
  if (const std::string problem = r.order.give(nullptr, data); !problem.empty()) mock::violate("cudaFree: " + problem);
  r.blocks.erase(reinterpret_cast<std::uintptr_t>(data));
  ::close(mock::exportable_at(data).file);
  ::munmap(&mock::exportable_at(data), mock::exportable_at(data).bytes);
  return mock::begin("cudaFree");
}

}  // extern "C"
