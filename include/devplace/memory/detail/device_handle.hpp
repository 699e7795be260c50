// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <memory>

namespace devplace::detail {

/// The deleter of a device_handle. Stores the release function, as memory_block does, so that the size is the same in
/// every translation unit.
template <class Op> struct device_release {
  int ordinal = 0;
  void (*function)(void* state, int ordinal) noexcept = nullptr;

  void operator()(void* state) const {
    if (function != nullptr) function(state, ordinal);
  }
};

/// Sole owner of an event or stream that a backend created for a device; `Op` distinguishes events from streams.
template <class Op> using device_handle = std::unique_ptr<void, device_release<Op>>;

}  // namespace devplace::detail
