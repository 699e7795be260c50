// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

#include <devplace/backend/cuda/queue.hpp>
#include <devplace/memory/block.hpp>
#include <devplace/memory/detail/out_of_memory_text.hpp>
#include <devplace/memory/device_pointer.hpp>

namespace devplace {
namespace detail {

/// Returns whether the place `ordinal` can access the memory of the place `other` over NVLink or PCIe. The first query
/// enables access to the pool of `other`. Pool memory needs cudaMemPoolSetAccess; cudaDeviceEnablePeerAccess covers
/// only cudaMalloc. CUDA is queried once per pair.
inline bool cuda_can_access(int ordinal, int other) {
  enum : signed char { unknown, yes, no };
  static std::array<std::array<std::atomic<signed char>, counted_ordinals>, counted_ordinals> answers{};
  const int visible = cuda_visible_device(ordinal), peer = cuda_visible_device(other);
  if (visible == peer) return true;
  std::atomic<signed char>& answer = answers[static_cast<std::size_t>(ordinal)][static_cast<std::size_t>(other)];
  if (const signed char known = answer.load(std::memory_order_acquire); known != unknown) return known == yes;
  int reachable = 0;
  {
    const cuda_device_guard device(ordinal);
    check_cuda(cudaDeviceCanAccessPeer(&reachable, visible, peer), "cudaDeviceCanAccessPeer", ordinal);
  }
  if (reachable != 0) {
    cudaMemAccessDesc access{};
    access.location.type = cudaMemLocationTypeDevice;
    access.location.id = visible;
    access.flags = cudaMemAccessFlagsProtReadWrite;
    const cuda_scope owner(other);
    check_cuda(cudaMemPoolSetAccess(owner.pool(), &access, 1), "cudaMemPoolSetAccess", other);
  }
  answer.store(reachable != 0 ? yes : no, std::memory_order_release);
  return reachable != 0;
}

/// Throws the exception for `call`, which could not allocate `bytes` bytes. The message has `device` after the place's
/// name.
DEVPLACE_COMPILABLE([[noreturn]])
void throw_cuda_out_of_memory(cudaError_t code, const char* call, int ordinal, std::size_t bytes,
                              const std::string& device = {}) {
  static_cast<void>(cudaGetLastError());
  std::size_t free = 0, total = 0;
  ignore_cuda(cudaMemGetInfo(&free, &total));
  throw out_of_memory(out_of_memory_text(
      {place_name(backend::cuda{}, ordinal) + device, bytes, usage_of(counters(backend::cuda{}, ordinal)),
       joined({free, " of the device's ", total, " bytes are free for all programs together (", call, ": ",
               cuda_error_text(code), ")"}),
       "see nvidia-smi for other programs on this GPU"}));
}
DEVPLACE_COMPILED_APART(void throw_cuda_out_of_memory(cudaError_t, const char*, int, std::size_t, const std::string&))

/// Returns the place whose device's context holds pinned memory: the first one that is not lost and has a context
/// already; if none has a context, the first one that is not lost.
inline int ordinal_of_pinned_memory() {
  const int count = cuda_place_count("work or memory on a device");
  int usable = -1;
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    if (cuda_device_lost(ordinal)) continue;
    if (has_cuda_context(cuda_visible_device(ordinal))) return ordinal;
    if (usable < 0) usable = ordinal;
  }
  return usable < 0 ? 0 : usable;
}

}  // namespace detail

