// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <devplace/backend/cuda/kernel_launch.cuh>
#include <devplace/backend/cuda/unfolded_convolution.hpp>
#include <devplace/ops/convolution.hpp>
#include <devplace/ops/detail/reducers.hpp>
#include <devplace/ops/detail/reduction_plan.hpp>
#include DEVPLACE_CUDNN_ENGINE(convolution)

namespace devplace {

namespace detail {

struct cuda_convolution {
  template <class Arguments> static void run(int ordinal, const Arguments& g) {
    const kernel_launch launch{ordinal};
    if constexpr (configuration::convolution == convolution_library::cudnn)
      if (convolve_by_cudnn(ordinal, g, launch)) return;
    convolve(ordinal, g, launch);
  }
};

}  // namespace detail

template <> struct implementation<backend::cuda, op::convolution> : detail::cuda_convolution {};
template <> struct implementation<backend::cuda, op::convolution_input_gradient> : detail::cuda_convolution {};
template <> struct implementation<backend::cuda, op::convolution_weight_gradient> : detail::cuda_convolution {};

template <> struct implementation<backend::cuda, op::convolution_bias_gradient> {
  template <class T> static void run(int ordinal, const detail::convolution_bias_gradient_arguments<T>& g) {
    using reducer = detail::sum_reducer<T, detail::computed_t<T>>;
    implementation<backend::cuda, op::reduce>::run(
        ordinal, detail::reduction_plan<detail::convolution_bias_source<T>, reducer>{
                     g.channels, g.samples * g.plane, 1, {g.plane, {g.x}}, reducer{g.sums, g.beta}});
  }
};

}  // namespace devplace
