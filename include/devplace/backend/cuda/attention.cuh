// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

#include <devplace/backend/cuda/kernel_launch.cuh>
#include <devplace/backend/cuda/kernels/attention.hpp>
#include <devplace/backend/cuda/kernels/attention_tiles.hpp>
#include <devplace/ops/attention.hpp>
#include <devplace/ops/for_each.hpp>
#include DEVPLACE_CUDNN_ENGINE(attention)

namespace devplace {

template <> struct implementation<backend::cuda, op::attention> {
  template <class T, unsigned Columns>
  static void run(int ordinal, const detail::attention_arguments<T>& g, detail::columns_of_head<Columns>) {
    detail::launch_attention<Columns>(g, detail::kernel_launch{ordinal});
  }
};

template <> struct implementation<backend::cuda, op::attention_gradient> {
  template <class T, unsigned Columns>
  static void run(int ordinal, const detail::attention_gradient_arguments<T>& g, detail::columns_of_head<Columns>) {
    implementation<backend::cuda, op::for_each>::run(
        ordinal, g.shape.sequences() * g.shape.length, 1,
        detail::attention_products<T>{g.shape, g.results, g.dresults, g.products});
    detail::launch_attention_gradient<Columns>(g, detail::kernel_launch{ordinal});
  }
};

template <> struct implementation<backend::cuda, op::attention_in_16_bits> {
  static constexpr bool computes(std::size_t width) { return width % 8 == 0 && width <= detail::most_tile_width; }
};

}  // namespace devplace
