// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include <devplace/base/divided_up.hpp>
#include <devplace/config.hpp>
#include <devplace/memory/block.hpp>
#include <devplace/ops/for_each.hpp>
#include <devplace/parallel/detail/check_collective.hpp>
#include <devplace/parallel/detail/nccl_calls.hpp>
#include <devplace/parallel/detail/nccl_ranks.hpp>
#include <devplace/parallel/detail/ranks.hpp>
#include <devplace/tensor/dtype.hpp>

namespace devplace::parallel::detail {

/// Adds the parts received from the other ranks, which are `stride` elements apart, to the part of rank `rank`. Adds in
/// float in the order of the ranks, ((g0 + g1) + g2) + ..., and rounds at the end. The bits are those of
/// reduce_in_rank_order.
template <class T> struct add_received_parts {
  T* own;
  const T* received;
  std::size_t stride;
  int rank, ranks;

  DEVPLACE_HD void operator()(std::size_t i) const {
    const T* next = received + i;
    devplace::detail::computed_t<T> total = 0;
    for (int r = 0; r < ranks; ++r) {
      const T& one = r == rank ? own[i] : *next;
      total = r == 0 ? static_cast<devplace::detail::computed_t<T>>(one) : total + one;
      if (r != rank && r + 1 < ranks) next += stride;
    }
    own[i] = T(total);
  }
};

/// Sums bf16 and half over NCCL's ranks. NCCL would round every sum of two numbers, so NCCL only moves the elements.
/// Each rank receives its part of the other ranks' buffers, adds in float in the order of the ranks, rounds once, and
/// sends the sums on. As many bytes are moved as by NCCL's ring.
class nccl_mixed_sums {
 public:
  /// Connects these devices with an equal number of devices in every other process. All processes call this together.
  nccl_mixed_sums(std::span<const int> ordinals, const process_group& processes)
      : ordinals_(ordinals.begin(), ordinals.end()),
        received_(ordinals.size()),
        buffers_(ordinals.size()),
        ranks_(ordinals, processes),
        begins_(static_cast<std::size_t>(ranks_.size()) + 1) {}

  nccl_ranks& ranks() { return ranks_; }

  /// Maximum number of elements that a rank receives for a sum of `count` elements, whether the parts are equal or
  /// given by share_begin().
  static constexpr std::size_t received_elements(std::size_t ranks, std::size_t count) {
    const std::size_t lines = devplace::detail::divided_up(count, line);
    return (ranks - 1) * (lines - (ranks - 1) * (lines / ranks)) * line;
  }
  void prepare(std::size_t count) { reserve(received_elements(begins_.size() - 1, count)); }

  /// Store the sums on all ranks, on one rank, or, for each part, on the rank that owns it. `started`: see
  /// overlapping_communicator.
  ///@{
  template <class T> void all_reduce(std::span<T* const> buffers, std::size_t count, bool started) {
    divide(count);
    exchange(buffers, {"all_reduce", count, sizeof(T)}, everyone, started);
  }
  template <class T> void reduce(std::span<T* const> buffers, std::size_t count, int root, bool started) {
    divide(count);
    exchange(buffers, {"reduce", count, sizeof(T)}, root, started);
  }
  template <class T>
  void reduce_scatter(std::span<T* const> buffers, std::span<const std::size_t> begins, bool started) {
    ranks_.wait_for_enqueued();
    std::copy(begins.begin(), begins.end(), begins_.begin());
    exchange(buffers, {"reduce_scatter", begins.back(), sizeof(T)}, owner, started);
  }
  ///@}

 private:
  /// Special targets of a part's sums: all ranks, or the rank that owns the part.
  static constexpr int everyone = -1, owner = -2;
  /// Parts begin at multiples of this number of elements, so that vectors of every width can load them.
  static constexpr std::size_t line = 16;

  /// Divides `count` elements into parts of equal size, which one call of NCCL can gather. The last part also has the
  /// remainder.
  void divide(std::size_t count) {
    ranks_.wait_for_enqueued();  // the previous collective uses begins_
    const std::size_t ranks = begins_.size() - 1;
    for (std::size_t r = 0; r != ranks; ++r) begins_[r] = r * (count / line / ranks * line);
    begins_[ranks] = count;
  }

  template <class T> void exchange(std::span<T* const> buffers, const collective_call& call, int target, bool started) {
    std::size_t needed = 0;
    for (std::size_t k = 0; k != ordinals_.size(); ++k) needed = std::max(needed, (begins_.size() - 2) * stride(k));
    check_prepared(!started || needed <= capacity());
    reserve(needed);
    std::copy(buffers.begin(), buffers.end(), buffers_.begin());
    target_ = target;
    const auto swap_parts = [this](std::size_t k, auto... to) { return this->template send_and_receive<T>(k, to...); };
    const auto continuation = [this] { add<T>(); };  // captures one pointer, so that std::function does not allocate
    const std::size_t elements = begins_.back() - begins_.front();
    ranks_.run(started, elements, "ncclSend and ncclRecv", call, swap_parts, continuation);
  }

