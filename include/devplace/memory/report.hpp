// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <new>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include <devplace/base/host_memory.hpp>
#include <devplace/config.hpp>
#include <devplace/memory/detail/aligned_rows.hpp>
#include <devplace/memory/detail/out_of_memory_text.hpp>
#include <devplace/memory/statistics.hpp>

namespace devplace {

/// Prints one line: `allocated 2.4 MiB (parameters 795.1 KiB, gradients 795.1 KiB, activations 860.0 KiB), reserved 3.0
/// MiB, peak 2.9 MiB, 12 allocations`.
inline std::ostream& operator<<(std::ostream& out, const memory_usage& usage) {
  const std::string purposes = detail::purposes_text(usage);
  out << "allocated " << detail::byte_text(usage.allocated);
  if (!purposes.empty()) out << " (" << purposes << ')';
  return out << ", reserved " << detail::byte_text(usage.reserved) << ", peak " << detail::byte_text(usage.peak) << ", "
             << std::to_string(usage.allocations) << (usage.allocations == 1 ? " allocation" : " allocations");
}

namespace detail {

/// Formats a table with headings, a row for each place; the first column is left-aligned. Omits purposes that no place
/// uses.
inline std::string memory_table_of(const std::vector<std::string>& places, const memory_usage* usages) {
  std::vector<std::string> cells{"place", "allocated", "reserved", "peak"};
  bool shown[memory_purposes] = {};
  for (std::size_t i = 0; i < memory_purposes; ++i) {
    for (std::size_t row = 0; row < places.size(); ++row) shown[i] = shown[i] || usages[row].by_purpose[i] != 0;
    if (shown[i]) cells.push_back(memory_purpose_name(static_cast<memory_purpose>(i)));
  }
  const std::size_t columns = cells.size();
  for (std::size_t row = 0; row < places.size(); ++row) {
    cells.push_back(places[row]);
    for (const std::size_t bytes : {usages[row].allocated, usages[row].reserved, usages[row].peak})
      cells.push_back(byte_text(bytes));
    for (std::size_t i = 0; i < memory_purposes; ++i)
      if (shown[i]) cells.push_back(byte_text(usages[row].by_purpose[i]));
  }
  return aligned_rows(cells, columns, 1);
}

}  // namespace detail

inline namespace DEVPLACE_CONFIGURATION {

/// A table of the memory that devplace holds. Rows: the cpu, and shared_memory, pinned and each cuda place if they had
/// an allocation. Columns: allocated, reserved and peak bytes, and each purpose in use. Ends with a newline.
/// Thread-safe.
inline std::string memory_table() try {
  std::vector<std::string> places;
  memory_usage usages[3 + detail::counted_ordinals];
  const auto add = [&](std::string place, const memory_usage& usage) {
    if (!places.empty() && usage.allocations == 0) return;
    usages[places.size()] = usage;
    places.push_back(std::move(place));
  };
  add("cpu", detail::usage_of(detail::counters(backend::cpu{}, 0)));
  add(place_name<shared_memory>(), memory_statistics<shared_memory>());
  add(place_name<pinned>(), memory_statistics<pinned>());
  for (int ordinal = 0; ordinal < detail::counted_ordinals; ++ordinal)
    add(detail::place_name(backend::device{}, ordinal), detail::usage_of(detail::counters(backend::device{}, ordinal)));
  return detail::memory_table_of(places, usages);
} catch (const std::bad_alloc&) {
  detail::fail_without_memory("the table");
}

}  // namespace DEVPLACE_CONFIGURATION

}  // namespace devplace
