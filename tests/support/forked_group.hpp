// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <devplace/process/process_group.hpp>
#include <devplace/process/shared_memory_transport.hpp>

#include "support/forked_processes.hpp"

namespace support {

/// Returns the bits of numbers as text, which a child can return.
inline std::string text_of(const std::vector<float>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)};
}

/// Calls `f()`, which returns numbers, in several forked processes, each in a scope of their group over shared memory.
/// Call it before this process has started threads, because children do not inherit them.
template <class F> std::vector<ended_process> in_forked_group(int processes, const F& f) {
  meeting_point meeting(processes);
  return in_forked_processes(processes, [&](int rank) {
    const devplace::process_group group(devplace::parallel::shared_memory_transport::connect(
        {rank, processes, rank, processes},
        [&](const void* own, std::size_t bytes, void* all) { meeting.all_gather(rank, own, bytes, all); }, nullptr));
    const devplace::process_scope scope{group};
    return text_of(f());
  });
}

/// Describes the processes that did not return the bits of `expected`; empty if all did.
inline std::string differences(const std::vector<ended_process>& processes, const std::vector<float>& expected) {
  std::string text = failures(processes);
  for (std::size_t r = 0; text.empty() && r != processes.size(); ++r)
    if (processes[r].text != text_of(expected)) text = "rank " + std::to_string(r) + " has other bits";
  return text;
}

}  // namespace support
