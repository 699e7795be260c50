// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <concepts>
#include <cstddef>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

#include <devplace/tensor/dtype.hpp>

namespace devplace::detail {

/// The partner with which a sample is mixed, and the sample's own weight; with weight 1 the sample stays unmixed.
struct sample_mix {
  std::size_t partner;
  double weight;
};

/// Whether a transform mixes samples (data/transforms.hpp).
template <class Function>
concept mixing_transform = requires(const Function& function) {
  { function.partner(std::size_t{}, int{}, std::size_t{}) } -> std::same_as<sample_mix>;
};

/// Whether a loader of these elements and targets takes a transform; fails to compile where it does not.
template <class Transform, class T, class Target> consteval bool accepts_transform() {
  constexpr bool mixes_numbers = !mixing_transform<Transform> || (floating_element<T> && floating_element<Target>);
  constexpr bool callable = !mixes_numbers || std::is_invocable_v<const Transform&, std::span<T>, std::size_t, int>;
  static_assert(mixes_numbers,
                "devplace: mixup mixes features and targets, and integers cannot be mixed; give make_loader tensors of "
                "floating-point targets, for classes their probabilities.");
  static_assert(callable,
                "devplace: a loader's transform is called as transform(std::span<T> sample, std::size_t index, int "
                "epoch) with T the loader's element type, or the type of integer features, and is const, because "
                "workers call it at the same time; give it these parameters and no `mutable`.");
  return mixes_numbers && callable;
}

/// A user's function that changes a sample in place, type-erased; may be empty. (<functional> would cost every program
/// that includes the loader more compile time than these lines.)
template <element T> class sample_transform {
 public:
  sample_transform() = default;

  template <class Function> static sample_transform from(Function function) {
    sample_transform result;
    result.function_ = std::make_shared<const Function>(std::move(function));
    result.call_ = [](const void* object, std::span<T> sample, std::size_t index, int epoch) {
      static_cast<void>((*static_cast<const Function*>(object))(sample, index, epoch));
    };
    if constexpr (mixing_transform<Function>)
      result.mix_ = [](const void* object, std::size_t index, int epoch, std::size_t samples) {
        return static_cast<const Function*>(object)->partner(index, epoch, samples);
      };
    return result;
  }

  explicit operator bool() const { return function_ != nullptr; }

  void operator()(std::span<T> sample, std::size_t index, int epoch) const {
    call_(function_.get(), sample, index, epoch);
  }

  bool mixes() const { return mix_ != nullptr; }
  sample_mix partner(std::size_t index, int epoch, std::size_t samples) const {
    return mix_(function_.get(), index, epoch, samples);
  }

 private:
  std::shared_ptr<const void> function_;
  void (*call_)(const void*, std::span<T>, std::size_t, int) = nullptr;
  sample_mix (*mix_)(const void*, std::size_t, int, std::size_t) = nullptr;
};

}  // namespace devplace::detail
