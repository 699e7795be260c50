// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <type_traits>

#include <devplace/nn/detail/batch_rows.hpp>
#include <devplace/nn/layer.hpp>
#include <devplace/ops/normalize.hpp>

namespace devplace::nn::detail {

/// `type` is `In`, whose last axis must have `Features` elements.
template <class In, std::size_t Features> struct samples_of_features {
  static constexpr bool fits = In::rank > 0 && In::static_extent(In::rank - 1) == Features;
  static_assert(fits,
                "devplace: layer_norm<N> and rms_norm<N> take samples whose last axis has N elements; N must be the "
                "number of features of the previous layer.");
  using type = In;
};

/// Normalises along the last axis and multiplies by `weight`; if Centred, subtracts the mean before and adds `bias`
/// after. `Layer` has the static function `epsilon<T>()`. Backward computes the statistics again.
template <class Layer, std::size_t Features, bool Centred> struct row_normalization {
  static_assert(check_sizes<Features>());
  static_assert(Features > 0, "devplace: layer_norm<N> and rms_norm<N> need at least one feature.");
  template <class In> using output = typename samples_of_features<In, Features>::type;
  static constexpr keep keeps = keep::input;
  static constexpr bool reads_masters = true;
  template <class In> static constexpr std::size_t scratch = sample_size<In>;

  static constexpr auto parameters =
      weight_and_bias<Centred>({"weight", {Features}, init::ones()}, {"bias", {Features}, init::zeros()});

  static void forward(const auto& c) {
    using call = std::remove_cvref_t<decltype(c)>;
    using T = typename call::accumulator_type;
    const T* bias = nullptr;
    if constexpr (Centred) bias = c.template master_parameter<1>().data();
    for_rows(c, devplace::detail::normalize_row<T, Centred, typename call::value_type>{
                    c.output.data(), c.input.data(), c.template master_parameter<0>().data(), bias, Features,
                    Layer::template epsilon<T>()});
  }
  static void backward(const auto& c) {
    using call = std::remove_cvref_t<decltype(c)>;
    using T = typename call::accumulator_type;
    auto* const terms = c.scratch().data();
    const auto* const dy = c.output_gradient.data();
    auto* const dx = c.needs_input_gradient ? c.input_gradient.data() : nullptr;
    for_rows(c, devplace::detail::normalize_backward_row<T, Centred, typename call::value_type>{
                    dx, terms, c.input.data(), dy, c.template master_parameter<0>().data(), Features,
                    Layer::template epsilon<T>()});
    const typename call::gradient_type beta = c.accumulate ? 1 : 0;
    const auto add_sums = [&](const auto& gradient, const auto* x) {
      sum_columns<typename call::backend_type>(c.ordinal(), gradient.data(), x, row_count(c.input), Features, beta);
    };
    add_sums(c.template parameter_gradient<0>(), terms);
    if constexpr (Centred) add_sums(c.template parameter_gradient<1>(), dy);
  }

 private:
  static void for_rows(const auto& c, const auto& row) {
    using backend_type = typename std::remove_cvref_t<decltype(c)>::backend_type;
    constexpr std::size_t columns = std::is_same_v<backend_type, backend::cpu> ? dyn : Features;  // the CPU shares code
    devplace::detail::for_each_row<backend_type, columns>(c.ordinal(), row_count(c.input), Features,
                                                          devplace::detail::row_grain(Features, 2), row);
  }
};

}  // namespace devplace::nn::detail