/// Memory of CUDA devices. It is allocated from the place's pool and freed in the order of the stream that allocated
/// it; copies run in the order of the current stream.
template <> struct implementation<backend::cuda, op::memory> {
  static detail::memory_block allocate(int ordinal, std::size_t bytes,
                                       memory_purpose purpose = memory_purpose::tensors) {
    const detail::cuda_scope device(ordinal);
    detail::memory_counters& counters = detail::counters(backend::cuda{}, ordinal);
    void* data = nullptr;
    cudaError_t code = cudaMallocFromPoolAsync(&data, bytes, device.pool(), device.stream());
    if (code == cudaErrorMemoryAllocation) {
      trim_all(device.visible());
      code = cudaMallocFromPoolAsync(&data, bytes, device.pool(), device.stream());
    }
    if (code == cudaErrorMemoryAllocation) {
      const int visible = device.visible();
      detail::throw_cuda_out_of_memory(
          code, "cudaMallocFromPoolAsync", ordinal, bytes,
          visible == ordinal ? std::string() : detail::joined({" (visible device ", visible, ")"}));
    }
    detail::check_cuda(code, "cudaMallocFromPoolAsync", ordinal);
    detail::count_allocation(counters, bytes, purpose);
    count_reserved(counters, device.pool());
    return detail::memory_block({data, bytes, ordinal, purpose, &release, nullptr, detail::current_stream(ordinal)});
  }
  static void copy(detail::copy_kind kind, int ordinal, void* to, const void* from, std::size_t bytes) {
    using detail::copy_kind;
    if (detail::only_plans()) return;
    if (kind == copy_kind::within && to == from) return;
    if (kind == copy_kind::within && detail::share_memory(to, bytes, from, bytes)) {  // undefined behaviour in CUDA
      const detail::memory_block between = allocate(ordinal, bytes, memory_purpose::workspace);
      copy(kind, ordinal, between.data(), from, bytes);
      copy(kind, ordinal, to, between.data(), bytes);
      return;
    }
    const detail::cuda_scope device(ordinal);
    if (kind == copy_kind::within) return device.enqueue("cudaMemcpyAsync", within_call{to, from, bytes});
    const bool in = kind == copy_kind::in;
    detail::check_cuda(
        cudaMemcpyAsync(to, from, bytes, in ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost, device.stream()),
        in ? "cudaMemcpyAsync to the device" : "cudaMemcpyAsync to the host", ordinal);
  }
  /// Copies over NVLink or PCIe if the devices have peer access; otherwise CUDA stages through its own pinned memory.
  static void copy_from_peer(int to_ordinal, void* to, int from_ordinal, const void* from, std::size_t bytes) {
    static_cast<void>(detail::cuda_can_access(to_ordinal, from_ordinal));
    const detail::cuda_scope device(to_ordinal);
    const peer_call call{to, from, bytes, device.visible(), detail::cuda_visible_device(from_ordinal)};
    if (detail::joins_launches()) return device.enqueue("cudaMemcpyPeerAsync", call);
    call(to_ordinal, device.stream());
  }
  static std::string why_apart(int ordinal, int other) {
    if (detail::cuda_can_access(ordinal, other)) return {};
    return detail::joined({detail::place_name(backend::cuda{}, ordinal), " cannot reach the memory of ",
                           detail::place_name(backend::cuda{}, other)});
  }
  /// Waits before a copy from or to memory that is not pinned. Inside such a copy, CUDA waits for earlier work, and
  /// neither device_timeout() nor a device_watch could end that wait.
  static void before_blocking_copy(int ordinal) {
    if (detail::device_waits_are_bounded()) wait(ordinal);
  }
  static void wait(int ordinal) { detail::cuda_scope(ordinal).wait(); }
  static void synchronize(int ordinal) { detail::cuda_scope(ordinal).wait_for_all_streams(); }
  /// Waits for all streams first, because the pool can release only memory that no pending work uses.
  static std::size_t trim(int ordinal) {
    const detail::cuda_scope device(ordinal);
    device.wait_for_all_streams();
    const std::size_t before = reserved(device.pool());
    detail::check_cuda(cudaMemPoolTrimTo(device.pool(), 0), "cudaMemPoolTrimTo", ordinal);
    count_reserved(detail::counters(backend::cuda{}, ordinal), device.pool());
    const std::size_t after = reserved(device.pool());
    return before > after ? before - after : 0;  // another thread may have allocated meanwhile
  }

 private:
  struct within_call {
    void* to;
    const void* from;
    std::size_t bytes;

    void operator()(int ordinal, cudaStream_t stream) const {
      detail::check_cuda(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream), "cudaMemcpyAsync",
                         ordinal);
    }
  };
  struct peer_call {
    void* to;
    const void* from;
    std::size_t bytes;
    int to_device, from_device;

    void operator()(int ordinal, cudaStream_t stream) const {
      detail::check_cuda(cudaMemcpyPeerAsync(to, to_device, from, from_device, bytes, stream), "cudaMemcpyPeerAsync",
                         ordinal);
    }
  };
  static std::size_t reserved(cudaMemPool_t pool) {
    std::uint64_t bytes = 0;
    detail::ignore_cuda(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReservedMemCurrent, &bytes));
    return bytes;
  }

  /// Updates the count of idle bytes, which the pool holds unused.
  static void count_reserved(detail::memory_counters& counters, cudaMemPool_t pool) {
    const std::size_t used = counters.allocated.load(std::memory_order_relaxed), all = reserved(pool);
    counters.idle.store(all > used ? all - used : 0, std::memory_order_relaxed);
  }

  /// Trims the pools of all places on a GPU when an allocation from one of them failed.
  static void trim_all(int visible) {
    static_cast<void>(cudaGetLastError());
    for (int ordinal = 0; ordinal < detail::counted_ordinals; ++ordinal)
      if (detail::of_place<detail::cuda_queue_slot>(ordinal).queue.load(std::memory_order_acquire) != nullptr &&
          detail::device_map::of_process().visible(ordinal) == visible)
        static_cast<void>(trim(ordinal));
  }

  /// Ignores errors, because at process exit CUDA may already have been shut down and the memory freed.
  static void release(const detail::block_record& block) noexcept {
    detail::memory_counters& counters = detail::counters(backend::cuda{}, block.ordinal);
    detail::count_release(counters, block.bytes, block.purpose);
    counters.idle.fetch_add(block.bytes, std::memory_order_relaxed);
    if (detail::cuda_device_lost(block.ordinal)) return;
    detail::launch_collected_quietly();  // launches that use the memory
    const int visible = detail::device_map::of_process().visible(block.ordinal);
    const detail::quiet_cuda_device_guard device(visible);
    const detail::cuda_queue& queue = detail::cuda_queue_of(block.ordinal, visible);
    const auto stream_of = [&](void* named) {
      return named == nullptr ? queue.stream : static_cast<cudaStream_t>(named);
    };
    const cudaStream_t stream = stream_of(block.stream);
    for (const detail::stream_use* use = block.uses.get(); use != nullptr; use = use->next.get())
      if (stream_of(use->stream) != stream) detail::order_after(stream, stream_of(use->stream));
    detail::ignore_cuda(cudaFreeAsync(block.data, stream));
  }
};

