// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>

#include <devplace/place/placement.hpp>
#include <devplace/tensor/precision.hpp>

namespace devplace::runtime {

/// Whether backward follows the pass.
enum class mode : unsigned char { train, predict };

/// The key of random layers: their numbers depend only on this and on an element's position in the whole batch, not on
/// the device or thread that draws them.
struct random_key {
  std::uint64_t seed = 0;          ///< the model's seed
  std::uint64_t step = 0;          ///< number of the training pass
  std::uint64_t layer = 0;         ///< the layer's position in the network, depth first
  std::uint64_t first_sample = 0;  ///< index, in the whole batch, of the first sample of this pass
};

/// Offsets of parameters, the same for all roles, are multiples of this number of elements: 64 bytes of float.
inline constexpr std::size_t element_alignment = 16;

constexpr std::size_t padded(std::size_t elements) {
  return (elements + element_alignment - 1) / element_alignment * element_alignment;
}

/// The size of a buffer in a workspace, padded because each begins at a multiple of 64 bytes.
constexpr std::size_t padded_bytes(std::size_t bytes) {
  return (bytes + 63) / 64 * 64;
}

/// Bytes of one element of the first layer's input, of activations, and of what layers save and compute besides them.
struct element_sizes {
  std::size_t input;
  std::size_t activation;
  std::size_t accumulator;
};

/// Number of elements of one sample of these extents.
template <class Extents>
inline constexpr std::size_t sample_size = Extents{}.size();

/// What the passes of all places reduce where they meet: `count` numbers from this address on, each place's own, become
/// those of `op` over the places. Integers, so that the results do not depend on the order of the places. No numbers:
/// there is nothing to reduce.
struct meeting {
  std::int64_t* numbers = nullptr;
  std::size_t count = 0;
  reduction op = reduction::sum;
};

/// All data that a pass through a layer uses: pointers to one replica's arenas and workspace, as run-time values, so
/// that passes are compiled once for all devices. P is the precision of products.
///
/// A network with layers that compute over the samples of all places has passes in several phases, plan::meetings + 1
/// of them: forward, or backward, is called once for each, and between two of them the passes of all places meet, and
/// what they left in `reduced` is reduced over them. A place without samples takes part in the phases of such layers. A
/// pass that is alone has all phases, too, and nothing is reduced.
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
  const typename roles::parameter* master_parameters = nullptr;  ///< as the optimizer has them
  std::size_t phase = 0;       ///< of the network's, or seen from a layer of the layer's
  std::size_t samples = 0;     ///< of all places whose passes meet
  bool first = true;           ///< whether it is the first place of these
  meeting* reduced = nullptr;  ///< null if the pass is alone
  std::size_t frozen = 0;      ///< elements from there to the parameters that are not trained
  bool planning = false;       ///< whether operations make plans only, and layers without products are left out
};

/// What a backward pass calls after each layer, if its caller need not know: `after(gradients)` says that the gradients
/// from this address on are complete, up to the end of the arena.
struct nothing_after {
  constexpr void operator()(const void*) const {}
};

}  // namespace devplace::runtime
