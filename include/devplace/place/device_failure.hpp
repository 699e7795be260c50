// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <exception>

namespace devplace::detail {

/// A failure on a device that has not been thrown on the host yet. It propagates to every device that uses results of
/// the failed one; `ordinal` is the device where it occurred.
struct device_failure {
  std::exception_ptr what;
  int ordinal = 0;

  explicit operator bool() const { return what != nullptr; }
};

}  // namespace devplace::detail