/// Page-locked host memory, which every device of the process can read and write by DMA. CUDA allocates it in the
/// context of a device; using a device that has one avoids creating contexts on others. Allocation and release are
/// expensive: both may synchronise all devices.
template <> struct implementation<backend::pinned, op::memory> : detail::host_copies {
  static detail::memory_block allocate(int, std::size_t bytes, memory_purpose purpose = memory_purpose::tensors) {
    const int home = detail::ordinal_of_pinned_memory();
    const detail::cuda_device_guard device(home);
    void* data = nullptr;
    const cudaError_t code = cudaHostAlloc(&data, bytes, cudaHostAllocPortable);
    if (code == cudaErrorMemoryAllocation) {
      static_cast<void>(cudaGetLastError());
      throw out_of_memory(detail::out_of_memory_text(
          {"pinned", bytes, memory_statistics<pinned>(),
           detail::joined({"the operating system cannot lock more pages of its memory (cudaHostAlloc: ",
                           detail::cuda_error_text(code), ")"}),
           "",
           "Use fewer or smaller pinned tensors, one staging tensor again and again, or on<cpu>, and see free -h and "
           "ulimit -l for what the system can lock"}));
    }
    detail::check_cuda(code, "cudaHostAlloc for pinned memory", home);
    detail::count_allocation(detail::counters(backend::pinned{}, 0), bytes, purpose);
    return detail::memory_block({data, bytes, home, purpose, &release});
  }

 private:
  static void release(const detail::block_record& block) noexcept {
    detail::count_release(detail::counters(backend::pinned{}, 0), block.bytes, block.purpose);
    if (detail::cuda_device_lost(block.ordinal)) return;
    const detail::quiet_cuda_device_guard device(detail::device_map::of_process().visible(block.ordinal));
    detail::ignore_cuda(cudaFreeHost(block.data));
  }
};

}  // namespace devplace
