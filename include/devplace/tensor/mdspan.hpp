// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <limits>
#include <span>
#include <type_traits>
#include <utility>

#include <devplace/base/error.hpp>
#include <devplace/base/refusal.hpp>
#include <devplace/memory/device_pointer.hpp>
#include <devplace/tensor/detail/as_view.hpp>
#include <devplace/tensor/view.hpp>

// Views of the elements of an mdspan, and mdspans of the elements of tensors and views. mdspans are known by their
// members, so that those of any library are taken: std::mdspan, cuda::std::mdspan, Kokkos' implementation.

namespace devplace {

/// An mdspan of any library.
template <class M>
concept mdspan_like = requires {
  typename std::remove_cvref_t<M>::mapping_type;
  typename std::remove_cvref_t<M>::accessor_type;
  typename std::remove_cvref_t<M>::data_handle_type;
};

/// The accessor of an mdspan whose elements are in memory that the host cannot reach. Kernels read and write the
/// elements; on the host an element does not compile. `P` is the place, so that wrap() need not be told.
template <class T, place P> struct device_accessor {
  /// Member types that std::mdspan requires of an accessor.
  ///@{
  using offset_policy = device_accessor;
  using element_type = T;
  using reference = T&;
  using data_handle_type = device_pointer<T>;
  ///@}

  constexpr device_accessor() = default;
  /// Adds const to the elements.
  template <class U>
    requires(!std::is_same_v<U, T> && std::is_same_v<const U, T>)
  DEVPLACE_HD constexpr device_accessor(const device_accessor<U, P>&) {}

  /// The element at an offset.
  DEVPLACE_HD constexpr T& access(data_handle_type data, std::size_t offset) const {
    DEVPLACE_DEVICE_ONLY(T,
                         "devplace: the host cannot reach the elements of this mdspan, which are in a device's memory; "
                         "pass it to a kernel, or copy the elements to the host, with to<cpu>(wrap(x)).");
    return data.get()[offset];
  }
  /// The address of the element at an offset.
  DEVPLACE_HD constexpr data_handle_type offset(data_handle_type data, std::size_t offset) const {
    return data + static_cast<std::ptrdiff_t>(offset);
  }
};

namespace detail {

/// The place of an accessor's elements if its type has one, otherwise void.
template <class Accessor> struct place_of_accessor : std::type_identity<void> {};
template <class T, place P> struct place_of_accessor<device_accessor<T, P>> : std::type_identity<P> {};

template <class E> struct mdspan_extents;
template <template <class, std::size_t...> class E, class Index, std::size_t... N>
struct mdspan_extents<E<Index, N...>> {
  using same = extents<N...>;
  template <std::size_t... Other> using with = E<std::size_t, Other...>;
};

/// The layout of a view of an mdspan's elements. Layouts of other libraries are known by the strides that they give an
/// array of 2x3x4...; a layout that depends on more than the extents has strides in the view, too.
template <class M, std::size_t... Axis> constexpr auto mdspan_layout(std::index_sequence<Axis...>) {
  using mapping = typename M::mapping_type;
  using sample = typename mdspan_extents<typename M::extents_type>::template with<(Axis + 2)...>;
  constexpr std::size_t rank = sizeof...(Axis);
  if constexpr (rank == 0) {
    return row_major{};
  } else if constexpr (mapping::is_always_strided() && mapping::is_always_exhaustive() &&
                       std::is_constructible_v<mapping, typename M::extents_type>) {
    using sample_mapping = typename M::layout_type::template mapping<sample>;
    constexpr std::size_t strides[] = {static_cast<std::size_t>(sample_mapping(sample()).stride(Axis))...};
    constexpr extents<(Axis + 2)...> e;
    if constexpr (((strides[Axis] == e.stride(Axis)) && ...))
      return row_major{};
    else if constexpr (rank == 2 && strides[0] == 1)
      return column_major{};
    else
      return strided{};
  } else {
    return strided{};
  }
}
template <class M> using mdspan_layout_t = decltype(mdspan_layout<M>(std::make_index_sequence<M::rank()>{}));

/// Whether wrap() takes this mdspan as elements on `Where`, or on the accessor's place if `Where` is void.
template <class Where, class M> constexpr bool check_wrapped_mdspan() {
  using T = typename M::element_type;
  using named = typename place_of_accessor<typename M::accessor_type>::type;
  constexpr bool elements = is_element<std::remove_const_t<T>>, has_strides = M::mapping_type::is_always_strided(),
                 direct = std::is_same_v<typename M::reference, T&> &&
                          (std::is_same_v<typename M::data_handle_type, T*> || !std::is_void_v<named>),
                 same_place = std::is_void_v<Where> || std::is_void_v<named> || std::is_same_v<Where, named>;
  static_assert(
      elements,
      "devplace: wrap(mdspan): the elements have a type that tensors do not have; tensors have float, double, "
      "std::int32_t, std::int64_t, std::uint8_t, bf16 and half.");
  static_assert(has_strides,
                "devplace: wrap(mdspan): the layout has no strides, which a view needs; copy the elements to an mdspan "
                "with layout_right, layout_left or layout_stride first.");
  static_assert(direct,
                "devplace: wrap(mdspan): the accessor computes the elements, and a view refers to them in memory; wrap "
                "an mdspan whose accessor has pointers and references, such as default_accessor.");
  static_assert(same_place,
                "devplace: wrap(mdspan): the mdspan's accessor names another place; leave the place out, as in "
                "wrap(mdspan).");
  return elements && has_strides && direct && same_place;
}

template <class To, class X> constexpr bool check_as_mdspan() {
  constexpr bool target = mdspan_like<To>,
                 elements = is_view<std::remove_cvref_t<X>> || is_tensor<std::remove_cvref_t<X>>;
  static_assert(target,
                "devplace: as_mdspan<M>(x): name the type of an mdspan, such as std::mdspan<float, "
                "std::dextents<std::size_t, 2>>.");
  static_assert(elements,
                "devplace: as_mdspan: give a tensor or view; the type before the parentheses is that of the mdspan.");
  if constexpr (target && elements) {
    using from = std::remove_cvref_t<X>;
    constexpr bool one_place = place<typename from::placement_type>, kept = !is_tensor<std::remove_const_t<X>>;
    static_assert(one_place,
                  "devplace: as_mdspan: give a tensor or view on one place; of a tensor over several places, give the "
                  "part on one of them, as in as_mdspan<M>(x.local(k)).");
    static_assert(kept,
                  "devplace: as_mdspan: a temporary tensor would be gone before the mdspan; give it a name first.");
    if constexpr (one_place && kept) {
      using window = decltype(as_any_view(std::declval<X>()));
      using T = typename To::element_type;
      using U = typename window::element_type;
      using layout = mdspan_layout_t<To>;
      constexpr bool same = std::is_same_v<std::remove_const_t<T>, std::remove_const_t<U>>,
                     written = std::is_const_v<T> || !std::is_const_v<U>, same_rank = To::rank() == window::rank;
      constexpr bool fits =
          !same_rank ||
          compatible<typename mdspan_extents<typename To::extents_type>::same, typename window::extents_type>;
      constexpr bool ordered =
          !same_rank || (To::mapping_type::is_always_strided() &&
                         (window::rank < 2 || window::is_strided || std::is_same_v<layout, strided> ||
                          std::is_same_v<layout, typename window::layout_type>));
      constexpr bool direct =
          std::is_same_v<typename To::data_handle_type, T*> ||
          std::is_same_v<typename To::accessor_type, device_accessor<T, typename from::placement_type>>;
      static_assert(same, "devplace: as_mdspan: the mdspan has elements of another type; cast<T>(x) makes a copy.");
      static_assert(written,
                    "devplace: as_mdspan: the elements are const, and those of the mdspan are not; name an mdspan of "
                    "const elements, such as std::mdspan<const float, E>.");
      static_assert(same_rank, "devplace: as_mdspan: the mdspan has another number of axes.");
      static_assert(fits, "devplace: as_mdspan: the static extents of the mdspan differ from those of the elements.");
      static_assert(
          ordered,
          "devplace: as_mdspan: the elements are in another order than the mdspan's layout; name layout_right "
          "for a tensor, layout_left for a transposed matrix, and layout_stride for any view.");
      static_assert(direct,
                    "devplace: as_mdspan: the mdspan's accessor does not take an address; name an mdspan with the "
                    "default accessor. For a device's memory the result has device_accessor in its place.");
      return same && written && same_rank && fits && ordered && direct;
    }
  }
  return false;
}

/// The mdspan with device_accessor if the host cannot reach the place.
template <class M, class P, bool Reachable> struct mdspan_on : std::type_identity<M> {};
template <template <class, class, class, class> class Mdspan, class T, class E, class L, class A, class P>
struct mdspan_on<Mdspan<T, E, L, A>, P, false> : std::type_identity<Mdspan<T, E, L, device_accessor<T, P>>> {};

[[noreturn]] inline void throw_no_mapping(std::span<const std::size_t> extents, const char* why) {
  throw shape_error(
      {"as_mdspan: an array of ", sizes_text(extents), " cannot be an mdspan of this type, because ", why});
}

/// The mapping of a view's indices by an mdspan.
template <class Mapping, class View, std::size_t... Axis>
constexpr Mapping mapping_of(const View& x, std::index_sequence<Axis...>) {
  using index = typename Mapping::index_type;
  using extents_type = typename Mapping::extents_type;
  const auto sizes = sizes_of(x.extents());
  auto by = x.strides();
  static_cast<void>(typename mdspan_extents<extents_type>::same(x.extents()));  // throws for other static extents
  if (spanned(sizes, by).count > static_cast<std::size_t>(std::numeric_limits<index>::max()))
    throw_no_mapping(sizes, "its index type is too small; name an mdspan with std::size_t.");
  const extents_type e(static_cast<index>(sizes[Axis])...);
  if constexpr (requires(const Mapping& m) { Mapping(e, m.strides()); }) {
    for (std::size_t axis = 0; axis != View::rank; ++axis) {
      // No index distinguishes these strides, which mdspan does not allow.
      if (by[axis] <= 0 && (sizes[axis] == 1 || x.size() == 0)) by[axis] = 1;
      if (by[axis] <= 0)
        throw_no_mapping(sizes,
                         "a stride is not positive; copy the elements of a reversed or broadcast view first, "
                         "with to<cpu>(x).");
    }
    decltype(std::declval<const Mapping&>().strides()) strides{static_cast<index>(by[Axis])...};
    return Mapping(e, strides);
  } else {
    const Mapping result(e);
    for (std::size_t axis = 0; axis != View::rank; ++axis)
      if (sizes[axis] > 1 && x.size() != 0 && static_cast<std::ptrdiff_t>(result.stride(axis)) != by[axis])
        throw_no_mapping(sizes, "its layout has other strides than the elements; name layout_stride.");
    return result;
  }
}

}  // namespace detail

/// Returns a view of an mdspan's elements, with its static extents. Copies nothing. The view is row-major for
/// layout_right, column-major for a matrix of layout_left, and strided otherwise. The elements are on the cpu, unless a
/// place is named, as in `wrap<cuda<0>>(m)`, or the accessor names one (device_accessor).
template <class Where = void, mdspan_like M> constexpr auto wrap(const M& m) {
  if constexpr (detail::check_wrapped_mdspan<Where, M>()) {
    using T = typename M::element_type;
    using named = typename detail::place_of_accessor<typename M::accessor_type>::type;
    using where =
        std::conditional_t<!std::is_void_v<named>, named, std::conditional_t<std::is_void_v<Where>, on<cpu>, Where>>;
    using layout = detail::mdspan_layout_t<M>;
    using extents_type = typename detail::mdspan_extents<typename M::extents_type>::same;
    return [&]<std::size_t... Axis>(std::index_sequence<Axis...>) {
      using index = typename M::index_type;
      const extents_type e(dextents<M::rank()>(static_cast<std::size_t>(m.extent(Axis))...));
      // A layout of the program's own need not map the first index to the first element.
      T* data = std::to_address(m.data_handle());
      if (e.size() != 0) data += static_cast<std::ptrdiff_t>(m.mapping()((static_cast<void>(Axis), index{})...));
      if constexpr (std::is_same_v<layout, strided>)
        return view<T, extents_type, where, strided>(data, e, {static_cast<std::ptrdiff_t>(m.stride(Axis))...});
      else
        return view<T, extents_type, where, layout>(data, e);
    }(std::make_index_sequence<M::rank()>{});
  } else {
    return detail::refusal{};
  }
}

/// Returns an mdspan of the elements of a tensor or view on one place: `as_mdspan<std::mdspan<float,
/// std::dextents<std::size_t, 2>>>(x)`. Copies nothing; the memory must outlive the mdspan. If the host cannot reach
/// the place, the result has device_accessor in place of the named accessor. Throws shape_error if run-time extents or
/// strides do not fit the type: other static extents, an index type that is too small, strides that the layout does not
/// have, and for layout_stride strides that are negative or 0.
template <class M, class X> constexpr auto as_mdspan(X&& x) {
  if constexpr (detail::check_as_mdspan<M, X>()) {
    const auto from = detail::as_any_view(x);
    using window = std::remove_const_t<decltype(from)>;
    using where = typename window::placement_type;
    using result = typename detail::mdspan_on<M, where, host_accessible<where>>::type;
    return result(typename result::data_handle_type(from.data()),
                  detail::mapping_of<typename result::mapping_type>(from, std::make_index_sequence<window::rank>{}));
  } else {
    return detail::refusal{};
  }
}

}  // namespace devplace
