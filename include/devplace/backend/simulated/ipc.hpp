// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include <devplace/backend/simulated/devices.hpp>
#include <devplace/base/joined.hpp>
#include <devplace/memory/block.hpp>
#include <devplace/memory/detail/exported_memory.hpp>
#include <devplace/memory/detail/named_segment.hpp>

namespace devplace {

/// Memory that simulated devices share with other processes lies in the shared-memory segment itself.
template <> struct implementation<backend::cuda, op::ipc> {
  static std::string device(int ordinal) {
    return detail::joined({"simulated device ", detail::simulated_physical_device(ordinal)});
  }
  static std::size_t message_bytes(std::size_t bytes) { return bytes; }

  static detail::memory_block allocate(int ordinal, std::size_t bytes,
                                       const std::shared_ptr<detail::named_segment>& segment) {
    detail::memory_block block = block_of(ordinal, bytes, segment, &release<true>);
    detail::count_allocation(detail::counters(backend::cuda{}, ordinal), bytes);
    return block;
  }
  /// Waits on the host, because another process cannot wait for an event of a simulated device.
  static void record(int ordinal, const detail::memory_block&) { detail::simulated_devices::at(ordinal).wait(); }
  static detail::memory_block open(int ordinal, std::size_t bytes,
                                   const std::shared_ptr<detail::named_segment>& segment) {
    return block_of(ordinal, bytes, segment, &release<false>);
  }

 private:
  using owner_type = std::shared_ptr<detail::named_segment>;

  static detail::memory_block block_of(int ordinal, std::size_t bytes, const owner_type& segment,
                                       void (*release)(const detail::block_record&) noexcept) {
    static_cast<void>(detail::simulated_devices::at(ordinal));
    auto owner = std::make_unique<owner_type>(segment);
    return detail::memory_block({segment->data(), bytes, ordinal, memory_purpose::tensors, release, owner.release()});
  }

  template <bool Exported> static void release(const detail::block_record& block) noexcept {
    const std::unique_ptr<owner_type> segment(static_cast<owner_type*>(block.owner));
    if (detail::simulated_devices::stayed_in_parent()) return;
    try {
      detail::simulated_devices::at(block.ordinal).wait();
    } catch (...) {
    }
    if constexpr (Exported) {
      detail::count_release(detail::counters(backend::cuda{}, block.ordinal), block.bytes, block.purpose);
      (*segment)->wait_for_others();
    } else {
      (*segment)->unlock();
    }
  }
};

}  // namespace devplace
