// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include <devplace/config.hpp>
#include <devplace/data/labelled_images.hpp>
#include <devplace/tensor/tensor.hpp>
#include <devplace/tensor/view.hpp>

namespace devplace::detail {

/// Samples and their targets: views of tensors, or tensors that a loader owns.
template <class Features, class Targets> struct features_and_targets {
  Features features;
  Targets targets;
};

/// The view of const elements through which a loader reads a tensor or view.
template <class X>
using const_view_t =
    view<const typename std::remove_cvref_t<X>::value_type, typename std::remove_cvref_t<X>::extents_type,
         typename std::remove_cvref_t<X>::placement_type>;

/// The type that a loader stores for an argument of type `X&&`: a tensor that is moved in, or a view.
template <class X> using kept_t = std::conditional_t<is_tensor<X>, X, const_view_t<X>>;
template <class X> kept_t<X> kept(X&& x) {
  static_assert(!std::is_const_v<X> || is_view<std::remove_const_t<X>>,
                "devplace: make_loader: a const temporary cannot be moved into the loader; keep features and targets "
                "in variables.");
  if constexpr (is_tensor<X>)
    return std::move(x);
  else
    return as_view(x);
}

/// Refers to the images of a loader: an image_set, which must be a variable, because the loader does not copy it.
class referenced_images {
 public:
  template <class Data>
    requires(!std::is_same_v<std::remove_cvref_t<Data>, referenced_images>)
  referenced_images([[maybe_unused]] Data&& data DEVPLACE_LIFETIMEBOUND) {
    constexpr bool is_set = std::is_base_of_v<image_set, std::remove_cvref_t<Data>>;
    constexpr bool is_variable = !is_set || std::is_lvalue_reference_v<Data>;
    static_assert(is_set,
                  "devplace: loader: it takes an image_set, as the member train of labelled_images, and options: "
                  "loader<on<cpu>> batches{data.train, {.batch = 64}}; for tensors use make_loader.");
    static_assert(is_variable,
                  "devplace: loader: a loader refers to its data, and a temporary is destroyed before the first batch; "
                  "keep the data in a variable.");
    if constexpr (is_set) set_ = &data;
  }

  const image_set& operator*() const { return *set_; }

 private:
  const image_set* set_ = nullptr;
};

/// Describes a kind of data: the type that the loader stores, and views of its features and targets.
template <class Source> struct batch_source;

template <> struct batch_source<image_set> {
  using kept = referenced_images;
  using features = view<const std::uint8_t, extents<dyn, dyn, dyn>, on<cpu>>;
  using targets = view<const std::uint8_t, extents<dyn>, on<cpu>>;

  static features_and_targets<features, targets> views(const kept& set) {
    return {(*set).images.view(), (*set).labels.view()};
  }
};

template <class Features, class Targets> struct batch_source<features_and_targets<Features, Targets>> {
  using kept = features_and_targets<Features, Targets>;
  using features = const_view_t<Features>;
  using targets = const_view_t<Targets>;

  static features_and_targets<features, targets> views(const kept& both) {
    return {as_view(both.features), as_view(both.targets)};
  }
};

}  // namespace devplace::detail
