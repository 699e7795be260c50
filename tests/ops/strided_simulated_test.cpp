// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ops/strided_case.hpp"

namespace {
using host = devplace::on<devplace::cpu>;
using page_locked = devplace::on<devplace::pinned>;
using device = devplace::on<devplace::cuda<0>>;
using other_device = devplace::on<devplace::cuda<1>>;
}  // namespace

TEST_CASE("elementwise operations take strided views on a device", "[ops][strided]") {
  strided_case::check_elementwise<device>();
  strided_case::check_details<device>();
}

TEST_CASE("strided views may overlap in an assignment on a device", "[ops][strided]") {
  strided_case::check_overlap<device>();
}

TEST_CASE("copies take strided views between places", "[ops][strided]") {
  strided_case::check_copies<device, device>();
  strided_case::check_copies<other_device, device>();
  strided_case::check_copies<device, host>();
  strided_case::check_copies<host, device>();
  strided_case::check_copies<page_locked, device>();
  strided_case::check_copies<device, page_locked>();
  strided_case::check_copies<host, page_locked>();
}

TEST_CASE("reductions along any axes take strided views on a device", "[ops][strided]") {
  strided_case::check_reductions<device>();
}

TEST_CASE("softmax takes strided views on a device", "[ops][strided]") { strided_case::check_softmax<device>(); }

TEST_CASE("products of arrays of matrices take strided views on a device", "[ops][strided]") {
  strided_case::check_products<device, float>();
  strided_case::check_leading_axes<device>();
}
