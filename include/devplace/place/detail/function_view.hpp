// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <memory>
#include <type_traits>

namespace devplace::detail {

/// A type-erased reference to a callable, which must outlive it: two pointers, no allocation. Loops over threads take
/// it, so that they are compiled once and not per body.
template <class... Arguments>
class function_view {
 public:
  template <class Function>
    requires(!std::is_same_v<std::remove_cvref_t<Function>, function_view>)
  explicit function_view(Function& function) noexcept
      : object_(const_cast<void*>(static_cast<const void*>(std::addressof(function)))),
        call_([](void* object, Arguments... arguments) { (*static_cast<Function*>(object))(arguments...); }) {}

  void operator()(Arguments... arguments) const { call_(object_, arguments...); }

 private:
  void* object_;
  void (*call_)(void*, Arguments...);
};

}  // namespace devplace::detail
