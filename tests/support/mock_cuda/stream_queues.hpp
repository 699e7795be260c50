// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <utility>

/// Work that streams have not executed yet. The host's waits execute only the work that CUDA guarantees to be done
/// then, so that a program that relies on more reads old values.
namespace devplace::test::mock_cuda {

class stream_queues {
 public:
  void push(const void* stream, std::function<void()> work) { queues_[stream].push_back({std::move(work), nullptr}); }

  void record(const void* event, const void* stream) {
    const auto here = std::make_shared<mark>(mark{stream});
    last_[event] = here;
    push(stream, [here] { here->passed = true; });
  }
  void wait(const void* stream, const void* event) {
    if (const auto at = last_.find(event); at != last_.end()) queues_[stream].push_back({nullptr, at->second});
  }
  void forget_event(const void* event) { last_.erase(event); }

  /// Executes all work of a stream, or the work before the last record of an event, and what that work waits for.
  void finish_stream(const void* stream) {
    while (!queues_[stream].empty()) step(stream);
  }
  void finish_event(const void* event) {
    if (const auto at = last_.find(event); at != last_.end()) reach(*at->second);
  }
  void finish_all() {
    for (auto& [stream, queue] : queues_) finish_stream(stream);
  }

 private:
  /// A position in a stream.
  struct mark {
    const void* stream;
    bool passed = false;
  };
  /// Work, or a wait for a mark.
  struct item {
    std::function<void()> work;
    std::shared_ptr<const mark> awaited;
  };

  void reach(const mark& m) {
    while (!m.passed) step(m.stream);
  }
  void step(const void* stream) {
    const item next = std::move(queues_[stream].front());
    queues_[stream].pop_front();
    if (next.awaited != nullptr)
      reach(*next.awaited);
    else
      next.work();
  }

  std::map<const void*, std::deque<item>> queues_;
  std::map<const void*, std::shared_ptr<const mark>> last_;  ///< by event
};

}  // namespace devplace::test::mock_cuda
