// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>

#include <devplace/base/error.hpp>
#include <devplace/base/refusal.hpp>
#include <devplace/config.hpp>
#include <devplace/memory/block.hpp>
#include <devplace/place/placement.hpp>
#include <devplace/tensor/detail/as_view.hpp>
#include <devplace/tensor/detail/packed.hpp>
#include <devplace/tensor/dtype.hpp>
#include <devplace/tensor/evaluated.hpp>
#include <devplace/tensor/extents.hpp>
#include <devplace/tensor/tensor.hpp>

namespace devplace::detail {

template <class X> struct argument_kind : std::type_identity<on_one_place> {};
template <tensor_like X>
struct argument_kind<X> : std::type_identity<kind_in_process<typename std::remove_cvref_t<X>::placement_type>> {};
/// The kind of a function's argument; on_one_place if the argument is neither tensor nor view.
template <class X> using kind_of_argument = typename argument_kind<X>::type;

template <class X> inline constexpr bool is_on_one_place = tensor_like<X> && !kind_of_argument<X>::is_distributed;

/// Whether another assertion already rejects one of the arguments.
template <class... X>
inline constexpr bool rejected_before = ((is_declared_function<X> || rejection_of<X> != rejection::none) || ...);

DEVPLACE_COMPILABLE([[noreturn]])
void throw_copy_of_other_extents(std::span<const std::size_t> to, std::span<const std::size_t> from) {
  throw shape_error({"copy: the destination is ", sizes_text(to), " and the source ", sizes_text(from),
                     "; they must have the same extents."});
}
DEVPLACE_COMPILED(void throw_copy_of_other_extents(std::span<const std::size_t>, std::span<const std::size_t>))

/// Whether the types allow copying one view to another.
template <class To, class From> constexpr auto check_copy() {
  static_assert(
      !std::is_const_v<typename To::element_type>,
      "devplace: copy: the destination's elements are const; the destination is the first argument of copy(to, from), "
      "and must be a tensor or view that may be changed; x.only_on(k) is a writable view of one of several copies.");
  static_assert(std::is_same_v<typename To::value_type, typename From::value_type>,
                "devplace: copy: the element types differ; convert with cast<T>(x) on one place first.");
  static_assert(compatible<typename To::extents_type, typename From::extents_type>,
                "devplace: copy: the static extents of destination and source differ.");
  return !std::is_const_v<typename To::element_type>;
}

template <class To, class From> constexpr auto check_ends_of_copy() {
  constexpr bool local = is_on_one_place<To> && is_on_one_place<From>, taken = local || rejected_before<To, From>;
  static_assert(taken,
                "devplace: copy: give tensors or views on one place, the destination first; wrap(v, extents(n)) is a "
                "view of a vector; for a tensor over several places use x.local(k) to read, x.only_on(k) to write, or "
                "a collective.");
  return local;
}

/// Whether to<Where>() takes the value: a tensor or view on one place, and no other argument.
template <class Where, class From, std::size_t Others> constexpr auto check_to() {
  constexpr bool is_place = is_placement<Where>, no_type = !is_element<Where>,
                 names_place = !no_type || (is_place && Others == 0), one_place = !is_place || single_place<Where>;
  using kind =
      typename std::conditional_t<is_place && one_place && Others == 0, argument_kind<From>, argument_kind<void>>::type;
  constexpr bool has_elements = tensor_like<From> || !names_place || !one_place || !is_place || rejected_before<From>,
                 no_copies = !kind::is_copies, no_summands = !kind::is_summands, no_parts = !kind::is_split;
  static_assert(no_type,
                "devplace: to: an element type is not a place; tensor y = cast<double>(x) converts elements, and "
                "to<cuda<0>>(x) moves them.");
  static_assert(names_place,
                "devplace: to: name the place in angle brackets, as in to<cuda<0>>(x), and give it one tensor, view or "
                "model.");
  static_assert(one_place,
                "devplace: to: the result lies on one place; broadcast<replicated<0, 1>>(x) makes copies on several "
                "places, and scatter<sharded<axis<0>, 0, 1>>(x) splits x over several places.");
  static_assert(has_elements,
                "devplace: to: the argument is not a tensor, view, expression or model; wrap(v, extents(n)) makes a "
                "view of a vector.");
  static_assert(no_copies, "devplace: to: every place has a copy; take one: to<cpu>(x.local(cuda<0>{})).");
  static_assert(no_summands,
                "devplace: to: the places have summands; reduce<cpu>(x) combines them on the cpu, all_reduce(x) on "
                "every place.");
  static_assert(no_parts, "devplace: to: the places have parts; gather<cpu>(x) puts them together on the cpu.");
  return is_place && names_place && one_place && is_on_one_place<From>;
}

/// Throws shape_error unless the extents of two views are equal; checks their types too.
template <class To, class From> void require_copyable(const To& to, const From& from) {
  static_cast<void>(check_copy<To, From>());
  if (!(to.extents() == from.extents())) throw_copy_of_other_extents(sizes_of(to.extents()), sizes_of(from.extents()));
}

/// Whether item() takes the value: one element on one place.
template <class X> constexpr auto check_item() {
  using kind = kind_of_argument<X>;
  constexpr bool has_elements = tensor_like<X> || rejected_before<X>, no_copies = !kind::is_copies,
                 no_parts = !kind::is_split, no_summands = !kind::is_summands;
  constexpr bool is_one = !requires {
    requires is_on_one_place<X> && X::extents_type::is_static && typename X::extents_type{}.size() != 1;
  };
  static_assert(has_elements,
                "devplace: item: the argument is not a tensor, view or expression; only these have elements.");
  static_assert(no_copies, "devplace: item: every place has a copy; read one: item(x.local(cuda<0>{})).");
  static_assert(no_parts, "devplace: item: the places have parts; item(gather<cpu>(x)).");
  static_assert(no_summands, "devplace: item: the places have summands; item(reduce<cpu>(x)) reads their sum.");
  static_assert(is_one, "devplace: item: the tensor has more or fewer elements than one; index it or reduce it first.");
  return is_on_one_place<X> && is_one;
}

}  // namespace devplace::detail

