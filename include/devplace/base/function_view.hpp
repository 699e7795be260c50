// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <memory>
#include <type_traits>

namespace devplace::detail {

/// A type-erased reference to a callable, which must outlive the reference. Consists of two pointers; does not
/// allocate. Loops over threads take a function_view, so that they are compiled once and not once per body.
template <class... Arguments> class function_view {
 public:
  constexpr function_view() = default;

  template <class Function>
    requires(!std::is_base_of_v<function_view, std::remove_cvref_t<Function>>)
  [[gnu::always_inline]] explicit function_view(Function& function) noexcept
      : object_(const_cast<void*>(static_cast<const void*>(std::addressof(function)))), call_(&call<Function>) {}

  void operator()(Arguments... arguments) const { call_(object_, arguments...); }

 private:
  // A lambda would make compilers generate three more functions.
  template <class Function> static void call(void* object, Arguments... arguments) {
    (*static_cast<Function*>(object))(arguments...);
  }

  void* object_ = nullptr;
  void (*call_)(void*, Arguments...) = nullptr;
};

}  // namespace devplace::detail
