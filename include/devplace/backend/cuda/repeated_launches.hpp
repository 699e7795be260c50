// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <span>
#include <utility>

#include <devplace/backend/cuda/call_sequence.hpp>
#include <devplace/backend/cuda/captured_calls.hpp>
#include <devplace/backend/cuda/runtime.hpp>
#include <devplace/ops/step_launches.hpp>

namespace devplace::detail {

/// Collects a thread's launches, and launches a sequence that repeats an earlier one with equal arguments as one graph:
/// the first sequence is launched call by call, the second is captured, and later ones launch the graph. Launches of a
/// sequence have the order of the calls, and begin when the program needs a stream for anything else, or at the end of
/// the scope. Sequences of different streams or arguments have graphs of their own, unless the scope joins streams.
class cuda_repeated_launches {
 public:
  class scope;
  class ahead;

  /// Adds a call for a place, whose device is the current one.
  void add(const cuda_place_stream& on, call_sequence::function call, const char* name, const void* arguments,
           std::size_t bytes) {
    if (!pending_.empty() && !joins_ && on != pending_.streams()[0]) launch();
    pending_.add(on, call, name, arguments, bytes);
  }
  /// Adds the record of an event, if the scope joins streams; returns false otherwise.
  bool record(const cuda_place_stream& on, cudaEvent_t event) {
    if (joins_) pending_.add_record(on, event);
    return joins_;
  }
  /// Lets a stream wait for an event whose last record is among the calls collected so far; returns false for others.
  bool follow(const cuda_place_stream& on, cudaEvent_t event) {
    const bool here = pending_.records(event);
    if (here) pending_.add_wait(on, event);
    return here;
  }
  bool records(cudaEvent_t event) const { return pending_.records(event); }
  bool joins() const { return joins_; }
  std::span<const cuda_place_stream> streams() const { return pending_.streams(); }
  std::uint64_t interruptions() const { return interruptions_; }
  /// Launches the calls collected so far, because other work follows on their stream.
  void interrupt() {
    rethrow();
    ++interruptions_;
    if (pending_.empty()) return;
    if (counts_.interrupted_after == nullptr) counts_.interrupted_after = pending_.last_name();
    launch();
  }
  /// Calls interrupt() in a destructor, which cannot throw: the next interrupt(), or the end of the scope, throws the
  /// error.
  void interrupt_quietly() noexcept {
    try {
      interrupt();
    } catch (...) {
      failure_ = std::current_exception();
    }
  }
  void rethrow() {
    if (failure_ != nullptr) std::rethrow_exception(std::exchange(failure_, nullptr));
  }

 private:
  struct sequence {
    call_sequence calls;
    std::unique_ptr<cuda_captured_calls> graph;
    bool captured = false;       ///< whether a capture was tried
    std::uint64_t last_use = 0;  ///< number of the last launch; 0 if there are no calls yet
  };
  /// Enough for two buffers of a loader with two sizes of batches each, on several places.
  static constexpr std::size_t capacity = 64;

  DEVPLACE_COMPILABLE([[gnu::noinline]]) void launch() {
    std::swap(pending_, calls_);
    pending_.clear();  // before an exception
    const call_sequence* calls = &calls_;
    const cuda_device_guard device(calls->streams()[0].ordinal);
    const sequence_locks locks(calls->streams());
    if (calls->size() > 1) {
      sequence* const known = find(*calls);
      if (known == nullptr) {
        calls = &remember();
      } else if (!std::exchange(known->captured, true)) {
        known->graph = cuda_captured_calls::of(*calls);
      }
      if (known != nullptr && known->graph != nullptr) {
        known->graph->launch(*calls);
        ++counts_.graphs;
        counts_.in_graphs += calls->size();
        return;
      }
    }
    calls->enqueue(calls->streams());
    counts_.single += calls->size();
  }

  sequence* find(const call_sequence& calls) {
    const auto found = std::ranges::find(known_, calls, &sequence::calls);
    if (found == known_.end()) return nullptr;
    found->last_use = ++uses_;
    return &*found;
  }
  /// Moves the calls to a sequence, and returns them. Replaces the least recently used sequence if there are too many:
  /// sequences that do not repeat leave graphs alone.
  const call_sequence& remember() {
    sequence& s = *std::ranges::min_element(known_, {}, &sequence::last_use);
    s.last_use = ++uses_;
    std::swap(s.calls, calls_);
    s.graph.reset();
    s.captured = false;
    return s.calls;
  }

