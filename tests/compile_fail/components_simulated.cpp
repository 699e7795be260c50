// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A program can have only one backend for cuda places.

#if defined(BOTH_COMPONENTS)  // expect: devplace: the components cuda and simulated_cuda exclude each other
  #define DEVPLACE_WITH_CUDA 1
#endif

#include <devplace/config.hpp>

int main() {}
