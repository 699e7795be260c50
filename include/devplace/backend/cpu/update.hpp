// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

#include <devplace/backend/cpu/detail/instruction_sets.hpp>
#include <devplace/place/thread_team.hpp>
#include <devplace/runtime/update.hpp>

namespace devplace {

template <>
struct implementation<backend::cpu, op::update> {
  template <class Update>
  static void run(int, std::size_t n, const Update& update) {
    // Elements that justify a thread: a multiple of every vector width, so that the same elements remain after whole
    // vectors, and the bits are the same, for every number of threads.
    constexpr std::size_t grain = 8192;
    detail::parallel_for(n, grain, [&update](std::size_t begin, std::size_t end) {
      detail::with_instruction_set([&](auto code) { code.update(update, begin, end); });
    });
    update.steps->advance();
  }
};

}  // namespace devplace
