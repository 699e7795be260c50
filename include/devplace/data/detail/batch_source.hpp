// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <devplace/base/divided_up.hpp>
#include <devplace/base/error.hpp>
#include <devplace/config.hpp>
#include <devplace/data/labelled_images.hpp>
#include <devplace/data/loader_options.hpp>
#include <devplace/ops/scale_bytes.hpp>
#include <devplace/place/placement.hpp>
#include <devplace/tensor/dtype.hpp>
#include <devplace/tensor/split.hpp>
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

/// The rows of each batch that a process makes: the rows of its participants, or all rows in a program of one process.
struct batch_share {
  devplace::participants participants{0, 1};
  std::size_t places = 1;  ///< participants of this process
  split::rule rule = split::even;

  /// The share of a batch of `rows`: rows [begin, end).
  constexpr std::size_t begin(std::size_t rows) const {
    return split_begin(rule, rows, participants.count, participants.first);
  }
  constexpr std::size_t end(std::size_t rows) const {
    return split_begin(rule, rows, participants.count, participants.first + places);
  }
  /// The largest share of batches of up to `rows` rows. Under torch's rule a smaller batch may give a place more rows
  /// than a larger one: the last of four places gets 2 of 8 rows, and none of 9 rows.
  constexpr std::size_t capacity(std::size_t rows) const {
    return std::min(rows, divided_up(rows, participants.count) * places);
  }
};

/// Integer types of features that are not scaled, such as tokens of a text; not uint8, which is the type of pixels.
template <class T>
concept numbering_element = std::integral<T> && !std::same_as<T, std::uint8_t>;

/// Computes `(x * scale - mean) / standard_deviation` of features of type From as elements of type T.
template <element From, element T> class feature_scale {
 public:
  explicit feature_scale(const loader_options& options)
      : factor_(static_cast<T>(options.scale.value_or(1) / options.standard_deviation)),
        offset_(static_cast<T>(-options.mean / options.standard_deviation)) {}

  void operator()(T* to, const From* from, std::size_t count) const {
    const T factor = factor_, offset = offset_;
    if (factor == T{1} && offset == T{0}) {
      std::copy_n(from, count, to);  // keeps every bit, also the sign of -0
      return;
    }
    for (std::size_t i = 0; i < count; ++i) to[i] = static_cast<T>(from[i]) * factor + offset;
  }

 private:
  T factor_, offset_;
};

/// Scales uint8 features, with the same bits as scale_bytes_into on any place. The default is x / 255, correctly
/// rounded, as in torchvision's ToTensor.
template <floating_element T> class feature_scale<std::uint8_t, T> {
 public:
  explicit feature_scale(const loader_options& options)
      : scale_(options.scale, options.mean, options.standard_deviation) {}

  void operator()(T* to, const std::uint8_t* from, std::size_t count) const {
    scale_byte_range(to, from, count, scale_);
  }

  const byte_scale<T>& bytes() const { return scale_; }

 private:
  byte_scale<T> scale_;
};

template <numbering_element T> class feature_scale<T, T> {
 public:
  explicit feature_scale(const loader_options& options) {
    if (options.scale.value_or(1) != 1 || options.mean != 0 || options.standard_deviation != 1)
      throw argument_error(
          "loader: the features are integers, which are not scaled; leave out the options scale, mean and "
          "standard_deviation, or convert the features with cast<float>(x) first.");
  }

  void operator()(T* to, const T* from, std::size_t count) const { std::copy_n(from, count, to); }
};

}  // namespace devplace::detail
