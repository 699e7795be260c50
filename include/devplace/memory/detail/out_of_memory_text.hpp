// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <string>

#include <devplace/memory/detail/byte_text.hpp>
#include <devplace/memory/statistics.hpp>

namespace devplace::detail {

/// The memory in use by purpose, without unused purposes: `parameters 795.1 KiB, workspace 1.2 MiB`.
inline std::string purposes_text(const memory_usage& usage) {
  std::string text;
  for (std::size_t i = 0; i < memory_purposes; ++i) {
    if (usage.by_purpose[i] == 0) continue;
    text.append(text.empty() ? "" : ", ")
        .append(memory_purpose_name(static_cast<memory_purpose>(i)))
        .append(" ")
        .append(byte_text(usage.by_purpose[i]));
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
inline std::string out_of_memory_text(const failed_request& request) {
  const memory_usage& usage = request.usage;
  std::string text = request.place + ": " + std::to_string(request.bytes) + " bytes (" + byte_text(request.bytes) +
                     ") could not be allocated while " + std::to_string(usage.allocated) +
                     " bytes are in use by devplace there";
  const std::string purposes = purposes_text(usage);
  if (!purposes.empty()) text.append(" (").append(purposes).append(")");
  if (usage.reserved > usage.allocated)
    text.append(" and ").append(byte_text(usage.reserved - usage.allocated)).append(" are cached");
  if (!request.limit.empty()) text.append("; ").append(request.limit);
  if (!request.remedy.empty()) return text.append(". ").append(request.remedy).append(".");
  text +=
      ". Use a smaller batch, a replicated placement over more devices, so that each gets a part of the batch, or "
      "gradient accumulation (accumulate<k>); free tensors that are not needed, and give caches back by "
      "trim_memory<place>()";
  if (!request.also.empty()) text.append("; ").append(request.also);
  return text + ".";
}

}  // namespace devplace::detail
