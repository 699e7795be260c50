// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <concepts>
#include <cstddef>
#include <ostream>
#include <string>
#include <type_traits>

#include <devplace/base/joined.hpp>
#include <devplace/place/axis.hpp>
#include <devplace/place/kind.hpp>
#include <devplace/place/mesh.hpp>
#include <devplace/place/place.hpp>

namespace devplace {

/// A placement on one place: the place itself. `model<net, on<cpu>>` and `model<net, cpu>` are one type.
template <class Place> using on = Place;

/// A kind of processor with the ordinal erased, for layers and kernels: the ordinal is a run-time value.
template <class Backend> struct here {};

namespace detail {

/// The first type that is not void; void if all are.
template <class... T> struct first_not_void : std::type_identity<void> {};
template <class First, class... Rest> struct first_not_void<First, Rest...> : std::type_identity<First> {};
template <class... Rest> struct first_not_void<void, Rest...> : first_not_void<Rest...> {};

template <class... P> inline constexpr bool all_distinct = true;
template <class First, class... Rest>
inline constexpr bool all_distinct<First, Rest...> = (!std::same_as<First, Rest> && ...) && all_distinct<Rest...>;

template <class... P> struct checked_mesh {
  static_assert(sizeof...(P) > 0, "devplace: a placement needs at least one place, as in replicated<0, 1>.");
  static_assert(all_distinct<P...>,
                "devplace: this placement names one place twice; name each place once, as in replicated<0, 1, 2>.");
};

template <class Kind, class Mesh> struct kind_on_mesh {
  using kind = Kind;
  using mesh = Mesh;
};

}  // namespace detail

/// A full copy on each place.
template <place... P> struct replicated_on : private detail::checked_mesh<P...> {};

/// A full copy on each of these CUDA devices: `replicated<0, 1, 2>`.
template <int... I> using replicated = replicated_on<cuda<I>...>;

/// Split along an axis over the places, in their order: `sharded_on<axis<0>, cuda<0>, cuda<1>>`.
template <class Axis, place... P> struct sharded_on : private detail::checked_mesh<P...> {};

/// Split along an axis over these CUDA devices: `sharded<axis<0>, 0, 1>`.
template <class Axis, int... I> using sharded = sharded_on<Axis, cuda<I>...>;

/// Every place holds a summand. The value is the reduction `Op` of the summands; collectives compute the value.
template <reduction Op, place... P> struct partial_on : private detail::checked_mesh<P...> {};

/// Each of these CUDA devices holds a summand.
template <reduction Op, int... I> using partial = partial_on<Op, cuda<I>...>;

/// Each of several processes has `Local`, a placement on its own places: `across<on<cuda<0>>>`, `across<replicated<0,
/// 1>>`, and models in shares, `across<fully_sharded<0, 1>>`. The number of processes is known at run time only. `Axes`
/// says what the processes divide: the batch alone, or also the parameters of a model on one place of each process:
/// `across<cuda<0>, mesh<shares<dyn>>>`, or `across<cuda<0>, mesh<replicas<dyn>, shares<8>>>` in groups of 8
/// consecutive processes.
template <class Local, class Axes = mesh<replicas<dyn>>> struct across {};

/// The mesh of a placement in one process: its places, in order.
template <class... P> struct devices {
  /// Number of places.
  static constexpr std::size_t size = sizeof...(P);
};

/// The mesh of a placement across processes; each process has the places of `Local`.
template <class Local> struct processes_times {};

/// Properties of a placement, for generic code: `kind` and `mesh`.
template <class Where> struct placement_traits;

template <place P> struct placement_traits<P> : placement_traits<replicated_on<P>> {};
template <class... P> struct placement_traits<replicated_on<P...>> : detail::kind_on_mesh<copies, devices<P...>> {};
template <std::size_t Axis, class... P>
struct placement_traits<sharded_on<axis<Axis>, P...>> : detail::kind_on_mesh<split_along<Axis>, devices<P...>> {};
template <reduction Op, class... P>
struct placement_traits<partial_on<Op, P...>> : detail::kind_on_mesh<summands<Op>, devices<P...>> {};
template <class Local, class Axes> struct placement_traits<across<Local, Axes>> {
  static_assert(sizeof(Local) == 0,
                "devplace: across: so far the processes divide the batch, across<Local>, or the parameters of a model "
                "on one place of each process: across<cuda<0>, mesh<shares<dyn>>>, or in groups of 8 processes "
                "across<cuda<0>, mesh<replicas<dyn>, shares<8>>>.");
};
template <class Local>
struct placement_traits<across<Local>> : detail::kind_on_mesh<typename placement_traits<Local>::kind,
                                                              processes_times<typename placement_traits<Local>::mesh>> {
};
template <class P> struct placement_traits<across<replicated_on<P>>> {
  static_assert(sizeof(P) == 0, "devplace: write across<on<P>> for a copy on one place of each process.");
};
template <class Local> struct placement_traits<across<across<Local>>> {
  static_assert(sizeof(Local) == 0, "devplace: across<Local> takes a placement in one process; write across once.");
};

/// How a value is distributed over places: `on<P>`, `replicated<0, 1>`, `sharded<axis<0>, 0, 1>`,
/// `partial<reduction::sum, 0, 1>`.
template <class Where>
concept placement = requires {
  typename placement_traits<Where>::kind;
  typename placement_traits<Where>::mesh;
};

/// Whether each place of a model's placement stores a share of the parameters.
template <class Where>
concept stores_shares = placement<Where> && placement_traits<Where>::kind::is_shares;

/// Whether each place of a model's placement has all parameters.
template <class Where>
concept stores_all = placement<Where> && !placement_traits<Where>::kind::is_shares;

/// A placement on one place.
template <class Where>
concept single_place = placement<Where> && place<Where>;

namespace detail {

#define DEVPLACE_DETAIL_NOT_IN_OWN_MEMORY                                                                         \
  "devplace: shared_memory is one memory of several processes, and is combined neither with other places nor by " \
  "across; write on<shared_memory>, or name places with memory of their own, as in replicated<0, 1>, across<on<cpu>>."

/// Properties of a mesh: its places in this process, and whether it has places in other processes.
template <class Mesh> struct mesh_traits;
template <class First, class... Rest> struct mesh_traits<devices<First, Rest...>> {
  using local = devices<First, Rest...>;
  using primary = First;
  using backend_type = backend_of_t<First>;
  static constexpr bool spans_processes = false;
  static constexpr bool one_backend = (std::same_as<backend_type, backend_of_t<Rest>> && ...);
  static constexpr bool in_own_memory =
      sizeof...(Rest) == 0 || !(std::same_as<First, shared_memory> || ... || std::same_as<Rest, shared_memory>);
  static constexpr int ordinals[1 + sizeof...(Rest)] = {place_traits<First>::ordinal, place_traits<Rest>::ordinal...};
};
template <class Local> struct mesh_traits<processes_times<Local>> : mesh_traits<Local> {
  static constexpr bool spans_processes = true;
  static constexpr bool in_own_memory =
      mesh_traits<Local>::in_own_memory && !std::same_as<typename mesh_traits<Local>::primary, shared_memory>;
};
template <class Where> using mesh_of = mesh_traits<typename placement_traits<Where>::mesh>;

/// The placement of a kind on a mesh.
template <class... P> replicated_on<P...> placement_on(copies, devices<P...>);
template <std::size_t Axis, class... P> sharded_on<axis<Axis>, P...> placement_on(split_along<Axis>, devices<P...>);
template <reduction Op, class... P> partial_on<Op, P...> placement_on(summands<Op>, devices<P...>);
template <class Kind, class Mesh>
auto placement_on(Kind kind, processes_times<Mesh>) -> across<decltype(placement_on(kind, Mesh{}))>;
template <class P> across<P> placement_on(copies, processes_times<devices<P>>);
/// The placement of kind `Kind` on the places of `Where`.
template <class Where, class Kind>
using with_kind_t = decltype(placement_on(Kind{}, typename placement_traits<Where>::mesh{}));

template <class X> struct kind_lookup : std::type_identity<on_one_place> {};
template <placement Where>
  requires(!single_place<Where>)
struct kind_lookup<Where> : std::type_identity<typename placement_traits<Where>::kind> {};
/// The kind of an operand's placement: on_one_place for one place, for here<...>, and for void, which stands for a
/// number.
template <class X> using kind_of = typename kind_lookup<X>::type;

template <class Where> struct kind_lookup_in_process : kind_lookup<Where> {};
template <class Local, class Axes> struct kind_lookup_in_process<across<Local, Axes>> {
  static_assert(sizeof(Local) == 0,
                "devplace: this function works between the places of one process, and the tensor lies across "
                "processes; work on x.local(k), or let a communicator (parallel/communicator.hpp) do it.");
  using type = on_one_place;
};
/// kind_of for functions that work between the places of one process; `across<...>` does not compile.
template <class X> using kind_in_process = typename kind_lookup_in_process<X>::type;

/// The kind of the batches of a model on several places; `Kind` is the kind of the model's placement.
template <class Kind> struct batch_kind : std::type_identity<split_along<0>> {};
template <class Where> using batch_kind_t = typename batch_kind<typename placement_traits<Where>::kind>::type;

/// Position of `P` in a mesh; the mesh's size if the mesh does not contain `P`.
template <class P, class Mesh> inline constexpr std::size_t position_in = 0;
template <class P, class First, class... Rest>
inline constexpr std::size_t position_in<P, devices<First, Rest...>> =
    std::is_same_v<P, First> ? 0 : 1 + position_in<P, devices<Rest...>>;

template <class... P> std::string mesh_name(devices<P...>) {
  std::string names;
  (names.append(names.empty() ? "" : ", ").append(devplace::place_name<P>()), ...);
  return names;
}

template <class Where> std::string placement_name(Where) {
  if constexpr (place<Where>)
    return mesh_name(typename placement_traits<Where>::mesh{});
  else
    return joined({kind_name(typename placement_traits<Where>::kind{}),
                   mesh_name(typename placement_traits<Where>::mesh{}), ">"});
}
template <class Local, class Axes> std::string placement_name(across<Local, Axes>) {
  const std::string local = placement_name(Local{});
  if constexpr (std::same_as<across<Local, Axes>, across<Local>>)
    return joined({"across<", local, ">"});
  else
    return joined({"across<", local, ", ", mesh_text(typename placement_traits<across<Local, Axes>>::kind{}), ">"});
}

}  // namespace detail

/// The first place of a placement: where results are gathered and where `scatter_gather` reduces.
template <placement Where> using primary_place_t = typename detail::mesh_of<Where>::primary;

/// Number of places of a placement in this process.
template <placement Where> inline constexpr std::size_t local_place_count = detail::mesh_of<Where>::local::size;

/// Whether a placement has places in several processes, so that the number of its participants is known at run time.
template <placement Where> inline constexpr bool spans_processes = detail::mesh_of<Where>::spans_processes;

/// Number of participants of a placement, that is of its places in all processes. A constant in one process; for
/// `across<Local>`, a function of the number of processes.
///@{
template <placement Where>
  requires(!spans_processes<Where>)
constexpr std::size_t participant_count() {
  return local_place_count<Where>;
}
template <placement Where>
  requires spans_processes<Where>
constexpr std::size_t participant_count(std::size_t processes) {
  return processes * local_place_count<Where>;
}
///@}

/// This process's participants of a placement: consecutive ranks from `first`, one per place, of `count` ranks in
/// total. Ranks are ordered by process, and within a process by the placement's places.
struct participants {
  std::size_t first;  ///< rank of this process's first participant
  std::size_t count;  ///< number of participants of all processes
  /// Whether ranks and counts are equal.
  friend constexpr bool operator==(const participants&, const participants&) = default;
};

/// The backend of all places of a placement.
template <placement Where> using placement_backend_t = typename detail::mesh_of<Where>::backend_type;

/// Whether a tensor, view, model or predictor, `X` or a reference to it, has elements on place `P` of this process:
/// `is_on<decltype(model), cuda<0>>`. An `X` on several places is on each of these places.
template <class X, place P>
inline constexpr bool is_on =
    detail::position_in<P, typename detail::mesh_of<typename std::remove_cvref_t<X>::placement_type>::local> <
    local_place_count<typename std::remove_cvref_t<X>::placement_type>;

/// Whether the host can access elements: true for one place whose memory the host can access.
///@{
template <class Where> inline constexpr bool host_accessible = false;
template <place P> inline constexpr bool host_accessible<P> = place_traits<P>::host_accessible;
///@}

/// The placement of a batch for a model on `Where`, and of a `loader<Where>`'s batches: `Where` itself if it is one
/// place, otherwise split along axis 0 over its places, or along the axis of a model in parts. `on<cpu>` for a model in
/// shared memory, where only parameters are shared.
template <placement Where>
using batch_placement_t = std::conditional_t<
    std::is_same_v<Where, shared_memory>, cpu,
    std::conditional_t<single_place<Where>, Where, detail::with_kind_t<Where, detail::batch_kind_t<Where>>>>;

/// The placement of the gradients that a model on `Where` computes from a batch.
template <placement Where>
using gradient_placement_t =
    std::conditional_t<single_place<Where>, Where, detail::with_kind_t<Where, summands<reduction::sum>>>;

/// The placement's name: `cpu`, `cuda:1`, `replicated<cuda:0, cuda:1>`.
template <placement Where> std::string placement_name() { return detail::placement_name(Where{}); }

/// Whether two placements are one type: `model.placement() == on<cuda<0>>{}`.
template <placement A, placement B> constexpr bool operator==(A, B) { return std::same_as<A, B>; }

/// Prints placement_name().
template <placement Where>
  requires(!place<Where>)
std::ostream& operator<<(std::ostream& out, Where) {
  return out << placement_name<Where>();
}

}  // namespace devplace
