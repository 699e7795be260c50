// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

namespace devplace {}
namespace dp = devplace;

#include <devplace/memory/block.hpp>

inline std::size_t free_caches() {
  dp::synchronize<dp::cpu>();
  return dp::trim_memory<dp::cpu>();
}

#include <devplace/memory/device_backend.hpp>

static_assert(dp::device_backend<dp::backend::cpu>);

#include <devplace/memory/device_pointer.hpp>

inline std::size_t distance(dp::device_pointer<float> begin, dp::device_pointer<float> end) {
  return static_cast<std::size_t>(end - begin);
}

#include <devplace/memory/event.hpp>

inline void wait_for_event() {
  const dp::stream<dp::cpu> queue;
  dp::event<dp::cpu> done;
  done.record(queue);
  queue.wait(done);
  done.wait();
}

#include <devplace/memory/report.hpp>

inline void print_memory(std::ostream& out) { out << dp::memory_statistics<dp::cpu>() << dp::memory_table(); }

#include <devplace/memory/statistics.hpp>

inline std::size_t peak() {
  dp::reset_peak_memory<dp::cpu>();
  return dp::memory_statistics<dp::cpu>().peak;
}

#include <devplace/memory/stream.hpp>

inline void use_stream() {
  const dp::stream<dp::cpu> queue;
  const dp::stream_scope scope(queue);
  dp::stream<dp::cpu>::current().synchronize();
}

#include <devplace/memory/wait_for_replicas.hpp>

inline void wait(std::span<const int> ordinals) { dp::detail::wait_for_replicas<dp::backend::cpu>(ordinals); }
