// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <type_traits>

#include <devplace/base/divided_up.hpp>
#include <devplace/nn/detail/batch_rows.hpp>
#include <devplace/nn/layer.hpp>
#include <devplace/ops/detail/independent_loop.hpp>
#include <devplace/ops/for_each.hpp>
#include <devplace/tensor/copy.hpp>

namespace devplace::nn {
namespace detail {

/// Adds w to each sample of x, of `columns` elements; `to` may be x.
template <class T, class Element> struct add_to_samples {
  Element* to;
  const Element* x;
  const T* w;
  std::size_t columns;

  DEVPLACE_HD void operator()(std::size_t i) const {
    const std::size_t sample = devplace::detail::quotient(i, columns) * columns;
    to[i] = static_cast<Element>(static_cast<T>(x[i]) + w[i - sample]);
  }
  void range(std::size_t begin, std::size_t end) const {
    for (std::size_t last; begin != end; begin = last) {
      const std::size_t sample = begin / columns * columns;
      last = std::min(end, sample + columns);
      devplace::detail::independent_loop(begin, last, [to = to, x = x, w = w, sample](std::size_t i) {
        to[i] = static_cast<Element>(static_cast<T>(x[i]) + w[i - sample]);
      });
    }
  }
};

}  // namespace detail

/// Computes x + w for samples [Length, Width], whose rows are the positions of a sequence. In PyTorch: x +
/// torch.nn.Embedding(Length, Width)(torch.arange(Length)). `weight` w is [Length, Width], drawn from the standard
/// normal distribution.
template <std::size_t Length, std::size_t Width> struct positional_embedding {
  static_assert(detail::check_sizes<Length, Width>());
  static_assert(Length > 0 && Width > 0,
                "devplace: positional_embedding<Length, Width> needs at least one position and one column.");
  /// Members that layer_for requires.
  ///@{
  using input_extents = extents<Length, Width>;
  template <class> using output = input_extents;
  static constexpr keep keeps = keep::nothing;
  static constexpr bool reads_masters = true;
  static constexpr bool in_place = true;
  static constexpr std::array parameters{parameter{"weight", {Length, Width}, init::normal(0, 1)}};

  static void forward(const auto& c) {
    using call = std::remove_cvref_t<decltype(c)>;
    using row = detail::add_to_samples<typename call::accumulator_type, typename call::value_type>;
    devplace::detail::for_each_index<typename call::backend_type>(
        c.ordinal(), c.output.size(), devplace::detail::elementwise_grain,
        row{c.output.data(), c.input.data(), c.template master_parameter<0>().data(), Length * Width});
  }
  static void backward(const auto& c) {
    using call = std::remove_cvref_t<decltype(c)>;
    detail::sum_columns<typename call::backend_type, typename call::gradient_type>(
        c.ordinal(), c.template parameter_gradient<0>().data(), c.output_gradient.data(), c.batch(), Length * Width,
        c.accumulate ? 1 : 0);
    if (c.needs_input_gradient && c.input_gradient.data() != c.output_gradient.data())
      copy(detail::flat(c.input_gradient), detail::flat(c.output_gradient));
  }
  ///@}
};

}  // namespace devplace::nn
