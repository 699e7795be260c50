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
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "support/mock_cuda/state.hpp"

namespace devplace::test::mock_cuda {

namespace {

/// Adds a block, which work may use in the order of `stream` or, with null, at once.
cudaError_t add_block(void* data, cudaStream_t stream, block added) {
  std::memset(data, 0xCD, added.bytes);  // so that uninitialised memory contains garbage, as on a GPU
  of_process().order.take(stream, data, added.bytes);
  if (added.device != host) added.written.assign(added.bytes, 0);
  of_process().blocks[reinterpret_cast<std::uintptr_t>(data)] = std::move(added);
  return cudaSuccess;
}

/// Checks that memory may be freed in the order of `stream` or, with null, on the host.
void give_back(const char* call, cudaStream_t stream, const void* data) {
  const std::string problem = of_process().order.give(stream, data);
  if (!problem.empty()) violate(std::string(call) + ": " + problem);
}

/// Enqueues a copy of bytes. CUDA reads ordinary host memory before the call returns, and has written such memory then.
void move_bytes(const char* call, void* to, int to_device, const void* from, int from_device, std::size_t bytes,
                cudaStream_t stream) {
  if (bytes == 0) return;
  require_memory(call, to, bytes, to_device);
  require_memory(call, from, bytes, from_device);
  use(call, stream, from, bytes, false);
  use(call, stream, to, bytes, true);
  if (!of_process().violations.empty()) return;
  const bool from_ordinary = memory_at(from).bytes == 0, to_ordinary = memory_at(to).bytes == 0;
  if (of_process().captures.of(stream).graph != nullptr && (from_ordinary || to_ordinary))
    return violate("a captured copy from or to ordinary host memory, which each launch of the graph would access");
  std::vector<char> staged;
  if (from_ordinary && in_reverse_order())
    staged.assign(static_cast<const char*>(from), static_cast<const char*>(from) + bytes);
  enqueue(stream, [to, from, bytes, staged = std::move(staged)] {
    std::memmove(to, staged.empty() ? from : staged.data(), bytes);
    mark_written(to, bytes, staged.empty() ? from : nullptr);
  });
  if (to_ordinary) of_process().queues.finish_stream(stream);
}

}  // namespace

extern "C" {

cudaError_t cudaMemPoolCreate(cudaMemPool_t* created, const cudaMemPoolProps* properties) {
  return perform("cudaMemPoolCreate", "", [&] {
    if (properties->location.id != current) violate("a pool on another device");
    *created = reinterpret_cast<cudaMemPool_t>(new on_device{properties->location.id});
  });
}

cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) {
  const held_lock lock;
  delete reinterpret_cast<on_device*>(pool);
  return begin("cudaMemPoolDestroy");
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t, cudaMemPoolAttr, void*) {
  return perform("cudaMemPoolSetAttribute", "", [] {});
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr, void* value) {
  const held_lock lock;
  std::uint64_t bytes = 0;
  for (const auto& [address, block] : of_process().blocks) bytes += block.pool == pool ? block.bytes : 0;
  std::memcpy(value, &bytes, sizeof bytes);
  return cudaSuccess;
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, std::size_t) {
  const held_lock lock;
  of_process().queues.finish_all();
  std::erase_if(of_process().blocks, [pool](const auto& at) {
    const bool freed = at.second.idle && at.second.pool == pool;
    if (freed) std::free(reinterpret_cast<void*>(at.first));
    return freed;
  });
  return begin("cudaMemPoolTrimTo");
}

cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const cudaMemAccessDesc* access, std::size_t) {
  const std::string owner = std::to_string(reinterpret_cast<on_device*>(pool)->device);
  return perform("cudaMemPoolSetAccess", "pool of " + owner + " for " + std::to_string(access->location.id), [] {});
}

cudaError_t cudaMallocFromPoolAsync(void** data, std::size_t bytes, cudaMemPool_t pool, cudaStream_t stream) {
  return perform_on(stream, "cudaMallocFromPoolAsync", bytes_of(bytes), [&] {
    runtime& r = of_process();
    const block made{bytes, reinterpret_cast<on_device*>(pool)->device, memory_kind::pool, pool};
    std::size_t used = 0;
    for (const auto& [address, other] : r.blocks) {
      if (other.freed_by != nullptr && other.pool == pool && other.bytes == bytes) {
        r.queues.finish_stream(other.freed_by);
        *data = reinterpret_cast<void*>(address);
        return add_block(*data, stream, made);
      }
      used += other.device == made.device ? other.bytes : 0;
    }
    if (bytes > r.memory - used) return answer(cudaErrorMemoryAllocation);
    *data = std::aligned_alloc(256, (bytes + 256) / 256 * 256);
    return add_block(*data, stream, made);
  });
}

