// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include <devplace/nn/detail/plan_list.hpp>
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
  const std::size_t* gradient_slot;  ///< which of two slots has the gradient of activation i, for 0 < i < N
  std::size_t count, output;         ///< number of storages, and the last one

  /// Offset of a storage between input and output in training.
  [[gnu::noinline]] constexpr std::size_t offset(std::size_t id, std::size_t batch, const element_sizes& e) const {
    std::size_t total = 0;
    for (std::size_t before = 1; before < id; ++before) total += padded_bytes(sample_bytes(before, e) * batch);
    return total;
  }

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
  std::size_t largest_gradient = 0;  ///< elements per sample of the largest gradient between two layers

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
    layout.largest_gradient = std::max(layout.largest_gradient, facts.size[i]);
    const bool shares = i + 1 < N && (works_in_place(facts, i) || facts.reshapes[i]);
    layout.gradient_slot[i] = i + 1 == N ? 0 : shares ? layout.gradient_slot[i + 1] : 1 - layout.gradient_slot[i + 1];
  }
  return layout;
}

/// A plan's saved_bytes or scratch_bytes.
using bytes_function = std::size_t (*)(std::size_t batch, mode m, const element_sizes& e);

/// A layer of a chain, as run-time values.
struct chain_layer {
  elements_before before;
  std::size_t first_link, links;  ///< position of the layer's first link in the chain, and number of links
  layer_phases forward, backward;
  std::size_t parameters;  ///< elements of the layer's parameters
  std::size_t last;        ///< position of the last layer that this layer's passes compute: its own, or the next one's
  bool raw_input;          ///< whether the layer's input has the element type of the chain's input
  bool reports_layers;     ///< whether the layer's backward calls `after`
  bytes_function saved_bytes, scratch_bytes;

  constexpr bool runs_in(const link_range& range) const {
    return first_link < range.last && first_link + links > range.first;
  }
  /// The sizes of elements from this layer's view.
  constexpr element_sizes sizes(const element_sizes& e) const {
    return {raw_input ? e.input : e.activation, e.activation, e.accumulator};
  }
};

/// The layers of a chain and the layout of its workspace, as run-time values.
struct chain_table {
  const chain_layer* layers;
  std::size_t count;
  chain_storages training, predicting;
  std::size_t largest_gradient;  ///< see chain_layout
  std::size_t repeated;          ///< see chain
  bool reads_repeated;           ///< see chain

  constexpr std::size_t saved_bytes(std::size_t batch, mode m, const element_sizes& e) const {
    if (m == mode::predict) return 0;
    std::size_t total = training.interior(batch, e);
    for (std::size_t i = 0; i != count; ++i) total += layers[i].saved_bytes(batch, m, layers[i].sizes(e));
    return total;
  }
  /// The scratch memory of a layer in prediction also holds the data that training saves for backward.
  constexpr std::size_t scratch_bytes(std::size_t batch, mode m, const element_sizes& e) const {
    std::size_t inside = 0;
    for (std::size_t i = 0; i != count; ++i) {
      const element_sizes own = layers[i].sizes(e);
      inside = std::max(inside, layers[i].scratch_bytes(batch, m, own) +
                                    (m == mode::predict ? layers[i].saved_bytes(batch, m, own) : 0));
    }
    return 2 * slot(batch, m, e) + inside;
  }
  /// Double buffering: two buffers of this size alternate, for activations in prediction and for gradients in training.
  constexpr std::size_t slot(std::size_t batch, mode m, const element_sizes& e) const {
    return padded_bytes((m == mode::predict ? predicting.largest_interior(e) : largest_gradient * e.activation) *
                        batch);
  }
};

/// The passes of a layer; null if the previous layer computes this layer too.
///@{
template <class P> using forward_function = void (*)(const pass<P>& p, const void* x, void* y);
template <class P> using backward_function = void (*)(const pass<P>& p, const backward_arguments<P>& a);
///@}

/// The backward pass of a layer; see chain::outputs_after().
template <class P> struct layer_backward {
  backward_function<P> function;
  std::size_t outputs_after;
};

