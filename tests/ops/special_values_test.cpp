// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ops/special_values_case.hpp"

namespace special_values = devplace::test::special_values;
using backend = devplace::backend::cpu;

TEST_CASE("NaN, infinities and -0 in functions of elements, on the CPU", "[ops]") {
  special_values::check_functions<backend>();
}

TEST_CASE("NaN and infinities in activations and their gradients, on the CPU", "[ops]") {
  special_values::check_activations<backend>();
}

TEST_CASE("NaN, infinities and -0 in operators, on the CPU", "[ops]") { special_values::check_operators<backend>(); }

TEST_CASE("NaN, infinities and -0 in reductions, on the CPU", "[ops]") { special_values::check_reductions<backend>(); }

TEST_CASE("NaN and infinities in softmax and log_softmax, on the CPU", "[ops]") {
  special_values::check_softmax<backend>();
}

TEST_CASE("NaN and infinities in cross_entropy, on the CPU", "[ops]") {
  special_values::check_cross_entropy<backend>();
}
