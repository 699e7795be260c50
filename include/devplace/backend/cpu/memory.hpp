// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstring>
#include <new>

#include <devplace/memory/block.hpp>
#include <devplace/memory/detail/out_of_memory_text.hpp>
#include <devplace/memory/row_block.hpp>

namespace devplace {

/// Ordinary memory, aligned to `detail::alignment`.
template <>
struct implementation<backend::cpu, op::memory> {
  template <class Tu = detail::this_tu>
  static detail::memory_block allocate(int, std::size_t bytes, memory_purpose purpose = memory_purpose::tensors) {
    void* data = ::operator new (bytes, std::align_val_t{detail::alignment}, std::nothrow);
    if (data == nullptr)
      throw out_of_memory(detail::out_of_memory_text({"cpu", bytes, memory_statistics<cpu>(), {}, {}}));
    detail::count_allocation(bytes, purpose);
    return {data, bytes, 0, purpose, &release};
  }
  static void copy_in(int, void* to, const void* from, std::size_t bytes) { std::memcpy(to, from, bytes); }
  static void copy_out(int, void* to, const void* from, std::size_t bytes) { std::memcpy(to, from, bytes); }
  static void copy_within(int, void* to, const void* from, std::size_t bytes) { std::memmove(to, from, bytes); }
  static void copy_between(int, void* to, int, const void* from, std::size_t bytes) { std::memcpy(to, from, bytes); }
  static void copy_rows_within(int, void* to, const void* from, const detail::row_block& block) {
    detail::copy_row_block(to, from, block);
  }
  static void copy_rows_between(int, void* to, int, const void* from, const detail::row_block& block) {
    detail::copy_row_block(to, from, block);
  }
  static void synchronize(int) {}
  static std::size_t trim(int) { return 0; }

 private:
  static void release(void* data, std::size_t bytes, int, memory_purpose purpose) noexcept {
    ::operator delete (data, std::align_val_t{detail::alignment});
    detail::count_release(bytes, purpose);
  }
};

}  // namespace devplace
