// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Names whose headers the program does not include: the first error is short and names the name, which docs/errors.md
// lists with its header. Therefore the library has no refusal of its own for them.
// Compiled alone: other sources include these headers, and compilers report a missing component once.
#include <devplace/all.hpp>

namespace dp = devplace;
namespace nn = devplace::nn;

void use(const dp::model<nn::sequential<nn::linear<3, 2>>, dp::cpu>& m) {
  static_cast<void>(m.predict(dp::zeros<float, dp::cpu>(1, 3)));
#if defined(LAYER_WITHOUT_ITS_HEADER)  // expect: (conv2d.* is not a member of|no member.*conv2d)
  using net = nn::sequential<nn::conv2d<1, 16, nn::kernel<3>>>;
#endif
#if defined(FUNCTION_WITHOUT_ITS_HEADER)  // expect: (save_parameters.* is not a member of|no member.*save_parameters)
  dp::save_parameters(m, "parameters.safetensors");
#endif
}

#if defined(SHARED_MEMORY_WITHOUT_ITS_HEADER)  // expect: devplace: tensors and models on shared_memory need its header
dp::tensor<float, dp::extents<3>, dp::on<dp::shared_memory>> in_shared_memory() {
  return dp::tensor<float, dp::extents<3>, dp::on<dp::shared_memory>>(dp::extents<3>{});
}
#endif

#if defined(TENSOR_WITHOUT_COMPONENT)  // expect: devplace: a tensor on a cuda place needs the component cuda; add
using row = dp::tensor<float, dp::extents<3>, dp::on<dp::cuda<1>>>;
row make() { return row(dp::extents<3>{}); }
#endif
