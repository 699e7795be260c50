// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <string>
#include <type_traits>

#include <devplace/base/joined.hpp>
#include <devplace/place/axis.hpp>
#include <devplace/place/kind.hpp>
#include <devplace/place/place.hpp>
#include <devplace/place/placement.hpp>
#include <devplace/place/spread.hpp>

namespace devplace {

/// An axis of `Count` places that divide the activations of every sample along `Axis` of the batch, and hold copies of
/// the parameters.
template <std::size_t Count, class Axis> struct parts {};

/// Models whose activations are split along an axis of the batch over the places; each place has all parameters:
/// `in_parts_on<axis<2>, cuda<0>, cuda<1>>`. The axis is that of the batches' own placement, `sharded_on<axis<2>,
/// cuda<0>, cuda<1>>`.
template <class Axis, place... P> using in_parts_on = spread_on<mesh<parts<sizeof...(P), Axis>>, P...>;

/// Models whose activations are split along an axis over these CUDA devices: `in_parts<axis<2>, 0, 1>` splits the rows
/// of images [n, channels, rows, columns].
template <class Axis, int... I> using in_parts = in_parts_on<Axis, cuda<I>...>;

/// Kind of a model's placement: each of `Count` places has all parameters, and a part along `Axis` of the activations
/// of every sample.
template <std::size_t Count, std::size_t Axis> struct activations_along : detail::kind_properties {
  static constexpr bool is_whole = true;   ///< each place has all parameters
  static constexpr bool is_copies = true;  ///< the parameters of several places are copies
  static constexpr bool is_parts = true;   ///< distinguishes this kind
};

namespace detail {

/// Rejects other axes and a single place. A function, so that clang prints no further error. Returns true.
template <std::size_t Count, std::size_t Axis> consteval bool check_parts() {
  constexpr bool of_rows = Axis == 2, of_several = Count > 1;
  static_assert(of_rows,
                "devplace: in_parts: activations are split along the rows of images, axis 2 of a batch [n, channels, "
                "rows, columns]: in_parts<axis<2>, 0, 1>.");
  static_assert(of_several,
                "devplace: in_parts: at least two places share the rows of images; a model on one place is model<net, "
                "cuda<0>>.");
  return true;
}

template <std::size_t Count, std::size_t Axis> std::string kind_name(activations_along<Count, Axis>) {
  return joined({"in_parts<axis<", Axis, ">, "});
}
template <std::size_t Count, std::size_t Axis>
struct batch_kind<activations_along<Count, Axis>> : std::type_identity<split_along<Axis>> {};

}  // namespace detail

/// Whether the places of a model's placement have rows of its images.
template <class Where>
concept splits_rows = stores_all<Where> && placement_traits<Where>::kind::is_parts;

template <std::size_t Count, std::size_t Axis, class... P>
  requires(Count == sizeof...(P))
struct placement_traits<spread_on<mesh<parts<Count, axis<Axis>>>, P...>>
    : detail::kind_on_mesh<activations_along<Count, Axis>, devices<P...>> {
  static_assert(detail::check_parts<Count, Axis>());
};

template <std::size_t Count, class Axis, class... P>
struct placement_traits<across<spread_on<mesh<parts<Count, Axis>>, P...>>> {
  static_assert(sizeof(Axis) == 0,
                "devplace: in_parts: so far the places that split images are those of one process; name in_parts<...> "
                "without across.");
};

}  // namespace devplace
