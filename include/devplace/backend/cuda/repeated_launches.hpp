// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <type_traits>
#include <utility>
#include <vector>

#include <devplace/backend/cuda/check.hpp>
#include <devplace/backend/cuda/runtime.hpp>
#include <devplace/base/divided_up.hpp>
#include <devplace/ops/step_launches.hpp>
#include <devplace/place/device_map.hpp>

namespace devplace::detail {

/// Returns the mutex of a place's sequences. A thread holds the mutex while it enqueues several launches that share a
/// stream's workspace, so that no other thread enqueues launches between them. Also guards the libraries' plans.
inline std::recursive_mutex& sequence_mutex_of(int ordinal) { return of_place<std::recursive_mutex>(ordinal); }

/// Sets the padding of a call's arguments to zeros. Compilers without the function leave it; arguments with padding
/// then seldom equal those of an earlier step, and their calls are made one by one.
template <class Arguments> void clear_padding([[maybe_unused]] Arguments& arguments) {
  static_assert(std::is_trivially_copyable_v<Arguments> && alignof(Arguments) <= 16);
#if defined(__has_builtin)
  #if __has_builtin(__builtin_clear_padding)
  __builtin_clear_padding(&arguments);
  #endif
#endif
}

/// Calls that enqueue work, with copies of their arguments.
class call_sequence {
 public:
  /// Enqueues work of the place `ordinal` on a stream.
  using function = void (*)(const void* arguments, int ordinal, cudaStream_t stream);

  /// `arguments` are `bytes` bytes without padding of arbitrary values, because equal calls must have equal bytes.
  void add(function call, const char* name, const void* arguments, std::size_t bytes) {
    const std::size_t begin = bytes_.size();
    bytes_.resize(begin + padded_to(bytes, alignment));
    std::memcpy(bytes_.data() + begin, arguments, bytes);
    calls_.push_back({call, name, begin});
  }
  void enqueue(int ordinal, cudaStream_t stream) const {
    for (const entry& each : calls_) {
      each.function(bytes_.data() + each.begin, ordinal, stream);
      last_launch(ordinal).store(each.name, std::memory_order_relaxed);
    }
  }

  std::size_t size() const { return calls_.size(); }
  const char* last_name() const { return calls_.back().name; }
  void clear() {
    calls_.clear();
    bytes_.clear();
  }

  friend bool operator==(const call_sequence&, const call_sequence&) = default;

 private:
  static constexpr std::size_t alignment = 16;
  struct entry {
    call_sequence::function function;
    const char* name;
    std::size_t begin;
    friend bool operator==(const entry&, const entry&) = default;
  };

  std::vector<entry> calls_;
  std::vector<std::byte> bytes_;
};

/// Collects a thread's launches, and launches a sequence that repeats an earlier one with equal arguments as one graph:
/// the first sequence is launched call by call, the second is captured, and later ones launch the graph. Launches of a
/// sequence have the order of the calls, and begin when the program needs the stream for anything else, or at the end
/// of the scope. Sequences of different places, streams or arguments have graphs of their own.
class cuda_repeated_launches {
 public:
  class scope;
  class ahead;

  /// Adds a call for the place `ordinal`, whose device is the current one.
  void add(int ordinal, cudaStream_t stream, call_sequence::function call, const char* name, const void* arguments,
           std::size_t bytes) {
    if (pending_.size() != 0 && (ordinal != ordinal_ || stream != stream_)) launch();
    ordinal_ = ordinal;
    stream_ = stream;
    pending_.add(call, name, arguments, bytes);
  }
  /// Launches the calls collected so far, because other work follows on their stream.
  void interrupt() {
    if (pending_.size() == 0) return;
    if (counts_.interrupted_after == nullptr) counts_.interrupted_after = pending_.last_name();
    launch();
  }

 private:
  struct destroy_graph {
    void operator()(cudaGraphExec_t graph) const noexcept { ignore_cuda(cudaGraphExecDestroy(graph)); }
  };
  struct sequence {
    call_sequence calls;
    int ordinal = 0;
    cudaStream_t stream = nullptr;
    std::unique_ptr<CUgraphExec_st, destroy_graph> graph;
    bool captured = false;       ///< whether a capture was tried
    std::uint64_t last_use = 0;  ///< number of the last launch
  };
  /// Enough for two buffers of a loader with two sizes of batches each, on several places.
  static constexpr std::size_t capacity = 64;

