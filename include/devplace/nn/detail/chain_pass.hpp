// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>

#include <devplace/nn/detail/chain_layout.hpp>
#include <devplace/nn/detail/plan_list.hpp>
#include <devplace/nn/layer.hpp>

namespace devplace::nn::detail {

/// A layer of a chain, as run-time values.
struct chain_layer {
  using bytes_function = std::size_t (*)(std::size_t batch, mode m, const element_sizes& e);

  elements_before before;
  layer_phases forward, backward;
  std::size_t parameters;  ///< elements of the layer's parameters
  std::size_t last;        ///< position of the last layer that this layer's passes compute: its own, or the next one's
  bool raw_input;          ///< whether the layer's input has the element type of the chain's input
  bool reports_layers;     ///< whether the layer's backward calls `after`
  bytes_function saved_bytes, scratch_bytes;

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
  std::size_t largest_gradient;  ///< elements per sample of the largest gradient between two layers

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

/// The passes of a layer. Null for a layer that the layer before absorbs.
///@{
template <class P> using forward_function = void (*)(const pass<P>& p, const void* x, void* y);
template <class P> using backward_function = void (*)(const pass<P>& p, const backward_arguments<P>& a);
///@}

/// A pass through a chain. All chains share this code, which calls the layers' passes through pointers.
template <class P> class chain_pass {
 public:
  chain_pass(const chain_table& chain, const pass<P>& p, const element_sizes& e, const void* x, const void* y)
      : chain_(chain),
        p_(p),
        e_(e),
        x_(x),
        y_(y),
        storages_(p.mode == mode::train ? chain.training : chain.predicting),
        slot_(chain.slot(p.batch, p.mode, e)),
        saved_(p.mode == mode::train ? storages_.interior(p.batch, e) : 0) {}

  void forward(const forward_function<P>* functions) {
    for (std::size_t i = 0; i != chain_.count; ++i) {
      const chain_layer& layer = chain_.layers[i];
      if (functions[i] != nullptr && layer.forward.contain(p_))
        functions[i](inner(layer, layer.forward), activation(i), activation(layer.last + 1));
      saved_ += saved_by(layer);
    }
  }

  void backward(const backward_function<P>* functions, const backward_arguments<P>& a) {
    for (std::size_t i = 0; i != chain_.count; ++i) saved_ += saved_by(chain_.layers[i]);
    for (std::size_t i = chain_.count; i-- != 0;) {
      const chain_layer& layer = chain_.layers[i];
      saved_ -= saved_by(layer);
      const bool needs_input_gradient = layer.before.parameters != 0 || a.dx != nullptr;
      if (functions[i] == nullptr || !layer.backward.contain(p_) || (!needs_input_gradient && layer.parameters == 0))
        continue;
      backward_arguments<P> own = a;
      own.x = activation(i);
      own.y = activation(layer.last + 1);
      if (layer.last + 1 != chain_.count) own.dy = gradient(layer.last + 1);
      if (layer.last != i) own.between = gradient(layer.last);
      if (i != 0) own.dx = needs_input_gradient ? gradient(i) : nullptr;
      own.gradients += layer.before.parameters;
      functions[i](inner(layer, layer.backward), own);
      if (a.after != nullptr && !layer.reports_layers && layer.backward.end_at(p_.phase)) (*a.after)(own.gradients);
    }
  }

 private:
  std::size_t saved_by(const chain_layer& layer) const {
    return p_.mode == mode::train ? layer.saved_bytes(p_.batch, mode::train, layer.sizes(e_)) : 0;
  }

  /// The address of activation `i`.
  void* activation(std::size_t i) const {
    const std::size_t id = storages_.of_activation[i];
    if (id == 0) return const_cast<void*>(x_);
    if (id == storages_.output) return const_cast<void*>(y_);
    if (p_.mode == mode::train) return p_.saved + storages_.offset(id, p_.batch, e_);
    return p_.scratch + (id % 2) * slot_;
  }
  void* gradient(std::size_t i) const { return p_.scratch + storages_.gradient_slot[i] * slot_; }

  /// Returns the pass of a layer, with the layer's phase, parameters and parts of the workspace.
  pass<P> inner(const chain_layer& layer, const layer_phases& phases) const {
    pass<P> result = at_layer(p_, layer.before);
    result.phase -= phases.first;
    result.scratch = p_.scratch + 2 * slot_;
    if (p_.mode == mode::train) {
      result.saved = p_.saved + saved_;
    } else {
      result.saved = result.scratch;
      result.scratch += layer.saved_bytes(p_.batch, mode::predict, layer.sizes(e_));
    }
    return result;
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
