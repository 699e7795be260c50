// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sys/mman.h>

#include <atomic>
#include <cstddef>
#include <cstring>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "support/forked_ranks.hpp"

namespace support {

/// A rendezvous for processes that are forked afterwards; programs use a control connection instead.
class meeting_point {
 public:
  static constexpr std::size_t most_bytes = 1024;

  explicit meeting_point(int processes) : processes_(static_cast<std::size_t>(processes)) {
    void* const at = ::mmap(nullptr, bytes(), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) throw std::runtime_error("no memory for a meeting point");
    arrived_ = ::new (at) std::atomic<std::size_t>(0);
    messages_ = static_cast<char*>(at) + 64;
  }
  meeting_point(const meeting_point&) = delete;
  meeting_point& operator=(const meeting_point&) = delete;
  ~meeting_point() { ::munmap(arrived_, bytes()); }

  /// Returns when all processes have called it as often as this one.
  void barrier() {
    ++meetings_;
    arrived_->fetch_add(1);
    while (arrived_->load() < meetings_ * processes_) std::this_thread::yield();
  }
  /// Gathers the bytes of all processes, in the order of ranks.
  void all_gather(int rank, const void* own, std::size_t bytes, void* all) {
    if (bytes > most_bytes) throw std::runtime_error("the message is too long for a meeting point");
    std::memcpy(messages_ + static_cast<std::size_t>(rank) * most_bytes, own, bytes);
    barrier();
    for (std::size_t r = 0; r != processes_; ++r)
      std::memcpy(static_cast<char*>(all) + r * bytes, messages_ + r * most_bytes, bytes);
    barrier();
  }

 private:
  std::size_t bytes() const { return 64 + processes_ * most_bytes; }

  std::size_t processes_, meetings_ = 0;
  std::atomic<std::size_t>* arrived_ = nullptr;
  char* messages_ = nullptr;
};

using ended_process = devplace::test::forked_ranks::outcome;

/// Calls `f(rank)` in `processes` children, rank 0 first, and waits for them.
template <class F> std::vector<ended_process> in_forked_processes(int processes, const F& f, double seconds = 60) {
  devplace::test::forked_ranks ranks;
  for (int rank = 0; rank != processes; ++rank) ranks.start([&, rank] { return f(rank); });
  return ranks.wait(seconds);
}

/// Lists the failures of in_forked_processes(), one per line; empty if all exited with 0.
inline std::string failures(const std::vector<ended_process>& processes) {
  std::string text;
  for (std::size_t r = 0; r != processes.size(); ++r)
    if (processes[r].end != "exit 0")
      text += "rank " + std::to_string(r) + ": " + processes[r].end + ": " + processes[r].text + "\n";
  return text;
}

}  // namespace support
