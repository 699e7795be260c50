// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <devplace/base/error.hpp>
#include <devplace/base/parse_number.hpp>
#include <devplace/place/device_map.hpp>
#include <devplace/place/place.hpp>

namespace devplace::detail {

/// Returns the number of devices in `text`, a value of DEVPLACE_SIMULATED_DEVICES: 0 to 64; 4 if it is null.
inline int parse_simulated_device_count(const char* text) {
  if (text == nullptr) return 4;
  const int count = whole_number(text);
  if (count < 0 || count > counted_ordinals)
    throw argument_error({"the environment variable DEVPLACE_SIMULATED_DEVICES is \"", text,
                          "\", which is not a whole number from 0 to ", counted_ordinals,
                          ". Set it to the number of devices to simulate, or unset it for 4."});
  return count;
}

/// Returns the physical devices selected by `text`, a value of CUDA_VISIBLE_DEVICES, in the order of `text`; all if
/// `text` is null. Parses like CUDA's driver, without errors: entries are strtol numbers, which may have leading space,
/// a sign and any suffix. The list ends at the first entry that is not a device (-1, a number too large, no number). A
/// device listed twice makes the list empty.
inline std::vector<int> parse_visible_devices(const char* text, int physical_count) {
  std::vector<int> visible;
  if (text == nullptr) {
    for (int device = 0; device < physical_count; ++device) visible.push_back(device);
    return visible;
  }
  for (;; ++text) {
    char* end = nullptr;
    const long device = std::strtol(text, &end, 10);
    if (end == text || device < 0 || device >= physical_count) return visible;
    if (std::find(visible.begin(), visible.end(), device) != visible.end()) return {};
    visible.push_back(static_cast<int>(device));
    text = std::strchr(end, ',');
    if (text == nullptr) return visible;
  }
}

/// Returns whether devices can access each other's memory: `text` is DEVPLACE_SIMULATED_PEERS, 0 or 1 (null: 1).
inline bool parse_simulated_peers(const char* text) {
  const std::string_view value = text == nullptr ? "1" : text;
  if (value != "0" && value != "1")
    throw argument_error({"the environment variable DEVPLACE_SIMULATED_PEERS is \"", value,
                          "\"; set it to 0 for devices that cannot access each other's memory, or to 1."});
  return value == "1";
}

/// The value for no limit: only the host's memory limits allocations.
inline constexpr std::size_t unlimited_memory = std::numeric_limits<std::size_t>::max();

/// Parses a value of DEVPLACE_SIMULATED_MEMORY, such as 256MiB: a positive integer and, without a space, B, KiB, MiB,
/// GiB, KB, MB or GB. Returns the bytes of each physical device, or unlimited_memory if `text` is null.
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

/// The simulated driver's state: the physical devices, and which of them are visible to this process.
class simulated_driver {
 public:
  /// Takes the values of DEVPLACE_SIMULATED_DEVICES, CUDA_VISIBLE_DEVICES and DEVPLACE_SIMULATED_PEERS, null if unset.
  simulated_driver(const char* devices, const char* visible, const char* peers = nullptr)
      : physical_count_(parse_simulated_device_count(devices)),
        visible_(parse_visible_devices(visible, physical_count_)),
        restricted_(visible != nullptr),
        visible_text_(visible != nullptr ? visible : ""),
        peers_(parse_simulated_peers(peers)) {}

  /// Returns the process's driver, which reads the environment at first use, as CUDA's does.
  static const simulated_driver& of_process() {
    static const simulated_driver& driver =
        *new simulated_driver(std::getenv("DEVPLACE_SIMULATED_DEVICES"), std::getenv("CUDA_VISIBLE_DEVICES"),
                              std::getenv("DEVPLACE_SIMULATED_PEERS"));
    return driver;
  }

  int physical_count() const { return physical_count_; }
  int visible_count() const { return static_cast<int>(visible_.size()); }
  int physical(int visible) const { return visible_[static_cast<std::size_t>(visible)]; }
  bool peers() const { return peers_; }

  std::string why_absent(int ordinal) const {
    const std::string name = place_name(backend::cuda{}, ordinal);
    const std::string enough =
        ordinal >= physical_count_
            ? joined({"set the environment variable DEVPLACE_SIMULATED_DEVICES to ", ordinal + 1, " or more"})
            : std::string();
    const std::string lower = visible_.empty() ? ", or run on cpu" : ", or use a lower ordinal";
    if (!restricted_)
      return joined({name, " does not exist: this program simulates ", physical_count_,
                     " CUDA device(s), counted from 0; ", ordinal < 0 ? "use an ordinal from 0" : enough + lower});
    std::string text = joined({name, " does not exist: of ", physical_count_, " simulated CUDA device(s) ",
                               visible_count(), " are visible, because the environment variable ",
                               "CUDA_VISIBLE_DEVICES is \"", visible_text_, "\"", explained_end()});
    for (int i = 0; i < visible_count(); ++i)
      text += joined({i == 0 ? " (" : ", ", place_name(backend::cuda{}, i), " is physical device ", physical(i),
                      i + 1 == visible_count() ? ")" : ""});
    return joined({text, "; list ", ordinal + 1, " or more different devices in the variable, or unset it",
                   enough.empty() ? "" : ", and ", enough, lower});
  }

 private:
  /// Explains CUDA's parsing if a list has more entries than the devices it selects.
  std::string explained_end() const {
    const auto entries = 1 + std::count(visible_text_.begin(), visible_text_.end(), ',');
    if (visible_text_.empty() || entries == visible_count()) return {};
    return joined({", a list that CUDA reads up to the first entry that is not a device from 0 to ",
                   physical_count_ - 1, " and treats as empty if a device occurs twice"});
  }

  int physical_count_;
  std::vector<int> visible_;
  bool restricted_;
  std::string visible_text_;
  bool peers_;
};

/// Returns the number of cuda places: of visible devices, or of devices in the device map. Freezes the map.
inline int simulated_device_count(const char* used_by = "a query of the devices") {
  return device_map::of_process().use(simulated_driver::of_process().visible_count(), used_by,
                                      device_map::devices::of_process);
}

/// Returns the physical device behind the cuda place `ordinal`, which must exist.
inline int simulated_physical_device(int ordinal) {
  return simulated_driver::of_process().physical(device_map::of_process().visible(ordinal));
}

/// Returns whether two cuda places can access each other's memory; places on one physical device always can.
inline bool simulated_peers(int ordinal, int other) {
  return simulated_driver::of_process().peers() ||
         simulated_physical_device(ordinal) == simulated_physical_device(other);
}

/// Returns why device `ordinal` does not exist; empty if it does.
inline std::string why_not_simulated(int ordinal, const char* used_by = "a query of the devices") {
  if (ordinal >= 0 && ordinal < simulated_device_count(used_by)) return {};
  const device_map& map = device_map::of_process();
  if (map.given() && simulated_driver::of_process().visible_count() != 0) return map.why_absent(ordinal);
  return simulated_driver::of_process().why_absent(ordinal);
}

}  // namespace devplace::detail
