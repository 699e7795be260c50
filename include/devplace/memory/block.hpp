// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

#include <devplace/config.hpp>
#include <devplace/memory/statistics.hpp>
#include <devplace/place/backend.hpp>
#include <devplace/place/error.hpp>

namespace devplace::op {

/// Memory of a backend: `allocate`, `copy_in`, `copy_out`, `copy_within`, `copy_between`, `synchronize`, `trim`; of
/// devices `copy_in_async`, `copy_out_async`.
struct memory {};

}  // namespace devplace::op

namespace devplace::detail {

/// Bytes to which every allocation and every buffer inside an arena is aligned: one cache line, one AVX-512 vector.
inline constexpr std::size_t alignment = 64;

constexpr std::size_t aligned(std::size_t bytes) {
  return (bytes + alignment - 1) / alignment * alignment;
}

/// Another stream than the block's own one whose work uses the block.
struct stream_use {
  void* stream;
  std::unique_ptr<stream_use> next;
};

/// What a release function needs to know of a block.
struct block_record {
  void* data = nullptr;
  std::size_t bytes = 0;
  int ordinal = 0;
  memory_purpose purpose = memory_purpose::tensors;
  void* stream = nullptr;                             ///< on which it was allocated; null: the place's own stream
  const std::unique_ptr<stream_use>* uses = nullptr;  ///< by other streams; head of a list
};

/// Sole owner of untyped memory on one device. It stores its release function, so that size and destructor are the same
/// in every translation unit, whatever its components; and the stream in whose order it is freed.
class memory_block {
 public:
  using release_function = void (*)(const block_record& block) noexcept;

  memory_block() = default;
  memory_block(void* data, std::size_t bytes, int ordinal, memory_purpose purpose, release_function release,
               void* stream = nullptr)
      : data_(data), bytes_(bytes), ordinal_(ordinal), purpose_(purpose), release_(release), stream_(stream) {}
  memory_block(memory_block&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)),
        bytes_(std::exchange(other.bytes_, 0)),
        ordinal_(other.ordinal_),
        purpose_(other.purpose_),
        release_(std::exchange(other.release_, nullptr)),
        stream_(other.stream_),
        uses_(std::move(other.uses_)) {}
  memory_block& operator=(memory_block&& other) noexcept {
    memory_block(std::move(other)).swap(*this);
    return *this;
  }
  ~memory_block() {
    if (release_ != nullptr) release_({data_, bytes_, ordinal_, purpose_, stream_, &uses_});
  }

  void* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }

  /// Frees the block in the order of `stream` from now on; `stream` must be ordered after all work that uses the block.
  void give_back_on(void* stream) { stream_ = stream; }

  /// Delays the release until after all work that `stream` has been given when the block is freed.
  void record_stream(void* stream) const {
    if (release_ == nullptr || stream == stream_) return;
    for (const stream_use* use = uses_.get(); use != nullptr; use = use->next.get())
      if (use->stream == stream) return;
    uses_.reset(new stream_use{stream, std::move(uses_)});
  }

 private:
  void swap(memory_block& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    std::swap(ordinal_, other.ordinal_);
    std::swap(purpose_, other.purpose_);
    std::swap(release_, other.release_);
    std::swap(stream_, other.stream_);
    std::swap(uses_, other.uses_);
  }

  void* data_ = nullptr;
  std::size_t bytes_ = 0;
  int ordinal_ = 0;
  memory_purpose purpose_ = memory_purpose::tensors;  // placed in what would be padding
  release_function release_ = nullptr;
  void* stream_ = nullptr;
  mutable std::unique_ptr<stream_use> uses_;  // mutable: recording a stream does not change the elements
};

/// A backend's memory functions, or an error that says how to get them.
template <class Backend>
constexpr auto memory_of() {
  static_assert(computes<Backend> || provided<Backend, op::memory>,
                "devplace: a tensor on pinned needs the component cuda, for whose devices that memory is; add "
                "devplace::cuda (or devplace::simulated_cuda, which needs no GPU) to target_link_libraries.");
  static_assert(!computes<Backend> || provided<Backend, op::memory>,
                "devplace: a tensor on a cuda place needs the component cuda; add devplace::cuda (or "
                "devplace::simulated_cuda, which needs no GPU) to target_link_libraries.");
  // After a failed assertion the CPU's memory is used instead, to avoid follow-up errors.
  constexpr bool have = provided<Backend, op::memory>;
  return implementation<std::conditional_t<have, Backend, backend::cpu>, op::memory>{};
}

