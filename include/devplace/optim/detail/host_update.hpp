// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <devplace/memory/block.hpp>
#include <devplace/memory/event.hpp>
#include <devplace/optim/detail/replica_update.hpp>
#include <devplace/optim/on_host.hpp>
#include <devplace/optim/optimizer_concept.hpp>
#include <devplace/place/placement.hpp>
#include <devplace/place/replica_error.hpp>
#include <devplace/runtime/replica.hpp>
#include <devplace/runtime/step_record.hpp>

namespace devplace::optim::detail {

/// Updates on the host what one place updates. Copies a chunk of gradients from the place and new parameters to one or
/// more places while the CPU updates another chunk. Keeps a copy of the parameters.
template <class T, std::size_t Groups> class host_update {
 public:
  /// Allocates memory for the parts of place `first`; `only`: sends parameters to this place, otherwise to all. Calls
  /// of the other functions name the same `Backend`; the class does not, because it is equal in all configurations.
  template <class Backend>
  host_update(here<Backend>, std::span<const int> ordinals, std::size_t first, bool only, const auto& parts)
      : first_(first), sent_(only ? 1 : ordinals.size()), wait_([](const devplace::detail::event_handle& e) {
          devplace::detail::events_of<Backend>().wait(e.get(), e.ordinal());
        }) {
    std::size_t elements = 0;
    for (std::size_t i = 0; i != parts.size(); ++i) {
      const share& range = parts[i].range;
      for (std::size_t begin = 0; begin != range.count;) {
        const std::size_t count = std::min(host_chunk<T>, range.count - begin);
        chunks_.push_back({i, begin, count, range.at + begin, elements});
        elements += count;
        begin += count;
      }
    }
    const auto allocate = [](std::size_t bytes) {
      return devplace::detail::allocate<backend::pinned>(0, bytes, memory_purpose::optimizer_state);
    };
    stride_ = std::min(elements, host_chunk<T>);
    parameters_ = allocate(elements * sizeof(T));
    gradients_ = allocate(2 * stride_ * sizeof(T));
    numbers_ = allocate(devplace::detail::alignment);
    for (auto& event : fetched_) event = devplace::detail::make_event<Backend>(ordinals[first]);
    for (std::size_t j = 0; j != sent_.size(); ++j)
      sent_[j] = devplace::detail::make_event<Backend>(ordinals[first + j]);
  }
  host_update& operator=(host_update&&) = delete;
  /// Waits for the copies before the memory is freed.
  ~host_update() {
    const auto finish = [this](const devplace::detail::event_handle& e) {
      try {
        wait_(e);
      } catch (...) {  // the next use of the device reports the error
      }
    };
    for (const auto& event : fetched_) finish(event);
    for (const auto& event : sent_) finish(event);
  }

  /// Starts the copies of a step's numbers and of the first gradients. `renew`: the places' parameters have changed
  /// since the last step, and are copied, too.
  template <class Backend, class S> void begin(const runtime::model_state<S>& state, const auto& factors, bool renew) {
    if (chunks_.empty()) return;
    renew_ = renew;
    for (std::size_t j = 0; j != sent_.size(); ++j)
      on_target<Backend>(state, j, [&](const auto&) { wait_(sent_[j]); });  // the host writes these parameters next
    on_target<Backend>(state, 0, [&](const auto& r) {
      const runtime::step_factors<T>& of_place = factors[first_];
      copy<Backend>(r, &numbers()->weights, r.tail(), 1);
      copy<Backend>(r, &numbers()->factor, of_place.factor, of_place.factor != nullptr);
      copy<Backend>(r, &numbers()->skip, of_place.skip, of_place.skip != nullptr);
      fetch<Backend>(r, 0);
      fetch<Backend>(r, 1);
    });
  }
  /// Waits for the first gradients, after begin(). Throws a failure of the place before anything is updated.
  template <class Backend, class S> void wait_for_first(const runtime::model_state<S>& state) {
    if (!chunks_.empty()) on_target<Backend>(state, 0, [&](const auto&) { wait_(fetched_[0]); });
  }

  /// Updates the parts, after begin(). The other arguments are those of detail::update.
  template <class Options, class Backend, class Rule, class S>
  void update(const Rule& rule, const runtime::model_state<S>& state, auto& parts,
              const devplace::detail::memory_block& table, bool divides, const runtime::step_factors<T>& factors,
              std::int64_t step) {
    if (chunks_.empty()) return;
    const runtime::step_factors<T> on_host{factors.factor == nullptr ? nullptr : &numbers()->factor,
                                           factors.skip == nullptr ? nullptr : &numbers()->skip};
    for (std::size_t c = 0; c != chunks_.size(); ++c) {
      const chunk& of = chunks_[c];
      auto& part = parts[of.part];
      on_target<Backend>(state, 0, [&](const auto&) { wait_(fetched_[c % 2]); });
      plain_arguments<Options, T> arguments;
      arguments.n = of.count;
      arguments.parameters = parameters(of);
      arguments.gradients = gradients(c);
      set_arguments<Options>(arguments, part, of.begin, table, &numbers()->weights, divides, on_host, step);
      // Each update prepares the next step; of the updates of a part only the last one does so in the part's memory.
      if (of.begin + of.count != part.range.count) {
        std::copy_n(static_cast<const std::byte*>(part.steps.data()), steps_.size(), steps_.data());
        sent_steps_ = part.sent;
        arguments.step_memory = steps_.data();
        arguments.sent = sent_steps_.data();
      }
      rule.template step<backend::cpu>(arguments);
      for (std::size_t j = 0; j != sent_.size(); ++j)
        on_target<Backend>(state, j, [&](const auto& r) {
          devplace::detail::copy_in_async<Backend>(r.ordinal, r.parameter_data() + of.at, parameters(of),
                                                   of.count * sizeof(T));
          devplace::detail::record_event<Backend>(sent_[j]);
        });
      on_target<Backend>(state, 0, [&](const auto& r) { fetch<Backend>(r, c + 2); });
    }
  }

 private:
  struct chunk {
    std::size_t part, begin, count;  ///< elements of a part
    std::size_t at, own;             ///< the first one in the place's arenas, and in parameters_
  };
  struct step_numbers {
    T weights, factor;
    std::uint32_t skip;
  };
  static_assert(sizeof(step_numbers) <= devplace::detail::alignment);
  using step_memory = std::array<std::byte, step_memory_bytes * Groups>;

  step_numbers* numbers() const { return static_cast<step_numbers*>(numbers_.data()); }
  T* parameters(const chunk& of) const { return static_cast<T*>(parameters_.data()) + of.own; }
  T* gradients(std::size_t c) const { return static_cast<T*>(gradients_.data()) + c % 2 * stride_; }

  /// Calls f(replica) for target number j; exceptions name the replica.
  template <class Backend, class S>
  void on_target(const runtime::model_state<S>& state, std::size_t j, const auto& f) const {
    const std::size_t k = first_ + j;
    devplace::detail::on_behalf_of_replica<Backend>(k, state.ordinals.size(), state.ordinals[k],
                                                    [&] { f(state.replicas[k]); });
  }
  template <class Backend, class X> static void copy(const auto& r, X* to, const X* from, std::size_t count) {
    devplace::detail::copy_out_async<Backend>(r.ordinal, to, from, count * sizeof(X));
  }
  template <class Backend> void fetch(const auto& r, std::size_t c) {
    if (c >= chunks_.size()) return;
    const chunk& of = chunks_[c];
    copy<Backend>(r, gradients(c), static_cast<const T*>(r.gradient_data() + of.at), of.count);
    if (renew_) copy<Backend>(r, parameters(of), static_cast<const T*>(r.parameter_data() + of.at), of.count);
    devplace::detail::record_event<Backend>(fetched_[c % 2]);
  }

  std::size_t first_, stride_ = 0;
  bool renew_ = true;
  std::vector<chunk> chunks_;
  devplace::detail::memory_block parameters_, gradients_, numbers_;
  std::array<devplace::detail::event_handle, 2> fetched_;
  std::vector<devplace::detail::event_handle> sent_;  ///< after the last parameters for each target
  void (*wait_)(const devplace::detail::event_handle&);
  alignas(std::max_align_t) step_memory steps_, sent_steps_;
};

/// Begins a step of several host_updates. Waits for their first gradients, so that a device that failed before ends the
/// step before the update.
template <class Backend, class S>
void begin_updates(const auto& hosts, runtime::model_state<S>& state, const auto& factors, bool renew) try {
  for (const auto& host : hosts)
    if (host != nullptr) host->template begin<Backend>(state, factors, renew);
  for (const auto& host : hosts)
    if (host != nullptr) host->template wait_for_first<Backend>(state);
} catch (...) {
  runtime::wait_for_model<Backend>(state);
  throw;
}

}  // namespace devplace::optim::detail
