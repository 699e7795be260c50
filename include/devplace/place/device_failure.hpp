// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <exception>

namespace devplace::detail {

/// A failure of device `ordinal` that the host has not thrown yet. The failure propagates to every device that uses
/// results of this device.
struct device_failure {
  std::exception_ptr what;
  int ordinal = 0;

  explicit operator bool() const { return what != nullptr; }
};

}  // namespace devplace::detail
