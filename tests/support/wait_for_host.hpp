// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <atomic>
#include <cstddef>
#include <thread>

namespace devplace::test {

/// A kernel that blocks a simulated device until the host sets `go`.
struct wait_for_host {
  std::atomic<bool>* go;
  void operator()(std::size_t) const {
    while (!go->load()) std::this_thread::yield();
  }
};

}  // namespace devplace::test
