// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <memory>
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
    result.function_ = std::make_shared<const Function>(std::move(function));
    result.call_ = [](const void* object, std::span<T> sample, std::size_t index, int epoch) {
      static_cast<void>((*static_cast<const Function*>(object))(sample, index, epoch));
    };
    return result;
  }

  explicit operator bool() const { return function_ != nullptr; }

  void operator()(std::span<T> sample, std::size_t index, int epoch) const {
    call_(function_.get(), sample, index, epoch);
  }

 private:
  std::shared_ptr<const void> function_;
  void (*call_)(const void*, std::span<T>, std::size_t, int) = nullptr;
};

}  // namespace devplace::detail
