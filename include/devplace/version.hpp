// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#define DEVPLACE_VERSION_MAJOR 0
#define DEVPLACE_VERSION_MINOR 2
#define DEVPLACE_VERSION_PATCH 0

namespace devplace {

/// The version of these headers, as in the package: 0.2.0.
inline constexpr const char* version = "0.2.0";

}  // namespace devplace
