// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ops/strided_case.hpp"

namespace {
using host = devplace::on<devplace::cpu>;
}  // namespace

TEST_CASE("elementwise operations take strided views", "[ops][strided]") {
  strided_case::check_elementwise<host>();
  strided_case::check_details<host>();
}

TEST_CASE("strided views may overlap in an assignment", "[ops][strided]") {
  strided_case::check_overlap<host>();
}

TEST_CASE("copies take strided views", "[ops][strided]") {
  strided_case::check_copies<host, host>();
}

TEST_CASE("reductions along any axes take strided views", "[ops][strided]") {
  strided_case::check_reductions<host>();
}

TEST_CASE("softmax takes strided views", "[ops][strided]") {
  strided_case::check_softmax<host>();
}

TEST_CASE("products of arrays of matrices take strided views", "[ops][strided]") {
  strided_case::check_products<host, float>();
  strided_case::check_products<host, double>();
  strided_case::check_leading_axes<host>();
}
