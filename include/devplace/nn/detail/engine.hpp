// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <devplace/memory/block.hpp>
#include <devplace/nn/detail/initialize.hpp>
#include <devplace/nn/detail/numbered_types.hpp>
#include <devplace/nn/detail/path.hpp>
#include <devplace/nn/detail/replica.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/ops/for_each.hpp>

namespace devplace::nn::detail {

/// Elements behind the gradients in their arena: the sum of the samples' weights and the sum of their losses, which
/// are reduced together with the gradients.
inline constexpr std::size_t gradient_tail = element_alignment;

/// Sets elements to zero.
template <class T>
struct zero_functor {
  T* data;
  DEVPLACE_HD void operator()(std::size_t i) const { data[i] = T{0}; }
};

/// Moves a loss's sums behind the gradients: there the sum of weights comes first.
template <class T>
struct tail_functor {
  T* tail;
  const T* sums;
  bool add;
  DEVPLACE_HD void operator()(std::size_t) const {
    tail[0] = (add ? tail[0] : T{0}) + sums[1];
    tail[1] = (add ? tail[1] : T{0}) + sums[0];
  }
};

/// The work of one replica of `Net` in precision `P`, for all devices of a backend: ordinals are values here.
template <class Net, class P, class Backend>
struct engine {
  using T = element_of_t<P>;
  using plan = network_plan<Net>;
  using input_extents = network_input_t<Net>;
  using output_extents = typename plan::output;

  static replica<T> make(int ordinal) {
    using devplace::memory_purpose;
    return {ordinal, zeros<T>(ordinal, plan::parameter_elements, memory_purpose::parameters),
            zeros<T>(ordinal, plan::parameter_elements + gradient_tail, memory_purpose::gradients),
            zeros<T>(ordinal, plan::buffer_elements, memory_purpose::parameters),
            zeros<T>(ordinal, loss_sums_bytes / sizeof(T), memory_purpose::workspace)};
  }

  /// Draws all parameters and buffers, keyed by seed and name: the same on every place and for every thread count.
  static void initialize(const replica<T>& r, std::uint64_t seed) {
    plan::for_each_parameter("", 0, [&](const std::string& name, auto entry, std::size_t offset) {
      initialize_into<Backend>(r.ordinal, r.parameter_data() + offset, entry.info.shape.size(), entry.info.init, seed,
                               path_hash(name));
    });
    plan::for_each_buffer("", 0, [&](const std::string& name, auto entry, std::size_t offset) {
      initialize_into<Backend>(r.ordinal, r.buffer_data() + offset, entry.info.shape.size(), entry.info.init, seed,
                               path_hash(name));
    });
  }

  /// Workspace of one pass in elements: the activations that are saved, the output, scratch.
  static constexpr std::size_t workspace_elements(std::size_t batch, mode m) {
    return plan::saved_elements(batch, m) + output_elements(batch) + plan::scratch_elements(batch, m);
  }
  static constexpr std::size_t output_elements(std::size_t batch) {
    return padded(sample_size<output_extents> * batch);
  }

  /// One pass over `batch` samples in a workspace.
  static pass<P> make_pass(const replica<T>& r, T* workspace, std::size_t batch, mode m, const random_key& key) {
    pass<P> p;
    p.batch = batch;
    p.ordinal = r.ordinal;
    p.parameters = r.parameter_data();
    p.buffers = r.buffer_data();
    p.saved = workspace;
    p.scratch = workspace + plan::saved_elements(batch, m) + output_elements(batch);
    p.mode = m;
    p.key = key;
    return p;
  }

  /// Where a pass leaves the network's output.
  static T* output_of(const pass<P>& p) { return p.saved + plan::saved_elements(p.batch, p.mode); }

  static void forward(const pass<P>& p, const T* x) { plan::template forward<Backend>(p, x, output_of(p)); }

  /// Writes (or adds) the gradients of the sum of the losses into the replica's arena, and the gradient of the input
  /// where `dx` is not null.
  static void backward(const pass<P>& p, const replica<T>& r, const T* x, const T* dy, bool add, T* dx = nullptr) {
    plan::template backward<Backend>(p, x, output_of(p), dy, dx, r.gradient_data(), add);
  }

  /// A batch without samples on this place has gradients of zero.
  static void clear_gradients(const replica<T>& r) {
    devplace::detail::for_each_index<Backend>(r.ordinal, plan::parameter_elements, 4096,
                                              zero_functor<T>{r.gradient_data()});
  }

  /// Writes a loss's sums of losses and of weights behind the gradients, or adds them.
  static tail_functor<T> tail(const replica<T>& r, const T* sums, bool add) {
    return {r.gradient_data() + plan::parameter_elements, sums, add};
  }
  static void add_sums(const replica<T>& r, const T* sums, bool add) {
    devplace::detail::for_each_index<Backend>(r.ordinal, 1, 1, tail(r, sums, add));
  }

 private:
  template <class Element>
  static devplace::detail::memory_block zeros(int ordinal, std::size_t elements, devplace::memory_purpose purpose) {
    auto block = devplace::detail::allocate<Backend>(ordinal, elements * sizeof(Element), purpose);
    devplace::detail::for_each_index<Backend>(ordinal, elements, 4096,
                                              zero_functor<Element>{static_cast<Element*>(block.data())});
    return block;
  }
};

template <std::size_t Index, class List>
struct entry_at;
template <std::size_t Index, class... Entries>
struct entry_at<Index, entry_list<Entries...>> {
  static_assert(Index < sizeof...(Entries), "devplace: the network has fewer parameters than this index.");
  using entries = numbered_types<std::make_index_sequence<sizeof...(Entries)>, Entries...>;
  using type = typename decltype(entries::template find<Index>())::type;
};

/// Parameter `Index` of a network, as its extents and offset.
template <class Net, std::size_t Index>
using parameter_at = typename entry_at<Index, typename network_plan<Net>::template entries<0>>::type;

}  // namespace devplace::nn::detail
