// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

#include <devplace/place/kind.hpp>
#include <devplace/place/mesh.hpp>
#include <devplace/place/place.hpp>
#include <devplace/place/placement.hpp>

namespace devplace {

/// Models whose places are arranged in a mesh: `spread_on<mesh<shares<2>>, cuda<0>, cuda<1>>`.
template <class Mesh, place... P> struct spread_on : private detail::checked_mesh<P...> {};

/// Models on a mesh of these CUDA devices: `spread<mesh<shares<2>>, 0, 1>`.
template <class Mesh, int... I> using spread = spread_on<Mesh, cuda<I>...>;

/// Models of which each place stores a share of the parameters, gradients and optimizer state.
template <place... P> using fully_sharded_on = spread_on<mesh<shares<sizeof...(P)>>, P...>;

/// Models of which each of these CUDA devices stores a share: `fully_sharded<0, 1, 2>`.
template <int... I> using fully_sharded = fully_sharded_on<cuda<I>...>;

namespace detail {

/// Properties of a placement of models in shares: also the least bytes of a unit, and whether places keep its gathered
/// parameters until backward.
template <class Kind, class Mesh, std::size_t Bytes, gathered Kept> struct shares_on_mesh : kind_on_mesh<Kind, Mesh> {
  static constexpr std::size_t unit_bytes = Bytes;
  static constexpr bool keeps_units = Kept == gathered::kept;
};

}  // namespace detail

template <class Mesh, class... P> struct placement_traits<spread_on<Mesh, P...>> {
  static_assert(
      sizeof(Mesh) == 0,
      "devplace: spread: a mesh has the axis shares<Count> and, in front of it, possibly replicas<Count>; the "
      "product of the counts is the number of places: spread<mesh<shares<2>>, 0, 1>, spread<mesh<replicas<2>, "
      "shares<2>>, 0, 1, 2, 3>.");
};
template <std::size_t Count, std::size_t Bytes, gathered Kept, class... P>
  requires(Count == sizeof...(P))
struct placement_traits<spread_on<mesh<shares<Count, Bytes, Kept>>, P...>>
    : detail::shares_on_mesh<in_shares<1, Count>, devices<P...>, Bytes, Kept> {};
template <std::size_t Replicas, std::size_t Count, std::size_t Bytes, gathered Kept, class... P>
  requires(Replicas * Count == sizeof...(P))
struct placement_traits<spread_on<mesh<replicas<Replicas>, shares<Count, Bytes, Kept>>, P...>>
    : detail::shares_on_mesh<in_shares<Replicas, Count>, devices<P...>, Bytes, Kept> {};
template <place P, std::size_t Bytes, gathered Kept>
struct placement_traits<across<P, mesh<shares<dyn, Bytes, Kept>>>>
    : detail::shares_on_mesh<in_shares<1, dyn>, processes_times<devices<P>>, Bytes, Kept> {};
template <place P, std::size_t Replicas, std::size_t Count, std::size_t Bytes, gathered Kept>
  requires((Replicas == dyn) != (Count == dyn) && Replicas != 0 && Count != 0)
struct placement_traits<across<P, mesh<replicas<Replicas>, shares<Count, Bytes, Kept>>>>
    : detail::shares_on_mesh<in_shares<Replicas, Count>, processes_times<devices<P>>, Bytes, Kept> {};
template <class Mesh, class... P>
struct placement_traits<across<spread_on<Mesh, P...>>> : placement_traits<spread_on<Mesh, P...>> {
  using mesh = processes_times<devices<P...>>;
};

}  // namespace devplace
