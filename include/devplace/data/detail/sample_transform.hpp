// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <concepts>
#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <devplace/base/error.hpp>
#include <devplace/config.hpp>
#include <devplace/tensor/dtype.hpp>

namespace devplace::detail {

/// The partner with which a sample is mixed, and the sample's own weight; with weight 1 the sample stays unmixed.
struct sample_mix {
  std::size_t partner;
  double weight;
};

/// The extents of a sample, or of a target whose pixels are moved with the sample's.
struct image_size {
  std::size_t channels, height, width;

  std::size_t elements() const { return channels * height * width; }
};

/// Numbers of a stored move (store_move in data/detail/moved_pixels.hpp).
inline constexpr std::size_t move_numbers = 6;

/// How features or targets are moved: by move_pixels in data/detail/moved_pixels.hpp, in the calling thread or on the
/// loader's devices. The pointers to these functions are null if nothing is moved.
struct moved_images {
  using mover = void (*)(int ordinal, void* to, const void* from, const double* moves, std::size_t samples,
                         const moved_images& how);

  image_size size{};
  double fill = 0;  ///< of pixels from outside
  bool interpolates = false;
  mover in_thread = nullptr, on_device = nullptr;
};

/// Throws shape_error unless a sample or target has the elements of an image of this size.
inline void require_size(const char* what, std::size_t elements, const image_size& size) {
  if (elements != size.elements())
    throw shape_error({"transforms: ", what, " has ", elements, " elements and the steps were made for ", size.channels,
                       "x", size.height, "x", size.width,
                       "; give the extents of one sample, without the axis of samples."});
}

// Transforms that move pixels of a sample, also move pixels of its target, or mix two samples (data/transforms.hpp).
template <class Function>
concept moving_transform = requires { requires Function::moves; };

template <class Function>
concept target_moving_transform = moving_transform<Function> && requires { requires Function::moves_targets; };

template <class Function>
concept mixing_transform = requires(const Function& function) {
  { function.partner(std::size_t{}, int{}, std::size_t{}) } -> std::same_as<sample_mix>;
};

/// Whether a loader of these elements and targets takes a transform; fails to compile where it does not.
template <class Transform, class T, class Target, std::size_t TargetRank> consteval bool accepts_transform() {
  constexpr bool mixes_numbers = !mixing_transform<Transform> || (floating_element<T> && floating_element<Target>);
  constexpr bool callable = !mixes_numbers || std::is_invocable_v<const Transform&, std::span<T>, std::size_t, int>;
  constexpr bool moves_images = !target_moving_transform<Transform> || TargetRank >= 3;
  static_assert(moves_images,
                "devplace: with_targets moves the pixels of targets, and these targets have no rows and columns behind "
                "the axis of samples; leave with_targets out, so that samples alone are moved.");
  static_assert(mixes_numbers,
                "devplace: mixup mixes features and targets, and integers cannot be mixed; give make_loader tensors of "
                "floating-point targets, for classes their probabilities.");
  static_assert(callable,
                "devplace: a loader's transform is called as transform(std::span<T> sample, std::size_t index, int "
                "epoch) with T the loader's element type, or the type of integer features, and is const, because "
                "workers call it at the same time; give it these parameters and no `mutable`.");
  return mixes_numbers && moves_images && callable;
}

/// Memory number `part` of the calling thread, which grows to the largest sample.
inline void* thread_memory(std::size_t part, std::size_t bytes) {
  thread_local std::vector<unsigned char> parts[4];
  if (parts[part].size() < bytes) parts[part].resize(bytes);
  return parts[part].data();
}

/// The moves of a user's transform, for samples of any type. Programs without moving transforms have no code of moves.
class sample_moves {
 public:
  bool moves() const { return move_ != nullptr; }
  void store_move(std::size_t index, int epoch, double* to) const { move_(function_.get(), index, epoch, to); }

  /// Returns the moved sample, in memory of the calling thread, and moves the sample's target in place.
  const void* moved(const void* sample, std::size_t bytes, void* target, std::size_t target_element_bytes,
                    std::size_t index, int epoch) const {
    double move[move_numbers];
    store_move(index, epoch, move);
    return moved_(*this, move, sample, bytes, target, target_element_bytes);
  }

