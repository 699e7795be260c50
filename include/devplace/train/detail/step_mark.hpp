// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>

#include <devplace/config.hpp>
#include <devplace/memory/block.hpp>
#include <devplace/place/error.hpp>
#include <devplace/runtime/replica.hpp>
#include <devplace/tensor/detail/float_bits.hpp>

namespace devplace::train::detail {

/// Marks a step, so that the reduction of gradients tells whether all processes take the same step. The mark is four
/// elements behind the two sums that follow the gradients. Each participant writes the 16-bit digits of a hash of the
/// step; the first participant multiplies its digits by minus the number of the others. Equal hashes sum to zero in any
/// order of summation, because all numbers are integers below 2^24.
template <class T>
struct step_mark {
  T* tail = nullptr;       ///< the elements behind the gradients; null in one process
  std::uint64_t hash = 0;  ///< hash of the step's number and options, and of the batch
  const std::uint64_t* checksum =
      nullptr;                   ///< checksum of parameters, in the place's memory; null if this step has none
  const float* scale = nullptr;  ///< scale of losses, in the place's memory; null without loss scaling
  std::size_t rank = 0, participants = 1;

  DEVPLACE_HD void operator()(std::size_t) const {
    if (tail == nullptr) return;
    std::uint64_t all = hash + (checksum == nullptr ? 0 : *checksum);
    if (scale != nullptr) all += devplace::detail::same_bits<std::uint32_t>(*scale);
    all *= 0x9e3779b97f4a7c15;
    all ^= all >> 32;
    const T factor = rank == 0 ? T{1} - static_cast<T>(participants) : T{1};
    const std::size_t limit = participants < 256 ? 65536 : (std::size_t{1} << 24) / participants;
    for (std::size_t i = 0; i != 4; ++i)
      tail[2 + i] = factor * static_cast<T>((all >> 16 * i & 0xffff) % limit);
  }
};

/// Whether the sums of the marks tell of different steps.
template <class T>
DEVPLACE_HD bool tells_of_difference(const T* tail) {
  return tail[2] != T{0} || tail[3] != T{0} || tail[4] != T{0} || tail[5] != T{0};
}

/// Clears what a device has noted of a difference, for a training that begins or goes on from a state.
template <class Backend, class S>
void forget_difference(const runtime::replica<S>& r) {
  const typename runtime::replica<S>::accumulator none = 0;
  devplace::detail::copy_in<Backend>(r.ordinal, r.loss_sums() + 2, &none, sizeof none);
}

/// Throws if a device has noted a difference: `noted` is the number that follows the two sums of its last loss.
template <class T>
void require_no_difference(T noted) {
  if (noted != 0)
    throw communication_error(
        "trainer: in an earlier step a process had other options, another batch or other parameters than the rest. "
        "Call the trainer's state() in all processes, which names what still differs, and restore all of them from a "
        "state or a checkpoint of before.");
}

}  // namespace devplace::train::detail
