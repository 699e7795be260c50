// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <type_traits>

#include <devplace/backend/cuda/pack.hpp>

namespace devplace::detail {

template <class T> class shared_array {
 public:
  __device__ explicit shared_array(T* data) : data_(data) {}
  __device__ T load(std::size_t i) const { return data_[i]; }
  __device__ void store(std::size_t i, const T& value) const { data_[i] = value; }

 private:
  T* data_;
};

/// A GPU thread as seen by the bodies in backend/cuda/kernels. Kernels use shared memory, barriers, shuffles and vector
/// accesses only through these members. Grids and blocks are one-dimensional, and blocks consist of whole warps.
class simt_thread {
 public:
  __device__ unsigned thread_index() const { return threadIdx.x; }
  __device__ unsigned block_index() const { return blockIdx.x; }
  __device__ unsigned block_size() const { return blockDim.x; }
  __device__ unsigned grid_size() const { return gridDim.x; }

  /// Block barrier; all threads of the block must reach it.
  __device__ void sync() const { __syncthreads(); }
  /// Warp barrier; all threads of the warp must reach it.
  __device__ void sync_warp() const { __syncwarp(); }

  /// Returns the value of lane (own lane ^ mask). All lanes of the warp must call it; it orders no memory accesses.
  template <class T> __device__ T shuffle_xor(T value, unsigned mask) const {
    if constexpr (std::is_arithmetic_v<T>) {
      return static_cast<T>(__shfl_xor_sync(0xffffffffu, value, static_cast<int>(mask)));
    } else {
      static_assert(std::is_trivially_copyable_v<T> && sizeof(T) % sizeof(unsigned) == 0);
      unsigned words[sizeof(T) / sizeof(unsigned)];
      memcpy(words, &value, sizeof(T));
      for (unsigned& word : words) word = __shfl_xor_sync(0xffffffffu, word, static_cast<int>(mask));
      memcpy(static_cast<void*>(&value), words, sizeof(T));
      return value;
    }
  }
  /// Returns the value of lane `from` within the thread's group of `width` lanes, 2 to 32.
  template <class T> __device__ T shuffle(T value, unsigned from, unsigned width = 32) const {
    return __shfl_sync(0xffffffffu, value, static_cast<int>(from), static_cast<int>(width));
  }

  /// Returns an array shared by the block, one for each element type, length and tag. Initially indeterminate.
  template <class T, std::size_t N, int Tag = 0> __device__ shared_array<T> shared() const {
    __shared__ T memory[N];
    return shared_array<T>(memory);
  }

  // Communication between blocks: a block publishes and passes a barrier; then one of its threads fences, takes a
  // ticket (a number from a counter of blocks) and fences. After another barrier the block may observe the values that
  // blocks with earlier tickets published.

  /// Writes a value for other blocks to observe; at most once per address.
  template <class T> __device__ void publish(T* to, const T& value) const { *to = value; }
  /// Reads a value that another block published.
  template <class T> __device__ T observe(const T* from) const { return *from; }
  /// Makes this thread's accesses, and accesses ordered before them by a barrier, visible to all threads of the device.
  __device__ void fence() const { __threadfence(); }
  /// Returns the number of tickets taken before, 0 to limit - 1; the last call resets the counter to 0.
  __device__ unsigned ticket(unsigned* counter, unsigned limit) const { return atomicInc(counter, limit - 1); }

  /// Loads a pack's elements; `from` must be aligned like the pack.
  template <class T, unsigned N> __device__ pack<T, N> load(const T* from) const {
    return *reinterpret_cast<const pack<T, N>*>(from);
  }
  template <class T, unsigned N> __device__ void store(T* to, const pack<T, N>& value) const {
    if constexpr (sizeof(value) % sizeof(uint4) ==
                  0) {  // otherwise the compiler may split the access into one access per element
      uint4 bits[sizeof(value) / sizeof(uint4)];
      memcpy(bits, &value, sizeof bits);
      for (unsigned k = 0; k < sizeof bits / sizeof(uint4); ++k)
        asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};"
                     :
                     : "l"(__cvta_generic_to_global(to) + k * sizeof(uint4)), "r"(bits[k].x), "r"(bits[k].y),
                       "r"(bits[k].z), "r"(bits[k].w)
                     : "memory");
    } else {
      *reinterpret_cast<pack<T, N>*>(to) = value;
    }
  }
};

}  // namespace devplace::detail
