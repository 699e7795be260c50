// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <devplace/backend/cuda/cudnn_attention.hpp>
#include <devplace/ops/attention.hpp>

namespace devplace {

template <> struct implementation<backend::cuda, op::mixed_attention> {
  template <class T>
  static bool computes(int ordinal, const detail::attention_shape& shape, float scale, bool training) {
    return detail::cudnn_attention<T>(ordinal, shape, scale).computes(training);
  }
  template <class T, template <class> class Arguments> static bool run(int ordinal, const Arguments<T>& g) {
    return detail::cudnn_attention<T>(ordinal, g.shape, g.scale).run(g);
  }
};

}  // namespace devplace
