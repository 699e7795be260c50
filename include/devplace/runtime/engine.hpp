// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

#include <devplace/ops/for_each.hpp>
#include <devplace/runtime/arena.hpp>
#include <devplace/runtime/network.hpp>
#include <devplace/runtime/pass.hpp>
#include <devplace/runtime/replica.hpp>
#include <devplace/runtime/state.hpp>

namespace devplace::runtime {

/// The work of one replica of `Net` in precision `P`, for all devices of a backend: ordinals are values here.
template <class Net, class P, class Backend>
struct engine {
  using T = element_of_t<P>;
  using plan = network_plan<Net>;
  using input_extents = typename plan::input;
  using output_extents = typename plan::output;

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
    set_to_zero<Backend>(r.ordinal, r.gradient_data(), plan::parameter_elements);
  }

  /// Writes a loss's sums of losses and of weights behind the gradients, or adds them.
  static tail_functor<T> tail(const replica<T>& r, const T* sums, bool add) {
    return {r.gradient_data() + plan::parameter_elements, sums, add};
  }
  static void add_sums(const replica<T>& r, const T* sums, bool add) {
    devplace::detail::for_each_index<Backend>(r.ordinal, 1, 1, tail(r, sums, add));
  }
};

}  // namespace devplace::runtime
