// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <devplace/ops/for_each.hpp>
#include <devplace/parallel/detail/check_collective.hpp>
#include <devplace/parallel/detail/reduce_in_rank_order.hpp>
#include <devplace/parallel/detail/side_streams.hpp>
#include <devplace/parallel/share.hpp>
#include <devplace/process/combine.hpp>
#include <devplace/process/transport.hpp>

namespace devplace::parallel {

/// The order in which an engine adds the participants' elements.
enum class summation : unsigned char {
  by_rank,  ///< ((g0 + g1) + g2) + ..., as `direct`
  by_ring,  ///< the chunk that rank r completes: g(r + 1) + ... + g(r + n), ranks modulo n, as `ring`
};

namespace detail {

/// Divides a collective's elements among the participants of several processes: into windows, one for each call of the
/// transport, and each window into the processes' parts.
class process_parts : public participants {
 public:
  process_parts(const process_ranks& ranks, std::size_t local)
      : participants(ranks, local), begins_(index(processes()) + 1) {}

  using participants::is_here;
  std::size_t local() const { return index(local_count()); }
  std::size_t local_of(int rank) const { return index(rank % local_count()); }

  /// The number of elements of a window for a transport that takes `portion` bytes.
  std::size_t window(std::size_t portion, std::size_t element_bytes) const {
    return std::max(portion / (element_bytes * local()) / line * line, std::size_t{1});
  }

  // The division of a window among the processes, in bytes.
  std::span<const std::size_t> begins() const { return {begins_.data(), begins_.size()}; }
  std::size_t own_begin() const { return begins_[index(process())]; }
  std::size_t own_end() const { return begins_[index(process()) + 1]; }
  void split_evenly(std::size_t count, std::size_t element_bytes) {
    for (std::size_t r = 0; r != begins_.size(); ++r)
      begins_[r] = share_begin(count, index(processes()), r) * element_bytes;
  }
  void all_to_process_of(int rank, std::size_t count, std::size_t element_bytes) {
    for (std::size_t r = 0; r != begins_.size(); ++r)
      begins_[r] = r > index(process_of(rank)) ? count * element_bytes : 0;
  }
  void split_at(std::span<const std::size_t> of_participants, std::size_t first, std::size_t last,
                std::size_t element_bytes) {
    for (std::size_t r = 0; r != begins_.size(); ++r)
      begins_[r] = (std::clamp(of_participants[r * local()], first, last) - first) * element_bytes;
  }
  /// The elements of a window that belong to place `k` of this process.
  std::pair<std::size_t, std::size_t> own(std::span<const std::size_t> of_participants, std::size_t k,
                                          std::size_t first, std::size_t last) const {
    const std::size_t rank = index(first_rank()) + k;
    return {std::clamp(of_participants[rank], first, last), std::clamp(of_participants[rank + 1], first, last)};
  }

 private:
  /// Sizes of windows are multiples of this number of elements, a cache line of float.
  static constexpr std::size_t line = 16;

