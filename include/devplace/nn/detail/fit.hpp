// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include <devplace/tensor/extents.hpp>

namespace devplace::nn {

/// A layer's position in a sequential or residual, in error messages.
template <std::size_t Index> struct position;
/// A branch of a sum_of or concat_of, in error messages.
template <std::size_t Index> struct branch;
/// The layers of a residual's projected_by, in error messages.
struct shortcut;
/// The path from the network to a layer within it, in error messages: `path<position<2>, branch<1>, position<0>>`.
template <class... Steps> struct path;
/// The extents that a layer takes, in error messages.
template <class Extents> struct expects;
/// The smallest extents that a layer takes, in error messages.
template <class Extents> struct at_least;
/// Extents that a layer takes and that the received samples would have after nn::flatten, in error messages.
template <class Extents> struct flattened;
/// The extents that the previous layer gives, in error messages.
template <class Extents> struct receives;
/// The extents that a branch gives, in error messages.
template <class Extents> struct gives;

namespace detail {

/// Rules for the outputs of branches: of sum_of, of concat_of, and of residual. A fault names the rule that is broken.
struct summands_of_one_size;
struct parts_of_one_size;
struct residual_of_one_size;

/// Faults with their paths; a plan holds its first fault. Either a layer does not take the previous layer's output, or
/// branches have outputs that do not fit each other.
///@{
template <class Path, class Layer, class Expects, class Receives> struct misfit;
template <class Path, class Rule, class First, class Other> struct unequal;
///@}
template <class First> inline constexpr bool layers_fit = std::is_void_v<First>;

/// Adds `Step` in front of a fault's path; void if there is no fault.
template <class Step, class Misfit> struct within : std::type_identity<void> {};
template <class Step, template <class...> class Kind, class... Steps, class... Details>
struct within<Step, Kind<path<Steps...>, Details...>> : std::type_identity<Kind<path<Step, Steps...>, Details...>> {};

/// Rejects a plan's first fault, `First`, which the error message names.
///@{
template <class First> struct check_layers {
  static constexpr bool fit = layers_fit<First>;
  static_assert(fit,
                "devplace: a layer does not take what the layer before it gives; `path`, `expects` and `receives` in "
                "this message name the layer (positions count from 0) and both sizes.");
};
template <class Path, class Layer, class Extents, class Received>
struct check_layers<misfit<Path, Layer, expects<flattened<Extents>>, Received>> {
  static constexpr bool fit = layers_fit<Path>;
  static_assert(fit,
                "devplace: a layer takes vectors and receives samples of several axes with as many elements; put "
                "nn::flatten in front of the layer, which `path` in this message names (positions count from 0).");
};
template <class Path, class... Gives> struct check_layers<unequal<Path, summands_of_one_size, Gives...>> {
  static constexpr bool fit = layers_fit<Path>;
  static_assert(fit,
                "devplace: sum_of adds its branches' outputs, so all must have the same extents; `path` and `gives` in "
                "this message name the sum_of, the extents of its first branch and those of another branch.");
};
template <class Path, class... Gives> struct check_layers<unequal<Path, parts_of_one_size, Gives...>> {
  static constexpr bool fit = layers_fit<Path>;
  static_assert(fit,
                "devplace: concat_of joins its branches' outputs along one axis, so all must have that axis and the "
                "same extents along the others; `path` and `gives` in this message name the concat_of, the extents of "
                "its first branch and those of another branch.");
};
template <class Path, class... Gives> struct check_layers<unequal<Path, residual_of_one_size, Gives...>> {
  static constexpr bool fit = layers_fit<Path>;
  static_assert(fit,
                "devplace: residual adds its layers' result to its input, so both must have the same extents; layers "
                "that bring the input to the result's extents stand first, in nn::projected_by<...>. `path` and "
                "`gives` in this message name the residual, the extents of its layers' result and those of its input "
                "or projection.");
};
///@}

/// Rejects `dyn` and negative numbers among the sizes of a layer. Returns true, so that its caller adds no error.
template <std::size_t... Sizes> consteval bool check_sizes() {
  static_assert(
      ((static_cast<std::ptrdiff_t>(Sizes) >= 0) && ...),
      "devplace: the extents of a sample and the sizes of layers are static numbers, not dyn and not negative; "
      "only the number of samples in a batch is dynamic. For samples of several sizes compile the network once "
      "for each: template <std::size_t Size> using net = sequential<input<3, Size, Size>, ...>.");
  return true;
}

/// The value of a std::ratio; -1, which layers reject, for another type.
template <class R> inline constexpr double number_of = -1;
template <class R>
  requires requires { R::num / R::den; }
inline constexpr double number_of<R> = static_cast<double>(R::num) / static_cast<double>(R::den);

/// Whether a template argument is a std::ratio of at least 0 and below 1.
template <class R> inline constexpr bool is_probability = number_of<R> >= 0 && number_of<R> < 1;

template <class Layer>
concept fixes_input = requires { typename Layer::input_extents; };

/// A layer that restricts the extents of its samples: `takes<In>::type` is In if In fits, otherwise a stand-in that
/// fits; `takes<In>::expected`, by default `type`, is for messages. `input_extents`, if any, apply to a network's first
/// layer.
template <class Layer, class In>
concept fixes_part = requires { typename Layer::template takes<In>; };

/// The input extents of a layer: `In` if they fit or are not restricted, else a stand-in.
template <class Layer, class In> struct taken_by : std::type_identity<In> {};
template <class Layer, class In>
  requires(fixes_input<Layer> && !fixes_part<Layer, In>)
struct taken_by<Layer, In> : std::type_identity<typename Layer::input_extents> {};
template <class Layer, class In>
  requires fixes_part<Layer, In>
struct taken_by<Layer, In> : Layer::template takes<In> {};
template <class Taken> struct expected_of : std::type_identity<typename Taken::type> {};
template <class Taken>
  requires requires { typename Taken::expected; }
struct expected_of<Taken> : std::type_identity<typename Taken::expected> {};

template <class Layer, class In>
inline constexpr bool takes_another = !std::is_same_v<typename taken_by<Layer, In>::type, In>;

/// The input extents of a layer for samples of `Rank` axes: `X` if they fit, else a stand-in.
template <class X, std::size_t Rank> struct samples_of_rank {
  template <std::size_t... Axis> static auto smallest(std::index_sequence<Axis...>) -> extents<(Axis * 0 + 1)...>;
  static constexpr bool fits = X::rank == Rank;
  using type = std::conditional_t<fits, X, decltype(smallest(std::make_index_sequence<Rank>{}))>;
  using expected = std::conditional_t<fits, X, at_least<type>>;
};

/// The input extents of a layer that works along a last axis of `Width` elements: `X` if its last axis has `Width`
/// elements, otherwise vectors of `Width` elements.
template <class X, std::size_t Width> struct last_axis {
  static constexpr bool fits = X::rank > 0 && X::static_extent(X::rank - 1) == Width;
  using type = std::conditional_t<fits, X, extents<Width>>;
  using expected = std::conditional_t<!fits && X{}.size() == Width, flattened<type>, type>;
  /// `type` with its last axis replaced.
  template <std::size_t Other> using with = typename devplace::detail::with_axis<type, type::rank - 1, Other>::type;
};

/// The input extents of a normalisation of channels: `X` if its first axis has `Channels` elements, with any further
/// axes, else a stand-in.
template <std::size_t Channels, class X> struct channels_fit : std::type_identity<extents<Channels>> {};
template <std::size_t Channels, std::size_t C, std::size_t... Positions>
struct channels_fit<Channels, extents<C, Positions...>> : std::type_identity<extents<Channels, Positions...>> {};

/// `X` followed by an axis of extent `Width`.
template <class X, std::size_t Width> struct with_axis_behind;
template <std::size_t... Extent, std::size_t Width>
struct with_axis_behind<extents<Extent...>, Width> : std::type_identity<extents<Extent..., Width>> {};

}  // namespace detail
}  // namespace devplace::nn
