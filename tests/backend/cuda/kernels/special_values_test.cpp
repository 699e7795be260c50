// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <devplace/backend/cuda/cross_entropy.cuh>
#include <devplace/backend/cuda/softmax.cuh>

#include "ops/special_values_case.hpp"
#include "support/simt/backend.hpp"

namespace special_values = devplace::test::special_values;
using devplace::test::simt::backend;

TEST_CASE("NaN, infinities and -0 in functions of elements, in the kernels", "[ops]") {
  special_values::check_functions<backend>();
}

TEST_CASE("NaN and infinities in activations and their gradients, in the kernels", "[ops]") {
  special_values::check_activations<backend>();
}

TEST_CASE("NaN, infinities and -0 in operators, in the kernels", "[ops]") {
  special_values::check_operators<backend>();
}

TEST_CASE("NaN, infinities and -0 in reductions, in the kernels", "[ops]") {
  special_values::check_reductions<backend>();
}

TEST_CASE("NaN and infinities in softmax and log_softmax, in the kernels", "[ops]") {
  special_values::check_softmax<backend>();
}

TEST_CASE("NaN and infinities in cross_entropy, in the kernels", "[ops]") {
  special_values::check_cross_entropy<backend>();
}
