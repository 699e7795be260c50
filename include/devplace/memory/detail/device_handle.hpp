// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <utility>

namespace devplace::detail {

/// Sole owner of an object that a backend created for a device: an event, a stream. Like a memory_block it stores its
/// release function, so that its size is the same in every translation unit. `Op` distinguishes the kinds.
template <class Op>
class device_handle {
 public:
  using release_function = void (*)(void* state, int ordinal) noexcept;

  device_handle() = default;
  device_handle(void* state, int ordinal, release_function release)
      : state_(state), ordinal_(ordinal), release_(release) {}
  device_handle(device_handle&& other) noexcept
      : state_(std::exchange(other.state_, nullptr)),
        ordinal_(other.ordinal_),
        release_(std::exchange(other.release_, nullptr)) {}
  device_handle& operator=(device_handle&& other) noexcept {
    device_handle taken(std::move(other));
    std::swap(state_, taken.state_);
    std::swap(ordinal_, taken.ordinal_);
    std::swap(release_, taken.release_);
    return *this;
  }
  ~device_handle() {
    if (release_ != nullptr) release_(state_, ordinal_);
  }

  void* state() const { return state_; }
  int ordinal() const { return ordinal_; }

 private:
  void* state_ = nullptr;
  int ordinal_ = 0;
  release_function release_ = nullptr;
};

}  // namespace devplace::detail
