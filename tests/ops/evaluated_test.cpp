// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ops/evaluated_case.hpp"

TEST_CASE("operations on stored elements take expressions", "[ops][evaluated]") {
  evaluated_case::check_operations_on_expressions<devplace::cpu>();
}
