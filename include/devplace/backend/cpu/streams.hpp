// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <devplace/memory/stream.hpp>

namespace devplace {

/// CPU operations have completed when their call returns: a CPU stream is always empty.
template <> struct implementation<backend::cpu, op::streams> {
  static detail::stream_handle create(int) { return {}; }
  static detail::stream_handle create_without_memory(int) { return {}; }
  static detail::stream_handle own(int) { return {}; }
  static void* native(void*) { return nullptr; }
  static void synchronize(int, void*) {}
  static bool ready(int, void*) { return true; }
};

}  // namespace devplace
