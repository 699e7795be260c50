// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <mutex>
#include <string>
#include <system_error>

#include <devplace/backend/simulated/device.hpp>
#include <devplace/backend/simulated/driver.hpp>
#include <devplace/place/error.hpp>
#include <devplace/place/place.hpp>

namespace devplace::detail {

/// The devices behind the logical ordinals of the process, each with its own worker, started at first use. Stopped at
/// exit but never destroyed, because a tensor with static storage duration may free its memory later.
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
    const std::string missing = why_not_simulated(ordinal, "work or memory on a device");
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
