// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdlib>

namespace devplace::test {

/// Tests of collectives need up to nine devices; the number is read at the first use of a device.
inline const bool nine_devices = setenv("DEVPLACE_SIMULATED_DEVICES", "9", 1) == 0;

}  // namespace devplace::test
