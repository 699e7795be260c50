// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <span>
#include <type_traits>

#include <devplace/base/error.hpp>
#include <devplace/place/placement.hpp>
#include <devplace/tensor/detail/as_view.hpp>
#include <devplace/tensor/detail/rejected_operands.hpp>
#include <devplace/tensor/dtype.hpp>
#include <devplace/tensor/extents.hpp>
#include <devplace/tensor/tensor.hpp>

namespace devplace::detail {

/// How a value is distributed over places.
enum class form : unsigned char { nowhere, one_place, copies, parts, summands };

template <class Kind> inline constexpr form form_of_kind = form::copies;
template <std::size_t Axis> inline constexpr form form_of_kind<split_along<Axis>> = form::parts;
template <reduction Op> inline constexpr form form_of_kind<summands<Op>> = form::summands;

/// The form of a placement; one_place for the placement of a view.
template <class Where> inline constexpr form form_of = form::nowhere;
template <placement Where> inline constexpr form form_of<Where> = form_of_kind<typename placement_traits<Where>::kind>;
template <single_place P> inline constexpr form form_of<P> = form::one_place;
template <class Backend> inline constexpr form form_of<here<Backend>> = form::one_place;
template <class Local> struct form_across {
  static_assert(sizeof(Local) == 0,
                "devplace: this function works between the places of one process, and the tensor lies across "
                "processes; work on x.local(k), or let a communicator (parallel/communicator.hpp) do it.");
  static constexpr form value = form::nowhere;
};
template <class Local> inline constexpr form form_of<across<Local>> = form_across<Local>::value;

template <class X> inline constexpr form form_of_tensor = form_of<typename std::remove_cvref_t<X>::placement_type>;

/// The form of a function's argument; nowhere if it is neither tensor nor view.
template <class X> consteval form form_of_argument() {
  if constexpr (tensor_like<X>)
    return form_of_tensor<X>;
  else
    return form::nowhere;
}

/// Whether another assertion already rejects one of the arguments.
template <class... X>
inline constexpr bool rejected_before = ((is_declared_function<X> || rejection_of<X> != rejection::none) || ...);

template <class X> inline constexpr bool has_network = requires { typename X::network_type; };

[[noreturn]] inline void throw_copy_of_other_extents(std::span<const std::size_t> to,
                                                     std::span<const std::size_t> from) {
  throw shape_error("copy: the destination is " + sizes_text(to) + " and the source " + sizes_text(from) +
                    "; they must have the same extents.");
}

/// Whether the types allow copying one view to another. Returns `auto` to be instantiated at the call, so that the
/// compiler shows the user's line.
template <class To, class From> constexpr auto check_copy() {
  static_assert(!std::is_const_v<typename To::element_type>,
                "devplace: copy: the destination's elements are const; the destination is the first argument of copy, "
                "copy(to, from), and a tensor or view that may be changed; x.only_on(k) is one of several copies.");
  static_assert(std::is_same_v<typename To::value_type, typename From::value_type>,
                "devplace: copy: the element types differ; convert with cast<T>(x) on one place first.");
  static_assert(compatible<typename To::extents_type, typename From::extents_type>,
                "devplace: copy: the static extents of destination and source differ.");
  return !std::is_const_v<typename To::element_type>;
}

/// Whether both arguments of copy() are tensors or views on one place.
template <class To, class From> constexpr auto check_ends_of_copy() {
  constexpr bool local = form_of_argument<To>() == form::one_place && form_of_argument<From>() == form::one_place,
                 taken = local || rejected_before<To, From>;
  static_assert(taken,
                "devplace: copy: give tensors or views on one place, the destination first; wrap(v, extents(n)) is a "
                "view of a vector, and of a tensor over several places there are x.local(k) to read, x.only_on(k) to "
                "write, and collectives.");
  return local;
}

/// Whether to<Where>() takes the value: a tensor or view on one place, and no other argument.
template <class Where, class From, std::size_t Others> constexpr auto check_to() {
  constexpr bool is_place = is_placement<Where>, no_type = !is_element<Where>,
                 names_place = !no_type || (is_place && Others == 0), one_place = !is_place || single_place<Where>;
  constexpr form from = is_place && one_place && Others == 0 ? form_of_argument<From>() : form::one_place;
  constexpr bool has_elements = from != form::nowhere || rejected_before<From>, no_copies = from != form::copies,
                 no_summands = from != form::summands, no_parts = from != form::parts;
  static_assert(no_type,
                "devplace: to: an element type is not a place; tensor y = cast<double>(x) converts elements, and "
                "to<cuda<0>>(x) moves them.");
  static_assert(names_place,
                "devplace: to: name the place in angle brackets, as in to<cuda<0>>(x), and give it one tensor, view or "
                "model.");
  static_assert(one_place,
                "devplace: to: the result lies on one place; broadcast<replicated<0, 1>>(x) makes copies on several, "
                "and scatter<sharded<axis<0>, 0, 1>>(x) parts.");
  static_assert(has_elements,
                "devplace: to: the argument is not a tensor, view or model; wrap(v, extents(n)) makes a view of a "
                "vector, and tensor(e) computes an expression.");
  static_assert(no_copies, "devplace: to: every place has a copy; take one: to<cpu>(x.local(cuda<0>{})).");
  static_assert(no_summands,
                "devplace: to: the places have summands; reduce<cpu>(x) combines them there, all_reduce(x) on every "
                "place.");
  static_assert(no_parts, "devplace: to: the places have parts; gather<cpu>(x) puts them together there.");
  return is_place && names_place && one_place && from == form::one_place;
}

/// Throws shape_error unless the extents of two views are equal; checks their types too.
template <class To, class From> void require_copyable(const To& to, const From& from) {
  static_cast<void>(check_copy<To, From>());
  if (!(to.extents() == from.extents())) throw_copy_of_other_extents(sizes_of(to.extents()), sizes_of(from.extents()));
}

/// Whether item() takes the value: one element on one place.
template <class X> constexpr auto check_item() {
  constexpr form of = form_of_argument<X>();
  constexpr bool has_elements = of != form::nowhere || rejected_before<X>, no_copies = of != form::copies,
                 no_parts = of != form::parts, no_summands = of != form::summands, is_one = [] {
                   if constexpr (of == form::one_place)
                     return !X::extents_type::is_static || typename X::extents_type{}.size() == 1;
                   else
                     return true;
                 }();
  static_assert(has_elements,
                "devplace: item: the argument is not a tensor or view; compute an expression first, item(tensor(e)).");
  static_assert(no_copies, "devplace: item: every place has a copy; read one: item(x.local(cuda<0>{})).");
  static_assert(no_parts, "devplace: item: the places have parts; item(gather<cpu>(x)).");
  static_assert(no_summands, "devplace: item: the places have summands; item(reduce<cpu>(x)) reads their sum.");
  static_assert(is_one, "devplace: item: the tensor has more or fewer elements than one; index it or reduce it first.");
  return of == form::one_place && is_one;
}

}  // namespace devplace::detail
