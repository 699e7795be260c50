// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <devplace/tensor/bf16.hpp>
#include <devplace/tensor/half.hpp>

#include "support/sanitizers.hpp"

// Element types for TEMPLATE_TEST_CASE in files where `dp` is namespace devplace. Sanitizers get one type of each size
// class: they find nothing in the same template for double or bf16, which takes as long to compile and to run. The
// suites without sanitizers test all types.
#if DEVPLACE_TEST_SANITIZED
  #define FLOATING_TYPES float
  #define SHORT_TYPES dp::half
#else
  #define FLOATING_TYPES float, double
  #define SHORT_TYPES dp::bf16, dp::half
#endif
