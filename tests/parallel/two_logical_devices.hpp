// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdlib>

namespace devplace::test {

/// Runs tests of several GPUs on one: binds two logical devices to it. The map is read at the first use of a device.
/// The GPU in software is two devices.
#ifndef DEVPLACE_TEST_SOFTWARE_GPU
inline const bool two_logical_devices = setenv("DEVPLACE_DEVICE_MAP", "0:0,1:0", 1) == 0;
#endif

}  // namespace devplace::test
