// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <span>

#include <devplace/parallel/bucket_plan.hpp>
#include <devplace/parallel/bucket_shares.hpp>
#include <devplace/parallel/communicator.hpp>
#include <devplace/parallel/policy.hpp>
#include <devplace/parallel/synchronize.hpp>
#include <devplace/runtime/replica.hpp>
#include <devplace/tensor/precision.hpp>

namespace devplace::parallel::inline DEVPLACE_CONFIGURATION {

/// Whether a trainer overlaps the reduction of buckets, in elements of type T, with the backward pass. The communicator
/// must support this, and there must be several buckets: a single bucket is complete only at the end of the pass.
template <class Net, class Policy, class T, class Communicator>
inline constexpr bool reduces_during_backward =
    overlapping_communicator<Communicator, T> && (detail::network_buckets<Net, T, Policy>::size > 1);

/// Reduces a network's buckets during the backward pass, which runs from the last layer to the first. Starts to reduce
/// a bucket when the pass has written the bucket's last gradient. The results equal those of reduce_gradients and
/// reduce_shares.
///
/// With one place in this process, the reduction of a bucket is started within the pass and advanced between layers.
/// With several places, all passes are enqueued first, and then all collectives. Each collective waits only for the
/// points of the passes at which the bucket was complete.
template <class Net, class Policy, class Communicator, class S> class bucket_reduction {
  using T = typename precision_traits<S>::gradient;
  static constexpr bool rounds = rounds_gradients<Communicator>;
  using plan = detail::network_buckets<Net, T, Policy>;
  using bucket_shares = parallel::bucket_shares<Net, T, Policy>;

 public:
  /// Each participant gets the sums of its share, or of all gradients if `shares` is null. Nothing is reduced unless
  /// `active`.
  bucket_reduction(Communicator& communicator, const runtime::model_state<S>& state, const bucket_shares* shares,
                   bool active)
      : communicator_(communicator), state_(state), shares_(shares), active_(active), open_(active) {}
  bucket_reduction& operator=(bucket_reduction&&) = delete;
  ~bucket_reduction() {
    if (open_) communicator_.abandon();
  }

  /// Whether finish() gives reduced gradients.
  bool active() const { return active_; }

  /// Called after each layer of the backward pass of place `k`; see runtime::after_layer.
  void advance(std::size_t k, const void* complete) {
    if (!active_) return;
    if (k != place_) marked_ = 0;
    place_ = k;
    T* const gradients = state_.replicas[k].gradient_data();
    for (; marked_ != plan::size && gradients + plan::at(marked_).first >= static_cast<const T*>(complete); ++marked_) {
      const bucket b = plan::at(marked_);
      if constexpr (rounds)
        communicator_.round(k, static_cast<const T*>(gradients + b.first), b.first, detail::gradients_of(b, marked_));
      communicator_.mark_ready(k);
      if (only_place()) start(marked_);
    }
    communicator_.progress();
  }

  /// Orders later work of the places after the reduction of all buckets, and does the remaining work of
  /// reduce_gradients or reduce_shares. Call it after all passes.
  void finish() {
    if (!only_place())
      for (std::size_t i = 0; i != plan::size; ++i) start(i);
    communicator_.finish();
    open_ = false;
    if constexpr (rounds) {
      take_rounded();
      reduce_sums<Net, Policy>(communicator_, state_);
    } else if constexpr (collective::updates_shares<Policy>) {
      if (shares_ != nullptr) broadcast_sums<Net>(communicator_, state_, shares_->owner_of_sums());
    }
    broadcast_buffers<Net>(communicator_, state_);
  }

 private:
  bool only_place() const { return state_.replicas.size() == 1; }

  void start(std::size_t i) {
    const bucket b = plan::at(i);
    if constexpr (rounds) {
      start(i, communicator_.rounded(b.first), detail::gradients_of(b, i));
    } else {
      const detail::arena_pointers arenas(state_, &runtime::replica<S>::gradient_data, b.first);
      start(i, arenas.span(), b.count);
    }
  }
  template <class Element> void start(std::size_t i, std::span<Element* const> buffers, std::size_t count) {
    if constexpr (collective::updates_shares<Policy>)
      if (shares_ != nullptr) return communicator_.start_reduce_scatter(buffers, shares_of(i), reduction::sum);
    if constexpr (Policy::every_place_updates)
      communicator_.start_all_reduce(buffers, count, reduction::sum);
    else
      communicator_.start_reduce(buffers, count, reduction::sum, 0);
  }
  /// The boundaries of the shares of bucket `i`; rounded buckets exclude the sums that follow the gradients.
  std::span<const std::size_t> shares_of(std::size_t i) const {
    return rounds ? shares_->of_parameters(i) : shares_->of_gradients(i);
  }

  void take_rounded() {
    for (std::size_t k = 0; k != state_.replicas.size(); ++k) {
      T* const gradients = state_.replicas[k].gradient_data();
      if (shares_ != nullptr)
        for (std::size_t i = 0; i != plan::size; ++i)
          communicator_.take_part(k, gradients + plan::at(i).first, plan::at(i).first, shares_of(i));
      else if (Policy::every_place_updates || communicator_.first_rank() + static_cast<int>(k) == 0)
        communicator_.take(k, gradients, 0, runtime::network_plan<Net>::parameter_elements);
    }
  }

  Communicator& communicator_;
  const runtime::model_state<S>& state_;
  const bucket_shares* shares_;
  bool active_, open_;
  std::size_t place_ = 0;   ///< the place whose pass is being enqueued
  std::size_t marked_ = 0;  ///< number of complete buckets of that place
};

/// Replaces a bucket_reduction if buckets are reduced after the passes.
struct no_bucket_reduction {
  /// The interface of an inactive bucket_reduction.
  ///@{
  static constexpr bool active() { return false; }
  static constexpr void advance(std::size_t, const void*) {}
  static constexpr void finish() {}
  ///@}
};

}  // namespace devplace::parallel::inline DEVPLACE_CONFIGURATION
