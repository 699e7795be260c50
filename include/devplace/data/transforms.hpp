// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <devplace/base/options.hpp>
#include <devplace/base/seed.hpp>
#include <devplace/config.hpp>
#include <devplace/data/detail/moved_pixels.hpp>
#include <devplace/data/detail/sample_transform.hpp>
#include <devplace/data/sample_image.hpp>
#include <devplace/data/sample_steps.hpp>
#include <devplace/tensor/dtype.hpp>
#include <devplace/tensor/extents.hpp>

namespace devplace {

/// A step of transforms that moves pixels: `step(sample_random&)` returns the sample_move of an image, and is const,
/// because a loader's workers call it concurrently. By this move loaders move samples and, with with_targets, targets,
/// on the CPU or on devices. The optional members are those of sample_step. Users may write steps of their own.
template <class Step>
concept moving_step = std::is_invocable_r_v<sample_move, const Step&, sample_random&>;

/// A step of transforms that changes values: `step(sample_image<T>, sample_random&)` changes an image in place, and is
/// const, because a loader's workers call it concurrently. Optional members: `check(channels, height, width)` throws if
/// the options do not fit the images; `static void for_each_option(auto& self, auto&& f)` calls f(name, self.member)
/// for each option, for comparison between processes. Users may write steps of their own.
template <class Step>
concept sample_step = std::is_invocable_v<const Step&, const sample_image<float>&, sample_random&>;

/// Steps that change samples, one after the other, as the third argument of a loader:
/// ```
/// dp::transforms augment{dp::extents<28, 28>{}, dp::seed{3}, dp::random_crop{.padding = 2}, dp::horizontal_flip{}};
/// dp::loader<Where> batches{data.train, {.batch = 64, .shuffle = dp::seed{2}, .workers = 2}, augment};
/// ```
/// The extents, static or dynamic, belong to one sample: rows and columns, or channels, rows and columns. A step's
/// random numbers depend only on the seed, the epoch, the sample's index in the data and the step's position. So
/// samples have the same bits with any number of workers or places and in any order.
///
/// Steps that move pixels come first. Together they are one move, which reads each pixel once, before scaling.
/// Floating-point features and bytes are interpolated bilinearly, bytes in integers with rounding; other integers get
/// the nearest pixel. Pixels from outside the image get the last nonzero `fill` of the steps. Without steps that change
/// values or mix samples, the loader's devices move uint8 features. In all other cases the calling thread or the
/// loader's workers move features, with the same bits; after scaling they run the steps that change values.
/// with_targets moves the pixels of targets too.
///
/// The constructor throws argument_error for options out of their ranges; making a sample of another size throws
/// shape_error.
template <extents_like Extents, class... Step> class transforms {
  static constexpr bool is_image = Extents::rank == 2 || Extents::rank == 3;
  static_assert(is_image,
                "devplace: transforms: a sample is an image: give its extents, extents<28, 28> or with channels before "
                "them, extents<3, 32, 32>, without the axis of samples.");
  static constexpr std::size_t count = sizeof...(Step);
  template <class S> static constexpr bool mixing = std::is_same_v<S, mixup>;
  template <class S>
  static constexpr bool changing = sample_step<S> && !moving_step<S> && !std::is_same_v<S, with_targets>;
  static constexpr bool known =
      ((sample_step<Step> || moving_step<Step> || mixing<Step> || std::is_same_v<Step, with_targets>) && ...);
  static_assert(known,
                "devplace: transforms: after the extents and the seed come steps, such as horizontal_flip{} and "
                "random_crop{.padding = 4}; a step of your own is called as step(sample_random&) const and returns a "
                "sample_move, or as step(sample_image<T>, sample_random&) const.");
  static constexpr bool mixes = (mixing<Step> || ...);
  static constexpr bool in_order() {
    const int rank[] = {(mixing<Step> ? 2 : changing<Step> ? 1 : 0)..., 3};
    return std::is_sorted(rank, rank + count) && std::count(rank, rank + count, 2) <= 1;
  }
  static constexpr bool ordered = in_order();
  static_assert(ordered,
                "devplace: transforms: give steps in the order in which they act: steps that move pixels, such as "
                "random_crop, and with_targets; steps that change values, such as cutout; mixup, once, at the end.");

 public:
  /// Whether steps move pixels of samples; whether they also move pixels of targets; whether steps change values.
  ///@{
  static constexpr bool moves = (moving_step<Step> || ...);
  static constexpr bool moves_targets = (std::is_same_v<Step, with_targets> || ...);
  static constexpr bool changes_values = (changing<Step> || ...);
  ///@}

  /// The extents of a sample, the seed, and the steps.
  transforms(const Extents& extents, seed start, Step... steps)
      : extents_(extents), seed_(start), steps_(std::move(steps)...) {
    each_step([&](const auto& step, std::size_t) {
      if constexpr (requires { step.check(std::size_t{}, std::size_t{}, std::size_t{}); })
        step.check(channels(), height(), width());
    });
  }

  /// Changes sample `index` of the data as in epoch `epoch`, without scaling and mixing.
  template <floating_element T>
  DEVPLACE_CONFIGURED void operator()(std::span<T> sample, std::size_t index, int epoch) const {
    detail::require_size("a sample", sample.size(), size());
    if constexpr (moves) {
      double numbers[detail::move_numbers];
      store_move(index, epoch, numbers);
      const std::vector<T> before(sample.begin(), sample.end());
      detail::move_pixels<backend::cpu, T>(0, sample.data(), before.data(), numbers, 1, {size(), fill(), true});
    }
    change_values(sample, index, epoch);
  }

  /// Returns the move of sample `index` in an epoch, for programs that move the points of a label in the same way.
  sample_move move(std::size_t index, int epoch) const {
    sample_move all;
    each_step([&](const auto& step, std::size_t k) {
      if constexpr (moving_step<std::remove_cvref_t<decltype(step)>>) {
        sample_random random(seed_, epoch, index, k);
        all = all.then(step(random));
      }
    });
    return all;
  }

  /// For loaders: the move as numbers; the other changes of a sample; how pixels are moved.
  ///@{
  void store_move(std::size_t index, int epoch, double* to) const {
    detail::store_move(move(index, epoch), size(), to);
  }
  template <floating_element T> void change_values(std::span<T> sample, std::size_t index, int epoch) const {
    const sample_image<T> image{sample.data(), channels(), height(), width()};
    each_step([&](const auto& step, std::size_t k) {
      if constexpr (changing<std::remove_cvref_t<decltype(step)>>) {
        sample_random random(seed_, epoch, index, k);
        step(image, random);
      }
    });
  }
  template <class Backend, class T> DEVPLACE_CONFIGURED detail::moved_images moved_features() const {
    return detail::moves_of<Backend, T>({size(), fill(), true});
  }
  template <class Backend, class T> DEVPLACE_CONFIGURED detail::moved_images moved_targets() const {
    return detail::moves_of<Backend, T>({size(), std::get<with_targets>(steps_).fill});
  }
  ///@}

  /// Calls f(name, value) for the seed, the extents and each option of the steps, for comparison between processes.
  static void for_each_option(auto& self, auto&& f) {
    f("seed", self.seed_.value);
    f("extents", detail::to_string(self.extents_));
    self.each_step([&](const auto& step, std::size_t) { detail::for_each_option(step, f); });
  }

  /// Returns the partner of sample `index` in an epoch, and the weight of sample `index`.
  detail::sample_mix partner(std::size_t index, int epoch, std::size_t samples) const
    requires(mixes)
  {
    sample_random random(seed_, epoch, index, count - 1);
    const auto [other, weight] = std::get<count - 1>(steps_).partner(samples, random);
    return {other, weight};
  }

 private:
  std::size_t channels() const { return Extents::rank == 3 ? extents_.extent(0) : 1; }
  std::size_t height() const { return extents_.extent(Extents::rank - 2); }
  std::size_t width() const { return extents_.extent(Extents::rank - 1); }
  detail::image_size size() const { return {channels(), height(), width()}; }

  double fill() const {
    double last = 0;
    each_step([&](const auto& step, std::size_t) {
      if constexpr (moving_step<std::remove_cvref_t<decltype(step)>> && requires { double{step.fill}; })
        if (step.fill != 0) last = step.fill;
    });
    return last;
  }

  template <class F> void each_step(const F& f) const {
    [&]<std::size_t... K>(std::index_sequence<K...>) {
      (f(std::get<K>(steps_), K), ...);
    }(std::make_index_sequence<count>{});
  }

  [[no_unique_address]] Extents extents_;
  seed seed_;
  std::tuple<Step...> steps_;
};

}  // namespace devplace
