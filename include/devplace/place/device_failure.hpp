// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <exception>

namespace devplace::detail {

/// What failed on a device and has not been thrown to the host yet, and on which device it began: a failure reaches
/// every device that was to use the failed one's results.
struct device_failure {
  std::exception_ptr what;
  int ordinal = 0;

  explicit operator bool() const { return what != nullptr; }
};

}  // namespace devplace::detail