cudaError_t cudaFreeAsync(void* data, cudaStream_t stream) {
  const held_lock lock;
  const on_device& on = *reinterpret_cast<on_device*>(stream);
  const cudaError_t code =
      begin("cudaFreeAsync", "stream of " + std::to_string(on.device) + (on.name.empty() ? "" : " on " + on.name));
  give_back("cudaFreeAsync", stream, data);
  if (block* const freed = block_from("cudaFreeAsync", memory_kind::pool, data)) {
    if (freed->device != on.device) violate("cudaFreeAsync: memory of another device");
    freed->freed_by = stream;
    enqueue(stream, [freed] { freed->idle = true; });
  }
  return code;
}

cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes, cudaStream_t stream) {
  return perform_on(stream, "cudaMemsetAsync", bytes_of(bytes), [&] {
    require_memory("cudaMemsetAsync", to, bytes, current);
    use("cudaMemsetAsync", stream, to, bytes, true);
    if (!of_process().violations.empty()) return;
    enqueue(stream, [to, value, bytes] {
      std::memset(to, value, bytes);
      mark_written(to, bytes);
    });
  });
}

cudaError_t cudaHostAlloc(void** data, std::size_t bytes, unsigned flags) {
  return perform("cudaHostAlloc", bytes_of(bytes), [&] {
    if (flags != cudaHostAllocPortable) violate("cudaHostAlloc: memory for one device only");
    *data = std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
    return add_block(*data, nullptr, {bytes, host, memory_kind::pinned});
  });
}

cudaError_t cudaFreeHost(void* data) {
  const held_lock lock;
  of_process().queues.finish_all();
  give_back("cudaFreeHost", nullptr, data);
  if (block_from("cudaFreeHost", memory_kind::pinned, data) != nullptr) {
    of_process().blocks.erase(reinterpret_cast<std::uintptr_t>(data));
    std::free(data);
  }
  return begin("cudaFreeHost");
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
  const bool in = kind == cudaMemcpyHostToDevice, out = kind == cudaMemcpyDeviceToHost;
  const std::string direction = in ? "to device, " : out ? "to host, " : "within, ";
  return perform_on(stream, "cudaMemcpyAsync", direction + bytes_of(bytes), [&] {
    const auto x = reinterpret_cast<std::uintptr_t>(to), y = reinterpret_cast<std::uintptr_t>(from);
    if ((x < y ? y - x : x - y) < bytes) violate("cudaMemcpyAsync: the ranges overlap");
    move_bytes("cudaMemcpyAsync", to, out ? host : current, from, in ? host : current, bytes, stream);
  });
}

cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device, std::size_t bytes,
                                cudaStream_t stream) {
  const std::string devices = std::to_string(from_device) + " to " + std::to_string(to_device);
  return perform_on(stream, "cudaMemcpyPeerAsync", devices,
                    [&] { move_bytes("cudaMemcpyPeerAsync", to, to_device, from, from_device, bytes, stream); });
}

cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  *can = device != peer && of_process().peers ? 1 : 0;
  return perform("cudaDeviceCanAccessPeer", "", [] {}, need::description);
}

cudaError_t cudaMalloc(void** data, std::size_t bytes) {
  return perform("cudaMalloc", bytes_of(bytes), [&] {
    const std::size_t all = bytes + exportable_page;
    const int file = ::memfd_create("memory of the mock of CUDA", MFD_CLOEXEC);
    if (file < 0 || ::ftruncate(file, static_cast<off_t>(all)) != 0) return answer(cudaErrorMemoryAllocation);
    void* const at = ::mmap(nullptr, all, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (at == MAP_FAILED) return answer(cudaErrorMemoryAllocation);
    new (at) exportable{all, file, 0};
    *data = static_cast<char*>(at) + exportable_page;
    return add_block(*data, nullptr, {bytes, current, memory_kind::exportable});
  });
}

cudaError_t cudaFree(void* data) {
  const held_lock lock;
  of_process().queues.finish_all();
  if (block_from("cudaFree", memory_kind::exportable, data) != nullptr) {
    if (exportable_at(data).opened != 0) violate("cudaFree: a process has the memory open");
    give_back("cudaFree", nullptr, data);
    of_process().blocks.erase(reinterpret_cast<std::uintptr_t>(data));
    ::close(exportable_at(data).file);
    ::munmap(&exportable_at(data), exportable_at(data).bytes);
  }
  return begin("cudaFree");
}

}  // extern "C"

}  // namespace devplace::test::mock_cuda
