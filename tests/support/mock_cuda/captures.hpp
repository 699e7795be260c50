// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

/// Streams that are captured, and the graphs made of their work.
namespace devplace::test::mock_cuda {

/// Work that a graph executes. It consists of branches, one for each captured stream, the first one that of the stream
/// in which the capture began. A step gets the stream that executes its branch, or an event of the graph.
struct graph_work {
  struct step {
    enum { work, record, wait } what;
    std::size_t branch;
    std::function<void(cudaStream_t)> run;  ///< the work
    std::size_t event = 0;                  ///< number of the recorded event, or of the one to wait for
  };
  std::vector<step> steps;
  std::vector<int> devices;  ///< of the branches
  std::size_t records = 0;   ///< number of recorded events
  std::thread::id thread;    ///< that captures
  bool invalid = false;      ///< a call was not allowed during the capture
};

class captures {
 public:
  /// A stream's branch of a graph.
  struct branch_of_graph {
    graph_work* graph;
    std::size_t branch;
    void add(std::function<void(cudaStream_t)> work) const {
      graph->steps.push_back({graph_work::step::work, branch, std::move(work)});
    }
  };

  /// Returns the branch to which a stream's work is added; its graph is null if the stream is not captured.
  branch_of_graph of(const void* stream) const {
    const auto at = branches_.find(stream);
    return at == branches_.end() ? branch_of_graph{nullptr, 0} : at->second;
  }
  void begin(const void* stream, int device) {
    running_[stream].reset(new graph_work{{}, {device}, 0, std::this_thread::get_id()});
    branches_[stream] = {running_[stream].get(), 0};
  }
  /// Ends a capture; returns null if none began in this stream. `joined`: whether the stream has waited for the last
  /// work of all branches.
  std::unique_ptr<graph_work> end(const void* stream, bool& joined) {
    std::unique_ptr<graph_work> made = std::move(running_[stream]);
    running_.erase(stream);
    joined = made != nullptr && all_joined(*made);
    std::erase_if(branches_, [&](const auto& at) { return at.second.graph == made.get(); });
    std::erase_if(events_, [&](const auto& at) { return at.second.graph == made.get(); });
    return made;
  }
  /// Makes this thread's captures invalid; returns whether there are any.
  bool invalidate() {
    bool any = false;
    for (auto& [stream, graph] : running_)
      if (graph->thread == std::this_thread::get_id()) any = graph->invalid = true;
    return any;
  }

  /// Whether a record of an event was captured by a capture that has not ended.
  bool captured(const void* event) const { return events_.count(event) != 0; }
  void forget_event(const void* event) { events_.erase(event); }
  /// Captures the record of an event in a captured stream.
  void record(const void* event, const void* stream) {
    const branch_of_graph own = of(stream);
    events_[event] = {own.graph, own.graph->records};
    own.graph->steps.push_back({graph_work::step::record, own.branch, nullptr, own.graph->records++});
  }
  /// Lets a stream, whose first wait makes it a branch, wait for a captured record. Returns false for a stream of
  /// another capture.
  bool wait(const void* stream, int device, const void* event) {
    const recorded& awaited = events_.at(event);
    if (of(stream).graph == nullptr) {
      branches_[stream] = {awaited.graph, awaited.graph->devices.size()};
      awaited.graph->devices.push_back(device);
    }
    const branch_of_graph own = of(stream);
    if (own.graph != awaited.graph) return false;
    own.graph->steps.push_back({graph_work::step::wait, own.branch, nullptr, awaited.number});
    return true;
  }

 private:
  struct recorded {
    graph_work* graph;
    std::size_t number;
  };

  /// Computes which steps precede the end of the first branch.
  static bool all_joined(const graph_work& graph) {
    std::vector<std::size_t> last(graph.devices.size());  // the number of each branch's steps, as the first knows it
    std::vector<std::vector<std::size_t>> known(graph.devices.size(), last), of_event(graph.records, last);
    for (const graph_work::step& step : graph.steps) {
      std::vector<std::size_t>& own = known[step.branch];
      if (step.what == graph_work::step::wait)
        for (std::size_t b = 0; b != own.size(); ++b) own[b] = std::max(own[b], of_event[step.event][b]);
      if (step.what == graph_work::step::work) own[step.branch] = ++last[step.branch];
      if (step.what == graph_work::step::record) of_event[step.event] = own;
    }
    return known[0] == last;
  }

  std::map<const void*, std::unique_ptr<graph_work>> running_;  ///< by the stream in which the capture began
  std::map<const void*, branch_of_graph> branches_;
  std::map<const void*, recorded> events_;
};

}  // namespace devplace::test::mock_cuda