  /// Checks the number of a sample's elements and the size of a target, and sets the number of channels of moved
  /// targets. Throws shape_error.
  void check(std::size_t sample_elements, const image_size& target) {
    if (check_ != nullptr) check_(*this, sample_elements, target);
  }

  moved_images features, targets;

 protected:
  static const void* moved_sample(const sample_moves& how, const double* move, const void* sample, std::size_t bytes,
                                  void* target, std::size_t target_element_bytes) {
    void* const result = thread_memory(0, bytes);
    how.features.in_thread(0, result, sample, move, 1, how.features);
    if (how.targets.in_thread != nullptr) {
      const std::size_t target_bytes = how.targets.size.elements() * target_element_bytes;
      void* const unmoved = thread_memory(1, target_bytes);
      std::memcpy(unmoved, target, target_bytes);
      how.targets.in_thread(0, target, unmoved, move, 1, how.targets);
    }
    return result;
  }

  static void check_sizes(sample_moves& how, std::size_t sample_elements, const image_size& target) {
    require_size("a sample", sample_elements, how.features.size);
    if (how.targets.in_thread == nullptr) return;
    image_size& size = how.targets.size;
    if (target.height != size.height || target.width != size.width)
      throw shape_error({"transforms: targets have ", target.height, " rows of ", target.width, " pixels and samples ",
                         size.height, " rows of ", size.width, "; with_targets moves targets of equal size."});
    size.channels = target.channels;
  }

  std::unique_ptr<const void, void (*)(const void*)> function_{nullptr, nullptr};
  void (*move_)(const void*, std::size_t, int, double*) = nullptr;
  decltype(&moved_sample) moved_ = nullptr;
  decltype(&check_sizes) check_ = nullptr;
};

/// A user's function that changes a sample in place, type-erased; may be empty. (<functional> would cost every program
/// that includes the loader more compile time than these lines.)
template <element T> class sample_transform : public sample_moves {
 public:
  sample_transform() = default;

  /// `Backend` is the backend of the loader's places; `Feature` and `Target` are the types whose pixels are moved.
  template <class Backend, class Feature, class Target, class Function>
  DEVPLACE_CONFIGURED static sample_transform from(Function function) {
    sample_transform result;
    if constexpr (moving_transform<Function>) {
      result.features = function.template moved_features<Backend, Feature>();
      if constexpr (Function::moves_targets) result.targets = function.template moved_targets<Backend, Target>();
      result.moved_ = &sample_moves::moved_sample;
      result.check_ = &sample_moves::check_sizes;
      result.move_ = [](const void* object, std::size_t index, int epoch, double* to) {
        static_cast<const Function*>(object)->store_move(index, epoch, to);
      };
      if constexpr (Function::changes_values)
        result.call_ = [](const void* object, std::span<T> sample, std::size_t index, int epoch) {
          static_cast<const Function*>(object)->change_values(sample, index, epoch);
        };
    } else {
      result.call_ = [](const void* object, std::span<T> sample, std::size_t index, int epoch) {
        static_cast<void>((*static_cast<const Function*>(object))(sample, index, epoch));
      };
    }
    if constexpr (mixing_transform<Function>)
      result.mix_ = [](const void* object, std::size_t index, int epoch, std::size_t samples) {
        return static_cast<const Function*>(object)->partner(index, epoch, samples);
      };
    result.function_ = {new Function(std::move(function)),
                        [](const void* object) { delete static_cast<const Function*>(object); }};
    return result;
  }

  /// Whether the transform does more to samples than move pixels. Devices can move pixels, but nothing else.
  explicit operator bool() const { return call_ != nullptr || mix_ != nullptr; }

  /// Changes a sample after moves and scaling.
  void operator()(std::span<T> sample, std::size_t index, int epoch) const {
    if (call_ != nullptr) call_(function_.get(), sample, index, epoch);
  }

  bool mixes() const { return mix_ != nullptr; }
  sample_mix partner(std::size_t index, int epoch, std::size_t samples) const {
    return mix_(function_.get(), index, epoch, samples);
  }

 private:
  void (*call_)(const void*, std::span<T>, std::size_t, int) = nullptr;
  sample_mix (*mix_)(const void*, std::size_t, int, std::size_t) = nullptr;
};

}  // namespace devplace::detail
