// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>

#include <devplace/tensor/precision.hpp>

namespace devplace::runtime {

/// Whether a pass will be followed by backward.
enum class mode : unsigned char { train, predict };

/// What random layers draw by: numbers depend on these and on an element's place in the whole batch only, not on the
/// device or thread that draws them.
struct random_key {
  std::uint64_t seed = 0;          ///< of the model
  std::uint64_t step = 0;          ///< counts training passes
  std::uint64_t layer = 0;         ///< the layer's position in the network, depth first
  std::uint64_t first_sample = 0;  ///< index, in the whole batch, of the first sample of this pass
};

/// Offsets of parameters are multiples of this many elements, the same in the arenas of all roles: 64 bytes of float.
inline constexpr std::size_t element_alignment = 16;

constexpr std::size_t padded(std::size_t elements) {
  return (elements + element_alignment - 1) / element_alignment * element_alignment;
}

/// The room of a buffer in a workspace, where each begins at a multiple of 64 bytes.
constexpr std::size_t padded_bytes(std::size_t bytes) {
  return (bytes + 63) / 64 * 64;
}

/// Bytes of one element of a network's input and of its activations.
struct element_sizes {
  std::size_t input;
  std::size_t activation;
};

/// Elements of one sample of these extents.
template <class Extents>
inline constexpr std::size_t sample_size = Extents{}.size();

/// Everything that a pass through a layer works on: pointers into one replica's arenas and workspace, as values, so
/// that passes are compiled once for all devices. P is the precision that products are computed in.
template <class P>
struct pass {
  using roles = precision_traits<P>;
  std::size_t batch = 0;
  int ordinal = 0;
  const typename roles::working* parameters = nullptr;
  typename roles::parameter* buffers = nullptr;
  std::byte* saved = nullptr;
  std::byte* scratch = nullptr;
  runtime::mode mode = runtime::mode::predict;
  random_key key{};
};

}  // namespace devplace::runtime
