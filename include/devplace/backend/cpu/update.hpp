// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <type_traits>

#include <devplace/backend/cpu/convert_elements.hpp>
#include <devplace/backend/cpu/detail/instruction_sets.hpp>
#include <devplace/base/thread_team.hpp>
#include <devplace/runtime/update.hpp>

namespace devplace {

template <> struct implementation<backend::cpu, op::update> {
  template <class Update> static void run(int, std::size_t n, const Update& update) {
    if (update.source.skipped()) return;
    // Minimum number of elements per thread. It is a multiple of every vector width, so the elements left after whole
    // vectors, and so the bits, do not depend on the number of threads.
    constexpr std::size_t grain = 8192;
    detail::parallel_ranges(n, grain, [&update](std::size_t begin, std::size_t end) {
      detail::with_instruction_set([&](auto code) {
        const auto update_part = [code, &update](std::size_t from, std::size_t until) {
          update.for_each_group(from, until, [code](const auto& part, std::size_t first, std::size_t last) {
            code.update(part, first, last);
          });
        };
        if constexpr (std::is_void_v<typename Update::working_type>) {
          update_part(begin, end);
        } else {
          // Updates and rounds one part at a time, while the part is in the cache. The size of a part is a multiple of
          // the vector width and of groups.
          constexpr std::size_t most = 2048;
          for (std::size_t first = begin; first < end; first += most) {
            const std::size_t last = end - first < most ? end : first + most;
            update_part(first, last);
            detail::convert_elements(update.working.data + first, update.arrays[0] + first, last - first);
          }
        }
      });
    });
    update.advance();
  }
};

}  // namespace devplace
