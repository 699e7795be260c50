// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include <devplace/base/divided_up.hpp>
#include <devplace/base/error.hpp>
#include <devplace/config.hpp>
#include <devplace/memory/statistics.hpp>
#include <devplace/place/backend.hpp>

namespace devplace::op {

/// A backend's memory functions: `allocate`, `copy`, `copy_from_peer`, `why_apart`, `wait`, `synchronize`, `trim`
/// (memory/device_backend.hpp).
struct memory {};

/// Memory of place shared_memory: `allocate` (memory/detail/shared_pages.hpp).
struct shared_pages {};

}  // namespace devplace::op

namespace devplace::detail {

/// Alignment in bytes of every allocation and of every buffer inside an arena: one cache line, one AVX-512 vector.
inline constexpr std::size_t alignment = 64;

constexpr std::size_t aligned(std::size_t bytes) { return padded_to(bytes, alignment); }

/// A list of streams, other than the block's own, whose work uses the block.
struct stream_use {
  void* stream;
  std::unique_ptr<stream_use> next;
};

struct block_record {
  void* data = nullptr;
  std::size_t bytes = 0;
  int ordinal = 0;
  memory_purpose purpose = memory_purpose::tensors;
  void (*release)(const block_record& block) noexcept = nullptr;
  void* owner = nullptr;                       ///< state that `release` needs for memory shared with other processes
  void* stream = nullptr;                      ///< frees the memory in this stream's order; null: the place's stream
  std::unique_ptr<stream_use> uses = nullptr;  ///< uses by other streams
};

/// Sole owner of untyped memory on one device. Stores a release function, so that size and destructor do not depend on
/// the components of a translation unit. Also stores the stream whose order determines when the memory is freed. Moves
/// and destruction are not inlined, because programs have many of them, and none in a loop.
class memory_block {
 public:
  memory_block() = default;
  explicit memory_block(block_record&& record) : record_(std::move(record)) {}
  [[gnu::noinline]] memory_block(memory_block&& other) noexcept : record_(std::exchange(other.record_, {})) {}
  [[gnu::noinline]] memory_block& operator=(memory_block&& other) noexcept {
    memory_block taken(std::move(other));
    std::swap(record_, taken.record_);
    return *this;
  }
  [[gnu::noinline]] ~memory_block() {
    if (record_.release != nullptr) record_.release(record_);
  }

  void* data() const { return record_.data; }
  std::size_t bytes() const { return record_.bytes; }
  void* owner() const { return record_.owner; }

  /// Lets the destructor free the block in the order of `stream`, which must be ordered after all work on the block.
  void free_on(void* stream) { record_.stream = stream; }

  /// Delays the release until `stream` has executed all work that it has when the block is destroyed.
  void record_stream(void* stream) const {
    if (record_.release == nullptr || stream == record_.stream) return;
    for (const stream_use* use = record_.uses.get(); use != nullptr; use = use->next.get())
      if (use->stream == stream) return;
    record_.uses.reset(new stream_use{stream, std::move(record_.uses)});
  }

