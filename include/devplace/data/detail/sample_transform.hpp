// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include <devplace/tensor/dtype.hpp>

namespace devplace::detail {

/// A user's function that changes a sample in place, type-erased; may be empty. (<functional> would cost every program
/// that includes the loader more compile time than these lines.)
template <floating_element T>
class sample_transform {
 public:
  sample_transform() = default;

  template <class Function>
  static sample_transform from(Function function) {
    sample_transform result;
    result.function_ = new Function(std::move(function));
    result.call_ = [](const void* object, std::span<T> sample, std::size_t index, int epoch) {
      static_cast<void>((*static_cast<const Function*>(object))(sample, index, epoch));
    };
    result.destroy_ = [](void* object) { delete static_cast<Function*>(object); };
    return result;
  }

  sample_transform(sample_transform&& other) noexcept
      : function_(std::exchange(other.function_, nullptr)), call_(other.call_), destroy_(other.destroy_) {}
  sample_transform& operator=(sample_transform&&) = delete;
  ~sample_transform() {
    if (function_ != nullptr) destroy_(function_);
  }

  explicit operator bool() const { return function_ != nullptr; }

  void operator()(std::span<T> sample, std::size_t index, int epoch) const { call_(function_, sample, index, epoch); }

 private:
  void* function_ = nullptr;
  void (*call_)(const void*, std::span<T>, std::size_t, int) = nullptr;
  void (*destroy_)(void*) = nullptr;
};

}  // namespace devplace::detail