  step_launches counts_;
  bool joins_ = false;             ///< whether a sequence may have calls of several streams, and events
  call_sequence pending_, calls_;  ///< the calls being collected, and being launched
  std::array<sequence, capacity> known_;
  std::uint64_t uses_ = 0, interruptions_ = 0;
  std::exception_ptr failure_;  ///< of interrupt_quietly()
};
DEVPLACE_COMPILED_APART(void cuda_repeated_launches::launch())

/// Returns what collects this thread's launches; null if each launch is enqueued at once.
inline cuda_repeated_launches*& collecting_launches() {
  static thread_local cuda_repeated_launches* collector = nullptr;
  return collector;
}

/// Whether this thread's launches on several streams become one sequence.
inline bool joins_launches() { return collecting_launches() != nullptr && collecting_launches()->joins(); }

/// Launches the calls that this thread has collected if they record an event for which the host will wait.
inline void launch_record_of(cudaEvent_t event) {
  cuda_repeated_launches* const launches = collecting_launches();
  if (launches != nullptr && launches->records(event)) launches->interrupt();
}
inline void launch_record_of_destroyed(cudaEvent_t event) noexcept {
  cuda_repeated_launches* const launches = collecting_launches();
  if (launches != nullptr && launches->records(event)) launches->interrupt_quietly();
}

/// Launches the calls that this thread has collected, because the program uses a stream for other work.
inline void launch_collected() {
  if (cuda_repeated_launches* const launches = collecting_launches()) [[unlikely]]
    launches->interrupt();
}
inline void launch_collected_quietly() noexcept {
  if (cuda_repeated_launches* const launches = collecting_launches()) [[unlikely]]
    launches->interrupt_quietly();
}

/// Keeps other threads from a place's workspaces and libraries' plans during an operation. The operation may have to
/// launch what this thread has collected, so the object also locks the mutexes of the places of these calls: threads
/// that lock several places' mutexes in different orders would wait for each other.
class operation_lock {
 public:
  explicit operation_lock(int ordinal)
      : launches_(collecting_launches()),
        locks_(launches_ == nullptr ? std::span<const cuda_place_stream>() : launches_->streams(), ordinal),
        interruptions_(launches_ == nullptr ? 0 : launches_->interruptions()) {}

  /// Ends an operation of several launches that share a workspace. If the first of them had to be launched early,
  /// launches the others, too, before another thread can overwrite the workspace.
  void finish() const {
    if (launches_ != nullptr && launches_->interruptions() != interruptions_) launches_->interrupt();
  }

 private:
  cuda_repeated_launches* launches_;
  sequence_locks locks_;
  std::uint64_t interruptions_;
};

class cuda_repeated_launches::scope {
 public:
  /// `joins`: calls of several streams become one sequence, with the events that order them.
  explicit scope(launch_memory& memory, bool joins = false) : memory_(memory) {
    memory.last = {};
    if (!memory.enabled || sync_launches() || collecting_launches() != nullptr) return;
    if (memory.graphs == nullptr) memory.graphs = std::make_shared<cuda_repeated_launches>();
    launches_ = static_cast<cuda_repeated_launches*>(memory.graphs.get());
    launches_->counts_ = {};
    launches_->failure_ = nullptr;
    launches_->joins_ = joins;
    collecting_launches() = launches_;
  }
  scope& operator=(scope&&) = delete;
  /// After an exception, also launches what the program has enqueued before.
  ~scope() {
    if (launches_ == nullptr) return;
    collecting_launches() = nullptr;
    try {
      finish();
    } catch (...) {
    }
  }

  void finish() {
    if (launches_ == nullptr) return;
    if (!launches_->pending_.empty()) launches_->launch();
    memory_.last = launches_->counts_;
    launches_->rethrow();
  }

 private:
  launch_memory& memory_;
  cuda_repeated_launches* launches_ = nullptr;  ///< null if each call launches at once
};

/// While an object exists, this thread's launches precede the collected ones: for changes that only the end of the
/// sequence reads.
class cuda_repeated_launches::ahead {
 public:
  ahead() : collector_(std::exchange(collecting_launches(), nullptr)) {}
  ahead& operator=(ahead&&) = delete;
  ~ahead() { collecting_launches() = collector_; }

 private:
  cuda_repeated_launches* collector_;
};

}  // namespace devplace::detail
