// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>

#include <devplace/base/error.hpp>
#include <devplace/base/options.hpp>
#include <devplace/base/seed.hpp>
#include <devplace/data/detail/sample_transform.hpp>
#include <devplace/data/sample_image.hpp>
#include <devplace/data/sample_steps.hpp>
#include <devplace/tensor/dtype.hpp>
#include <devplace/tensor/extents.hpp>

namespace devplace {

/// A step of transforms: `step(sample_image<T>, sample_random&)` changes an image in place, and is const, because a
/// loader's workers call it concurrently. Optional members: `check(channels, height, width)` throws if the options do
/// not fit the images; `static void for_each_option(auto& self, auto&& f)` calls f(name, self.member) for each option,
/// for comparison between processes. Users may write steps of their own.
template <class Step>
concept sample_step = std::is_invocable_v<const Step&, const sample_image<float>&, sample_random&>;

/// Steps that change samples, one after the other, as the third argument of a loader:
/// ```
/// dp::transforms augment{dp::extents<28, 28>{}, dp::seed{3}, dp::random_crop{.padding = 2}, dp::horizontal_flip{}};
/// dp::loader<Where> batches{data.train, {.batch = 64, .shuffle = dp::seed{2}, .workers = 2}, augment};
/// ```
/// The extents, static or dynamic, belong to one sample: rows and columns, or channels, rows and columns. A step's
/// random numbers depend only on the seed, the epoch, the sample's index in the data and the step's position. So
/// samples have the same bits with any number of workers or places and in any order. The CPU runs the steps after
/// scaling, in the calling thread or the loader's workers.
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
  static constexpr bool known = ((sample_step<Step> || mixing<Step>) && ...);
  static_assert(
      known,
      "devplace: transforms: after the extents and the seed come steps, such as horizontal_flip{} and "
      "random_crop{.padding = 4}; a step of your own is called as step(sample_image<T>, sample_random&) const.");
  static constexpr bool mixes = (mixing<Step> || ...);
  static constexpr bool mixes_last() {
    const bool list[] = {mixing<Step>..., true};
    return std::find(list, list + count, true) + 1 >= list + count;
  }
  static constexpr bool ordered = mixes_last();
  static_assert(
      ordered, "devplace: transforms: mixup mixes what the other steps have made; give it as the last step, and once.");

 public:
  /// The extents of a sample, the seed, and the steps.
  transforms(const Extents& extents, seed start, Step... steps)
      : extents_(extents), seed_(start), steps_(std::move(steps)...) {
    each_step([&](const auto& step, std::size_t) {
      if constexpr (requires { step.check(std::size_t{}, std::size_t{}, std::size_t{}); })
        step.check(channels(), height(), width());
    });
  }

  /// Changes sample `index` of the data as in epoch `epoch`, without mixing. Loaders call this function.
  template <floating_element T> void operator()(std::span<T> sample, std::size_t index, int epoch) const {
    if (sample.size() != extents_.size())
      throw shape_error({"transforms: a sample has ", sample.size(), " elements and the steps were made for ",
                         detail::to_string(extents_),
                         "; give the extents of one sample, without the axis of samples."});
    const sample_image<T> image{sample.data(), channels(), height(), width()};
    each_step([&](const auto& step, std::size_t k) {
      if constexpr (!mixing<std::remove_cvref_t<decltype(step)>>) {
        sample_random random(seed_, epoch, index, k);
        step(image, random);
      }
    });
  }

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
  std::size_t channels() const {
    if constexpr (Extents::rank == 3)
      return extents_.extent(0);
    else
      return 1;
  }
  std::size_t height() const { return extents_.extent(Extents::rank - 2); }
  std::size_t width() const { return extents_.extent(Extents::rank - 1); }

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
