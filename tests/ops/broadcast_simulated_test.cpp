// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ops/broadcast_case.hpp"

TEMPLATE_TEST_CASE("operands on a device may be repeated along any axes, into any view", "[ops][elementwise]", float,
                   devplace::half) {
  broadcast_case::check<devplace::on<devplace::cuda<0>>, TestType>(50);
}
