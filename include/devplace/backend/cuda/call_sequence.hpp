// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <span>
#include <type_traits>
#include <vector>

#include <devplace/backend/cuda/check.hpp>
#include <devplace/backend/cuda/runtime.hpp>
#include <devplace/base/divided_up.hpp>
#include <devplace/place/device_map.hpp>

namespace devplace::detail {

/// Returns the mutex of a place's sequences. A thread holds the mutex while it enqueues several launches that share a
/// stream's workspace, so that no other thread enqueues launches between them. Also guards the libraries' plans.
inline std::recursive_mutex& sequence_mutex_of(int ordinal) { return of_place<std::recursive_mutex>(ordinal); }

/// Sets the padding of a call's arguments to zeros. Compilers without the function leave it; arguments with padding
/// then seldom equal those of an earlier step, and their calls are made one by one.
template <class Arguments> void clear_padding([[maybe_unused]] Arguments& arguments) {
  static_assert(std::is_trivially_copyable_v<Arguments> && alignof(Arguments) <= 16);
#if defined(__has_builtin)
  #if __has_builtin(__builtin_clear_padding)
  __builtin_clear_padding(&arguments);
  #endif
#endif
}

struct cuda_place_stream {
  int ordinal;
  cudaStream_t stream;
  friend bool operator==(const cuda_place_stream&, const cuda_place_stream&) = default;
};

/// Locks the mutexes of the places of some streams, and of `also`, in the order of the places, while the object lives.
class sequence_locks {
 public:
  explicit sequence_locks(std::span<const cuda_place_stream> streams, int also = -1) : sequence_locks() {
    std::uint64_t used = also < 0 ? 0 : bit(also);
    for (const cuda_place_stream& each : streams) used |= bit(each.ordinal);
    for (; used != 0; used &= used - 1) {
      const int ordinal = std::countr_zero(used);
      sequence_mutex_of(ordinal).lock();
      locked_ |= bit(ordinal);
    }
  }
  sequence_locks& operator=(sequence_locks&&) = delete;
  ~sequence_locks() {
    for (; locked_ != 0; locked_ &= locked_ - 1) sequence_mutex_of(std::countr_zero(locked_)).unlock();
  }

 private:
  sequence_locks() = default;  // so that the destructor unlocks after an exception

  static_assert(counted_ordinals <= 64);
  static std::uint64_t bit(int ordinal) { return std::uint64_t{1} << ordinal; }

  std::uint64_t locked_ = 0;  ///< one bit for each place
};

/// Calls that enqueue work, with copies of their arguments, and events that order the calls of several streams.
class call_sequence {
 public:
  /// Enqueues work of the place `ordinal` on a stream.
  using function = void (*)(const void* arguments, int ordinal, cudaStream_t stream);

  /// `arguments` are `bytes` bytes without padding of arbitrary values, because equal calls must have equal bytes.
  void add(const cuda_place_stream& on, function call, const char* name, const void* arguments, std::size_t bytes) {
    push(on, call, name, arguments, bytes);
    last_name_ = name;
    ++size_;
  }
  void add_record(const cuda_place_stream& on, cudaEvent_t event) {
    push(on, &record, nullptr, &event, sizeof event);
    std::erase_if(records_, [&](std::size_t call) { return event_of(call) == event; });
    records_.push_back(calls_.size() - 1);
  }
  void add_wait(const cuda_place_stream& on, cudaEvent_t event) { push(on, &wait, nullptr, &event, sizeof event); }

  /// Enqueues the calls on `to`, a stream for each of streams() and of the same place.
  DEVPLACE_COMPILABLE([[gnu::noinline]]) void enqueue(const std::vector<cuda_place_stream>& to) const {
    for (auto call = calls_.begin(); call != calls_.end();) {
      const int ordinal = to[call->stream].ordinal;
      const cuda_device_guard device(ordinal);
      for (; call != calls_.end() && to[call->stream].ordinal == ordinal; ++call) {
        call->function(bytes_.data() + call->begin, ordinal, to[call->stream].stream);
        if (call->name != nullptr) last_launch(ordinal).store(call->name, std::memory_order_relaxed);
      }
    }
  }

  bool empty() const { return calls_.empty(); }
  /// Number of calls, without events.
  std::size_t size() const { return size_; }
  /// Name of the last call; null if there are only events.
  const char* last_name() const { return last_name_; }
  /// The streams of the calls, in the order of the first calls.
  const std::vector<cuda_place_stream>& streams() const { return streams_; }
  bool records(cudaEvent_t event) const {
    return std::any_of(records_.begin(), records_.end(), [&](std::size_t call) { return event_of(call) == event; });
  }
  /// Records the events again whose last record is a call of stream `k`, after the present work of `on`.
  void record_events(std::size_t k, const cuda_place_stream& on) const {
    for (const std::size_t call : records_)
      if (calls_[call].stream == k) record(bytes_.data() + calls_[call].begin, on.ordinal, on.stream);
  }
  void clear() {
    calls_.clear();
    bytes_.clear();
    streams_.clear();
    records_.clear();
    size_ = 0;
    last_name_ = nullptr;
  }

  /// The other members follow from these.
  friend bool operator==(const call_sequence& a, const call_sequence& b) {
    return a.calls_ == b.calls_ && a.bytes_ == b.bytes_ && a.streams_ == b.streams_;
  }

 private:
  static constexpr std::size_t alignment = 16;
  struct entry {
    call_sequence::function function;
    const char* name;
    std::size_t begin, stream;
    friend bool operator==(const entry&, const entry&) = default;
  };

  static void record(const void* event, int ordinal, cudaStream_t stream) {
    check_cuda(cudaEventRecord(*static_cast<const cudaEvent_t*>(event), stream), "cudaEventRecord", ordinal);
  }
  static void wait(const void* event, int ordinal, cudaStream_t stream) {
    check_cuda(cudaStreamWaitEvent(stream, *static_cast<const cudaEvent_t*>(event), 0), "cudaStreamWaitEvent", ordinal);
  }

  cudaEvent_t event_of(std::size_t call) const {
    return *reinterpret_cast<const cudaEvent_t*>(bytes_.data() + calls_[call].begin);
  }

  DEVPLACE_COMPILABLE([[gnu::noinline]])
  void push(const cuda_place_stream& on, function call, const char* name, const void* arguments, std::size_t bytes) {
    std::size_t stream = 0;
    while (stream != streams_.size() && streams_[stream] != on) ++stream;
    if (stream == streams_.size()) streams_.push_back(on);
    const std::size_t begin = bytes_.size();
    bytes_.resize(begin + padded_to(bytes, alignment));
    std::memcpy(bytes_.data() + begin, arguments, bytes);
    calls_.push_back({call, name, begin, stream});
  }

  std::vector<entry> calls_;
  std::vector<std::byte> bytes_;
  std::vector<cuda_place_stream> streams_;
  std::vector<std::size_t> records_;  ///< numbers of the last calls that record each event
  std::size_t size_ = 0;
  const char* last_name_ = nullptr;
};
DEVPLACE_COMPILED_APART(void call_sequence::enqueue(const std::vector<cuda_place_stream>&) const)
DEVPLACE_COMPILED_APART(void call_sequence::push(const cuda_place_stream&, call_sequence::function, const char*,
                                                 const void*, std::size_t))

}  // namespace devplace::detail
