// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstring>
#include <type_traits>

#include <devplace/backend/cuda/kernels/wide.hpp>
#include <devplace/backend/cuda/queue.hpp>
#include <devplace/tensor/half.hpp>

namespace devplace::detail {

template <class T> class shared_array {
 public:
  __device__ explicit shared_array(T* data) : data_(data) {}
  __device__ T load(std::size_t i) const { return data_[i]; }
  __device__ void store(std::size_t i, const T& value) const { data_[i] = value; }
  /// Returns the address of element i in the address space of shared memory.
  __device__ unsigned address(std::size_t i) const {
    return static_cast<unsigned>(__cvta_generic_to_shared(data_ + i));
  }

 private:
  T* data_;
};

/// A GPU thread as seen by the bodies in backend/cuda/kernels. Kernels use shared memory, barriers, shuffles and vector
/// accesses only through these members. Grids and blocks are one-dimensional, and blocks consist of whole warps.
class simt_thread {
 public:
  __device__ unsigned thread_index() const { return threadIdx.x; }
  __device__ unsigned block_index() const { return blockIdx.x; }
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
    // Otherwise the compiler may split an access into one access per element.
    if constexpr (sizeof(value) % sizeof(uint4) == 0) {
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

  // For tensor cores from compute capability 8.0 on. All lanes of the warp must call these functions together.
  /// Returns the lane's elements of four 8 x 8 matrices. Lane 8 i + k gives the index of row k of matrix i. Word i of
  /// the result has the columns 2 (lane % 4) and the next of row lane / 4 of matrix i, transposed if `Transposed`.
  template <bool Transposed>
  __device__ pack<unsigned, 4> load_matrices(const shared_array<pack<unsigned, 4>>& from, std::size_t i) const {
    pack<unsigned, 4> x{};
    auto& [a, b, c, d] = x.value;
    if constexpr (Transposed)
      asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                   : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
                   : "r"(from.address(i))
                   : "memory");
    else
      asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                   : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
                   : "r"(from.address(i))
                   : "memory");
    return x;
  }
  /// Computes c += a b in float, where a is 16 x 16 and b 16 x 8. The words of a are of its matrices top left, bottom
  /// left, top right and bottom right, those of b of the transposed upper and lower half. c[0] and c[1] have the row
  /// lane / 4 and the columns 2 (lane % 4) and the next, c[2] and c[3] the row 8 below.
  template <class T> __device__ void multiply_add(float (&c)[4], const unsigned (&a)[4], unsigned b, unsigned d) const {
    if constexpr (std::is_same_v<T, half>)
      asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
          "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
          : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
          : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b), "r"(d));
    else
      asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
          "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
          : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
          : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b), "r"(d));
  }
  /// Returns the bits of two numbers rounded to T, the first in the lower half.
  template <class T> __device__ unsigned round_pair(float low, float high) const {
    unsigned bits = 0;
    if constexpr (std::is_same_v<T, half>)
      asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(bits) : "f"(high), "f"(low));
    else
      asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(bits) : "f"(high), "f"(low));
    return bits;
  }
};

/// The only __global__ function: every kernel is a body together with its arguments (backend/cuda/kernels).
template <class Kernel>
__global__ void __launch_bounds__(Kernel::threads, least_blocks_of<Kernel>()) simt_kernel(const Kernel kernel) {
  static_assert(Kernel::threads % 32 == 0);
  simt_thread thread;
  kernel(thread);
}

/// How a kernel is launched. Precedes the kernel's arguments in a kernel_call.
struct launch_of_kernel {
  const void* function;
  unsigned blocks, threads;
};

template <class Kernel> struct kernel_call {
  launch_of_kernel launch;
  alignas(16) Kernel kernel;
};

inline void launch_kernel(const void* arguments, int ordinal, cudaStream_t stream) {
  launch_of_kernel call;
  static_assert(sizeof call == 16);
  std::memcpy(&call, arguments, sizeof call);
  void* kernel[] = {const_cast<std::byte*>(static_cast<const std::byte*>(arguments)) + sizeof call};
  cudaLaunchConfig_t configuration{};
  configuration.gridDim = dim3(call.blocks);
  configuration.blockDim = dim3(call.threads);
  configuration.stream = stream;
  check_cuda(cudaLaunchKernelExC(&configuration, call.function, kernel), "cudaLaunchKernelEx", ordinal);
}

/// Enqueues a kernel_call of `bytes` bytes, whose first member is `launch`. One function for all kernels.
[[gnu::noinline]] inline void enqueue_kernel(int ordinal, const char* name, const launch_of_kernel& launch,
                                             std::size_t bytes) {
  cuda_scope(ordinal).enqueue(launch_kernel, name, &launch, bytes);
}

/// Launches kernels on the current stream of the place `ordinal`, with at most 2^20 blocks of Kernel::threads: kernels
/// loop over their work with the grid size as stride.
struct kernel_launch {
  int ordinal;

  template <class Kernel> void operator()(std::size_t blocks, const Kernel& kernel) const {
    if (only_plans()) return;
    constexpr std::size_t most_blocks = std::size_t{1} << 20;
    kernel_call<Kernel> call{{reinterpret_cast<const void*>(&simt_kernel<Kernel>),
                              static_cast<unsigned>(blocks < most_blocks ? blocks : most_blocks), Kernel::threads},
                             kernel};
    clear_padding(call);
    enqueue_kernel(ordinal, kernel_name<Kernel>(), call.launch, sizeof call);
  }
};

}  // namespace devplace::detail
