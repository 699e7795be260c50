// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Public types have the same size in every translation unit, whatever its components: the other translation units
// report sizes, and this one compares them.

#include <cstdio>
#include <cstring>

#include "link/layouts.hpp"

std::vector<layout_table>& layout_tables() {
  static std::vector<layout_table> tables;
  return tables;
}

int main() {
  const std::vector<layout_table>& tables = layout_tables();
  if (tables.size() < 2) {
    std::puts("only one translation unit takes part: the comparison would show nothing");
    return 1;
  }
  int differences = 0;
  const layout_table& first = tables.front();
  for (const layout_table& other : tables) {
    std::printf("%s: %zu types\n", other.unit, other.layouts.size());
    if (other.layouts.size() != first.layouts.size()) return 1;
    for (std::size_t i = 0; i < first.layouts.size(); ++i) {
      const type_layout &a = first.layouts[i], &b = other.layouts[i];
      if (std::strcmp(a.name, b.name) == 0 && a.size == b.size && a.alignment == b.alignment) continue;
      std::printf("%s: size %zu, alignment %zu in %s; size %zu, alignment %zu in %s\n", a.name, a.size, a.alignment,
                  first.unit, b.size, b.alignment, other.unit);
      ++differences;
    }
  }
  return differences == 0 ? 0 : 1;
}
