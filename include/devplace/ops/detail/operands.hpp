// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include <devplace/base/error.hpp>
#include <devplace/config.hpp>
#include <devplace/tensor/tensor.hpp>

namespace devplace::detail {

/// The view of an operand, which is a tensor or a view.
template <class X>
using operand_view_t = std::remove_const_t<decltype(as_any_view(std::declval<std::remove_reference_t<X>&>()))>;

template <class X> using operand_element_t = typename operand_view_t<X>::value_type;

template <class X> using operand_extents_t = typename operand_view_t<X>::extents_type;

/// The placement of an operand: `on<P>` or `here<Backend>`.
template <class X> using operand_placement_t = typename operand_view_t<X>::placement_type;

template <class X> using operand_backend_t = typename operand_view_t<X>::backend_type;

/// Whether two placements can denote one device: equal placements, or one backend and an ordinal stored at run time.
template <class A, class B>
inline constexpr bool can_be_one_device =
    std::is_same_v<A, B> || (std::is_same_v<typename device_of<A>::backend_type, typename device_of<B>::backend_type> &&
                             !(single_place<A> && single_place<B>));

/// Whether every operand can be on the first operand's device.
template <class First, class... Rest>
inline constexpr bool on_one_device = (can_be_one_device<operand_placement_t<First>, operand_placement_t<Rest>> && ...);

template <class X> inline constexpr bool writable = !std::is_const_v<typename operand_view_t<X>::element_type>;

template <class T, class E, class Where> struct result_on {
  static constexpr bool names_its_place = single_place<Where>;
  static_assert(
      names_its_place,
      "devplace: this operation makes a tensor, which needs a place in its type: name the place of a part, "
      "x.local(cuda<0>{}), or give the whole tensor; in layers use a form that writes to existing memory, such as "
      "sum_into.");
  using type = tensor<T, E, std::conditional_t<names_its_place, Where, cpu>>;
};

/// The type of a result with element type T and extents E, on operand X's place.
template <class X, class T, class E> using result_beside_t = typename result_on<T, E, operand_placement_t<X>>::type;

template <class X> using result_like_t = result_beside_t<X, operand_element_t<X>, operand_extents_t<X>>;

// Messages are built outside of templates, to keep the code instantiated per operand small.
DEVPLACE_COMPILABLE([[noreturn]]) void throw_other_devices(const char* operation) {
  throw argument_error(std::string(operation) +
                       ": the operands live on different devices; move them to one place with to<...> first.");
}
DEVPLACE_COMPILED(void throw_other_devices(const char*))
DEVPLACE_COMPILABLE([[noreturn]])
void throw_other_extents(const char* operation, const char* a_name, std::span<const std::size_t> a, const char* b_name,
                         std::span<const std::size_t> b) {
  throw shape_error({operation, ": ", a_name, " is ", sizes_text(a), " and ", b_name, " is ", sizes_text(b),
                     "; they must have the same extents."});
}
DEVPLACE_COMPILED(void throw_other_extents(const char*, const char*, std::span<const std::size_t>, const char*,
                                           std::span<const std::size_t>))

/// Throws unless all views are on one device; checks only what their types do not imply.
void require_one_device(const char* operation, const auto& first, const auto&... rest) {
  if (((rest.ordinal() != first.ordinal()) || ...)) throw_other_devices(operation);
}

void require_same_extents(const char* operation, const char* a_name, const auto& a, const char* b_name, const auto& b) {
  if (!(a.extents() == b.extents()))
    throw_other_extents(operation, a_name, sizes_of(a.extents()), b_name, sizes_of(b.extents()));
}

DEVPLACE_COMPILABLE([[noreturn]]) void throw_shared_elements(const char* operation) {
  throw argument_error({operation,
                        ": the result shares memory with the operand, which would be overwritten while it is read; "
                        "give it memory of its own."});
}
DEVPLACE_COMPILED(void throw_shared_elements(const char*))

/// Whether row-major views share elements.
bool share_elements(const auto& a, const auto& b) {
  return share_memory(raw_data(a), a.size() * sizeof(*raw_data(a)), raw_data(b), b.size() * sizeof(*raw_data(b)));
}

/// Throws argument_error if row-major views share elements, unless they are the same and `may_be_same`.
void require_apart(const char* operation, const auto& result, const auto& operand, bool may_be_same) {
  const void *const to = raw_data(result), *const from = raw_data(operand);
  if (may_be_same && to == from && sizeof(*raw_data(result)) == sizeof(*raw_data(operand))) return;
  if (share_elements(result, operand)) throw_shared_elements(operation);
}

/// Number of rows along the last axis, and their length.
struct row_shape {
  std::size_t rows;
  std::size_t columns;
};

/// An array of any rank above 0, seen as rows along its last axis.
template <extents_like E> constexpr auto rows_of(const E& extents) {
  static_assert(E::rank > 0, "devplace: this operation works along an axis; a scalar has none.");
  const std::size_t columns = extents.extent(E::rank - 1);
  std::size_t rows = 1;
  for (std::size_t axis = 0; axis != E::rank - 1; ++axis) rows *= extents.extent(axis);
  return row_shape{rows, columns};
}

/// Number of rows that justify a thread if an element costs `cost` times as much as a simple operation.
constexpr std::size_t row_grain(std::size_t columns, std::size_t cost) {
  const std::size_t grain = 32768 / (cost * (columns + 1));
  return grain == 0 ? 1 : grain;
}

}  // namespace devplace::detail