/// A pass through a chain. All chains share this code, which calls the layers' passes through pointers.
template <class P> class chain_pass {
 public:
  [[gnu::noinline]] chain_pass(const chain_table& chain, const pass<P>& p, const element_sizes& e, const void* x,
                               const void* y)
      : chain_(chain),
        p_(p),
        e_(e),
        x_(x),
        y_(y),
        storages_(p.mode == mode::train ? chain.training : chain.predicting),
        slot_(chain.slot(p.batch, p.mode, e)),
        saved_(p.mode == mode::train ? storages_.interior(p.batch, e) : 0) {}

  [[gnu::noinline]] void forward(const forward_function<P>* functions) {
    const std::size_t count = p_.again ? chain_.repeated : chain_.count;
    for (std::size_t i = 0; i != count; ++i) {
      const chain_layer& layer = chain_.layers[i];
      if (functions[i] != nullptr && layer.runs_in(p_.links) && layer.forward.contain(p_)) {
        pass<P> own = inner(layer, layer.forward);
        own.again = p_.again && layer.last + 1 == count && !chain_.reads_repeated;
        functions[i](own, activation(i), activation(layer.last + 1));
      }
      saved_ += saved_by(layer);
    }
  }

  [[gnu::noinline]] void backward(const layer_backward<P>* passes, const backward_arguments<P>& a) {
    for (std::size_t i = 0; i != chain_.count; ++i) saved_ += saved_by(chain_.layers[i]);
    for (std::size_t i = chain_.count; i-- != 0;) {
      const chain_layer& layer = chain_.layers[i];
      saved_ -= saved_by(layer);
      const bool needs_input_gradient = layer.before.parameters != 0 || a.dx != nullptr;
      if (passes[i].function == nullptr || !layer.runs_in(p_.links) || !layer.backward.contain(p_) ||
          (!needs_input_gradient && layer.parameters == 0))
        continue;
      backward_arguments<P> own = a;
      own.x = activation(i);
      own.y = activation(layer.last + 1);
      own.next_outputs = passes[i].outputs_after;
      std::size_t output = layer.last + 1;
      if (own.next_outputs != 0) own.next_weight = p_.parameters + chain_.layers[output++].before.parameters;
      if (output != chain_.count) own.dy = gradient(output);
      if (layer.last != i) own.between = gradient(layer.last);
      if (i != 0) own.dx = needs_input_gradient ? gradient(i) : nullptr;
      if (i > 1 && passes[i - 2].outputs_after != 0) own.dx = nullptr;  // that layer's pass computes the gradient
      own.gradients += layer.before.parameters;
      passes[i].function(inner(layer, layer.backward), own);
      if (a.after != nullptr && !layer.reports_layers && layer.backward.end_at(p_.phase)) (*a.after)(own.gradients);
    }
  }

 private:
  [[gnu::noinline]] std::size_t saved_by(const chain_layer& layer) const {
    return p_.mode == mode::train ? layer.saved_bytes(p_.batch, mode::train, layer.sizes(e_)) : 0;
  }

  [[gnu::noinline]] void* activation(std::size_t i) const {
    const std::size_t id = storages_.of_activation[i];
    if (id == 0) return const_cast<void*>(x_);
    if (id == storages_.output) return const_cast<void*>(y_);
    if (p_.mode == mode::train) return p_.saved + storages_.offset(id, p_.batch, e_);
    return p_.scratch + (id % 2) * slot_;
  }
  void* gradient(std::size_t i) const { return p_.scratch + storages_.gradient_slot[i] * slot_; }

  /// Returns the pass of a layer, with the layer's phase, parameters and parts of the workspace.
  [[gnu::noinline]] pass<P> inner(const chain_layer& layer, const layer_phases& phases) const {
    pass<P> result = p_;
    enter_layer(result, layer.before);
    result.phase -= phases.first;
    result.links = layer.links == 1 ? link_range{} : behind(p_.links, layer.first_link);
    result.scratch = p_.scratch + 2 * slot_;
    if (p_.mode == mode::train) {
      result.saved = p_.saved + saved_;
    } else {
      result.saved = result.scratch;
      result.scratch += layer.saved_bytes(p_.batch, mode::predict, layer.sizes(e_));
    }
    return result;
  }

  /// Returns a range counted from link `first` on.
  static constexpr link_range behind(const link_range& range, std::size_t first) {
    return {range.first > first ? range.first - first : 0, range.last - first};
  }

  const chain_table& chain_;
  const pass<P>& p_;
  element_sizes e_;
  const void* x_;
  const void* y_;
  const chain_storages& storages_;
  std::size_t slot_;   ///< see chain_table::slot
  std::size_t saved_;  ///< where the saved data of the current layer begins
};

}  // namespace devplace::nn::detail
