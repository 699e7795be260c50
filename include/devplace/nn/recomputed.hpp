// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <type_traits>

#include <devplace/memory/block.hpp>
#include <devplace/nn/detail/layer_plan.hpp>
#include <devplace/nn/frozen.hpp>
#include <devplace/nn/identity.hpp>
#include <devplace/nn/sequential.hpp>

namespace devplace::nn {

namespace detail {

/// The one layer or network, or several as one. A function, so that clang prints no further error.
template <class... Layers> constexpr auto recomputed_layers() {
  static_assert(sizeof...(Layers) > 0,
                "devplace: recomputed needs at least one layer: recomputed<linear<8, 8>, relu>.");
  if constexpr (sizeof...(Layers) == 1)
    return std::type_identity<Layers...>{};
  else
    return std::type_identity<std::conditional_t<sizeof...(Layers) == 0, identity, sequential<Layers...>>>{};
}

}  // namespace detail

/// Consecutive layers of which training keeps only the input between forward and backward. Backward first computes
/// their forward again, as torch.utils.checkpoint does: `recomputed<block>`, or `recomputed<linear<8, 8>, relu>`.
/// Activations of the layers need memory for one such group at a time, which is part of the scratch memory that all
/// groups share. Results have the same bits as without it, random layers included, and layers change their buffers
/// once. Names of parameters are those of `block`, or of `sequential<linear<8, 8>, relu>`. The last layers are not
/// computed again if backward does not read what they give.
///
/// A group with buffers, such as a batch_norm's, also keeps their values from before forward, and its second forward
/// works on this copy. Layers over the samples of all places (nn::over_all_places) reduce again, too.
template <class... Layers> struct recomputed {
  /// The layers as one layer.
  using wrapped_layer = typename decltype(detail::recomputed_layers<Layers...>())::type;
};

namespace detail {

template <class... Layers>
struct frozen_form<recomputed<Layers...>> : std::type_identity<recomputed<frozen_t<Layers>...>> {};

/// From forward to backward: the layers' buffers, as forward found them. Scratch memory: what the layers save, their
/// output, and their scratch memory.
template <class... Layers, class In>
struct layer_plan<recomputed<Layers...>, In> : layer_plan<typename recomputed<Layers...>::wrapped_layer, In> {
 private:
  using plan = layer_plan<typename recomputed<Layers...>::wrapped_layer, In>;

 public:
  using layer_type = void;  // no layer absorbs the group
  static constexpr std::size_t links = 1;
  static constexpr runtime::layer_rows sliced_rows{};
  static constexpr keep keeps = keep::input;
  static constexpr bool in_place = false;
  static constexpr bool reshapes = false;
  static constexpr bool leaves_data = plan::buffer_elements != 0;
  static constexpr bool backward_reads = plan::parameter_elements != 0;
  /// Backward's reductions come after those of the second forward. Forward has as many phases and is idle in the last.
  static constexpr std::size_t reductions_per_pass = 2 * plan::reductions_per_pass;
  static constexpr std::size_t reduced_in_backward = plan::reduced_numbers + plan::reduced_in_backward;
  static constexpr strip_traffic exchanged(bool backward, bool dx) {
    return backward ? plan::exchanged(false, true) + plan::exchanged(true, dx) : plan::exchanged(false, true);
  }
  static constexpr recomputed_cost cost{plan::cost.forward, plan::cost.again, plan::cost.again + plan::cost.repeated};

  static constexpr std::size_t saved_bytes(std::size_t batch, mode m, const element_sizes& e) {
    return m == mode::predict ? plan::saved_bytes(batch, m, e) : padded_bytes(plan::buffer_elements * e.accumulator);
  }
  static constexpr std::size_t scratch_bytes(std::size_t batch, mode m, const element_sizes& e) {
    return (m == mode::predict ? 0 : plan::saved_bytes(batch, m, e) + output_bytes(batch, e)) +
           plan::scratch_bytes(batch, m, e);
  }

  template <class Backend, class X, class P> static auto forward(const pass<P>& p, const void* x, void* y) {
    if (p.phase > plan::reductions_per_pass) return;
    if constexpr (plan::buffer_elements != 0)
      if (p.mode == mode::train && p.phase == 0)
        devplace::detail::copy_within<Backend>(p.ordinal, p.saved, p.buffers,
                                               plan::buffer_elements * sizeof(*p.buffers));
    plan::template forward<Backend, X>(inner<X>(p), x, y);
  }
  template <class Backend, class X, class P> static auto backward(const pass<P>& p, const backward_arguments<P>& a) {
    static_assert(sizeof(*p.buffers) <= sizeof(accumulator_of<P>));
    pass<P> own = inner<X>(p);
    void* const y = own.scratch - output_bytes(p.batch, sizes_of<X, P>);
    if constexpr (plan::buffer_elements != 0)
      own.buffers = static_cast<decltype(own.buffers)>(static_cast<void*>(p.saved));
    if (p.phase <= plan::reductions_per_pass) {
      own.again = !includes(plan::keeps, keep::output);
      plan::template forward<Backend, X>(own, a.x, y);
      own.again = false;
    }
    if constexpr (plan::reductions_per_pass != 0)
      if (p.phase < plan::reductions_per_pass) return;
    own.phase -= plan::reductions_per_pass;
    backward_arguments<P> arguments = a;
    arguments.y = y;
    plan::template backward<Backend, X>(own, arguments);
  }

 private:
  static constexpr std::size_t output_bytes(std::size_t batch, const element_sizes& e) {
    return padded_bytes(sample_size<typename plan::output> * batch * (plan::keeps_elements ? e.input : e.activation));
  }
  /// Returns the pass of the layers, whose saved data lie in scratch memory.
  template <class X, class P> static pass<P> inner(const pass<P>& p) {
    pass<P> result = p;
    if (p.mode == mode::predict) return result;
    result.saved = p.scratch;
    result.scratch += plan::saved_bytes(p.batch, p.mode, sizes_of<X, P>) + output_bytes(p.batch, sizes_of<X, P>);
    return result;
  }
};

}  // namespace detail
}  // namespace devplace::nn
