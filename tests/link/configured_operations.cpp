// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Operations on strided views and on tensors over several places, for the symbol test; never run.

#include <devplace/all.hpp>

namespace dp = devplace;

using host = dp::on<dp::cpu>;
using device = dp::on<dp::cuda<0>>;
using split_rows = dp::sharded<dp::axis<0>, 0, 1>;
using matrix = dp::extents<4, 4>;

float on_strided_views(const dp::tensor<float, matrix, device>& x, dp::tensor<float, matrix, device>& y) {
  y.view().permute(dp::axis<1>{}, dp::axis<0>{}) = x.view().permute(dp::axis<1>{}, dp::axis<0>{}) * 2.0f + x;
  dp::copy(y, x.view().permute(dp::axis<1>{}, dp::axis<0>{}));
  return dp::item(dp::sum(dp::relu(y.view().permute(dp::axis<1>{}, dp::axis<0>{}))));
}

dp::tensor<float, matrix, host> on_several_places(const dp::tensor<float, matrix, host>& x) {
  const auto a = dp::scatter<split_rows>(x);
  const auto w = dp::broadcast<dp::replicated<0, 1>>(x);
  dp::tensor b = dp::relu(a * 2.0f + a);
  b += a;
  const dp::tensor c = dp::softmax(dp::matmul(b, w)) + a;
  const auto sums = dp::all_reduce(dp::sum(c));
  return dp::gather<host>(dp::tensor(c * sums));
}
