// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include <devplace/backend/cuda/runtime.hpp>

#include "support/catch.hpp"

/// Skips the test case if there is no CUDA device.
#define DEVPLACE_NEEDS_CUDA_DEVICE()                                                           \
  do {                                                                                         \
    if (devplace::detail::cuda_devices().count == 0) DEVPLACE_SKIP("there is no CUDA device"); \
  } while (false)
