// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>

#include <devplace/base/error.hpp>
#include <devplace/config.hpp>
#include <devplace/memory/block.hpp>
#include <devplace/runtime/replica.hpp>
#include <devplace/tensor/detail/float_bits.hpp>

namespace devplace::train::detail {

/// Stores a value on a place.
template <class T> struct store_functor {
  T* to;
  T value;
  DEVPLACE_HD void operator()(std::size_t) const { *to = value; }
};

/// Marks a step, so that the reduction of gradients shows whether all processes take equal steps. The mark has four
/// elements behind the two sums that follow the gradients. Each participant writes the 16-bit digits of a hash of the
/// step; the first participant multiplies its digits by minus the number of other participants. Equal hashes sum to
/// zero in any order of summation, because all numbers are integers below 2^24.
template <class T> struct step_mark {
  T* tail = nullptr;  ///< the elements behind the gradients; null in one process
  /// Hash of the step's number and options, and of the batch. Lies in the place's memory, so that the launches of
  /// different steps have equal arguments and become a graph.
  const std::uint64_t* hash = nullptr;
  const std::uint64_t* checksum = nullptr;  ///< checksum of parameters, likewise; null if this step has none
  const float* scale = nullptr;             ///< scale of losses, likewise; null without loss scaling
  std::size_t rank = 0, participants = 1;

  DEVPLACE_HD void operator()(std::size_t) const {
    if (tail == nullptr) return;
    std::uint64_t all = *hash + (checksum == nullptr ? 0 : *checksum);
    if (scale != nullptr) all += devplace::detail::same_bits<std::uint32_t>(*scale);
    all *= 0x9e3779b97f4a7c15;
    all ^= all >> 32;
    const T factor = rank == 0 ? T{1} - static_cast<T>(participants) : T{1};
    const std::size_t limit = participants < 256 ? 65536 : (std::size_t{1} << 24) / participants;
    for (std::size_t i = 0; i != 4; ++i) tail[2 + i] = factor * static_cast<T>((all >> 16 * i & 0xffff) % limit);
  }
};

/// Whether the sums of the marks show different steps.
template <class T> DEVPLACE_HD bool marks_differ(const T* tail) {
  return tail[2] != T{0} || tail[3] != T{0} || tail[4] != T{0} || tail[5] != T{0};
}

/// Clears a device's flag for differing processes, when a training begins or is restored.
template <class Backend, class S> void clear_difference(const runtime::replica<S>& r) {
  const typename runtime::replica<S>::accumulator none = 0;
  devplace::detail::copy_in<Backend>(r.ordinal, r.loss_sums() + 2, &none, sizeof none);
}

/// Throws if a device has found a difference. `flag` is the number behind the two sums of the device's last loss.
template <class T> void require_no_difference(T flag) {
  if (flag != 0)
    throw communication_error(
        "trainer: in an earlier step a process had other options, another batch or other parameters than the rest. "
        "Call the trainer's state() in all processes: its error names the differences. Then restore all processes from "
        "an earlier state or checkpoint.");
}

}  // namespace devplace::train::detail
