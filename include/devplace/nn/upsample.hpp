// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

#include <devplace/nn/detail/fit.hpp>
#include <devplace/nn/layer.hpp>
#include <devplace/ops/for_each.hpp>
#include <devplace/ops/upsample.hpp>

namespace devplace::nn {

/// Repeats each pixel Factor times in rows and columns: samples [C, H, W] become [C, Factor H, Factor W], as
/// torch.nn.Upsample(scale_factor=Factor) in its default mode, nearest.
template <std::size_t Factor, std::size_t... Others> struct upsample {
  static_assert(detail::check_sizes<Factor, Others...>());
  static_assert(Factor > 0 && sizeof...(Others) == 0,
                "devplace: upsample<Factor> repeats pixels one time or more, rows and columns alike; give one factor: "
                "upsample<2>.");
  /// Members that layer_for requires, and `takes`, the check of the input's extents X.
  ///@{
  template <class X> using takes = detail::samples_of_rank<X, 3>;
  template <class X>
  using output = extents<takes<X>::type::static_extent(0), Factor * takes<X>::type::static_extent(1),
                         Factor * takes<X>::type::static_extent(2)>;
  static constexpr keep keeps = keep::nothing;
  static constexpr bool gives_channels_first = true, works_on_rows = true;

  template <class Call> static void forward(const Call& c) {
    using functor = devplace::detail::upsample_functor<typename Call::value_type>;
    run(c, c.output.size(), functor{columns<Call>, Factor, c.input.data(), c.output.data()});
  }
  template <class Call> static void backward(const Call& c) {
    using functor = devplace::detail::upsample_gradient_functor<typename Call::value_type>;
    run(c, c.input_gradient.size(), functor{columns<Call>, Factor, c.output_gradient.data(), c.input_gradient.data()});
  }
  ///@}

 private:
  template <class Call> static constexpr std::size_t columns = Call::sample::static_extent(2);

  template <class Call, class F> static void run(const Call& c, std::size_t n, const F& f) {
    devplace::detail::for_each_index<typename Call::backend_type>(c.ordinal(), n, 16384, f);
  }
};

}  // namespace devplace::nn
