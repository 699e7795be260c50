// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include <cstddef>
#include <vector>

/// Size and alignment of a type in one translation unit.
struct type_layout {
  const char* name;
  std::size_t size, alignment;
};

/// The layouts that one translation unit reports; filled before main.
struct layout_table {
  const char* unit;
  std::vector<type_layout> layouts;
};
std::vector<layout_table>& layout_tables();
