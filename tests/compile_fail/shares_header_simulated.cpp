// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Models in shares without #include <devplace/fully_sharded.hpp>.
// Compiled alone: other sources include this header.
#include <devplace/all.hpp>

namespace dp = devplace;
namespace nn = devplace::nn;

using in_shares = dp::model<nn::linear<6, 3>, dp::fully_sharded<0, 1>>;

void use() {
  static_cast<void>(
      dp::memory_plan<dp::model<nn::linear<6, 3>, dp::replicated<0, 1>>, dp::batch<8>, dp::optim::sgd>::bytes);
#if defined(SHARES_WITHOUT_THEIR_HEADER)  // expect: devplace: model: for a model in shares write #include
  in_shares{dp::seed{1}};
#endif
#if defined(PLAN_OF_SHARES_WITHOUT_THEIR_HEADER)  // expect: devplace: memory_plan: for a model in shares write #include
  static_cast<void>(dp::memory_plan<in_shares, dp::batch<8>, dp::optim::sgd>::bytes);
#endif
}