  void launch() {
    std::swap(pending_, calls_);
    pending_.clear();  // before an exception
    const cuda_device_guard device(ordinal_);
    const std::lock_guard lock(sequence_mutex_of(ordinal_));
    const call_sequence& calls = calls_;
    if (calls.size() > 1) {
      sequence* const known = find(calls);
      if (known == nullptr) {
        remember(calls);
      } else if (!std::exchange(known->captured, true)) {
        known->graph.reset(capture(calls));
      }
      if (known != nullptr && known->graph != nullptr) {
        check_cuda(cudaGraphLaunch(known->graph.get(), stream_), "cudaGraphLaunch", ordinal_);
        last_launch(ordinal_).store(calls.last_name(), std::memory_order_relaxed);
        ++counts_.graphs;
        counts_.in_graphs += calls.size();
        return;
      }
    }
    calls.enqueue(ordinal_, stream_);
    counts_.single += calls.size();
  }

  sequence* find(const call_sequence& calls) {
    for (sequence& each : known_)
      if (each.ordinal == ordinal_ && each.stream == stream_ && each.calls == calls) {
        each.last_use = ++uses_;
        return &each;
      }
    return nullptr;
  }
  /// Replaces the least recently used sequence if there are too many: sequences that do not repeat leave graphs alone.
  void remember(const call_sequence& calls) {
    if (known_.size() < capacity) known_.emplace_back();
    const auto older = [](const sequence& a, const sequence& b) { return a.last_use < b.last_use; };
    sequence& s = *std::min_element(known_.begin(), known_.end(), older);
    s.last_use = ++uses_;
    s.calls = calls;
    s.ordinal = ordinal_;
    s.stream = stream_;
    s.graph.reset();
    s.captured = false;
  }

  /// Captures calls in a stream of its own, because other threads may use the place's streams. Returns null if CUDA
  /// cannot capture a call; nothing was enqueued then.
  cudaGraphExec_t capture(const call_sequence& calls) const {
    cudaStream_t own = nullptr;
    if (const cudaError_t code = cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking); code != cudaSuccess)
      return ignore_cuda(code), nullptr;
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t executable = nullptr;
    cudaError_t code = cudaStreamBeginCapture(own, cudaStreamCaptureModeThreadLocal);
    bool whole = true;  // a call can fail and leave the capture valid
    if (code == cudaSuccess) {
      try {
        calls.enqueue(ordinal_, own);
      } catch (...) {
        whole = false;  // the call throws again, or succeeds, when it is enqueued alone
      }
      code = cudaStreamEndCapture(own, &graph);
    }
    if (code == cudaSuccess && whole) code = cudaGraphInstantiate(&executable, graph, 0);
    ignore_cuda(code);
    if (graph != nullptr) ignore_cuda(cudaGraphDestroy(graph));
    ignore_cuda(cudaStreamDestroy(own));
    return executable;
  }

  step_launches counts_;
  call_sequence pending_, calls_;  ///< the calls being collected, and being launched
  int ordinal_ = 0;                ///< of the pending calls
  cudaStream_t stream_ = nullptr;  ///< of the pending calls
  std::vector<sequence> known_;
  std::uint64_t uses_ = 0;
};

/// Returns what collects this thread's launches; null if each launch is enqueued at once.
inline cuda_repeated_launches*& collecting_launches() {
  static thread_local cuda_repeated_launches* collector = nullptr;
  return collector;
}

/// Launches the calls that this thread has collected, because the program uses a stream for other work.
inline void launch_collected() {
  if (cuda_repeated_launches* const launches = collecting_launches()) [[unlikely]]
    launches->interrupt();
}

class cuda_repeated_launches::scope {
 public:
  explicit scope(launch_memory& memory) : memory_(memory) {
    memory.last = {};
    if (!memory.enabled || sync_launches() || collecting_launches() != nullptr) return;
    if (memory.graphs == nullptr) memory.graphs = std::make_shared<cuda_repeated_launches>();
    launches_ = static_cast<cuda_repeated_launches*>(memory.graphs.get());
    launches_->counts_ = {};
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
    if (launches_->pending_.size() != 0) launches_->launch();
    memory_.last = launches_->counts_;
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
