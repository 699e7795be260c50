// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>

namespace devplace::test::software_gpu {

/// Returns the PTX in a fat binary that nvcc registers: of several, the one for the newest architecture. Throws
/// ptx_error where there is none, or a compressed one. `wrapper` is the argument of __cudaRegisterFatBinary.
std::string ptx_of_fat_binary(const void* wrapper);

}  // namespace devplace::test::software_gpu
