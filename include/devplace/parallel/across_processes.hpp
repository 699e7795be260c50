// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <devplace/memory/block.hpp>
#include <devplace/ops/for_each.hpp>
#include <devplace/parallel/communicator.hpp>
#include <devplace/parallel/detail/combine_in_order.hpp>
#include <devplace/parallel/share.hpp>
#include <devplace/parallel/transport.hpp>
#include <devplace/place/detail/host_memory.hpp>
#include <devplace/place/error.hpp>
#include <devplace/place/replica_error.hpp>

namespace devplace::parallel {

/// The order in which an engine adds the participants' elements.
enum class summation : unsigned char {
  by_rank,  ///< ((g0 + g1) + g2) + ..., as `direct`
  by_ring,  ///< what rank r completes, from rank r + 1 on and around, as `ring`
};

/// The communicator of places of several processes. Each process reduces its slice of the gradients over all
/// participants and gives it to the others, by the group's transport, in the order in which the engine of one process
/// adds: a placement over 2 processes with 2 places each has the bits of `replicated` on 4 places. For n participants
/// and S bytes each process receives about 2 S for each of its places.
///
/// Host memory is passed to the transport; devices' buffers go through pinned memory. The calling thread waits for the
/// devices and for the other processes.
template <class Backend, summation Order>
class across_processes {
 public:
  /// For these devices of this process and the processes of a transport; all processes have the same number of devices.
  across_processes(std::span<const int> ordinals, std::shared_ptr<transport> via) try
      : ordinals_(ordinals.begin(), ordinals.end()),
        via_(std::move(via)),
        begins_(processes() + 1),
        chunks_(static_cast<std::size_t>(size()) + 1),
        at_(ordinals.size()),
        staged_(staged ? ordinals.size() : 0) {
    via_->require_for_tensors();
  } catch (const std::bad_alloc&) {
    devplace::detail::fail_without_memory("a communicator");
  }

  /// The participants of all processes, and this process's.
  ///@{
  int size() const { return via_->size() * local_count(); }
  int first_rank() const { return via_->ranks().rank * local_count(); }
  int local_count() const { return static_cast<int>(ordinals_.size()); }
  ///@}

  /// Allocates the pinned memory for buffers of up to `count` elements.
  void prepare(std::size_t count, std::size_t element_bytes) {
    if constexpr (staged)
      if (size() > 1) reserve(std::min(window(element_bytes), count) * element_bytes);
  }

  /// The collectives of parallel/communicator.hpp.
  ///@{
  template <class T>
  void all_reduce(std::span<T* const> buffers, std::size_t count, reduction op) {
    check<T>(buffers, op);
    if (size() == 1) return;
    order_chunks(count);
    const announced_call call(*via_, {"all_reduce", count, sizeof(T)});
    in_windows<T>(count, [&](std::size_t first, std::size_t last) {
      const bool everywhere = (last - first) * sizeof(T) * ordinals_.size() <= via_->most_everywhere();
      everywhere ? all_to<T>(process(), last - first) : split_evenly<T>(last - first);
      std::byte* const part = reduce_part(buffers, first, last, op, everywhere);
      if (!everywhere) via_->distribute(part, std::span(at_.data(), 1), begins_);
      put_whole(buffers, first, last);
    });
  }
  template <class T>
  void reduce(std::span<T* const> buffers, std::size_t count, reduction op, int root) {
    check<T>(buffers, op);
    check_root(root);
    order_chunks(count);
    const announced_call call(*via_, {"reduce", count, sizeof(T)});
    in_windows<T>(count, [&](std::size_t first, std::size_t last) {
      all_to<T>(process_of(root), last - first);
      const std::byte* const part = reduce_part(buffers, first, last, op);
      if (process_of(root) == process()) put(buffers, local(root), first, part, last - first);
    });
  }
  template <class T>
  void broadcast(std::span<T* const> buffers, std::size_t count, int root) {
    check(buffers.size());
    check_root(root);
    const announced_call call(*via_, {"broadcast", count, sizeof(T)});
    in_windows<T>(count, [&](std::size_t first, std::size_t last) {
      all_to<T>(process_of(root), last - first);
      const bool here = process_of(root) == process();
      std::byte* const whole = here ? take(buffers, local(root), first, last) : place(buffers, 0, first);
      via_->distribute(whole, std::span(&whole, 1), begins_);
      for (std::size_t k = 0; k != ordinals_.size(); ++k)
        if (!here || k != local(root)) put(buffers, k, first, whole, last - first);
    });
  }
  template <class T>
  void reduce_scatter(std::span<T* const> buffers, std::span<const std::size_t> begins, reduction op) {
    check<T>(buffers, op);
    check(begins);
    std::copy(begins.begin(), begins.end(), chunks_.begin());
    const announced_call call(*via_, {"reduce_scatter", begins.back(), sizeof(T)});
    in_windows<T>(begins.back(), [&](std::size_t first, std::size_t last) {
      split_at<T>(begins, first, last);
      const std::byte* const part = reduce_part(buffers, first, last, op);
      for (std::size_t k = 0; k != ordinals_.size(); ++k) {
        const auto own = clamped(begins, process() * ordinals_.size() + k, first, last);
        put(buffers, k, own.first, part + ((own.first - first) * sizeof(T) - begins_[process()]),
            own.second - own.first);
      }
    });
  }
  template <class T>
  void all_gather(std::span<T* const> buffers, std::span<const std::size_t> begins) {
    check(buffers.size());
    check(begins);
    const announced_call call(*via_, {"all_gather", begins.back(), sizeof(T)});
    in_windows<T>(begins.back(), [&](std::size_t first, std::size_t last) {
      split_at<T>(begins, first, last);
      std::byte* const whole = place(buffers, 0, first);
      for (std::size_t k = 0; k != ordinals_.size(); ++k) {
        const auto own = clamped(begins, process() * ordinals_.size() + k, first, last);
        fetch(buffers, k, own.first, own.second, whole + (own.first - first) * sizeof(T));
      }
      via_->distribute(whole + begins_[process()], std::span(&whole, 1), begins_);
      for (std::size_t k = 0; k != ordinals_.size(); ++k)
        put(buffers, k, first, whole, last - first);
    });
  }
  ///@}

