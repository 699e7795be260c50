// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <type_traits>

#include <devplace/memory/block.hpp>
#include <devplace/place/detail/refusal.hpp>
#include <devplace/place/error.hpp>
#include <devplace/tensor/copy.hpp>
#include <devplace/tensor/tensor.hpp>

namespace devplace::detail {

/// Whether item() takes the value: one element on one place.
template <class X>
constexpr auto check_item() {
  constexpr form of = form_of_argument<X>();
  constexpr bool has_elements = of != form::nowhere || rejected_pair<X, X>, no_copies = of != form::copies,
                 no_parts = of != form::parts, no_summands = of != form::summands, is_one = [] {
                   if constexpr (of == form::one_place)
                     return !X::extents_type::is_static || typename X::extents_type{}.size() == 1;
                   else
                     return true;
                 }();
  static_assert(has_elements,
                "devplace: item: the argument is no tensor or view; compute an expression first, item(tensor(e)).");
  static_assert(no_copies, "devplace: item: every place has a copy; read one: item(x.local(cuda<0>{})).");
  static_assert(no_parts, "devplace: item: the places have parts; item(gather<cpu>(x)).");
  static_assert(no_summands, "devplace: item: the places have summands; item(reduce<cpu>(x)) reads their sum.");
  static_assert(is_one, "devplace: item: the tensor has more or fewer elements than one; index it or reduce it first.");
  return of == form::one_place && is_one;
}

}  // namespace devplace::detail

namespace devplace::inline DEVPLACE_CONFIGURATION {

/// The only element of a tensor or view, read by the host after all earlier work of its place. Static extents of more
/// or fewer elements do not compile; run-time extents throw shape_error. From a tensor over several places read one
/// copy, `item(x.local(cuda<0>{}))`, or the result of a collective on one place.
template <class X>
auto item(const X& x) {
  if constexpr (detail::check_operands<X>() && detail::check_item<X>()) {
    const auto source = detail::as_window(x);
    using source_type = std::remove_const_t<decltype(source)>;
    if (source.size() != 1)
      throw shape_error("item: a tensor of " + detail::to_string(source.extents()) +
                        " has more or fewer elements than one; index it or reduce it first.");
    typename source_type::value_type value{};
    detail::copy_out<typename source_type::backend_type>(source.ordinal(), &value, detail::raw_data(source),
                                                         sizeof value);
    return value;
  } else {
    return detail::refusal{};
  }
}

}  // namespace devplace::inline DEVPLACE_CONFIGURATION
