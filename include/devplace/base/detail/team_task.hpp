// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <atomic>
#include <exception>
#include <thread>

#include <devplace/base/function_view.hpp>

namespace devplace::detail {

/// A reference to a callable that takes a member's number and does not throw. The callable must outlive the run().
struct team_task : function_view<int> {
  using function_view::function_view;

  void operator()(int member) const noexcept { function_view::operator()(member); }
};

/// Keeps the exception of the throwing member with the lowest number, so that the error does not depend on timing.
class first_exception {
 public:
  void capture(int member) noexcept {
    while (lock_.test_and_set(std::memory_order_acquire)) std::this_thread::yield();
    if (!exception_ || member < member_) {
      exception_ = std::current_exception();
      member_ = member;
    }
    lock_.clear(std::memory_order_release);
  }

  /// Call it after all members are done.
  void rethrow() const {
    if (exception_) std::rethrow_exception(exception_);
  }

 private:
  std::atomic_flag lock_;
  int member_ = 0;
  std::exception_ptr exception_;
};

/// Wraps `function` so that its exceptions are passed to `errors`.
template <class Function> auto guarded(Function& function, first_exception& errors) {
  return [&function, &errors](int member) noexcept {
    try {
      function(member);
    } catch (...) {
      errors.capture(member);
    }
  };
}

}  // namespace devplace::detail
