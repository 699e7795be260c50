// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>

#include <devplace/ops/scale_bytes.hpp>
#include <devplace/place/thread_team.hpp>

namespace devplace {

template <>
struct implementation<backend::cpu, op::scale_bytes> {
  template <class T>
  static void run(int, std::size_t n, T* to, const std::uint8_t* from, const byte_scale<T>& scale) {
    constexpr std::size_t grain = 32768;  // bytes that justify a thread
    detail::parallel_for(n, grain, [&](std::size_t begin, std::size_t end) {
      detail::scale_byte_range(to + begin, from + begin, end - begin, scale);
    });
  }
};

}  // namespace devplace
