// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <new>
#include <string>

#include <devplace/backend/simulated/driver.hpp>
#include <devplace/base/error.hpp>
#include <devplace/memory/block.hpp>
#include <devplace/memory/detail/host_copies.hpp>
#include <devplace/memory/detail/out_of_memory_text.hpp>

namespace devplace {

/// Simulated devices can access all host memory, so pinned memory needs no locked pages.
template <> struct implementation<backend::pinned, op::memory> : detail::host_copies {
  static detail::memory_block allocate(int, std::size_t bytes, memory_purpose purpose = memory_purpose::tensors) {
    if (const std::string missing = detail::why_not_simulated(0, "pinned memory"); !missing.empty())
      throw placement_unavailable({"pinned memory is for devices: ", missing, "."});
    void* data = ::operator new(bytes, std::align_val_t{detail::alignment}, std::nothrow);
    if (data == nullptr)
      throw out_of_memory(detail::out_of_memory_text({"pinned", bytes, memory_statistics<pinned>(),
                                                      "it is the host's ordinary memory (simulated)", "",
                                                      "Use fewer or smaller pinned tensors, one staging tensor again "
                                                      "and again, or on<cpu>"}));
    detail::count_allocation(detail::counters(backend::pinned{}, 0), bytes, purpose);
    return detail::memory_block({data, bytes, 0, purpose, &release});
  }

 private:
  static void release(const detail::block_record& block) noexcept {
    ::operator delete(block.data, std::align_val_t{detail::alignment});
    detail::count_release(detail::counters(backend::pinned{}, 0), block.bytes, block.purpose);
  }
};

}  // namespace devplace
