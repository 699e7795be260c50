// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <devplace/backend/cuda/runtime.hpp>
#include <devplace/memory/block.hpp>
#include <devplace/memory/detail/out_of_memory_text.hpp>
#include <devplace/memory/row_block.hpp>

namespace devplace {

/// Memory of CUDA devices. Work and copies of a device are ordered by its default stream.
template <>
struct implementation<backend::cuda, op::memory> {
  template <class Tu = detail::this_tu>
  static detail::memory_block allocate(int ordinal, std::size_t bytes,
                                       memory_purpose purpose = memory_purpose::tensors) {
    const detail::cuda_device_guard device(ordinal);
    detail::memory_counters& counters = detail::counters(backend::cuda{}, ordinal);
    void* data = nullptr;
    const cudaError_t code = cudaMalloc(&data, bytes);
    if (code == cudaErrorMemoryAllocation) throw_out_of_memory(code, ordinal, device.visible(), bytes);
    detail::check_cuda(code, "cudaMalloc", ordinal);
    detail::count_allocation(counters, bytes, purpose);
    return {data, bytes, ordinal, purpose, &release};
  }
  static void copy_in(int ordinal, void* to, const void* from, std::size_t bytes) {
    const detail::cuda_device_guard device(ordinal);
    detail::check_cuda(cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice), "cudaMemcpy to the device", ordinal);
  }
  static void copy_out(int ordinal, void* to, const void* from, std::size_t bytes) {
    const detail::cuda_device_guard device(ordinal);
    detail::check_cuda(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost), "cudaMemcpy to the host", ordinal);
  }
  static void copy_within(int ordinal, void* to, const void* from, std::size_t bytes) {
    if (to == from) return;
    if (overlap(to, from, bytes)) {  // CUDA leaves this undefined
      const detail::memory_block between = allocate(ordinal, bytes, memory_purpose::workspace);
      copy_within(ordinal, between.data(), from, bytes);
      copy_within(ordinal, to, between.data(), bytes);
      return;
    }
    const detail::cuda_device_guard device(ordinal);
    detail::check_cuda(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, nullptr), "cudaMemcpyAsync", ordinal);
  }
  static void copy_between(int to_ordinal, void* to, int from_ordinal, const void* from, std::size_t bytes) {
    synchronize(from_ordinal);
    const detail::cuda_device_guard device(to_ordinal);
    detail::check_cuda(cudaMemcpyPeer(to, device.visible(), from, detail::cuda_visible_device(from_ordinal), bytes),
                       "cudaMemcpyPeer", to_ordinal);
    synchronize(from_ordinal);
    synchronize(to_ordinal);
  }
  static void copy_rows_in(int ordinal, void* to, const void* from, const detail::row_block& block) {
    const detail::cuda_device_guard device(ordinal);
    detail::check_cuda(
        cudaMemcpy2D(to, block.to_pitch, from, block.from_pitch, block.width, block.rows, cudaMemcpyHostToDevice),
        "cudaMemcpy2D to the device", ordinal);
  }
  static void copy_rows_out(int ordinal, void* to, const void* from, const detail::row_block& block) {
    const detail::cuda_device_guard device(ordinal);
    detail::check_cuda(
        cudaMemcpy2D(to, block.to_pitch, from, block.from_pitch, block.width, block.rows, cudaMemcpyDeviceToHost),
        "cudaMemcpy2D to the host", ordinal);
  }
  static void copy_rows_within(int ordinal, void* to, const void* from, const detail::row_block& block) {
    const detail::cuda_device_guard device(ordinal);
    detail::check_cuda(cudaMemcpy2DAsync(to, block.to_pitch, from, block.from_pitch, block.width, block.rows,
                                         cudaMemcpyDeviceToDevice, nullptr),
                       "cudaMemcpy2DAsync", ordinal);
  }
  static void copy_rows_between(int to_ordinal, void* to, int from_ordinal, const void* from,
                                const detail::row_block& block) {
    synchronize(from_ordinal);
    const detail::cuda_device_guard device(to_ordinal);
    cudaMemcpy3DPeerParms copy{};
    copy.dstDevice = device.visible();
    copy.dstPtr = cudaPitchedPtr{to, block.to_pitch, block.width, block.rows};
    copy.srcDevice = detail::cuda_visible_device(from_ordinal);
    copy.srcPtr = cudaPitchedPtr{const_cast<void*>(from), block.from_pitch, block.width, block.rows};
    copy.extent = cudaExtent{block.width, block.rows, 1};
    detail::check_cuda(cudaMemcpy3DPeer(&copy), "cudaMemcpy3DPeer", to_ordinal);
    synchronize(from_ordinal);
    synchronize(to_ordinal);
  }
  static void synchronize(int ordinal) {
    const detail::cuda_device_guard device(ordinal);
    detail::check_cuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize", ordinal);
  }
  static std::size_t trim(int) { return 0; }

 private:
  static bool overlap(const void* a, const void* b, std::size_t bytes) {
    const auto x = reinterpret_cast<std::uintptr_t>(a), y = reinterpret_cast<std::uintptr_t>(b);
    return x < y ? y - x < bytes : x - y < bytes;
  }

  [[noreturn]] static void throw_out_of_memory(cudaError_t code, int ordinal, int visible, std::size_t bytes) {
    static_cast<void>(cudaGetLastError());
    std::size_t free = 0, total = 0;
    static_cast<void>(cudaMemGetInfo(&free, &total));
    throw out_of_memory(detail::out_of_memory_text(
        {detail::place_name(backend::cuda{}, ordinal) +
             (visible == ordinal ? std::string() : " (visible device " + std::to_string(visible) + ")"),
         bytes, detail::usage_of(detail::counters(backend::cuda{}, ordinal)),
         std::to_string(free) + " of the device's " + std::to_string(total) +
             " bytes are free for all programs together (cudaMalloc: " + detail::cuda_error_text(code) + ")",
         "see nvidia-smi for other programs on this GPU"}));
  }

  /// At the end of the process CUDA may be gone already, and the memory with it: no answer is an error here.
  static void release(void* data, std::size_t bytes, int ordinal, memory_purpose purpose) noexcept {
    detail::count_release(detail::counters(backend::cuda{}, ordinal), bytes, purpose);
    const int visible = detail::device_map::of_process().visible(ordinal);
    int previous = visible;
    static_cast<void>(cudaGetDevice(&previous));
    if (previous != visible) static_cast<void>(cudaSetDevice(visible));
    static_cast<void>(cudaFree(data));
    if (previous != visible) static_cast<void>(cudaSetDevice(previous));
  }
};

}  // namespace devplace