/// Uninitialised memory on a backend's device, counted under `purpose`; `bytes` 0 gives an empty block.
template <class Backend>
memory_block allocate(int ordinal, std::size_t bytes, memory_purpose purpose = memory_purpose::tensors) {
  if (bytes == 0) return {};
  return memory_of<Backend>().allocate(ordinal, bytes, purpose);
}

/// Copies from host memory to a device; the source may be changed after the call.
template <class Backend>
void copy_in(int ordinal, void* to, const void* from, std::size_t bytes) {
  if (bytes != 0) memory_of<Backend>().copy_in(ordinal, to, from, bytes);
}

/// Copies from a device to host memory, after all work that was enqueued on the device before.
template <class Backend>
void copy_out(int ordinal, void* to, const void* from, std::size_t bytes) {
  if (bytes != 0) memory_of<Backend>().copy_out(ordinal, to, from, bytes);
}

/// As copy_in and copy_out, but only enqueued on the device's current stream. The host's end must be pinned memory.
/// Source and destination must exist, and the result must not be read, until the copy has been executed.
///@{
template <class Backend>
void copy_in_async(int ordinal, void* to, const void* from, std::size_t bytes) {
  if (bytes != 0) memory_of<Backend>().copy_in_async(ordinal, to, from, bytes);
}
template <class Backend>
void copy_out_async(int ordinal, void* to, const void* from, std::size_t bytes) {
  if (bytes != 0) memory_of<Backend>().copy_out_async(ordinal, to, from, bytes);
}
///@}

/// Copies within a device, in the order of its current stream; the ranges may overlap.
template <class Backend>
void copy_within(int ordinal, void* to, const void* from, std::size_t bytes) {
  if (bytes != 0) memory_of<Backend>().copy_within(ordinal, to, from, bytes);
}

/// Copies between two devices of one backend; complete when the call returns.
template <class Backend>
void copy_between(int to_ordinal, void* to, int from_ordinal, const void* from, std::size_t bytes) {
  if (bytes != 0) memory_of<Backend>().copy_between(to_ordinal, to, from_ordinal, from, bytes);
}

/// Copies within a device, between devices of one backend, or between a device and host memory, as the functions above.
template <class ToBackend, class FromBackend>
void copy_bytes(int to_ordinal, void* to, int from_ordinal, const void* from, std::size_t bytes) {
  if constexpr (std::is_same_v<ToBackend, FromBackend>) {
    if (to_ordinal == from_ordinal)
      copy_within<ToBackend>(to_ordinal, to, from, bytes);
    else
      copy_between<ToBackend>(to_ordinal, to, from_ordinal, from, bytes);
  } else if constexpr (in_host_memory<FromBackend>) {
    copy_in<ToBackend>(to_ordinal, to, from, bytes);
  } else {
    static_assert(in_host_memory<ToBackend>);
    copy_out<FromBackend>(from_ordinal, to, from, bytes);
  }
}

/// Waits for all work of the device; throws its failure.
template <class Backend>
void synchronize(int ordinal) {
  memory_of<Backend>().synchronize(ordinal);
}

}  // namespace devplace::detail

namespace devplace::inline DEVPLACE_CONFIGURATION {

/// Waits for all work of place `P`; throws an error that occurred there.
template <place P>
void synchronize() {
  detail::synchronize<backend_of_t<P>>(place_traits<P>::ordinal);
}

/// Returns memory that place `P` caches for later allocations to the device, and the number of bytes. Memory in use is
/// kept. 0 for places without a cache (cpu, pinned). On CUDA it waits for the place's work.
template <place P>
std::size_t trim_memory() {
  return detail::memory_of<backend_of_t<P>>().trim(place_traits<P>::ordinal);
}

}  // namespace devplace::inline DEVPLACE_CONFIGURATION

#include <devplace/backend/cpu/memory.hpp>
#include DEVPLACE_CUDA_MEMORY
