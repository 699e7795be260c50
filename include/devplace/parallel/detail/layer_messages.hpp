// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include <devplace/memory/block.hpp>
#include <devplace/memory/event.hpp>
#include <devplace/process/transport.hpp>

namespace devplace::parallel::detail {

/// The messages of an exchange along one axis, between places of different processes. Layers of devices are copied
/// through pinned memory. Large layers are sent in pieces, because a call of the transport has a limit. Every process
/// makes the same calls, also one without messages.
template <class Backend> class layer_messages {
 public:
  layer_messages() = default;
  /// `largest`: the number of bytes of the largest layer of all processes. `between` is null if no process is needed.
  layer_messages(std::size_t places, std::shared_ptr<transport> between, std::size_t largest)
      : between_(std::move(between)), largest_(largest) {
    if (between_ == nullptr) return;
    // Pinned memory belongs to a device's driver, and other processes may be unable to copy from it.
    if constexpr (!staged)
      if (std::shared_ptr<transport> faster = between_->for_messages()) between_ = std::move(faster);
    const std::size_t most = staged ? between_->portion() : between_->message_portion();
    piece_ = std::max(most / (2 * places) / 64 * 64, std::size_t{64});
  }

  /// Adds the layers that place k, the participant `own`, exchanges with participant `other` of another process. `out`
  /// and `in` are in the place's memory.
  void add(std::size_t k, int ordinal, std::size_t own, std::size_t other, std::size_t places, bool high, void* out,
           void* in, std::size_t bytes) {
    const int process = static_cast<int>(other / places);
    layers_.push_back({k, ordinal, high, process, 2 * own + high, 2 * other + !high, bytes, out, in, {}, {}});
    needed_.reserve(layers_.size());  // so that exchanges do not allocate
    sends_.reserve(layers_.size());
    receives_.reserve(layers_.size());
    if constexpr (staged) {
      layers_.back().host = devplace::detail::allocate<backend::pinned>(0, 2 * bytes, memory_purpose::workspace);
      layers_.back().copied = devplace::detail::make_event<Backend>(ordinal);
    }
  }

  /// Starts the messages of the layers for which `needed(k, high)`.
  template <class Needed> void start(const Needed& needed) {
    if (between_ == nullptr) return;
    needed_.clear();
    for (layer& l : layers_)
      if (needed(l.place, l.high)) needed_.push_back(&l);
    if constexpr (staged) {
      for (layer* const l : needed_) {
        devplace::detail::copy_out_async<Backend>(l->ordinal, l->sent(), l->out, l->bytes);
        devplace::detail::record_event<Backend>(l->copied);
      }
    } else {
      const announced_call call(*between_, {"exchange", largest_, 1});
      send_piece(0);
    }
  }
  /// Returns when the layers have arrived. Later work of devices follows the copies to them.
  void finish() {
    if (between_ == nullptr) return;
    if constexpr (staged)
      for (layer* const l : needed_) devplace::detail::events_of<Backend>().wait(l->copied.get(), l->ordinal);
    {
      const announced_call call =
          staged ? announced_call(*between_, {"exchange", largest_, 1}) : announced_call(*between_);
      if constexpr (staged) send_piece(0);
      between_->wait();
      for (std::size_t first = piece_; first < largest_; first += piece_) {
        send_piece(first);
        between_->wait();
      }
    }
    if constexpr (staged)
      for (layer* const l : needed_) {
        devplace::detail::copy_in_async<Backend>(l->ordinal, l->in, l->received(), l->bytes);
        devplace::detail::record_event<Backend>(l->copied);
      }
  }
  /// Waits for copies from and to the pinned memory, before it is freed.
  void wait_for_copies() noexcept {
    try {
      if constexpr (staged)
        for (const layer& l : layers_) devplace::detail::events_of<Backend>().wait(l.copied.get(), l.ordinal);
    } catch (...) {  // the next use of the failed device reports the failure
    }
  }

 private:
  static constexpr bool staged = !std::is_same_v<Backend, backend::cpu>;

  struct layer {
    std::size_t place;
    int ordinal;
    bool high;
    int process;
    std::size_t send_key, receive_key;  ///< order the messages between two processes equally in both
    std::size_t bytes;
    void *out, *in;
    devplace::detail::memory_block host;
    devplace::detail::event_handle copied;

    std::byte* sent() const { return static_cast<std::byte*>(staged ? host.data() : out); }
    std::byte* received() const { return staged ? sent() + bytes : static_cast<std::byte*>(in); }
  };

  void send_piece(std::size_t first) {
    const auto list = [&](std::vector<transport::message>& to, const auto& key, const auto& data) {
      std::sort(needed_.begin(), needed_.end(), [&](const layer* a, const layer* b) { return key(*a) < key(*b); });
      to.clear();
      for (const layer* const l : needed_)
        if (first < l->bytes) to.push_back({l->process, data(*l) + first, std::min(piece_, l->bytes - first)});
    };
    list(sends_, [](const layer& l) { return l.send_key; }, [](const layer& l) { return l.sent(); });
    list(receives_, [](const layer& l) { return l.receive_key; }, [](const layer& l) { return l.received(); });
    between_->start_messages({sends_.data(), sends_.size()}, {receives_.data(), receives_.size()});
  }

  std::shared_ptr<transport> between_;
  std::size_t largest_ = 0, piece_ = 0;
  std::vector<layer> layers_;
  std::vector<layer*> needed_;
  std::vector<transport::message> sends_, receives_;
};

}  // namespace devplace::parallel::detail
