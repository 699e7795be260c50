// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <string>

#include <devplace/base/joined.hpp>
#include <devplace/config.hpp>
#include <devplace/memory/statistics.hpp>

namespace devplace::detail {

/// A human-readable size: `0 B`, `796 B`, `1.5 KiB`, `203.5 MiB`, `1.0 EiB`; rounded to one decimal.
DEVPLACE_COMPILABLE() std::string byte_text(std::size_t bytes) {
  constexpr const char* units[] = {" KiB", " MiB", " GiB", " TiB", " PiB", " EiB"};
  if (bytes < 1024) return joined({bytes, " B"});
  std::size_t unit = 0;
  std::size_t step = 1024;  // bytes in the unit
  // Takes the next unit if the number would round to 1024.0.
  while (unit + 1 < 6 && bytes >= step * 1024 - step / 20) {
    step *= 1024;
    ++unit;
  }
  const std::size_t tenths = bytes / step * 10 + (bytes % step * 10 + step / 2) / step;
  return joined({tenths / 10, ".", tenths % 10, units[unit]});
}
DEVPLACE_COMPILED(std::string byte_text(std::size_t))

/// The memory in use by purpose, without unused purposes: `parameters 795.1 KiB, workspace 1.2 MiB`.
[[DEVPLACE_FOR_SIZE]] inline std::string purposes_text(const memory_usage& usage) {
  std::string text;
  for (std::size_t i = 0; i < memory_purposes; ++i) {
    if (usage.by_purpose[i] == 0) continue;
    text = joined({text, text.empty() ? "" : ", ", memory_purpose_name(static_cast<memory_purpose>(i)), " ",
                   byte_text(usage.by_purpose[i])});
  }
  return text;
}

struct failed_request {
  std::string place;        ///< the place's name, and the device's number if it differs
  std::size_t bytes;        ///< requested
  memory_usage usage;       ///< the place's usage when the allocation failed
  std::string limit;        ///< the device's limit, its source, and free memory; may be empty
  std::string also;         ///< additional advice for this backend; may be empty
  std::string remedy = {};  ///< advice that replaces the general one; may be empty
};

/// The message of every out_of_memory exception.
DEVPLACE_COMPILABLE([[DEVPLACE_FOR_SIZE]]) std::string out_of_memory_text(const failed_request& request) {
  const memory_usage& usage = request.usage;
  const auto after = [](const char* separator, const std::string& text) { return text.empty() ? "" : separator; };
  const std::string purposes = purposes_text(usage);
  const std::string cached = usage.reserved > usage.allocated ? byte_text(usage.reserved - usage.allocated) : "";
  const std::string used = joined(
      {request.place, ": ", request.bytes, " bytes (", byte_text(request.bytes), ") could not be allocated while ",
       usage.allocated, " bytes are in use by devplace there", after(" (", purposes), purposes, after(")", purposes),
       after(" and ", cached), cached, after(" are cached", cached), after("; ", request.limit), request.limit, ". "});
  if (!request.remedy.empty()) return joined({used, request.remedy, "."});
  return joined({used,
                 "Use a smaller batch, gradient accumulation (accumulate<k>), or a replicated placement, which gives "
                 "each of several devices a part of the batch; free tensors that are not needed, and give caches back "
                 "by trim_memory<place>()",
                 after("; ", request.also), request.also, "."});
}
DEVPLACE_COMPILED(std::string out_of_memory_text(const failed_request&))

}  // namespace devplace::detail
