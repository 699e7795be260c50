// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "support/software_gpu/program.hpp"

// Reads the parts of a statement of PTX.

namespace devplace::test::software_gpu {

std::string_view trimmed(std::string_view text);
/// Splits at a separator that is in no brackets; leaves out empty parts.
std::vector<std::string_view> split(std::string_view text, char separator);
/// Reads an integer, or the bits of a float (0f3F800000, 0d...).
std::optional<u64> number(std::string_view text);
/// Returns the size of a type, "f32"; 0 for predicates and unknown names.
u8 size_of_type(std::string_view type);

/// A declaration of a variable: ".shared .align 16 .b8 name[32]".
struct declaration {
  std::string_view name;
  u8 element = 1;  ///< bytes
  u64 alignment = 1, bytes = 0;
  bool any_size = false;  ///< name[]
};
declaration declared(std::string_view text);

}  // namespace devplace::test::software_gpu
