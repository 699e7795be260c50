// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <type_traits>

#include <devplace/data/labelled_images.hpp>
#include <devplace/tensor/tensor.hpp>
#include <devplace/tensor/view.hpp>

namespace devplace::detail {

/// Samples and their targets, as views of tensors that the caller owns.
template <class Features, class Targets>
struct feature_target_views {
  Features features;
  Targets targets;
};

/// How a loader sees a kind of data: two views, and in `owns` whether the object owns the elements that they refer to.
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

/// The view of const elements through which a loader reads a tensor or view.
template <class X>
using const_view_t =
    view<const typename std::remove_cvref_t<X>::value_type, typename std::remove_cvref_t<X>::extents_type,
         typename std::remove_cvref_t<X>::placement_type>;

/// Whether the elements outlive an argument of type `X&&`: it is an lvalue or a view.
template <class X>
inline constexpr bool outlives_the_call = std::is_lvalue_reference_v<X> || is_view<std::remove_cvref_t<X>>;

}  // namespace devplace::detail