 private:
  /// Whether elements go through pinned memory.
  static constexpr bool staged = !std::is_same_v<Backend, backend::cpu>;
  /// Portions are whole cache lines.
  static constexpr std::size_t line = 16;
  /// Number of elements that justify a thread.
  static constexpr std::size_t grain = 16384;

  std::size_t processes() const { return static_cast<std::size_t>(via_->size()); }
  std::size_t process() const { return static_cast<std::size_t>(via_->ranks().rank); }
  std::size_t process_of(int rank) const { return static_cast<std::size_t>(rank / local_count()); }
  std::size_t local(int rank) const { return static_cast<std::size_t>(rank % local_count()); }

  /// The number of elements that the transport takes at a time.
  std::size_t window(std::size_t element_bytes) const {
    const std::size_t most = via_->portion() / (element_bytes * ordinals_.size());
    return std::max(most / line * line, std::size_t{1});
  }
  template <class T, class F>
  void in_windows(std::size_t count, const F& f) {
    if (size() == 1) return;  // its elements are the result
    if constexpr (staged) reserve(std::min(window(sizeof(T)), count) * sizeof(T));
    for (std::size_t first = 0; first < count; first += std::min(window(sizeof(T)), count - first))
      f(first, first + std::min(window(sizeof(T)), count - first));
  }

  // How the next call of the transport divides a window, in bytes.
  template <class T>
  void split_evenly(std::size_t count) {
    for (std::size_t r = 0; r != begins_.size(); ++r)
      begins_[r] = share_begin(count, processes(), r) * sizeof(T);
  }
  template <class T>
  void all_to(std::size_t process, std::size_t count) {
    for (std::size_t r = 0; r != begins_.size(); ++r)
      begins_[r] = r > process ? count * sizeof(T) : 0;
  }
  template <class T>
  void split_at(std::span<const std::size_t> begins, std::size_t first, std::size_t last) {
    for (std::size_t r = 0; r != begins_.size(); ++r)
      begins_[r] = (std::clamp(begins[r * ordinals_.size()], first, last) - first) * sizeof(T);
  }
  static std::pair<std::size_t, std::size_t> clamped(std::span<const std::size_t> begins, std::size_t rank,
                                                     std::size_t first, std::size_t last) {
    return {std::clamp(begins[rank], first, last), std::clamp(begins[rank + 1], first, last)};
  }

  /// The chunks of a ring, one for each participant.
  void order_chunks(std::size_t count) {
    for (std::size_t c = 0; c != chunks_.size(); ++c)
      chunks_[c] = share_begin(count, chunks_.size() - 1, c);
  }

