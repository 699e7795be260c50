// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <type_traits>

#include <devplace/data/labelled_images.hpp>
#include <devplace/tensor/tensor.hpp>
#include <devplace/tensor/view.hpp>

namespace devplace::detail {

/// Samples and what belongs to each, as windows on tensors that somebody else owns.
template <class Features, class Targets>
struct feature_target_views {
  Features features;
  Targets targets;
};

/// How a loader looks at a kind of data: two views, and whether the object itself may go away afterwards.
template <class Source>
struct batch_source;

template <>
struct batch_source<image_set> {
  using features = view<const std::uint8_t, extents<dyn, dyn, dyn>, on<cpu>>;
  using targets = view<const std::uint8_t, extents<dyn>, on<cpu>>;
  static constexpr bool owns = true;

  static feature_target_views<features, targets> views(const image_set& set) {
    return {set.images.view(), set.labels.view()};
  }
};

template <class Features, class Targets>
struct batch_source<feature_target_views<Features, Targets>> {
  using features = Features;
  using targets = Targets;
  static constexpr bool owns = false;

  static const feature_target_views<Features, Targets>& views(const feature_target_views<Features, Targets>& both) {
    return both;
  }
};

/// A tensor or view as a loader holds it: a window on const elements.
template <class X>
using const_view_t =
    view<const typename std::remove_cvref_t<X>::value_type, typename std::remove_cvref_t<X>::extents_type,
         typename std::remove_cvref_t<X>::placement_type>;

/// Whether the elements live on when the argument of type `X&&` is gone.
template <class X>
inline constexpr bool outlives_the_call = std::is_lvalue_reference_v<X> || is_view<std::remove_cvref_t<X>>;

}  // namespace devplace::detail
