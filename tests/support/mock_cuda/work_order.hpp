// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <string>
#include <vector>

/// A race detector for work on memory. Only streams, events and waits of the host order work; a GPU may execute
/// everything else in any order. Two accesses to the same bytes, one of them a write, must therefore be ordered. The
/// mock executes all work at once, so without this check a missing wait would go unnoticed.
namespace devplace::test::mock_cuda {

class work_order {
 public:
  /// Records an access by `stream`; returns the race that it causes, or nothing.
  std::string use(const void* stream, const void* data, std::size_t bytes, bool writes) {
    const auto begin = reinterpret_cast<std::uintptr_t>(data);
    const moment now = next(stream);
    std::string problem;
    std::vector<access>& before = accesses_[block_of(begin)];
    for (const access& other : before)
      if ((writes || other.writes) && other.begin < begin + bytes && begin < other.end && !comes_after(stream, other))
        problem = std::string(writes ? "writes" : "reads") + " what another stream may still be " +
                  (other.writes ? "writing" : "reading");
    const access mine{begin, begin + bytes, now, writes};
    before.erase(std::remove_if(before.begin(), before.end(),
                                [&](const access& other) {
                                  return mine.begin <= other.begin && other.end <= mine.end &&
                                         (writes || (!other.writes && other.when.stream == stream));
                                }),
                 before.end());
    before.push_back(mine);
    return problem;
  }

  /// Begins a new block: forgets earlier accesses to its memory. The block is usable in the order of `stream`, or at
  /// once if `stream` is null.
  void take(const void* stream, const void* data, std::size_t bytes) {
    const auto begin = reinterpret_cast<std::uintptr_t>(data);
    accesses_[begin].clear();
    if (stream != nullptr) static_cast<void>(use(stream, data, bytes, true));
  }

  /// Frees a block in a stream's order or, with null, on the host; returns why the free is too early, or nothing.
  std::string give(const void* stream, const void* data) {
    std::string problem;
    for (const access& other : accesses_[reinterpret_cast<std::uintptr_t>(data)])
      if (stream == nullptr ? !knows(host_, other.when) : !comes_after(stream, other))
        problem = "memory that another stream may still be using";
    accesses_.erase(reinterpret_cast<std::uintptr_t>(data));
    return problem;
  }

  void record(const void* event, const void* stream) { events_[event] = known(stream); }
  void wait(const void* stream, const void* event) { merge(streams_[stream], events_[event]); }
  void host_waits_for_stream(const void* stream) { merge(host_, known(stream)); }
  void host_waits_for_event(const void* event) { merge(host_, events_[event]); }
  void forget_event(const void* event) { events_.erase(event); }

 private:
  /// A vector clock: for each stream, the number of its operations that are certainly done.
  using knowledge = std::map<const void*, std::uint64_t>;
  struct moment {
    const void* stream;
    std::uint64_t number;
  };
  struct access {
    std::uintptr_t begin, end;
    moment when;
    bool writes;
  };

  static void merge(knowledge& into, const knowledge& from) {
    for (const auto& [stream, number] : from) into[stream] = std::max(into[stream], number);
  }
  static bool knows(const knowledge& what, const moment& when) {
    const auto found = what.find(when.stream);
    return found != what.end() && found->second >= when.number;
  }

  /// Returns the clock of a stream's new work: of the work that the stream waits for and that the host had waited for.
  knowledge& known(const void* stream) {
    merge(streams_[stream], host_);
    return streams_[stream];
  }
  moment next(const void* stream) { return {stream, ++known(stream)[stream]}; }
  bool comes_after(const void* stream, const access& other) { return knows(known(stream), other.when); }

  /// Returns the start address of the block that contains this address.
  std::uintptr_t block_of(std::uintptr_t address) {
    const auto behind = accesses_.upper_bound(address);
    return behind == accesses_.begin() ? address : std::prev(behind)->first;
  }

  std::map<const void*, knowledge> streams_, events_;
  knowledge host_;
  std::map<std::uintptr_t, std::vector<access>> accesses_;  // by block
};

}  // namespace devplace::test::mock_cuda
