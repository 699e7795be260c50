// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <exception>
#include <list>
#include <mutex>
#include <string>
#include <system_error>

#include <devplace/backend/simulated/device.hpp>
#include <devplace/backend/simulated/driver.hpp>
#include <devplace/base/error.hpp>
#include <devplace/base/fork_count.hpp>
#include <devplace/base/host_memory.hpp>
#include <devplace/memory/detail/current_stream.hpp>
#include <devplace/memory/detail/device_timeout.hpp>
#include <devplace/place/place.hpp>

namespace devplace::detail {

/// The devices behind the logical ordinals of the process. Each device has its own worker, which starts at the device's
/// first use. Workers are stopped at exit but never destroyed, because a tensor with static storage duration may free
/// its memory later. As with CUDA, children of fork() cannot use the devices of their parent: the threads stay in the
/// parent.
class simulated_devices {
 public:
  static simulated_device& at(int ordinal) {
    simulated_devices& all = of_process();
    static const stop_at_exit stopper{all};
    if (all.lost_by_fork())
      throw error(
          "cuda places cannot be used in this process: it was forked from one that had used them. Fork before "
          "the first use of a cuda place, or start the child by exec.");
    if (ordinal >= 0 && ordinal < counted_ordinals) {
      if (simulated_device* device = all.started_[index(ordinal)].load(std::memory_order_acquire)) return *device;
    }
    return all.start(ordinal);
  }

  /// Returns the worker that executes this thread's calls for a device: the current stream's worker or the device's.
  static simulated_device& current(int ordinal) {
    simulated_device& own = at(ordinal);
    void* const scoped = current_stream(ordinal);
    return scoped == nullptr ? own : *static_cast<simulated_device*>(scoped);
  }

  /// Takes or gives back an additional worker of a device, which runs concurrently with the device's other workers.
  /// Workers are reused and never destroyed, because work of other devices may still refer to them.
  ///@{
  static simulated_device& take_worker(int ordinal) {
    static_cast<void>(at(ordinal));
    simulated_devices& all = of_process();
    const std::lock_guard lock(all.mutex_);
    for (extra_worker& one : all.extra_)
      if (one.ordinal == ordinal && !one.taken && one.worker.idle()) {
        static_cast<void>(one.worker.drain());  // its failures have been propagated to the device, too
        one.taken = true;
        return one.worker;
      }
    return *start_thread(ordinal, [&] { return &all.extra_.emplace_back(ordinal).worker; });
  }
  static void give_worker(const simulated_device& worker) noexcept {
    simulated_devices& all = of_process();
    if (all.lost_by_fork()) return;
    const std::lock_guard lock(all.mutex_);
    for (extra_worker& one : all.extra_)
      if (&one.worker == &worker) one.taken = false;
  }
  ///@}

  /// Returns whether this process is a child of fork() and the devices stayed in its parent.
  static bool stayed_in_parent() { return of_process().lost_by_fork(); }

 private:
  struct extra_worker {
    explicit extra_worker(int device) : ordinal(device), worker(device) {}
    int ordinal;
    simulated_device worker;
    bool taken = true;
  };

  struct stop_at_exit {
    simulated_devices& devices;
    ~stop_at_exit() {
      if (devices.lost_by_fork()) return;
      devices.for_each_started([](int, simulated_device& device) { device.stop(); });
      for (extra_worker& one : devices.extra_) one.worker.stop();
      devices.for_each_started([this](int ordinal, const simulated_device& device) {
        report(place_name(backend::cuda{}, ordinal), device.unthrown_failure([this](const std::exception_ptr& failure) {
          bool thrown = false;  // by another device, to which the failure has propagated
          devices.for_each_started(
              [&](int, const simulated_device& other) { thrown = thrown || other.was_thrown(failure); });
          return thrown;
        }));
      });
    }

    static void report(const std::string& place, const std::exception_ptr& failure) {
      if (failure == nullptr) return;
      std::string text = "an exception that is not a std::exception.";
      try {
        std::rethrow_exception(failure);
      } catch (const std::exception& e) {
        text = e.what();
      } catch (...) {
      }
      write_failure_at_exit(place, text);
    }
  };

  static simulated_devices& of_process() {
    static undestroyed<simulated_devices> all;
    return all.value;
  }

  template <class Function> void for_each_started(const Function& function) {
    for (int ordinal = 0; ordinal < counted_ordinals; ++ordinal)
      if (simulated_device* device = started_[index(ordinal)].load(std::memory_order_acquire))
        function(ordinal, *device);
  }

  bool lost_by_fork() const { return started_in_ != fork_count(); }

  static std::size_t index(int ordinal) { return static_cast<std::size_t>(ordinal); }

  simulated_device& start(int ordinal) {
    const std::string missing = why_not_simulated(ordinal, "work or memory on a device");
    if (!missing.empty()) throw placement_unavailable(missing + ".");
    const std::lock_guard lock(mutex_);
    std::atomic<simulated_device*>& started = started_[index(ordinal)];
    if (started.load(std::memory_order_relaxed) == nullptr)
      started.store(start_thread(ordinal, [&] { return new simulated_device(ordinal); }), std::memory_order_release);
    return *started.load(std::memory_order_relaxed);
  }

  /// Returns `make()`, which starts a thread of the device; translates the error if the thread cannot start.
  template <class Make> static simulated_device* start_thread(int ordinal, const Make& make) {
    try {
      return make();
    } catch (const std::system_error& refusal) {
      throw error({"the operating system refused to start a thread of the simulated device ",
                   place_name(backend::cuda{}, ordinal), " (", refusal.what(),
                   "). Raise the limit (ulimit -u) or simulate fewer devices."});
    }
  }

  const unsigned started_in_ = fork_count();
  std::mutex mutex_;
  std::array<std::atomic<simulated_device*>, counted_ordinals> started_{};
  std::list<extra_worker> extra_;
};

}  // namespace devplace::detail
