// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <type_traits>

#include <devplace/backend/cuda/packed.hpp>

namespace devplace::detail {

/// An array in a block's shared memory.
template <class T>
class shared_array {
 public:
  __device__ explicit shared_array(T* data) : data_(data) {}
  __device__ T load(std::size_t i) const { return data_[i]; }
  __device__ void store(std::size_t i, const T& value) const { data_[i] = value; }

 private:
  T* data_;
};

/// A thread of a GPU, as the bodies in backend/cuda/kernels see it. The emulator of the tests has a class with the same
/// members that checks what a GPU does not; kernels use shared memory, barriers, shuffles and accesses of several
/// elements through them alone. Grids and blocks have one dimension, and blocks whole warps.
class simt_thread {
 public:
  __device__ unsigned thread_index() const { return threadIdx.x; }
  __device__ unsigned block_index() const { return blockIdx.x; }
  __device__ unsigned block_size() const { return blockDim.x; }
  __device__ unsigned grid_size() const { return gridDim.x; }

  /// Waits for the threads of the block; all of them must come here.
  __device__ void sync() const { __syncthreads(); }
  /// Waits for the threads of the warp; all of them must come here.
  __device__ void sync_warp() const { __syncwarp(); }

  /// The value of lane (own lane ^ mask). All lanes of the warp must come here, and nothing else is ordered by it.
  template <class T>
  __device__ T shuffle_xor(T value, unsigned mask) const {
    if constexpr (std::is_arithmetic_v<T>) {
      return static_cast<T>(__shfl_xor_sync(0xffffffffu, value, static_cast<int>(mask)));
    } else {
      static_assert(std::is_trivially_copyable_v<T> && sizeof(T) % sizeof(unsigned) == 0);
      unsigned words[sizeof(T) / sizeof(unsigned)];
      memcpy(words, &value, sizeof(T));
      for (unsigned& word : words)
        word = __shfl_xor_sync(0xffffffffu, word, static_cast<int>(mask));
      memcpy(static_cast<void*>(&value), words, sizeof(T));
      return value;
    }
  }
  /// The value of lane `from` of the group of `width` lanes, 2 to 32, that the thread belongs to.
  template <class T>
  __device__ T shuffle(T value, unsigned from, unsigned width = 32) const {
    return __shfl_sync(0xffffffffu, value, static_cast<int>(from), static_cast<int>(width));
  }

  /// An array for all threads of the block; one for each element type, length and tag. At first it holds anything.
  template <class T, std::size_t N, int Tag = 0>
  __device__ shared_array<T> shared() const {
    __shared__ T memory[N];
    return shared_array<T>(memory);
  }

  // Between blocks of one launch: a block publishes, passes a barrier, and one of its threads fences, takes a ticket
  // and fences; after another barrier the block may observe what was published by those who took the ticket before.

  /// Writes what other blocks observe; once for each address.
  template <class T>
  __device__ void publish(T* to, const T& value) const {
    *to = value;
  }
  /// Reads what another block published.
  template <class T>
  __device__ T observe(const T* from) const {
    return *from;
  }
  /// Orders the accesses of this thread, and those that it knows of by a barrier, for all threads of the device.
  __device__ void fence() const { __threadfence(); }
  /// How many tickets were taken before, 0 to limit - 1; after the last one the counter is 0 again.
  __device__ unsigned ticket(unsigned* counter, unsigned limit) const { return atomicInc(counter, limit - 1); }

  /// N elements by one access; `from` is aligned for it.
  template <class T, unsigned N>
  __device__ packed<T, N> load(const T* from) const {
    return *reinterpret_cast<const packed<T, N>*>(from);
  }
  template <class T, unsigned N>
  __device__ void store(T* to, const packed<T, N>& value) const {
    if constexpr (sizeof(value) == sizeof(uint4)) {  // left to itself the compiler may take an access for each element
      uint4 bits;
      memcpy(&bits, &value, sizeof bits);
      asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};"
                   :
                   : "l"(__cvta_generic_to_global(to)), "r"(bits.x), "r"(bits.y), "r"(bits.z), "r"(bits.w)
                   : "memory");
    } else {
      *reinterpret_cast<packed<T, N>*>(to) = value;
    }
  }
};

}  // namespace devplace::detail
