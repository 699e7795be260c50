// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <atomic>
#include <cstddef>

#include <devplace/base/thread_team.hpp>
#include <devplace/memory/block.hpp>

namespace devplace::runtime {

/// Copies elements that other processes or threads may change concurrently, each by a relaxed atomic load: elements are
/// not torn, but may come from different updates.
template <class T>
void relaxed_copy(const devplace::detail::memory_block& to, const devplace::detail::memory_block& from) {
  T* const target = static_cast<T*>(to.data());
  T* const source = static_cast<T*>(from.data());
  devplace::detail::parallel_indices(from.bytes() / sizeof(T), 4096, [=](std::size_t i) {
    target[i] = std::atomic_ref<T>(source[i]).load(std::memory_order_relaxed);
  });
}

}  // namespace devplace::runtime
