// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <type_traits>

#include <devplace/backend/cuda/kernels/attention.hpp>
#include <devplace/backend/cuda/kernels/attention_gradient.hpp>
#include <devplace/backend/cuda/launch.cuh>
#include <devplace/ops/attention.hpp>
#include <devplace/ops/for_each.hpp>
#include DEVPLACE_CUDNN_ATTENTION

namespace devplace {

template <>
struct implementation<backend::cuda, op::attention> {
  template <class T, unsigned Columns>
  static void run(int ordinal, const detail::attention_arguments<T>& g, detail::columns_of_head<Columns>) {
    detail::launch_attention<Columns>(g, detail::kernel_launch{ordinal});
  }
};

template <>
struct implementation<backend::cuda, op::attention_gradient> {
  template <class T, unsigned Columns>
  static void run(int ordinal, const detail::attention_gradient_arguments<T>& g, detail::columns_of_head<Columns>) {
    implementation<backend::cuda, op::for_each>::run(
        ordinal, g.shape.sequences() * g.shape.length, 1,
        detail::attention_products<T>{g.shape, g.results, g.dresults, g.products});
    detail::launch_attention_gradient<Columns>(g, detail::kernel_launch{ordinal});
  }
};

/// By cuDNN. A template, because it is there with the component only.
template <class Backend>
  requires(std::is_same_v<Backend, backend::cuda>&& detail::configuration::convolution ==
           detail::convolution_library::cudnn)
struct implementation<Backend, op::short_attention> {
  template <class T>
  static bool computes(int ordinal, const detail::attention_shape& shape, float scale, bool training) {
    return detail::cudnn_attention<T>(ordinal, shape, scale).computes(training);
  }
  template <class T, template <class> class Arguments>
  static auto run(int ordinal, const detail::attention_shape& shape, float scale, const Arguments<T>& g) {
    return detail::cudnn_attention<T>(ordinal, shape, scale).run(g);
  }
};

}  // namespace devplace