  template <class T, class... To> ncclResult_t send_and_receive(std::size_t k, To... to) {
    T* free = received<T>(k);
    for (int r = 0; r != ranks_.size(); ++r) {
      if (r == ranks_.rank(k)) continue;
      if (const ncclResult_t sent = send<T>(k, r, r, to...); failed(sent)) return sent;
      if (const ncclResult_t got = receive(free, ranks_.rank(k), r, to...); failed(got)) return got;
      free += stride(k);
    }
    return ncclSuccess;
  }

  template <class T> void add() {
    if (ranks_.size() == 1) return;
    ranks_.on_streams([this](std::size_t k) {
      const int rank = ranks_.rank(k);
      devplace::detail::for_each_index<backend::cuda>(
          ordinals_[k], size(rank), 1,
          add_received_parts<T>{at<T>(k, rank), received<T>(k), stride(k), rank, ranks_.size()});
    });
    if (target_ == everyone)
      ranks_.enqueue_next("ncclAllGather",
                          [this](std::size_t k, auto... to) { return this->template gather<T>(k, to...); });
    else if (target_ != owner)
      ranks_.enqueue_next("ncclSend and ncclRecv",
                          [this](std::size_t k, auto... to) { return this->template collect<T>(k, to...); });
  }
  template <class T, class... To> ncclResult_t gather(std::size_t k, To... to) {
    const int last = ranks_.size() - 1;
    const std::size_t equal = begins_[1] - begins_[0], rest = size(last) - equal;
    T* const whole = at<T>(k, 0);
    if (equal != 0)
      if (const ncclResult_t gathered = ncclAllGather(at<T>(k, ranks_.rank(k)), whole, equal, nccl_type<T>(), to...);
          failed(gathered))
        return gathered;
    T* const other = at<T>(k, last) + equal;
    return rest == 0 ? ncclSuccess : ncclBroadcast(other, other, rest, nccl_type<T>(), last, to...);
  }
  template <class T, class... To> ncclResult_t collect(std::size_t k, To... to) {
    if (ranks_.rank(k) != target_) return send<T>(k, ranks_.rank(k), target_, to...);
    for (int r = 0; r != ranks_.size(); ++r)
      if (r != target_)
        if (const ncclResult_t got = receive(at<T>(k, r), r, r, to...); failed(got)) return got;
    return ncclSuccess;
  }

  /// Sends part `part` of device `k`'s elements to a rank, or receives part `part` from a rank. Empty parts are not
  /// sent.
  ///@{
  template <class T, class... To> ncclResult_t send(std::size_t k, int part, int rank, To... to) {
    return size(part) == 0 ? ncclSuccess : ncclSend(at<T>(k, part), size(part), nccl_type<T>(), rank, to...);
  }
  template <class T, class... To> ncclResult_t receive(T* elements, int part, int rank, To... to) {
    return size(part) == 0 ? ncclSuccess : ncclRecv(elements, size(part), nccl_type<T>(), rank, to...);
  }
  ///@}
  static bool failed(ncclResult_t result) { return result != ncclSuccess && result != ncclInProgress; }

  std::size_t begin(int rank) const { return begins_[static_cast<std::size_t>(rank)]; }
  std::size_t size(int rank) const { return begin(rank + 1) - begin(rank); }
  template <class T> T* at(std::size_t k, int part) const { return static_cast<T*>(buffers_[k]) + begin(part); }
  template <class T> T* received(std::size_t k) const { return static_cast<T*>(received_[k].data()); }
  /// The distance between the received parts of two ranks on device `k`, in elements.
  std::size_t stride(std::size_t k) const { return devplace::detail::padded_to(size(ranks_.rank(k)), line); }

  std::size_t capacity() const { return received_.front().bytes() / element_bytes; }
  void reserve(std::size_t elements) {
    if (elements <= capacity()) return;
    ranks_.finish();  // earlier collectives may still use the old memory
    for (std::size_t k = 0; k != ordinals_.size(); ++k)
      replace_workspace<backend::cuda>(received_, ordinals_, k, elements * element_bytes);
  }
  static constexpr std::size_t element_bytes = 2;

  std::vector<int> ordinals_;
  std::vector<devplace::detail::memory_block>
      received_;                // one per device; destroyed after ranks_, which uses the memory
  std::vector<void*> buffers_;  // buffers of the last collective
  int target_ = everyone;
  nccl_ranks ranks_;
  std::vector<std::size_t> begins_;  // boundaries of the last collective's parts
};

}  // namespace devplace::parallel::detail
