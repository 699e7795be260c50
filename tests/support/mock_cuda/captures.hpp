// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cuda_runtime_api.h>

#include <functional>
#include <map>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

/// Streams that are captured, and the graphs made of their work.
namespace devplace::test::mock_cuda {

/// Work that a graph executes in order; the argument is the stream of the graph's launch.
struct graph_work {
  std::vector<std::function<void(cudaStream_t)>> steps;
  int device;
  std::thread::id thread;  ///< that captures
  bool invalid = false;    ///< a call was not allowed during the capture
};

class captures {
 public:
  /// Returns the graph to which a stream's work is added; null if the stream is not captured.
  graph_work* of(const void* stream) {
    const auto at = running_.find(stream);
    return at == running_.end() ? nullptr : at->second.get();
  }
  void begin(const void* stream, int device) {
    running_[stream].reset(new graph_work{{}, device, std::this_thread::get_id()});
  }
  /// Ends a capture; returns null if there is none.
  std::unique_ptr<graph_work> end(const void* stream) {
    std::unique_ptr<graph_work> made = std::move(running_[stream]);
    running_.erase(stream);
    return made;
  }
  /// Makes this thread's captures invalid; returns whether there are any.
  bool invalidate() {
    bool any = false;
    for (auto& [stream, graph] : running_)
      if (graph->thread == std::this_thread::get_id()) any = graph->invalid = true;
    return any;
  }

 private:
  std::map<const void*, std::unique_ptr<graph_work>> running_;
};

}  // namespace devplace::test::mock_cuda
