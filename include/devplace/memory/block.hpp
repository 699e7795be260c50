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

/// Memory of a backend: `allocate`, `copy_in`, `copy_out`, `copy_within`, `copy_between`, the same for blocks of rows
/// (`copy_rows_in`, ...; memory/copy_rows.hpp), `synchronize`, `trim`; of devices `copy_in_async`, `copy_out_async`.
struct memory {};

}  // namespace devplace::op

namespace devplace::detail {

/// Bytes to which every allocation and every buffer inside an arena is aligned: one cache line, one AVX-512 vector.
inline constexpr std::size_t alignment = 64;

constexpr std::size_t aligned(std::size_t bytes) {
  return (bytes + alignment - 1) / alignment * alignment;
}

/// A stream whose work uses a block besides that of the stream on which it was allocated.
struct stream_use {
  void* stream;
  std::unique_ptr<stream_use> next;
};

/// What is to be known of a block to give it back.
struct block_record {
  void* data = nullptr;
  std::size_t bytes = 0;
  int ordinal = 0;
  memory_purpose purpose = memory_purpose::tensors;
  void* stream = nullptr;                             ///< on which it was allocated; null is the place's own
  const std::unique_ptr<stream_use>* uses = nullptr;  ///< of other streams, the first of a list
};

/// Sole owner of untyped memory on one device. It carries the function that releases it, so that its size and its
/// destructor are the same in every translation unit, whatever components that was compiled with; and it remembers the
/// stream, in whose order it is given back.
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

  /// The stream in whose order the block goes back is now `stream`, which comes after all that used the block.
  void give_back_on(void* stream) { stream_ = stream; }

  /// From now on the block goes back only after what `stream` will have been given by then.
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
  memory_purpose purpose_ = memory_purpose::tensors;  // where there was padding
  release_function release_ = nullptr;
  void* stream_ = nullptr;
  mutable std::unique_ptr<stream_use> uses_;  // of the memory, not of the elements, which may be const
};

/// The memory functions of a backend, or one sentence that says how to get them.
template <class Backend>
constexpr auto memory_of() {
  static_assert(computes<Backend> || provided<Backend, op::memory>,
                "devplace: a tensor on pinned needs the component cuda, for whose devices that memory is; add "
                "devplace::cuda (or devplace::simulated_cuda, which needs no GPU) to target_link_libraries.");
  static_assert(!computes<Backend> || provided<Backend, op::memory>,
                "devplace: a tensor on a cuda place needs the component cuda; add devplace::cuda (or "
                "devplace::simulated_cuda, which needs no GPU) to target_link_libraries.");
  // Where the sentence above is an error, another memory stands in, so that nothing else is one.
  constexpr bool have = provided<Backend, op::memory>;
  return implementation<std::conditional_t<have, Backend, backend::cpu>, op::memory>{};
}

/// Uninitialised memory on a backend's device, counted under `purpose`; `bytes` 0 gives an empty block.
template <class Backend>
memory_block allocate(int ordinal, std::size_t bytes, memory_purpose purpose = memory_purpose::tensors) {
  if (bytes == 0) return {};
  return memory_of<Backend>().allocate(ordinal, bytes, purpose);
}

/// Copies from ordinary memory to a device; the source may be changed when it returns.
template <class Backend>
void copy_in(int ordinal, void* to, const void* from, std::size_t bytes) {
  if (bytes != 0) memory_of<Backend>().copy_in(ordinal, to, from, bytes);
}

/// Copies from a device to ordinary memory, after everything that the device was asked to do before.
template <class Backend>
void copy_out(int ordinal, void* to, const void* from, std::size_t bytes) {
  if (bytes != 0) memory_of<Backend>().copy_out(ordinal, to, from, bytes);
}

/// As copy_in and copy_out, but given to the device's current stream only: `from` and `to`, of which the host's end is
/// pinned memory, must stay, and what is written may not be read, until the stream has come to it.
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

/// Copies inside one device, in the order of its work; the ranges may overlap.
template <class Backend>
void copy_within(int ordinal, void* to, const void* from, std::size_t bytes) {
  if (bytes != 0) memory_of<Backend>().copy_within(ordinal, to, from, bytes);
}

/// Copies between two devices of one backend; complete when it returns.
template <class Backend>
void copy_between(int to_ordinal, void* to, int from_ordinal, const void* from, std::size_t bytes) {
  if (bytes != 0) memory_of<Backend>().copy_between(to_ordinal, to, from_ordinal, from, bytes);
}

/// Waits until the device has done all it was asked to; throws what failed there.
template <class Backend>
void synchronize(int ordinal) {
  memory_of<Backend>().synchronize(ordinal);
}

}  // namespace devplace::detail

namespace devplace::inline DEVPLACE_CONFIGURATION {

/// Waits until place `P` has done all it was asked to; an error that happened there is thrown here.
template <place P>
void synchronize() {
  detail::synchronize<backend_of_t<P>>(place_traits<P>::ordinal);
}

/// Gives memory that place `P` keeps for later allocations back to the device, and returns the number of bytes. What is
/// in use stays. 0 where there is no cache (cpu, pinned). On CUDA it waits for the place's work.
template <place P>
std::size_t trim_memory() {
  return detail::memory_of<backend_of_t<P>>().trim(place_traits<P>::ordinal);
}

}  // namespace devplace::inline DEVPLACE_CONFIGURATION

#include <devplace/backend/cpu/memory.hpp>
#include DEVPLACE_CUDA_MEMORY
