// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>

#include <devplace/base/divided_up.hpp>
#include <devplace/base/function_view.hpp>
#include <devplace/place/kind.hpp>
#include <devplace/tensor/precision.hpp>

namespace devplace::runtime {

/// Whether a backward pass follows.
enum class mode : unsigned char { train, predict };

/// The key of random layers. The random numbers depend only on the key and on an element's position in the whole batch,
/// not on the device or thread.
struct random_key {
  std::uint64_t seed = 0;                        ///< the model's seed
  std::uint64_t step = 0;                        ///< number of the training pass
  std::uint64_t layer = 0;                       ///< the layer's position in the network, depth first
  std::uint64_t first_sample = 0;                ///< index, in the whole batch, of the first sample of this pass
  const std::uint64_t* step_on_place = nullptr;  ///< the number of the pass on a GPU, for launches with equal arguments
};

/// Offsets of parameters are multiples of this number of elements: 64 bytes of float. A parameter, its working copy and
/// its gradient have the same offset.
inline constexpr std::size_t element_alignment = 16;

constexpr std::size_t padded(std::size_t elements) { return devplace::detail::padded_to(elements, element_alignment); }

/// Rounds up the size of a buffer in a workspace, because each buffer begins at a multiple of 64 bytes.
constexpr std::size_t padded_bytes(std::size_t bytes) { return devplace::detail::padded_to(bytes, 64); }

/// Bytes of one element of the first layer's input, of activations, and of other data that layers save and compute.
struct element_sizes {
  std::size_t input;
  std::size_t activation;
  std::size_t accumulator;
};

/// Number of elements of one sample of these extents.
template <class Extents> inline constexpr std::size_t sample_size = Extents{}.size();

/// Consecutive links of a network: its layers in order, where a sequential counts as its layers and any other layer,
/// such as a residual, as one. A network that is no sequential has one link.
struct link_range {
  std::size_t first = 0, last = static_cast<std::size_t>(-1);
  friend constexpr bool operator==(const link_range&, const link_range&) = default;
};

/// Consecutive rows of a layer's first parameter, from which a pass computes alone.
struct row_range {
  std::size_t first = 0, last = static_cast<std::size_t>(-1);
  friend constexpr bool operator==(const row_range&, const row_range&) = default;
};

/// The rows of the first parameter of a layer that can compute from some of them at a time; `count` 0 if it cannot.
struct layer_rows {
  std::size_t count = 0, elements = 0;  ///< number of rows, and of the elements of one
  std::size_t sums = 0;                 ///< numbers per sample that backward adds up from one range of rows to the next
};

struct link {
  std::size_t parameters, frozen;  ///< elements in the arena
  std::size_t reductions;          ///< see plan::reductions_per_pass
  bool joined;                     ///< whether a pass of an earlier link reads this link's parameters
  bool read_in_backward;           ///< whether a backward pass without input gradient reads this link's parameters
  layer_rows rows;                 ///< see layer_rows
};

/// A place's part in an exchange with the places that have the rows of the images before and behind its own rows. When
/// a pass stops, a layer has set the addresses and sizes, which are equal on all places. The first place has no
/// previous one, and the last one no next one. Addresses are null if the layer exchanges nothing.
struct row_exchange {
  std::size_t part = 0, parts = 1;    ///< position among the places, and their number
  const void* to_next = nullptr;      ///< `forward` bytes for the next place,
  void* from_previous = nullptr;      ///< which receives them here
  const void* to_previous = nullptr;  ///< `backward` bytes for the previous place,
  void* from_next = nullptr;          ///< which receives them here
  std::size_t forward = 0, backward = 0;

  bool is_first() const { return part == 0; }
  bool is_last() const { return part + 1 == parts; }
};

/// The numbers that the passes of all places reduce at a synchronisation point. Each place has `count` numbers at its
/// address `numbers`; their reduction `op` over the places replaces them. The numbers are integers, so that the results
/// do not depend on the order of the places. `count` 0: nothing to reduce.
struct reduction_request {
  std::int64_t* numbers = nullptr;
  std::size_t count = 0;
  reduction op = reduction::sum;
  row_exchange* rows = nullptr;  ///< of a model in parts: receives what a layer exchanges
};

/// The data of a pass through a layer: pointers to one replica's arenas and workspace, as run-time values, so that
/// passes are compiled once for all devices. P is the precision of products.
///
/// Layers that compute over the samples of all places divide a network's passes into plan::reductions_per_pass + 1
/// phases. forward() or backward() is called once for each phase; between two phases the places synchronise and reduce
/// the numbers in `reduced`. Places without samples take part. A pass on one place has the same phases but reduces
/// nothing.
template <class P> struct pass {
  using roles = precision_traits<P>;
  std::size_t batch = 0;
  int ordinal = 0;
  const typename roles::working* parameters = nullptr;
  typename roles::parameter* buffers = nullptr;
  std::byte* saved = nullptr;
  std::byte* scratch = nullptr;
  runtime::mode mode = runtime::mode::predict;
  random_key key{};
  const typename roles::parameter* master_parameters = nullptr;  ///< parameters in the optimizer's type
  std::size_t phase = 0;                                         ///< phase within the network or within the layer
  std::size_t samples = 0;                                       ///< samples on all places that synchronise
  bool first = true;                                             ///< whether this is the first place that synchronises
  reduction_request* reduced = nullptr;                          ///< null on one place
  std::ptrdiff_t frozen = 0;  ///< offset of the frozen parameters from `parameters`, in elements
  bool planning = false;      ///< whether operations only make plans; layers without products are then skipped
  bool again = false;         ///< whether forward runs again, within backward, and nobody reads its output
  link_range links{};         ///< the links that run
  /// In passes of models in shares through some rows of a layer's first parameter: the rows; the parameters behind
  /// them; and, if activations have 16 bits, the numbers of layer_rows::sums for each sample.
  ///@{
  row_range rows{};
  const typename roles::working* behind_rows = nullptr;
  typename roles::accumulator* row_sums = nullptr;
  ///@}
};

/// A function that a backward pass calls after each layer of a chain. Its argument is the address of the layer's
/// gradients: the gradients from this address to the end of the arena are complete.
using after_layer = devplace::detail::function_view<const void*>;

/// The arguments of a backward pass: the addresses of activations and gradients.
template <class P> struct backward_arguments {
  const void* x = nullptr;   ///< the input
  const void* y = nullptr;   ///< the output
  const void* dy = nullptr;  ///< the gradient of the output
  void* between = nullptr;   ///< if the layer absorbs the next one: receives the gradient of the value between them
  void* dx = nullptr;        ///< receives the gradient of the input; null if not needed
  typename precision_traits<P>::gradient* gradients = nullptr;
  bool add = false;                    ///< whether to add to existing parameter gradients
  const after_layer* after = nullptr;  ///< called after each layer; null if there is nothing to call
  /// Unless next_outputs is 0, the output's gradient is the product of `dy` [rows, next_outputs], the gradient of the
  /// following layer's output, and of that layer's weight [next_outputs, columns].
  const typename precision_traits<P>::working* next_weight = nullptr;
  std::size_t next_outputs = 0;  ///< see next_weight
};

}  // namespace devplace::runtime
