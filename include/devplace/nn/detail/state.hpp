// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include <devplace/memory/block.hpp>
#include <devplace/nn/detail/engine.hpp>
#include <devplace/nn/detail/replica.hpp>
#include <devplace/nn/detail/settle.hpp>
#include <devplace/tensor/copy.hpp>
#include <devplace/tensor/view.hpp>

namespace devplace::nn::detail {

/// Replicas of zeros on these devices. Whoever fills them calls settle() in the end: a device that has failed skips its
/// work until the failure has been thrown.
template <class Net, class T, class Backend>
std::shared_ptr<model_state<T>> empty_state(std::span<const int> ordinals) {
  auto state = std::make_shared<model_state<T>>();
  state->replicas.reserve(ordinals.size());
  for (const int ordinal : ordinals)
    state->replicas.push_back(engine<Net, T, Backend>::make(ordinal));
  state->settle_after_failures = &settle_after_failures<Backend, T>;
  state->failures = failures_of<Backend>(*state);
  return state;
}

/// Replicas drawn by a seed, alike on all devices.
template <class Net, class T, class Backend>
std::shared_ptr<model_state<T>> drawn_state(std::span<const int> ordinals, std::uint64_t seed) {
  auto state = empty_state<Net, T, Backend>(ordinals);
  state->seed = seed;
  for (const auto& r : state->replicas)
    engine<Net, T, Backend>::initialize(r, seed);
  settle<Backend>(*state);
  return state;
}

/// All bytes of a block on a device.
template <class Byte, class Backend>
auto bytes_of(const devplace::detail::memory_block& block, int ordinal) {
  using where = here<Backend>;
  return view<Byte, extents<dyn>, where>{static_cast<Byte*>(block.data()), extents<dyn>{block.bytes()},
                                         devplace::detail::device_of<where>{ordinal}};
}

template <class Backend, class FromBackend>
void copy_block(const devplace::detail::memory_block& to, int to_ordinal, const devplace::detail::memory_block& from,
                int from_ordinal) {
  copy(bytes_of<std::uint8_t, Backend>(to, to_ordinal), bytes_of<const std::uint8_t, FromBackend>(from, from_ordinal));
}

/// Replicas on these devices with the parameters, buffers and numbers of the first replica of `from`, to the bit.
/// Gradients are not copied; no lease of them can come along.
template <class Net, class T, class Backend, class FromBackend>
std::shared_ptr<model_state<T>> copied_state(std::span<const int> ordinals, const model_state<T>& from) {
  auto state = empty_state<Net, T, Backend>(ordinals);
  state->seed = from.seed;
  state->step = from.step;
  state->updates = from.updates;
  const auto& first = from.replicas.front();
  for (const auto& r : state->replicas) {
    copy_block<Backend, FromBackend>(r.parameters, r.ordinal, first.parameters, first.ordinal);
    copy_block<Backend, FromBackend>(r.buffers, r.ordinal, first.buffers, first.ordinal);
  }
  settle<Backend>(*state);
  return state;
}

}  // namespace devplace::nn::detail
