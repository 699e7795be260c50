// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include <cstddef>
#include <vector>

/// Size and alignment of one type, as one translation unit sees it.
struct type_layout {
  const char* name;
  std::size_t size, alignment;
};

/// What each translation unit of the program has to say; filled before main.
struct layout_table {
  const char* unit;
  std::vector<type_layout> layouts;
};
std::vector<layout_table>& layout_tables();