 private:
  mutable block_record record_;  // record_stream() does not change the elements
};

/// The direction of a copy: from host memory to the device, from the device to host memory, or within the device.
enum class copy_kind : unsigned char { in, out, within };

/// Synchronous copies within host memory, ordinary or pinned, by the calling thread.
struct host_copies {
  static void copy(copy_kind, int, void* to, const void* from, std::size_t bytes) { std::memmove(to, from, bytes); }
  static void copy_from_peer(int, void* to, int, const void* from, std::size_t bytes) { std::memcpy(to, from, bytes); }
  static std::string why_apart(int, int) { return {}; }
  static void wait(int) {}
  static void synchronize(int) {}
  static std::size_t trim(int) { return 0; }
};

/// Returns a backend's memory functions; does not compile without the backend's component.
template <class Backend> constexpr auto memory_of() {
  static_assert(computes<Backend> || provided<Backend, op::memory>,
                "devplace: a tensor on pinned needs the component cuda, which allocates pinned memory; add "
                "devplace::cuda (or devplace::simulated_cuda, which needs no GPU) to target_link_libraries.");
  static_assert(!computes<Backend> || provided<Backend, op::memory>,
                "devplace: a tensor on a cuda place needs the component cuda; add devplace::cuda (or "
                "devplace::simulated_cuda, which needs no GPU) to target_link_libraries.");
  // Uses the CPU's memory after a failed assertion, to avoid follow-up errors.
  constexpr bool implemented = provided<Backend, op::memory>;
  return implementation<std::conditional_t<implemented, Backend, backend::cpu>, op::memory>{};
}

DEVPLACE_COMPILABLE([[noreturn]]) void throw_unaddressable(std::size_t bytes) {
  throw out_of_memory(
      {"an allocation of ", bytes,
       " bytes is larger than any address space; look for an overflow in the computation of its size."});
}
DEVPLACE_COMPILED(void throw_unaddressable(std::size_t))

/// Uninitialised memory on a backend's device, counted under `purpose`; `bytes` 0 gives an empty block.
template <class Backend>
memory_block allocate(int ordinal, std::size_t bytes, memory_purpose purpose = memory_purpose::tensors) {
  if (bytes == 0) return {};
  if (bytes > PTRDIFF_MAX - alignment) throw_unaddressable(bytes);  // rounding up to the alignment could overflow
  return memory_of<Backend>().allocate(ordinal, bytes, purpose);
}

/// Uninitialised memory on place P; shared_memory has an allocator of its own.
template <class P, class Pages = op::shared_pages>
DEVPLACE_CONFIGURED memory_block allocate_on(std::size_t bytes, memory_purpose purpose = memory_purpose::tensors) {
  constexpr bool shared = std::is_same_v<P, shared_memory>;
  constexpr bool included = shared && provided<backend::cpu, Pages>;
  static_assert(!shared || included,
                "devplace: tensors and models on shared_memory need its header; write #include "
                "<devplace/shared_memory.hpp>.");
  if constexpr (shared && included)
    return implementation<backend::cpu, Pages>::allocate(bytes, purpose);
  else
    return allocate<backend_of_t<P>>(place_traits<P>::ordinal, bytes, purpose);
}

/// Enqueues a copy on the device's current stream. Memory of the host must be pinned. Until the copy has been executed,
/// keep the source and the destination, and do not read the destination.
template <class Backend> void copy_in_async(int ordinal, void* to, const void* from, std::size_t bytes) {
  if (bytes != 0) memory_of<Backend>().copy(copy_kind::in, ordinal, to, from, bytes);
}
template <class Backend> void copy_out_async(int ordinal, void* to, const void* from, std::size_t bytes) {
  if (bytes != 0) memory_of<Backend>().copy(copy_kind::out, ordinal, to, from, bytes);
}

/// Copies between host memory and a device, and waits for the copy. Waits for the device before, because no timeout
/// could end a wait inside the copy.
template <class Backend>
void blocking_copy(copy_kind kind, int ordinal, void* to, const void* from, std::size_t bytes) {
  if (bytes == 0) return;
  if constexpr (requires { memory_of<Backend>().before_blocking_copy(ordinal); })
    memory_of<Backend>().before_blocking_copy(ordinal);
  memory_of<Backend>().copy(kind, ordinal, to, from, bytes);
  memory_of<Backend>().wait(ordinal);
}

/// Copies from host memory to a device; the source may be changed after the call.
template <class Backend> void copy_in(int ordinal, void* to, const void* from, std::size_t bytes) {
  blocking_copy<Backend>(copy_kind::in, ordinal, to, from, bytes);
}

/// Copies from a device to host memory, after all work that the device's current stream already has.
template <class Backend> void copy_out(int ordinal, void* to, const void* from, std::size_t bytes) {
  blocking_copy<Backend>(copy_kind::out, ordinal, to, from, bytes);
}

/// Copies within a device, in the order of its current stream; the ranges may overlap.
template <class Backend> void copy_within(int ordinal, void* to, const void* from, std::size_t bytes) {
  if (bytes != 0) memory_of<Backend>().copy(copy_kind::within, ordinal, to, from, bytes);
}

/// Enqueues a copy between two devices of one backend on the destination's current stream; events order the copy
/// with the source's work.
template <class Backend>
void copy_from_peer(int to_ordinal, void* to, int from_ordinal, const void* from, std::size_t bytes) {
  if (bytes != 0) memory_of<Backend>().copy_from_peer(to_ordinal, to, from_ordinal, from, bytes);
}

/// Copies within a device, between devices of one backend, or between a device and host memory; complete on return,
/// except for copies within a device.
template <class ToBackend, class FromBackend>
void copy_bytes(int to_ordinal, void* to, int from_ordinal, const void* from, std::size_t bytes) {
  if constexpr (std::is_same_v<ToBackend, FromBackend>) {
    if (to_ordinal == from_ordinal) return copy_within<ToBackend>(to_ordinal, to, from, bytes);
    if (bytes == 0) return;
    memory_of<FromBackend>().wait(from_ordinal);
    copy_from_peer<ToBackend>(to_ordinal, to, from_ordinal, from, bytes);
    memory_of<ToBackend>().wait(to_ordinal);
  } else if constexpr (in_host_memory<FromBackend>) {
    copy_in<ToBackend>(to_ordinal, to, from, bytes);
  } else {
    static_assert(in_host_memory<ToBackend>);
    copy_out<FromBackend>(from_ordinal, to, from, bytes);
  }
}

/// Waits for all work of the device; throws if the device failed.
template <class Backend> void synchronize(int ordinal) { memory_of<Backend>().synchronize(ordinal); }

}  // namespace devplace::detail

namespace devplace::inline DEVPLACE_CONFIGURATION {

/// Waits for all work of place `P`; throws if the place failed.
template <class P = void> void synchronize() {
  constexpr bool is_place = place<P>;
  static_assert(is_place, "devplace: synchronize: name the place to wait for, as in synchronize<cuda<0>>().");
  if constexpr (is_place) detail::synchronize<backend_of_t<P>>(place_traits<P>::ordinal);
}

/// Frees memory that place `P` caches for later allocations, and returns the number of freed bytes: 0 for places
/// without a cache (cpu, pinned). Memory in use is kept. Waits for the work of a cuda place.
template <class P = void> std::size_t trim_memory() {
  constexpr bool is_place = place<P>;
  static_assert(is_place, "devplace: trim_memory: name the place whose cache is freed, as in trim_memory<cuda<0>>().");
  if constexpr (is_place) return detail::memory_of<backend_of_t<P>>().trim(place_traits<P>::ordinal);
  return 0;
}

}  // namespace devplace::inline DEVPLACE_CONFIGURATION

#include <devplace/backend/cpu/memory.hpp>
#include DEVPLACE_DEVICES(memory)
