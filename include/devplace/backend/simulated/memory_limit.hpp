// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdlib>
#include <limits>
#include <string_view>
#include <system_error>

#include <devplace/base/error.hpp>

namespace devplace::detail {

/// The value for no limit: only the host's memory limits allocations.
inline constexpr std::size_t unlimited_memory = std::numeric_limits<std::size_t>::max();

/// Returns the bytes per physical device in `text`, a value of DEVPLACE_SIMULATED_MEMORY: a positive integer followed,
/// without a space, by B, KiB, MiB, GiB, KB, MB or GB, as in 256MiB; unlimited_memory if it is null.
inline std::size_t parse_simulated_memory(const char* text) {
  if (text == nullptr) return unlimited_memory;
  struct unit {
    std::string_view name;
    std::size_t bytes;
  };
  constexpr unit units[] = {{"B", 1},     {"KiB", 1u << 10}, {"MiB", 1u << 20}, {"GiB", 1u << 30},
                            {"KB", 1000}, {"MB", 1000000},   {"GB", 1000000000}};
  const std::string_view value = text;
  std::size_t count = 0;
  const auto [end, code] = std::from_chars(value.data(), value.data() + value.size(), count);
  const std::string_view name = value.substr(static_cast<std::size_t>(end - value.data()));
  if (code == std::errc{} && count != 0)
    for (const unit& u : units)
      if (name == u.name && count < unlimited_memory / u.bytes) return count * u.bytes;
  throw argument_error({"the environment variable DEVPLACE_SIMULATED_MEMORY is \"", value,
                        "\", which is not a whole number from 1 with one of the units B, KiB, MiB, GiB, KB, MB, "
                        "GB. Write it as 256MiB, or unset it for as much memory as the host has."});
}

/// Returns the memory of each physical device of this process, in bytes; reads the environment once.
inline std::size_t simulated_memory_limit() {
  static const std::size_t limit = parse_simulated_memory(std::getenv("DEVPLACE_SIMULATED_MEMORY"));
  return limit;
}

}  // namespace devplace::detail
