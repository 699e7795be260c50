// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <type_traits>
#include <utility>

#include <devplace/base/error.hpp>
#include <devplace/base/unprintable.hpp>
#include <devplace/memory/block.hpp>
#include <devplace/memory/event.hpp>
#include <devplace/runtime/arena.hpp>
#include <devplace/runtime/gradient_norm_statistics.hpp>

namespace devplace {

/// Statistics of a training's gradients since the call of trainer::measure_gradients: 2-norms over all gradients of an
/// update, before clipping and without the loss scale.
struct gradient_norms {
  double last = std::numeric_limits<double>::quiet_NaN();  ///< norm of the last update; NaN before the first one
  double mean = std::numeric_limits<double>::quiet_NaN();  ///< mean of all finite norms; NaN if there are none
  double largest = 0;                                      ///< largest finite norm
  std::int64_t updates = 0;                                ///< number of all updates
  std::int64_t not_finite = 0;                             ///< number of updates with infinite or NaN gradients
};

namespace train::detail {

/// A place's statistics, and the host's memory for copies of them.
template <place P> class norms_on_place {
  using backend_type = backend_of_t<P>;
  using host = std::conditional_t<devplace::detail::in_host_memory<backend_type>, P, pinned>;
  static constexpr std::size_t bytes = sizeof(runtime::gradient_norm_statistics);
  static constexpr int ordinal = place_traits<P>::ordinal;

 public:
  DEVPLACE_CONFIGURED norms_on_place()
      : numbers_(devplace::detail::allocate_on<P>(bytes, memory_purpose::workspace)),
        copy_(devplace::detail::allocate_on<host>(bytes, memory_purpose::workspace)) {
    reset();
  }

  runtime::gradient_norm_statistics* numbers() const {
    return static_cast<runtime::gradient_norm_statistics*>(numbers_.data());
  }

  DEVPLACE_CONFIGURED void reset() {
    runtime::set_to_zero<backend_type>(ordinal, static_cast<double*>(numbers_.data()),
                                       runtime::gradient_norm_statistics::numbers);
  }

  /// Enqueues a copy behind the place's work so far. Returns the copy's number.
  DEVPLACE_CONFIGURED std::uint64_t start() {
    devplace::detail::copy_out_async<backend_type>(ordinal, copy_.data(), numbers_.data(), bytes);
    done_.record();
    return ++copies_;
  }
  DEVPLACE_CONFIGURED bool ready() const { return done_.ready(); }
  DEVPLACE_CONFIGURED const runtime::gradient_norm_statistics& wait(std::uint64_t copy) const {
    if (copy != copies_)
      throw error(
          "gradient norms were read after the trainer's gradient_norms() had been called again; read them before "
          "the next call.");
    done_.wait();
    return *static_cast<const runtime::gradient_norm_statistics*>(copy_.data());
  }

 private:
  devplace::detail::memory_block numbers_, copy_;
  event<P> done_;
  std::uint64_t copies_ = 0;
};

}  // namespace train::detail

/// The norms of gradients up to the trainer's call of gradient_norms(). item() waits only for the updates before that
/// call, while the place continues with later steps. On several places reads the norms of the first place; all places
/// have equal norms. Valid until the trainer's next gradient_norms(). One thread at a time.
template <place P> class [[nodiscard]] unread_gradient_norms {
 public:
  /// Enqueues the copy of the place's statistics.
  DEVPLACE_CONFIGURED explicit unread_gradient_norms(std::shared_ptr<train::detail::norms_on_place<P>> norms)
      : norms_(std::move(norms)), copy_(norms_->start()) {}
  /// Refers to the same copy as `other`, from which a move copies as well.
  ///@{
  unread_gradient_norms(const unread_gradient_norms& other) = default;
  unread_gradient_norms& operator=(const unread_gradient_norms& other) = default;
  ///@}

  /// Whether item() returns without waiting.
  DEVPLACE_CONFIGURED bool ready() const { return norms_->ready(); }
  /// Returns the norms. Throws the place's failure. Throws `error` if gradient_norms() of the trainer has been called
  /// again.
  DEVPLACE_CONFIGURED gradient_norms item() const {
    const runtime::gradient_norm_statistics& statistics = norms_->wait(copy_);
    gradient_norms result;
    result.updates = static_cast<std::int64_t>(statistics.finite + statistics.others);
    result.not_finite = static_cast<std::int64_t>(statistics.others);
    result.largest = statistics.largest;
    if (result.updates != 0) result.last = statistics.last;
    if (statistics.finite != 0) result.mean = statistics.sum / statistics.finite;
    return result;
  }

 private:
  std::shared_ptr<train::detail::norms_on_place<P>> norms_;
  std::uint64_t copy_;
};

template <class P> inline constexpr bool detail::not_printed<unread_gradient_norms<P>> = true;

}  // namespace devplace
