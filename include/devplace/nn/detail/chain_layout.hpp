// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include <devplace/nn/layer.hpp>

namespace devplace::nn::detail {

/// The properties of a chain of `N` layers that determine its layout.
template <std::size_t N> struct chain_facts {
  std::array<std::size_t, N + 1> size{};  ///< elements of activation i per sample; activation 0 is the input
  std::array<keep, N> keeps{};
  std::array<bool, N> in_place{};
  std::array<bool, N> reshapes{};
  std::array<bool, N + 1> raw{};  ///< whether activation i has the input's element type
};

/// The storages of a chain's activations, as run-time values. Storage 0 is the caller's input, and the last storage is
/// the caller's output; the other storages are in the workspace.
struct chain_storages {
  const std::size_t* of_activation;  ///< storage of activation i
  const std::size_t* size;           ///< elements per sample of each storage
  const bool* raw;                   ///< whether a storage has the input's element type
  const std::size_t* gradient_slot;  ///< gradients of activations 1 to N-1: alternating slots
  std::size_t count, output;         ///< number of storages, and the last one

  /// Offset of a storage between input and output in training.
  constexpr std::size_t offset(std::size_t id, std::size_t batch, const element_sizes& e) const {
    std::size_t total = 0;
    for (std::size_t before = 1; before < id; ++before) total += padded_bytes(sample_bytes(before, e) * batch);
    return total;
  }

  /// Bytes of all storages between input and output.
  constexpr std::size_t interior(std::size_t batch, const element_sizes& e) const {
    return offset(count - 1, batch, e);
  }

  constexpr std::size_t sample_bytes(std::size_t id, const element_sizes& e) const {
    return size[id] * (raw[id] ? e.input : e.activation);
  }

  /// Bytes of one sample in the largest storage between input and output.
  constexpr std::size_t largest_interior(const element_sizes& e) const {
    std::size_t largest = 0;
    for (std::size_t id = 1; id + 1 < count; ++id) largest = std::max(largest, sample_bytes(id, e));
    return largest;
  }
};

/// Assigns the activations of a chain of `N` layers to storages.
template <std::size_t N> struct chain_layout {
  std::array<std::size_t, N + 1> storage{};
  std::array<std::size_t, N + 2> storage_size{};
  std::array<bool, N + 2> raw{};
  std::array<bool, N + 2> kept{};  ///< whether a backward pass reads the storage
  std::size_t storages = 1;
  std::array<std::size_t, N + 1> gradient_slot{};

  constexpr std::size_t output_storage() const { return storage[N]; }
  constexpr chain_storages values() const {
    return {storage.data(), storage_size.data(), raw.data(), gradient_slot.data(), storages, storage[N]};
  }
};

/// Whether a layer works in place: it declares in_place, and its output has its input's size and element type.
template <std::size_t N> constexpr bool works_in_place(const chain_facts<N>& facts, std::size_t i) {
  return facts.in_place[i] && facts.size[i] == facts.size[i + 1] && facts.raw[i] == facts.raw[i + 1];
}

/// Lays out a chain. A layer that works in place reuses the storage of its input if no backward pass reads the input
/// afterwards; a layer that only reshapes always reuses this storage. The chain never overwrites its input, and the
/// chain's output never shares storage with the chain's input.
template <std::size_t N> constexpr chain_layout<N> lay_out(const chain_facts<N>& facts, mode m) {
  chain_layout<N> layout;
  layout.storage_size[0] = facts.size[0];
  for (std::size_t i = 0; i < N; ++i) {
    const std::size_t from = layout.storage[i];
    const bool keeps_input = m == mode::train && includes(facts.keeps[i], keep::input);
    const bool keeps_output = m == mode::train && includes(facts.keeps[i], keep::output);
    const bool reuses_storage = from != 0 && works_in_place(facts, i) && !keeps_input && !layout.kept[from];
    const bool same = facts.reshapes[i] || reuses_storage;
    const bool must_be_new = i + 1 == N && from == 0;
    layout.storage[i + 1] = same && !must_be_new ? from : layout.storages++;
    layout.storage_size[layout.storage[i + 1]] = facts.size[i + 1];
    layout.raw[layout.storage[i + 1]] = facts.raw[i + 1];
    if (keeps_input) layout.kept[from] = true;
    if (keeps_output) layout.kept[layout.storage[i + 1]] = true;
  }
  for (std::size_t i = N; i-- > 1;) {
    const bool shares = i + 1 < N && (works_in_place(facts, i) || facts.reshapes[i]);
    layout.gradient_slot[i] = i + 1 == N ? 0 : shares ? layout.gradient_slot[i + 1] : 1 - layout.gradient_slot[i + 1];
  }
  return layout;
}

}  // namespace devplace::nn::detail
