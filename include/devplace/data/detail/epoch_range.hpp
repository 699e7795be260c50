// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <iterator>
#include <memory>

#include <devplace/config.hpp>

namespace devplace::detail {

/// The batches of an epoch. The range may be moved until its first batch is requested, as std::views do:
/// `batches.epoch(0) | std::views::take(3)`.
template <class Loader> class epoch_range {
  using batch_type = typename Loader::batch_type;

 public:
  /// An input iterator; all copies share the range's position.
  class iterator {
   public:
    /// Requirements of std::input_iterator.
    using value_type = batch_type;
    using difference_type = std::ptrdiff_t;
    using iterator_concept = std::input_iterator_tag;

    /// The current batch; valid until the next one is requested.
    const batch_type& operator*() const { return *range_->current_; }
    const batch_type* operator->() const { return range_->current_; }
    /// Requests the next batch. Throws the exception of a failed batch; the batch after it can still be requested.
    DEVPLACE_CONFIGURED iterator& operator++() {
      range_->advance();
      return *this;
    }
    DEVPLACE_CONFIGURED void operator++(int) { ++*this; }
    /// Whether all batches have been read.
    friend bool operator==(const iterator& at, std::default_sentinel_t) { return at.range_->ended(); }

   private:
    friend class epoch_range;
    explicit iterator(epoch_range& range) : range_(&range) {}
    epoch_range* range_;
  };

  /// Requests the first unread batch. Throws the exception of a failed batch.
  DEVPLACE_CONFIGURED iterator begin() {
    if (current_ == nullptr && number_ == first_) fetch();
    return iterator(*this);
  }
  /// The end of the range, behind the last batch.
  std::default_sentinel_t end() const { return {}; }

  /// Whether all batches have been read.
  bool ended() const { return number_ >= loader_->size(); }
  /// Number of batches of the epoch, including the batches before the range's first one.
  std::size_t size() const { return loader_->size(); }

 private:
  friend Loader;
  epoch_range(Loader& batches, int epoch, std::size_t first)
      : loader_((batches.maker_.start(epoch, first), &batches)), first_(first), number_(first) {}

  DEVPLACE_CONFIGURED void advance() {
    current_ = nullptr;
    loader_->maker_.release(number_);
    ++number_;
    fetch();
  }
  DEVPLACE_CONFIGURED void fetch() {
    if (!ended()) current_ = &loader_->get(number_);
  }

  /// Discards the batches that were not read.
  struct stop {
    void operator()(Loader* batches) const noexcept { batches->maker_.stop(); }
  };

  std::unique_ptr<Loader, stop> loader_;  ///< null before the start, and in a range that was moved from
  std::size_t first_, number_;            ///< the batch at which the range began, and the current one
  const batch_type* current_ = nullptr;
};

}  // namespace devplace::detail
