// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include <devplace/nn/detail/fit.hpp>
#include <devplace/nn/layer.hpp>
#include <devplace/ops/embedding_gradient.hpp>
#include <devplace/ops/take_rows.hpp>

namespace devplace::nn {

/// An option of `embedding`: the row of this index starts as zeros and has no gradient, as PyTorch's padding_idx.
template <std::size_t Index> struct padding_index {
  /// The index.
  static constexpr std::size_t value = Index;
};

namespace detail {

/// Index of the row without gradient in a table of `Count` rows; Count if every row has a gradient.
template <std::size_t Count, class... Options> inline constexpr std::size_t row_of_padding = Count;
template <std::size_t Count, std::size_t Index>
inline constexpr std::size_t row_of_padding<Count, padding_index<Index>> = Index;

template <class... Options> inline constexpr bool are_embedding_options = sizeof...(Options) == 0;
template <std::size_t Index> inline constexpr bool are_embedding_options<padding_index<Index>> = true;

}  // namespace detail

/// Looks up rows of a table: samples [...] of std::int32_t indices become [..., Width], torch.nn.Embedding. `weight` is
/// [Count, Width], drawn from the standard normal distribution. Must be the first layer that computes; nn::input in
/// front of it gives the extents: `sequential<input<64>, embedding<256, 32>>`. The option `padding_index<Index>` names
/// a row without gradient.
///
/// An index outside of 0..Count-1 throws argument_error; on simulated devices the next call that waits throws it. On
/// CUDA devices the index's row in the output is NaN, and so is the loss. Backward sums the gradient of each row in the
/// order of the batch, so that the bits do not depend on the number of threads.
template <std::size_t Count, std::size_t Width, class... Options> struct embedding {
 private:
  static constexpr std::size_t padding = detail::row_of_padding<Count, Options...>;

 public:
  static_assert(detail::check_sizes<Count, Width>());
  static_assert(Count > 0 && Width > 0, "devplace: embedding<Count, Width> needs at least one row and one column.");
  static_assert(detail::are_embedding_options<Options...>,
                "devplace: embedding's only option is padding_index<Index>: embedding<256, 64, padding_index<0>>.");
  static_assert(sizeof...(Options) == 0 || !detail::are_embedding_options<Options...> || padding < Count,
                "devplace: embedding's padding_index names no row; it must be below Count.");
  /// Members that layer_for requires, with passes through the whole table or some of its rows.
  ///@{
  using input_element = std::int32_t;
  template <class In> using output = typename detail::with_axis_behind<In, Width>::type;
  static constexpr keep keeps = keep::input;
  static constexpr std::size_t sliced_rows = Count;
  static constexpr bool backward_reads_for_input = true;
  static constexpr std::array parameters{parameter{
      "weight", {Count, Width}, init::with_zeros(init::normal(0, 1), padding* Width, padding == Count ? 0 : Width)}};

  static void forward(const auto& c) { take(c, 0, Count); }
  static void backward(const auto& c) { add(c, 0, Count); }
  static void forward_rows(const auto& c) { take(c, c.rows().first, end_of(c)); }
  static void backward_rows(const auto& c) { add(c, c.rows().first, end_of(c)); }
  ///@}

 private:
  static std::size_t end_of(const auto& c) { return c.rows().last < Count ? c.rows().last : Count; }
  template <class Call> static void take(const Call& c, std::size_t first, std::size_t last) {
    if (c.input.size() != 0)
      devplace::detail::dispatch<op::take_rows, typename Call::backend_type>(
          c.ordinal(), devplace::detail::row_taker<typename Call::value_type, input_element>{
                           c.template parameter<0>().data(), c.input.data(), c.output.data(), Count, c.input.size(),
                           Width, first, last - first});
  }
  template <class Call> static void add(const Call& c, std::size_t first, std::size_t last) {
    using arguments = devplace::detail::embedding_gradient_arguments<typename Call::value_type,
                                                                     typename Call::gradient_type, input_element>;
    devplace::detail::dispatch<op::embedding_gradient, typename Call::backend_type>(
        c.ordinal(),
        arguments{c.input.data(), c.output_gradient.data(), c.template parameter_gradient<0>().data() + first * Width,
                  c.input.size(), last - first, Width, padding, c.accumulate, first});
  }
};

}  // namespace devplace::nn
