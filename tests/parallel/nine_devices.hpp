// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdlib>

namespace devplace::test {

/// Collectives are tested between up to nine devices; the number is read at the first use of one.
inline const bool nine_devices = setenv("DEVPLACE_SIMULATED_DEVICES", "9", 1) == 0;

}  // namespace devplace::test