namespace devplace::inline DEVPLACE_CONFIGURATION {

/// Copies elements between tensors or views of the same element type and extents, within a place or across places.
/// Within one place the ranges may overlap. On return the source may be changed and the host may read a CPU
/// destination. Different static extents do not compile; different run-time extents throw shape_error. A view with
/// strides that is copied across places goes through a row-major temporary on its own place.
template <class To, class From>
  requires(tensor_like<To> || tensor_like<From> || detail::rejected_pair<std::remove_cvref_t<To>, From>)
void copy(To&& destination, const From& source) {
  using to_type = std::remove_cvref_t<To>;
  if constexpr (detail::check_operands<to_type, From>() && detail::check_ends_of_copy<to_type, From>()) {
    const auto to = detail::as_any_view(destination);
    const auto from = detail::as_any_view(source);
    using to_view = std::remove_const_t<decltype(to)>;
    using from_view = std::remove_const_t<decltype(from)>;
    if constexpr (detail::check_copy<to_view, from_view>()) {
      detail::require_copyable(to, from);
      using to_backend = typename to_view::backend_type;
      using from_backend = typename from_view::backend_type;
      if constexpr (to_view::is_row_major && from_view::is_row_major) {
        detail::copy_bytes<to_backend, from_backend>(to.ordinal(), detail::raw_data(to), from.ordinal(),
                                                     detail::raw_data(from),
                                                     to.size() * sizeof(typename to_view::value_type));
      } else {
        if constexpr (std::is_same_v<to_backend, from_backend>)
          if (to.ordinal() == from.ordinal()) return assign(detail::computable(to), detail::computable(from));
        if (to_view::is_row_major || to.is_contiguous())
          return copy(detail::as_contiguous(to), detail::packed(from).view);
        if constexpr (!to_view::is_row_major) {
          const auto arrived = detail::packed_beside(to);
          copy(arrived.view, detail::packed(from).view);
          assign(detail::computable(to), detail::computable(arrived.view));
        }
      }
    }
  }
}

/// Returns a tensor with the elements of `source` on placement `Where`. No other conversion changes the place.
/// Evaluates an expression on its own place. Moves a temporary that is already on `Where`, copies everything else. The
/// copy is complete when the call returns. Collectives (parallel/) distribute and collect tensors over several places.
template <class Where = void, class From, class... Other>
  requires(!detail::is_placement<Where> ||
           !requires { typename std::remove_cvref_t<From>::network_type; })  // see nn/to.hpp
auto to(From&& source, const Other&...) {
  using source_type = detail::evaluated_value_t<From>;
  if constexpr (detail::check_unnamed<From>() && detail::check_operands<source_type>() &&
                detail::check_to<Where, source_type, sizeof...(Other)>()) {
    using result_type = tensor<typename source_type::value_type, typename source_type::extents_type, Where>;
    if constexpr (std::is_same_v<detail::evaluated_t<From>, result_type>) {
      return evaluated(std::forward<From>(source));
    } else {
      result_type result(source.extents());
      copy(result, evaluated(source));
      return result;
    }
  } else {
    return detail::refusal{};
  }
}

/// Rejects a number in place of a placement.
template <int Ordinal, class From> detail::refusal to(const From&) {
  static_assert(detail::accepted<From>, "devplace: to: a number is not a place; write to<cuda<0>>(x).");
  return {};
}

}  // namespace devplace::inline DEVPLACE_CONFIGURATION

template <class Where> struct devplace::detail::mover {
  template <class From> DEVPLACE_CONFIGURED static auto move(From&& x) {
    return devplace::to<Where>(std::forward<From>(x));
  }
};
