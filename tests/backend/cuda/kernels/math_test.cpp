// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ops/math_case.hpp"
#include "support/sanitizers.hpp"
#include "support/simt/backend.hpp"

namespace math_case = devplace::test::math_case;
using devplace::test::simt::backend;

TEST_CASE("functions of float and double elements are NumPy's, in the kernels", "[ops][math]") {
  math_case::check_floating<backend, float>();
  if constexpr (!support::sanitized) math_case::check_floating<backend, double>();
}

TEST_CASE("functions are fused, also into strided views, in the kernels", "[ops][math]") {
  math_case::check_fused<backend>();
}
