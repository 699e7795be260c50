// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

#include <devplace/nn/flatten.hpp>
#include <devplace/nn/layer.hpp>
#include <devplace/tensor/extents.hpp>

namespace devplace::nn {

namespace detail {

/// `type` is `To`, which must have as many elements as the samples `In`.
template <class In, class To> struct reshaped {
  static constexpr bool has_as_many_elements = sample_size<In> == sample_size<To>;
  static_assert(has_as_many_elements,
                "devplace: reshape changes the extents of a sample but not its number of elements, so the product of "
                "the new extents must equal that of the old ones: `In` and `To` in this message name both extents.");
  using type = To;
};

}  // namespace detail

/// Gives the elements of a sample other extents, in row-major order: `reshape<8, 4, 4>` turns a batch of samples
/// of 128 elements, such as [batch, 128], into [batch, 8, 4, 4], as torch.nn.Unflatten(1, (8, 4, 4)). Samples with
/// another number of elements do not compile. Costs nothing inside a network.
template <std::size_t... E> struct reshape : flatten {
  static_assert(detail::check_sizes<E...>());
  /// Member that layer_for requires.
  template <class In> using output = typename detail::reshaped<In, extents<E...>>::type;
};

}  // namespace devplace::nn