  /// Reduces this process's part of the elements [first, last) of all participants; `everywhere`: each has all of them.
  template <class T>
  std::byte* reduce_part(std::span<T* const> buffers, std::size_t first, std::size_t last, reduction op,
                         bool everywhere = false) {
    for (std::size_t k = 0; k != ordinals_.size(); ++k)
      at_[k] = take(buffers, k, first, last);
    const transport::collected collected =
        everywhere ? via_->collect_everywhere(at_, begins_.back()) : via_->collect(at_, begins_);
    // Elements of the collective, of which the summands begin at the first.
    const std::size_t begin = first + begins_[process()] / sizeof(T), end = first + begins_[process() + 1] / sizeof(T);
    const std::size_t n = chunks_.size() - 1;
    for (std::size_t c = 0; c != n; ++c) {
      std::size_t from = begin, to = end, start = 0;
      if constexpr (Order == summation::by_ring) {
        from = std::clamp(chunks_[c], begin, end);
        to = std::clamp(chunks_[c + 1], begin, end);
        start = (c + 1) % n;
      }
      detail::with_reduction<T>(op, [&]<reduction Op>() {
        devplace::detail::for_each_index<backend::cpu>(
            0, to - from, grain,
            detail::combine_in_order<T, Op>{collected.summands.data(), collected.summands.size(), start, from - begin,
                                            collected.result});
      });
      if constexpr (Order == summation::by_rank) break;
    }
    return collected.result;
  }

  /// Where the host has, or may put, element `first` of buffer k.
  template <class T>
  std::byte* place(std::span<T* const> buffers, std::size_t k, std::size_t first) {
    if constexpr (staged)
      return static_cast<std::byte*>(staged_[k].data());
    else
      return reinterpret_cast<std::byte*>(buffers[k] + first);
  }
  /// The elements [first, last) of buffer k in host memory.
  template <class T>
  std::byte* take(std::span<T* const> buffers, std::size_t k, std::size_t first, std::size_t last) {
    std::byte* const here = place(buffers, k, first);
    if constexpr (staged) fetch(buffers, k, first, last, here);
    return here;
  }
  template <class T>
  void fetch(std::span<T* const> buffers, std::size_t k, std::size_t first, std::size_t last, std::byte* to) {
    if (to == reinterpret_cast<std::byte*>(buffers[k] + first)) return;
    on_device(k, [&](int ordinal) {
      devplace::detail::copy_out<Backend>(ordinal, to, buffers[k] + first, (last - first) * sizeof(T));
    });
  }
  /// Writes elements from host memory to buffer k.
  template <class T>
  void put(std::span<T* const> buffers, std::size_t k, std::size_t first, const std::byte* from, std::size_t count) {
    if (from == reinterpret_cast<std::byte*>(buffers[k] + first)) return;
    on_device(k, [&](int ordinal) {
      devplace::detail::copy_in<Backend>(ordinal, buffers[k] + first, from, count * sizeof(T));
    });
  }
  template <class T>
  void put_whole(std::span<T* const> buffers, std::size_t first, std::size_t last) {
    for (std::size_t k = 0; k != ordinals_.size(); ++k)
      put(buffers, k, first, at_[0], last - first);
  }
  template <class F>
  void on_device(std::size_t k, const F& f) {
    devplace::detail::on_behalf_of_replica<Backend>(k, ordinals_.size(), ordinals_[k], [&] { f(ordinals_[k]); });
  }

  void reserve(std::size_t bytes) {
    for (auto& block : staged_)
      if (block.bytes() < bytes) {
        block = {};
        block = devplace::detail::allocate<backend::pinned>(0, bytes, memory_purpose::workspace);
      }
  }

  template <class T>
  void check(std::span<T* const> buffers, reduction op) const {
    check(buffers.size());
    detail::check_reduction<T>(op);
  }
  void check(std::size_t buffers) const {
    if (buffers != ordinals_.size())
      throw argument_error("collective: " + std::to_string(buffers) + " buffers were given for " +
                           std::to_string(ordinals_.size()) + " places of this process; give one for each.");
  }
  void check(std::span<const std::size_t> begins) const {
    if (begins.size() != chunks_.size() || !std::is_sorted(begins.begin(), begins.end()))
      throw argument_error(
          "collective: the boundaries of the parts must be ascending numbers, one more than there are participants in "
          "all processes; the part of rank r is [begins[r], begins[r + 1]).");
  }
  void check_root(int root) const {
    if (root < 0 || root >= size())
      throw argument_error("collective: the root is rank " + std::to_string(root) + "; give one from 0 to " +
                           std::to_string(size() - 1) + ".");
  }

  std::vector<int> ordinals_;
  std::shared_ptr<transport> via_;
  std::vector<std::size_t> begins_;  // of the processes' parts of a window, in bytes
  std::vector<std::size_t> chunks_;  // of the participants, in elements of the collective
  std::vector<std::byte*> at_;
  std::vector<devplace::detail::memory_block> staged_;
};

}  // namespace devplace::parallel
