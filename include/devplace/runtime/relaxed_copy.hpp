// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <atomic>
#include <cstddef>

#include <devplace/config.hpp>
#include <devplace/memory/block.hpp>
#include <devplace/ops/for_each.hpp>

namespace devplace::runtime::inline DEVPLACE_CONFIGURATION {

/// Reads elements that other processes or threads may change concurrently, each by a relaxed atomic load: elements are
/// not torn, but may come from different updates.
template <class T> struct relaxed_load_functor {
  T* to;
  T* from;
  void operator()(std::size_t i) const { to[i] = std::atomic_ref<T>(from[i]).load(std::memory_order_relaxed); }
};

template <class T>
void relaxed_copy(const devplace::detail::memory_block& to, const devplace::detail::memory_block& from) {
  devplace::detail::for_each_index<backend::cpu>(
      0, from.bytes() / sizeof(T), 4096,
      relaxed_load_functor<T>{static_cast<T*>(to.data()), static_cast<T*>(from.data())});
}

}  // namespace devplace::runtime::inline DEVPLACE_CONFIGURATION
