// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include <unistd.h>

#include <devplace/base/detail/processor_count.hpp>
#include <devplace/base/joined.hpp>
#include <devplace/place/device_info.hpp>

namespace devplace {

namespace detail {

/// Returns the text after the colon in the first line that begins with `key` in a /proc file; empty if there is none.
inline std::string proc_value(const char* path, const char* key) {
  std::string value;
  if (std::FILE* file = std::fopen(path, "r")) {
    char line[512];
    while (value.empty() && std::fgets(line, sizeof line, file) != nullptr) {
      const char* colon = std::strchr(line, ':');
      if (colon == nullptr || std::strncmp(line, key, std::strlen(key)) != 0) continue;
      value = colon + 1;
      value.erase(0, value.find_first_not_of(" \t"));
      value.erase(value.find_last_not_of(" \t\n") + 1);
    }
    std::fclose(file);
  }
  return value;
}

inline std::size_t system_value(int name) {
  const long value = ::sysconf(name);
  return value < 0 ? 0 : static_cast<std::size_t>(value);
}

inline std::string processor_name() {
  std::string name = proc_value("/proc/cpuinfo", "model name");
  return name.empty() ? "CPU" : name;
}

inline std::size_t host_memory_total() { return system_value(_SC_PHYS_PAGES) * system_value(_SC_PAGESIZE); }

/// Returns the memory available without swapping, in bytes: free pages and the reclaimable page cache.
inline std::size_t host_memory_free() {
  const std::string kilobytes = proc_value("/proc/meminfo", "MemAvailable");
  if (!kilobytes.empty()) return std::strtoull(kilobytes.c_str(), nullptr, 10) * 1024;
  return system_value(_SC_AVPHYS_PAGES) * system_value(_SC_PAGESIZE);
}

}  // namespace detail

template <> struct implementation<backend::cpu, op::device_query> {
  static int count() { return 1; }
  static std::string why_unavailable(int) { return {}; }
  static std::string support() { return detail::joined({"C++ on ", detail::usable_processors(), " thread(s)"}); }
  static device_information describe(int ordinal) {
    return {detail::place_name(backend::cpu{}, ordinal),
            detail::processor_name(),
            detail::usable_processors(),
            "cores",
            detail::host_memory_total(),
            detail::host_memory_free(),
            support(),
            {}};
  }
};

}  // namespace devplace
