// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

#include <devplace/nn/detail/batch_rows.hpp>
#include <devplace/nn/detail/fit.hpp>
#include <devplace/nn/layer.hpp>
#include <devplace/ops/detail/reducers.hpp>
#include <devplace/ops/detail/reduction_plan.hpp>
#include <devplace/ops/elementwise.hpp>

namespace devplace::nn {

/// The mean of each channel of an image or a series: samples [C, H, W] and [C, L] become [C]. As AdaptiveAvgPool2d(1)
/// or AdaptiveAvgPool1d(1), followed by Flatten, in PyTorch.
struct global_average_pool {
  /// Members that layer_for requires, and `takes`, the check of the input's extents X.
  ///@{
  template <class X> using takes = detail::samples_of_rank<X, X::rank == 2 ? 2 : 3>;
  template <class X> using output = extents<takes<X>::type::static_extent(0)>;
  static constexpr keep keeps = keep::nothing;

  template <class Call> static void forward(const Call& c) {
    using namespace devplace::detail;
    using T = typename Call::value_type;
    reduce<typename Call::backend_type>(
        c.ordinal(), reduction_plan{c.output.size(), pixels<Call>, 1, element_source<T>{c.input.data()},
                                    mean_reducer<T>{c.output.data(), pixels<Call>}});
  }
  template <class Call> static void backward(const Call& c) {
    const std::size_t means = c.output_gradient.size();
    const auto each = c.output_gradient.reshape(extents<dyn, 1>{means});
    c.input_gradient.reshape(extents<dyn, dyn>{means, pixels<Call>}) = cast<typename Call::value_type>(
        detail::computed(each) / static_cast<typename Call::accumulator_type>(pixels<Call>));
  }
  ///@}

 private:
  template <class Call>
  static constexpr std::size_t pixels = detail::sample_size<typename Call::sample> / Call::sample::static_extent(0);
};

}  // namespace devplace::nn
