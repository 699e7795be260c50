// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <string>
#include <type_traits>

#include <devplace/base/error.hpp>
#include <devplace/base/hash.hpp>
#include <devplace/base/options.hpp>
#include <devplace/config.hpp>
#include <devplace/memory/block.hpp>
#include <devplace/ops/for_each.hpp>
#include <devplace/parallel/equal_replicas.hpp>
#include <devplace/parallel/fingerprint.hpp>
#include <devplace/process/process_group.hpp>
#include <devplace/runtime/network.hpp>
#include <devplace/runtime/replica.hpp>
#include <devplace/train/detail/fingerprint_of_training.hpp>
#include <devplace/train/detail/loss_scaler.hpp>
#include <devplace/train/detail/step_mark.hpp>

namespace devplace::train::detail::inline DEVPLACE_CONFIGURATION {

/// Ensures that the processes of a training take equal steps: before the first step compares the trainings, and in
/// every step compares the step_marks.
template <class Training> struct equal_steps {
  using placement_type = typename Training::model_type::placement_type;
  using network = typename Training::model_type::network_type;
  using backend = typename Training::backend_type;

  /// Makes the step_mark of a step before the step's passes; the step's batch is the `batches`-th batch since the last
  /// update. The mark includes a checksum of a 64th of the parameters, or of all parameters in the first step of an
  /// epoch. On devices, where a checksum needs a launch, only every 64th mark includes a checksum, of all parameters.
  static void mark(Training& t, std::size_t batches) {
    std::uint64_t hash = batches;
    devplace::detail::add_to_hash(hash, t.optimizer_.steps());
    if (t.note_ != nullptr) {
      devplace::detail::add_to_hash(hash, t.note_->loader_hash);
      devplace::detail::add_to_hash(hash, t.note_->epoch);
      devplace::detail::add_to_hash(hash, t.note_->number);
    }
    each_value(t, [&](const char*, const auto& value) { devplace::detail::add_to_hash(hash, value); });
    constexpr bool on_host = std::is_same_v<backend, devplace::backend::cpu>;
    constexpr std::size_t all = runtime::network_plan<network>::arena_elements;
    const std::size_t part = static_cast<std::size_t>(t.optimizer_.steps()) % 64;
    const bool replicated = !stores_shares<placement_type>;  // shares have no copies to compare
    const bool whole = (t.note_ != nullptr && t.note_->number == 0) || (!on_host && part == 0),
               sums = replicated && (whole || on_host);
    const std::size_t begin = whole ? 0 : all * part / 64, end = whole ? all : all * (part + 1) / 64;
    const auto [first, participants] = t.connection_.participants();
    for (std::size_t k = 0; k < Training::places; ++k) {
      auto& memory = t.memory_[k];
      if (sums) parallel::sum_parameters<backend>(t.replica(k), begin, end - begin, memory.checksum());
      const float* const scale = Training::scales ? &memory.scale()->scale : nullptr;
      devplace::detail::for_each_index<backend>(t.replica(k).ordinal, 1, 1,
                                                store_functor<std::uint64_t>{memory.step_hash(), hash});
      memory.mark = {t.tail(k), memory.step_hash(), sums ? memory.checksum() : nullptr, scale, first + k, participants};
    }
  }
  /// Makes the step_mark of flush(), after the passes of the update, and stores its elements.
  static void mark_flush(Training& t) {
    t.note_ = nullptr;
    mark(t, t.accumulation_.batches);
    for (std::size_t k = 0; k < Training::places; ++k)
      devplace::detail::for_each_index<backend>(t.replica(k).ordinal, 1, 1, t.memory_[k].mark);
  }

  /// Throws if the reduced marks show different steps.
  static void require(Training& t) {
    typename Training::T tail[6];
    devplace::detail::copy_out<backend>(t.replica(0).ordinal, tail, t.tail(0), sizeof tail);
    if (!marks_differ(tail)) return;
    compare(t);
    throw communication_error(
        "trainer: the processes took different steps with the same options. Make the same calls in all of them.");
  }

  /// Compares the training with the trainings of the other processes, and the places' copies of the parameters with
  /// each other. Throws if there is a difference. All processes call it.
  static void compare(Training& t) {
    std::array<std::uint64_t*, Training::places> checksums;
    for (std::size_t k = 0; k < Training::places; ++k) checksums[k] = t.memory_[k].checksum();
    // Delays the exception until the other processes know the difference; otherwise they would wait for this process.
    std::exception_ptr own;
    if constexpr (Training::places > 1 && !stores_shares<placement_type>) {
      try {
        parallel::require_equal_replicas<network, backend>(*t.state_, checksums);
      } catch (const error&) {
        own = std::current_exception();
      }
    }
    if constexpr (Training::compares) {
      parallel::fingerprint all;
      const std::string step = std::to_string(t.optimizer_.steps() + 1);
      all.add("step", step);
      add_note(all, t.note_);
      all.add(t.options_);
      all.add("optimizer", type_text<std::remove_cvref_t<decltype(t.optimizer_.rule())>>());
      all.add_options("optimizer's ", t.optimizer_.rule());
      each_value(t, [&](const char* name, const auto& value) { all.add(name, value); });
      if constexpr (Training::scales) {
        runtime::wait_for_model<backend>(*t.state_);
        const auto now = read_scale<backend>(t.replica(0).ordinal, t.memory_[0]);
        all.add("loss scaler's scale", now.scale);
        all.add("loss scaler's growth_tracker", now.growth_tracker);
      }
      add_parameters<network, backend, !stores_shares<placement_type>>(all, *t.state_);
      if constexpr (stores_shares<placement_type>) {
        all.add("seed of the model", t.state_->seed);
        all.add("least bytes of a unit of layers", placement_traits<placement_type>::unit_bytes);
      }
      all.add("copies of the parameters in the process", own == nullptr ? "equal" : "different");
      try {
        all.require_equal(process_group(t.processes_), "trainer, in step " + step);
      } catch (const communication_error&) {
        if (own == nullptr) throw;
      }
    }
    if (own != nullptr) std::rethrow_exception(own);
  }

 private:
  /// Calls f(name, value) for the step's options that must be equal in all processes. Does not allocate.
  template <class F> static void each_value(const Training& t, const F& f) {
    const auto& rule = t.optimizer_.rule();
    if constexpr (requires { requires devplace::detail::has_options<decltype(rule.at(t.optimizer_.steps()))>; }) {
      const auto now = rule.at(t.optimizer_.steps());
      devplace::detail::for_each_option(now, f);
    } else {
      devplace::detail::for_each_option(rule, f);
    }
    f("largest norm of gradients", t.norm_.largest());
    if constexpr (Training::scales) devplace::detail::for_each_option(t.scaling_.options, f);
  }
};

}  // namespace devplace::train::detail::inline DEVPLACE_CONFIGURATION
