// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <sched.h>

#include <devplace/process/detail/own_processors.hpp>
#include <devplace/process/detail/shared_segment.hpp>
#include <devplace/process/shared_layout.hpp>
#include <devplace/process/transport.hpp>

namespace devplace::parallel::detail {

/// Opens the segment of a group's processes on one host. The first process creates the segment, the others open it.
class shared_opening {
 public:
  /// The message of each process to the others.
  struct message {
    shared_segment::address segment;
    std::uint64_t portion = 0;
    ::cpu_set_t processors = own_processors();
  };

  /// Rounds the wanted portion up, so that it holds at least the messages of a split; 0 selects the default.
  static std::size_t portion_for(std::size_t processes, std::size_t wanted) {
    if (wanted == 0) wanted = shared_layout::usual_portion(processes);
    return std::max(wanted, processes * sizeof(message) + 63) / 64 * 64;
  }

  /// Takes the arguments of shared_memory_transport::connect.
  template <class AllGather>
  shared_opening(const process_ranks& ranks, AllGather& all_gather, std::size_t wanted) : size_(ranks.size) {
    shared_segment::require_one_host(ranks.rank, ranks.local_size, ranks.size);
    const auto processes = static_cast<std::size_t>(ranks.size);
    message own;
    if (ranks.rank == 0) {
      own.portion = portion_for(processes, wanted);
      segment->create(shared_layout{processes, own.portion}.bytes());
      own.segment = segment->where();
    }
    std::vector<message> messages(processes);
    all_gather(static_cast<const void*>(&own), sizeof own, static_cast<void*>(messages.data()));
    for (const message& other : messages) CPU_OR(&own.processors, &own.processors, &other.processors);
    oversubscribed = ranks.size > CPU_COUNT(&own.processors);
    portion = messages[0].portion;
    bytes_ = messages[0].segment.bytes;
    if (ranks.rank != 0 && messages[0].segment.descriptor >= 0) segment->open(messages[0].segment);
    if (segment->data() == nullptr) return;
    const shared_layout layout{processes, portion};
    if (ranks.rank == 0) segment->reserve(0, layout.arrivals_bytes());
    segment->reserve(layout.memory_at(static_cast<std::size_t>(ranks.rank)), layout.memory_bytes());
  }

  /// Whether this process has mapped the segment and allocated its own memory.
  bool usable() const { return segment->data() != nullptr && segment->failed().step == shared_segment::failure::none; }

  /// Throws in all processes if the segment is unusable in any process. Otherwise closes the segment to new processes.
  template <class AllGather> void finish(AllGather& all_gather) {
    std::vector<shared_segment::failure> failed(static_cast<std::size_t>(size_));
    all_gather(static_cast<const void*>(&segment->failed()), sizeof failed[0], static_cast<void*>(failed.data()));
    for (int r = 0; r != size_; ++r)
      if (const auto& failure = failed[static_cast<std::size_t>(r)]; failure.step != 0)
        shared_segment::report(failure, r, size_, bytes_);
    segment->close();
  }

  std::shared_ptr<shared_segment> segment = std::make_shared<shared_segment>();
  std::size_t portion = 0;      ///< maximum number of bytes of a call, as the first process has chosen
  bool oversubscribed = false;  ///< whether there are more processes than processors

 private:
  int size_;
  std::uint64_t bytes_ = 0;
};

}  // namespace devplace::parallel::detail