  std::vector<std::size_t> begins_;
};

/// A queue of started reductions over the places of several processes. advance() advances the first reduction, window
/// by window; the other reductions wait.
template <class Backend, summation Order> class started_reductions {
 public:
  enum class kind : unsigned char { all_reduce, reduce, reduce_scatter };
  enum class stage : unsigned char { queued, window, fetch, collect, distribute };

  struct call {
    kind operation = kind::all_reduce;
    std::size_t count = 0;
    reduction op = reduction::sum;
    int root = 0;
    std::span<const std::size_t> begins = {};
    stage at = stage::queued;
    std::size_t first = 0, last = 0;  ///< elements of the window
    bool everywhere = false;          ///< whether each process reduces the whole window
  };

  started_reductions(std::span<const int> ordinals, std::shared_ptr<transport> by)
      : group_transport(std::move(by)), parts(group_transport->ranks(), ordinals.size()), host(ordinals) {}

  std::shared_ptr<transport> group_transport;
  process_parts parts;
  host_buffers<Backend> host;

  std::size_t window(std::size_t element_bytes) const {
    return parts.window(group_transport->portion(), element_bytes);
  }

  template <class T> void start(std::span<T* const> buffers, const call& collective) {
    check_reduction<T>(collective.op);
    host.streams().claim();
    if (parts.size() == 1) return;  // the elements are the result
    group_transport->require_own(name(collective.operation));
    if (started_ == entries_.size()) entries_.emplace_back();
    entry& e = entries_[started_];
    e.collective = collective;
    e.buffers.assign(buffers.begin(), buffers.end());
    e.step = &started_reductions::step<T>;
    ++started_;
  }

  /// Advances the started collectives in order: to their end if `blocking`, otherwise as far as possible without
  /// waiting.
  void advance(bool blocking) {
    for (; ended_ != started_; ++ended_)
      if (!(this->*entries_[ended_].step)(entries_[ended_], blocking)) return;
  }

  void clear() noexcept { started_ = ended_ = 0; }

 private:
  static constexpr std::size_t grain = 16384;

  /// An entry of the queue. Entries are reused, so that starting a collective does not allocate.
  struct entry {
    call collective;
    std::vector<void*> buffers;
    bool (started_reductions::*step)(entry&, bool blocking) = nullptr;  ///< step() for the type of the elements
  };

  /// Advances one collective; returns whether it has ended. Reports the call to the monitor only while this process
  /// waits.
  template <class T> bool step(entry& e, bool blocking) {
    call& c = e.collective;
    std::optional<announced_call> announced;
    if (c.at == stage::queued) {
      host.streams().run([] {});
      c.at = stage::window;
      announced.emplace(*group_transport, collective_call{name(c.operation), c.count, sizeof(T)});
    } else if (blocking) {
      announced.emplace(*group_transport);
    }
    T* buffers[max_ranks];
    for (std::size_t k = 0; k != e.buffers.size(); ++k) buffers[k] = static_cast<T*>(e.buffers[k]);
    return run_stages<T>(c, std::span<T* const>(buffers, e.buffers.size()), blocking);
  }

  static const char* name(kind operation) {
    return operation == kind::all_reduce ? "all_reduce" : operation == kind::reduce ? "reduce" : "reduce_scatter";
  }

  template <class T> bool run_stages(call& c, std::span<T* const> buffers, bool blocking) {
    for (;;) switch (c.at) {
        case stage::queued:
        case stage::window:
          if (c.first == c.count) return true;
          // A device may still read the memory of the previous window.
          if (!copied(blocking)) return false;
          c.last = c.first + std::min(window(sizeof(T)), c.count - c.first);
          divide<T>(c);
          host.reserve((c.last - c.first) * sizeof(T));
          host.start_fetch(buffers, c.first, c.last);
          c.at = stage::fetch;
          break;
        case stage::fetch:
          if (!copied(blocking)) return false;
          c.everywhere ? group_transport->start_collect_everywhere(host.windows(), parts.begins().back())
                       : group_transport->start_collect(host.windows(), parts.begins());
          c.at = stage::collect;
          break;
        case stage::collect: {
          if (!ended(blocking)) return false;
          std::byte* const part = combine<T>(c, group_transport->summands());
          c.at = stage::distribute;
          if (c.operation == kind::all_reduce) {
            if (!c.everywhere) group_transport->start_distribute(part, host.windows().first(1), parts.begins());
          } else {
            put_part(c, buffers, part);
          }
          break;
        }
        case stage::distribute:
          if (c.operation == kind::all_reduce) {
            if (!c.everywhere && !ended(blocking)) return false;
            for (std::size_t k = 0; k != parts.local(); ++k)
              host.put(buffers, k, c.first, host.windows()[0], c.last - c.first);
          }
          c.first = c.last;
          c.at = stage::window;
          break;
      }
  }
  bool copied(bool blocking) {
    if (!blocking) return host.copied();
    host.wait();
    return true;
  }
  bool ended(bool blocking) {
    if (!blocking) return group_transport->poll();
    group_transport->wait();
    return true;
  }

  template <class T> void divide(call& c) {
    const std::size_t n = c.last - c.first;
    c.everywhere =
        c.operation == kind::all_reduce && n * sizeof(T) * parts.local() <= group_transport->most_everywhere();
    if (c.operation == kind::reduce_scatter)
      parts.split_at(c.begins, c.first, c.last, sizeof(T));
    else if (c.operation == kind::reduce || c.everywhere)
      parts.all_to_process_of(c.everywhere ? parts.first_rank() : c.root, n, sizeof(T));
    else
      parts.split_evenly(n, sizeof(T));
  }

  template <class T> std::byte* combine(const call& c, const transport::collected& collected) {
    // This process's elements of the collective; `begin` is the first element of the summands.
    const std::size_t begin = c.first + parts.own_begin() / sizeof(T), end = c.first + parts.own_end() / sizeof(T);
    const auto add = [&](std::size_t start, std::size_t from, std::size_t to) {
      with_reduction<T>(c.op, [&]<reduction Op>() {
        devplace::detail::for_each_index<backend::cpu>(
            0, to - from, grain,
            combine_in_order<T, Op>{collected.summands.data(), collected.summands.size(), start, from - begin,
                                    collected.result});
      });
    };
    if constexpr (Order == summation::by_ring) {
      const auto n = static_cast<std::size_t>(parts.size());
      const auto chunk = [&](std::size_t rank) {
        return std::clamp(c.begins.empty() ? share_begin(c.count, n, rank) : c.begins[rank], begin, end);
      };
      for (std::size_t rank = 0; rank != n; ++rank) add((rank + 1) % n, chunk(rank), chunk(rank + 1));
    } else {
      add(0, begin, end);
    }
    return collected.result;
  }

  template <class T> void put_part(const call& c, std::span<T* const> buffers, const std::byte* part) {
    const std::size_t begin = parts.own_begin(), bytes = parts.own_end() - begin;
    if constexpr (host_buffers<Backend>::staged) {  // the transport may reuse its memory before devices have copied it
      std::byte* const kept = host.windows()[0] + begin;
      if (bytes != 0 && part != kept) std::memcpy(kept, part, bytes);
      part = kept;
    }
    if (c.operation == kind::reduce) {
      if (parts.is_here(c.root)) host.put(buffers, parts.local_of(c.root), c.first, part, c.last - c.first);
      return;
    }
    for (std::size_t k = 0; k != parts.local(); ++k) {
      const auto own = parts.own(c.begins, k, c.first, c.last);
      host.put(buffers, k, own.first, part + ((own.first - c.first) * sizeof(T) - begin), own.second - own.first);
    }
  }

  std::vector<entry> entries_;
  std::size_t started_ = 0, ended_ = 0;  ///< numbers of started and of ended entries
};

}  // namespace detail
}  // namespace devplace::parallel
