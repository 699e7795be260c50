// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <type_traits>

#include <devplace/ops/for_each.hpp>
#include <devplace/ops/matmul.hpp>
#include <devplace/runtime/arena.hpp>
#include <devplace/runtime/model_state.hpp>
#include <devplace/runtime/network.hpp>
#include <devplace/runtime/pass.hpp>
#include <devplace/runtime/replica.hpp>
#include <devplace/runtime/round_elements.hpp>

namespace devplace::runtime {

template <class Net, class P> struct pass_layout {
  using roles = precision_traits<P>;
  using plan = network_plan<Net>;
  using input_extents = typename plan::input;
  using output_extents = typename plan::output;
  using input_element = typename plan::template input_element<P>;
  using output_element = typename plan::template output_element<P>;
  static constexpr bool rounds_input = plan::template rounds_input<P>;
  using first_element = typename plan::template first_element<P>;
  static constexpr element_sizes sizes{sizeof(first_element), sizeof(typename roles::activation),
                                       sizeof(typename roles::accumulator)};

  /// Bytes of one pass's workspace: saved activations, output, the rounded samples, scratch.
  [[gnu::noinline]] static constexpr std::size_t workspace_bytes(std::size_t batch, mode m) {
    return saved_bytes(batch, m) + output_bytes(batch) + rounded_bytes(batch) + plan::scratch_bytes(batch, m, sizes);
  }
  static constexpr std::size_t saved_bytes(std::size_t batch, mode m) { return plan::saved_bytes(batch, m, sizes); }
  static constexpr std::size_t output_bytes(std::size_t batch) {
    return padded_bytes(sample_size<output_extents> * batch * sizeof(output_element));
  }
  static constexpr std::size_t rounded_bytes(std::size_t batch) {
    return rounds_input ? padded_bytes(sample_size<input_extents> * batch * sizeof(first_element)) : 0;
  }
};

/// Allocates the memory of this thread's matrix products.
template <class Backend> [[gnu::noinline]] void prepare_products() {
  if constexpr (std::is_same_v<Backend, backend::cpu>) devplace::detail::gemm_prepare();
}

/// The computations of one replica of `Net` in precision `P`. One instance serves all devices of a backend: the ordinal
/// is a run-time value.
template <class Net, class P, class Backend> struct engine : pass_layout<Net, P> {
  using layout = pass_layout<Net, P>;
  using typename layout::first_element;
  using typename layout::input_element;
  using typename layout::output_element;
  using typename layout::plan;
  using typename layout::roles;
  using replica_type = replica<typename roles::storage>;
  using activation = typename roles::activation;

  [[gnu::noinline]] static pass<P> make_pass(const replica_type& r, void* workspace, std::size_t batch, mode m,
                                             const random_key& key) {
    pass<P> p;
    p.batch = batch;
    p.ordinal = r.ordinal;
    p.parameters = r.working_data();
    p.master_parameters = r.parameter_data();
    p.frozen = static_cast<std::ptrdiff_t>(plan::parameter_elements);
    p.buffers = r.buffer_data();
    p.saved = static_cast<std::byte*>(workspace);
    p.scratch = p.saved + layout::saved_bytes(batch, m) + layout::output_bytes(batch) + layout::rounded_bytes(batch);
    p.mode = m;
    p.key = key;
    p.samples = batch;
    return p;
  }

  [[gnu::noinline]] static output_element* output_of(const pass<P>& p) {
    return static_cast<output_element*>(static_cast<void*>(p.saved + layout::saved_bytes(p.batch, p.mode)));
  }

  /// Runs the pass, with the output in the workspace or at `y`. A backward pass may read the output in the workspace.
  static void forward(const pass<P>& p, const input_element* x) { forward(p, x, output_of(p)); }
  static void forward(const pass<P>& p, const input_element* x, output_element* y) {
    for_each_phase(p, [x, y](const pass<P>& q) { forward_phase(q, x, y); });
  }
  /// Runs one phase of a pass that the places synchronise.
  static void forward_phase(const pass<P>& p, const input_element* x, output_element* y) {
    plan::template forward<Backend, first_element>(p, rounded_input(p, x), y);
  }
  /// Runs one phase of a pass through some rows of the first of the links, and then through the other links.
  static void forward_slice(const pass<P>& p, const input_element* x, output_element* y) {
    plan::template forward<Backend, first_element, P, true>(first_link_of(p), rounded_input(p, x), y);
    if constexpr (plan::links != 1) forward_phase(other_links_of(p), x, y);
  }

  /// Writes (or adds) the gradients of the sum of the losses to the replica's arena, and writes the gradient of the
  /// input unless `dx` is null. Calls `after`, unless it is null, for the layers of a chain.
  static void backward(const pass<P>& p, const replica_type& r, const input_element* x, const activation* dy, bool add,
                       activation* dx = nullptr, const after_layer* after = nullptr) {
    for_each_phase(p, [&](const pass<P>& q) { backward_phase(q, r.gradient_data(), x, dy, add, dx, after); });
  }
  /// Runs one phase of a backward pass that the places synchronise; `gradients` is the begin of their arena.
  static void backward_phase(const pass<P>& p, typename roles::gradient* gradients, const input_element* x,
                             const activation* dy, bool add, activation* dx = nullptr,
                             const after_layer* after = nullptr) {
    plan::template backward<Backend, first_element>(
        p, backward_arguments<P>{first_input(p, x), output_of(p), dy, nullptr, dx, gradients, add, after});
  }
  /// Runs one phase of the backward pass of forward_slice().
  static void backward_slice(const pass<P>& p, typename roles::gradient* gradients, const input_element* x,
                             const activation* dy) {
    if constexpr (plan::links != 1) backward_phase(other_links_of(p), gradients, x, dy, false);
    const pass<P> q = first_link_of(p);
    plan::template backward<Backend, first_element, P, true>(
        q, backward_arguments<P>{first_input(p, x), output_of(p), dy, nullptr, nullptr, gradients, false, nullptr});
  }

  template <class F> static void for_each_phase(const pass<P>& p, const F& f) {
    if constexpr (plan::reductions_per_pass == 0) {
      f(p);
    } else {
      pass<P> q = p;
      for (; q.phase <= plan::reductions_per_pass; ++q.phase) f(q);
    }
  }

  /// Sets the gradients to zero, for a place that has no samples of a batch.
  static void clear_gradients(const replica_type& r) {
    set_to_zero<Backend>(r.ordinal, r.gradient_data(), plan::parameter_elements);
  }

  /// Stores a loss's sums of losses and weights after the gradients, or adds them.
  static auto tail(const replica_type& r, const typename roles::accumulator* sums, bool add) {
    return tail_functor<typename roles::gradient, typename roles::accumulator>{r.tail(), sums, add};
  }
  static void add_sums(const replica_type& r, const typename roles::accumulator* sums, bool add) {
    devplace::detail::for_each_index<Backend>(r.ordinal, 1, 1, tail(r, sums, add));
  }

 private:
  /// Returns the address of the rounded samples, which a pass keeps from forward to backward.
  static first_element* rounded_of(const pass<P>& p) {
    return static_cast<first_element*>(static_cast<void*>(p.scratch - layout::rounded_bytes(p.batch)));
  }
  static pass<P> first_link_of(pass<P> p) {
    p.links.last = p.links.first + 1;
    return p;
  }
  static pass<P> other_links_of(pass<P> p) {
    ++p.links.first;
    return p;
  }
  /// Returns the first layer's input, which the pass rounds before this layer runs.
  static const first_element* rounded_input(const pass<P>& p, const input_element* x) {
    if constexpr (layout::rounds_input)
      if (p.phase == 0 && p.links.first == 0 && p.rows.last == row_range{}.last)
        round_elements<Backend>(p.ordinal, rounded_of(p), x, p.batch * sample_size<typename layout::input_extents>);
    return first_input(p, x);
  }
  static const first_element* first_input(const pass<P>& p, const input_element* x) {
    if constexpr (layout::rounds_input)
      return rounded_of(p);
    else
      return x;
  }
};

}  // namespace devplace::runtime
