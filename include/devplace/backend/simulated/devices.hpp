// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <atomic>
#include <charconv>
#include <cstddef>
#include <cstdlib>
#include <mutex>
#include <string>
#include <string_view>
#include <system_error>

#include <devplace/backend/simulated/device.hpp>
#include <devplace/memory/statistics.hpp>
#include <devplace/place/error.hpp>
#include <devplace/place/place.hpp>

namespace devplace::detail {

/// Number of devices that `text`, a value of DEVPLACE_SIMULATED_DEVICES, asks for: 0 to 64; 4 when it is null.
inline int parse_simulated_device_count(const char* text) {
  if (text == nullptr) return 4;
  const std::string_view given = text;
  int count = -1;
  const auto [end, code] = std::from_chars(given.data(), given.data() + given.size(), count);
  if (code != std::errc{} || end != given.data() + given.size() || count < 0 || count > counted_ordinals)
    throw argument_error("the environment variable DEVPLACE_SIMULATED_DEVICES is \"" + std::string(given) +
                         "\", which is not a whole number from 0 to " + std::to_string(counted_ordinals) +
                         ". Set it to the number of devices to simulate, or unset it for 4.");
  return count;
}

/// Number of simulated devices of this process; read from the environment once.
inline int simulated_device_count() {
  static const int count = parse_simulated_device_count(std::getenv("DEVPLACE_SIMULATED_DEVICES"));
  return count;
}

/// Why device `ordinal` is not simulated; empty when it is.
inline std::string why_not_simulated(int ordinal) {
  const int count = simulated_device_count();
  if (ordinal >= 0 && ordinal < count) return {};
  return place_name(backend::cuda{}, ordinal) + " does not exist: this program simulates " + std::to_string(count) +
         " CUDA device(s), counted from 0; set the environment variable DEVPLACE_SIMULATED_DEVICES to " +
         std::to_string(ordinal + 1) + " or more, or use a lower ordinal";
}

/// The devices of the process, each started at its first use. They are never destroyed, only stopped at exit, because a
/// tensor with static storage duration may give back its memory after that.
class simulated_devices {
 public:
  static simulated_device& at(int ordinal) {
    static simulated_devices& all = *new simulated_devices;
    static const stop_at_exit stopper{all};
    if (ordinal >= 0 && ordinal < counted_ordinals) {
      if (simulated_device* device = all.started_[index(ordinal)].load(std::memory_order_acquire)) return *device;
    }
    return all.start(ordinal);
  }

 private:
  struct stop_at_exit {
    simulated_devices& devices;
    ~stop_at_exit() {
      for (const auto& started : devices.started_)
        if (simulated_device* device = started.load(std::memory_order_acquire)) device->stop();
    }
  };

  static std::size_t index(int ordinal) { return static_cast<std::size_t>(ordinal); }

  simulated_device& start(int ordinal) {
    const std::string missing = why_not_simulated(ordinal);
    if (!missing.empty()) throw placement_unavailable(missing + ".");
    const std::lock_guard lock(mutex_);
    std::atomic<simulated_device*>& started = started_[index(ordinal)];
    if (started.load(std::memory_order_relaxed) == nullptr) {
      try {
        started.store(new simulated_device(ordinal), std::memory_order_release);
      } catch (const std::system_error& refusal) {
        throw error("the operating system refused to start the thread of the simulated device " +
                    place_name(backend::cuda{}, ordinal) + " (" + refusal.what() +
                    "). Raise the limit (ulimit -u) or simulate fewer devices.");
      }
    }
    return *started.load(std::memory_order_relaxed);
  }

  std::mutex mutex_;
  std::array<std::atomic<simulated_device*>, counted_ordinals> started_{};
};

}  // namespace devplace::detail
