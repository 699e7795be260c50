// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include <devplace/base/error.hpp>
#include <devplace/config.hpp>
#include <devplace/place/mesh.hpp>

namespace devplace {

namespace detail {

template <std::size_t Count> struct dynamic_extents {
  std::size_t values[Count]{};
};
template <> struct dynamic_extents<0> {};

// Functions outside of the template build messages, to keep the code instantiated per extents type small.

/// Sizes of axes as `1797x8x8` (`scalar` for no axes), for messages and printing.
template <class Size> [[DEVPLACE_FOR_SIZE]] std::string sizes_text(std::span<const Size> sizes) {
  std::string text;
  for (const Size size : sizes) text = joined({text, text.empty() ? "" : "x", size});
  return text.empty() ? "scalar" : text;
}
DEVPLACE_COMPILED(std::string sizes_text<std::size_t>(std::span<const std::size_t>))
inline std::string sizes_text(std::span<const std::size_t> sizes) { return sizes_text<std::size_t>(sizes); }

DEVPLACE_COMPILABLE([[noreturn]]) void throw_static_extent(std::size_t axis, std::size_t extent, std::size_t value) {
  throw shape_error({"axis ", axis, " has the static extent ", extent, ", and ", value,
                     " was given; use dyn for an extent that varies."});
}
DEVPLACE_COMPILED(void throw_static_extent(std::size_t, std::size_t, std::size_t))

DEVPLACE_COMPILABLE([[noreturn]]) void throw_too_many_elements(std::span<const std::size_t> sizes) {
  throw shape_error({"extents ", sizes_text(sizes),
                     " have more elements than a machine can address; look for a negative number or an overflow "
                     "in the computation of the extents."});
}
DEVPLACE_COMPILED(void throw_too_many_elements(std::span<const std::size_t>))

/// Whether an array of these sizes can be addressed, with elements of up to 8 bytes. There are at most 2^b elements,
/// where b is the sum of the sizes' bit widths, so neither their number nor a size in bytes overflows. A negative
/// number as one size is refused also if another size is 0.
constexpr bool addressable(std::span<const std::size_t> sizes) {
  int bits = 0;
  bool empty = false;
  for (const std::size_t size : sizes) {
    if (size > std::size_t{1} << 59) return false;
    if (size == 0)
      empty = true;
    else
      bits += static_cast<int>(std::bit_width(size - 1));
  }
  return empty || bits < 60;
}
/// Names the array, because with -D_GLIBCXX_DEBUG a span's constructor compares its address with null, which g++ 12
/// refuses in a constant expression if the array is a temporary.
template <std::size_t... E> consteval bool addressable_if_static() {
  const std::size_t sizes[] = {(E == dyn ? std::size_t{1} : E)..., std::size_t{1}};
  return addressable(sizes);
}

}  // namespace detail

/// The sizes of a tensor's axes, slowest first, each static or `dyn`: `extents<dyn, 28, 28>`. Static extents need no
/// storage. `extents<>` is a scalar.
template <std::size_t... E> class extents {
  static_assert(detail::addressable_if_static<E...>(),
                "devplace: extents: an array of this shape has more elements than a machine can address; look for an "
                "overflow in the computation of the extents.");

 public:
  /// Number of axes.
  static constexpr std::size_t rank = sizeof...(E);
  /// Number of axes whose extents are known only at run time.
  static constexpr std::size_t dynamic_count = (std::size_t{0} + ... + (E == dyn ? 1 : 0));
  /// Whether all extents are static.
  static constexpr bool is_static = dynamic_count == 0;

  /// Every dynamic extent is 0.
  constexpr extents() = default;

  /// Takes the dynamic extents in order, or all extents in order. Throws shape_error if a static extent differs, and
  /// for more elements than a machine can address.
  template <class... Size>
    requires((std::is_convertible_v<Size, std::size_t> && ...) && sizeof...(Size) > 0)
  constexpr explicit extents(Size... sizes) {
    constexpr bool integers = !(std::is_floating_point_v<Size> || ...),
                   one_per_axis = sizeof...(Size) == dynamic_count || sizeof...(Size) == rank;
    static_assert(integers, "devplace: extents: a size has a fraction; round it to an integer first.");
    static_assert(one_per_axis, "devplace: extents: give one size for each axis, or for each dyn.");
    if constexpr (integers && one_per_axis) {
      if constexpr (sizeof...(Size) == dynamic_count) {
        dynamic_ = {{static_cast<std::size_t>(sizes)...}};
      } else {
        std::size_t axis = 0;
        (set(axis++, static_cast<std::size_t>(sizes)), ...);
      }
      if constexpr (dynamic_count > 0) {
        std::size_t all[rank];
        for (std::size_t axis = 0; axis != rank; ++axis) all[axis] = extent(axis);
        if (!detail::addressable(all)) detail::throw_too_many_elements(all);
      }
    }
  }

  /// Converts extents of the same rank; throws shape_error if a static extent differs.
  template <std::size_t... Other>
    requires(sizeof...(Other) == rank && ((Other == E || Other == dyn || E == dyn) && ...))
  constexpr explicit((... || (Other == dyn && E != dyn))) extents(const extents<Other...>& other) {
    for (std::size_t axis = 0; axis != rank; ++axis) set(axis, other.extent(axis));
  }

  /// The static size of an axis, or `dyn`.
  static constexpr std::size_t static_extent(std::size_t axis) { return statics[axis]; }

  /// The size of an axis.
  DEVPLACE_HD constexpr std::size_t extent(std::size_t axis) const {
    std::size_t value = 0, index = 0, dynamic = 0;
    ((value = index == axis ? (E == dyn ? dynamic_value(dynamic) : E) : value, dynamic += E == dyn ? 1u : 0u, ++index),
     ...);
    return value;
  }

  /// Number of elements: the product of all extents, 1 for a scalar.
  DEVPLACE_HD constexpr std::size_t size() const {
    std::size_t product = 1;
    for (std::size_t axis = 0; axis != rank; ++axis) product *= extent(axis);
    return product;
  }

  /// Number of elements between neighbours along an axis in row-major order.
  DEVPLACE_HD constexpr std::size_t stride(std::size_t axis) const {
    std::size_t product = 1;
    for (std::size_t next = axis + 1; next < rank; ++next) product *= extent(next);
    return product;
  }

  /// Compares ranks and sizes, static or not.
  template <std::size_t... Other> friend constexpr bool operator==(const extents& a, const extents<Other...>& b) {
    bool equal = sizeof...(Other) == rank;
    for (std::size_t axis = 0; axis != rank; ++axis) equal = equal && a.extent(axis) == b.extent(axis);
    return equal;
  }

 private:
  static constexpr std::array<std::size_t, rank + 1> statics{E..., 0};  // no array of size 0

  DEVPLACE_HD constexpr std::size_t dynamic_value([[maybe_unused]] std::size_t index) const {
    if constexpr (dynamic_count > 0)
      return dynamic_.values[index];
    else
      return 0;
  }

  constexpr void set(std::size_t axis, std::size_t value) {
    if (statics[axis] != dyn) {
      if (statics[axis] != value) detail::throw_static_extent(axis, statics[axis], value);
      return;
    }
    if constexpr (dynamic_count > 0) {
      std::size_t index = 0;
      for (std::size_t before = 0; before < axis; ++before) index += statics[before] == dyn ? 1u : 0u;
      dynamic_.values[index] = value;
    }
  }

  [[no_unique_address]] detail::dynamic_extents<dynamic_count> dynamic_{};
};

namespace detail {

template <class E> inline constexpr bool is_extents = false;
template <std::size_t... E> inline constexpr bool is_extents<extents<E...>> = true;

template <std::size_t First, class E> struct prepend;
template <std::size_t First, std::size_t... Rest>
struct prepend<First, extents<Rest...>> : std::type_identity<extents<First, Rest...>> {};
/// Extents with an additional first axis: a batch of samples.
template <std::size_t First, class E> using prepend_t = typename prepend<First, E>::type;

/// The extents, with `Size` (a number or dyn) for axis `Axis`.
template <class Extents, std::size_t Axis, std::size_t Size, class = std::make_index_sequence<Extents::rank>>
struct with_axis;
template <std::size_t... E, std::size_t Axis, std::size_t Size, std::size_t... Axes>
struct with_axis<extents<E...>, Axis, Size, std::index_sequence<Axes...>> {
  using type = extents<(Axes == Axis ? Size : E)...>;
  static constexpr type with(std::size_t size, const extents<E...>& e) {
    return type((Axes == Axis ? size : e.extent(Axes))...);
  }
};
/// The extents, with dyn for axis `Axis`: a batch of any size, or a part of a split axis.
template <class Extents, std::size_t Axis = 0> using with_dynamic_axis = with_axis<Extents, Axis, dyn>;

template <std::size_t... E> constexpr std::array<std::size_t, sizeof...(E)> sizes_of(const extents<E...>& e) {
  std::array<std::size_t, sizeof...(E)> sizes{};
  for (std::size_t axis = 0; axis != sizeof...(E); ++axis) sizes[axis] = e.extent(axis);
  return sizes;
}

template <std::size_t... E> std::string to_string(const extents<E...>& e) { return sizes_text(sizes_of(e)); }

/// Whether extents of two types can be equal; dynamic extents are compared at run time.
template <class A, class B> inline constexpr bool compatible = false;
template <std::size_t... A, std::size_t... B>
  requires(sizeof...(A) == sizeof...(B))
inline constexpr bool compatible<extents<A...>, extents<B...>> = ((A == B || A == dyn || B == dyn) && ...);

}  // namespace detail

/// Sizes of a tensor's axes.
template <class E>
concept extents_like = detail::is_extents<E>;

/// `Rank` dynamic extents.
template <std::size_t Rank> struct dynamic_rank : detail::prepend<dyn, typename dynamic_rank<Rank - 1>::type> {};
template <> struct dynamic_rank<0> : std::type_identity<extents<>> {};
/// Extents of `Rank` axes, all known only at run time.
template <std::size_t Rank> using dextents = typename dynamic_rank<Rank>::type;

/// `extents(3, n)`: the sizes of axes as run-time extents.
template <std::integral... Size> extents(Size...) -> extents<(static_cast<void>(sizeof(Size)), dyn)...>;

}  // namespace devplace
