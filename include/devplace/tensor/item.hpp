// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <type_traits>

#include <devplace/memory/block.hpp>
#include <devplace/place/detail/refusal.hpp>
#include <devplace/place/error.hpp>
#include <devplace/tensor/copy.hpp>
#include <devplace/tensor/tensor.hpp>

namespace devplace::inline DEVPLACE_CONFIGURATION {

/// The only element of a tensor or view, read by the host after all earlier work of its place. Extents that cannot hold
/// exactly one element do not compile; run-time ones throw shape_error. Of a tensor over several places read one copy,
/// `item(x.local(cuda<0>{}))`, or the result of a collective on one place.
template <tensor_like X>
  requires(detail::form_of_tensor<X> == detail::form::one_place)
auto item(const X& x) {
  const auto source = detail::as_window(x);
  using source_type = std::remove_const_t<decltype(source)>;
  using extents_type = typename source_type::extents_type;
  if constexpr (extents_type::is_static)
    static_assert(extents_type{}.size() == 1,
                  "devplace: item: the tensor has more or fewer elements than one; index it or reduce it first.");
  if (source.size() != 1)
    throw shape_error("item: a tensor of " + detail::to_string(source.extents()) +
                      " has more or fewer elements than one; index it or reduce it first.");
  typename source_type::value_type value{};
  detail::copy_out<typename source_type::backend_type>(source.ordinal(), &value, detail::raw_data(source),
                                                       sizeof value);
  return value;
}

/// Appear in the compiler's message for an `item` of a tensor over several places.
///@{
struct READ_ONE_COPY_WITH_item_OF_x_local_OF_A_PLACE;
struct GATHER_IT_FIRST_WITH_gather_on_cpu;
struct REDUCE_IT_FIRST_WITH_reduce_on_cpu;
///@}
template <class FIX = READ_ONE_COPY_WITH_item_OF_x_local_OF_A_PLACE, tensor_like X>
  requires(detail::form_of_tensor<X> == detail::form::copies)
detail::refusal item(const X&)
DEVPLACE_REFUSED("item: every place has a copy; read one: item(x.local(cuda<0>{})).");
template <class FIX = GATHER_IT_FIRST_WITH_gather_on_cpu, tensor_like X>
  requires(detail::form_of_tensor<X> == detail::form::parts)
detail::refusal item(const X&)
DEVPLACE_REFUSED("item: the places have parts; item(gather<cpu>(x)).");
template <class FIX = REDUCE_IT_FIRST_WITH_reduce_on_cpu, tensor_like X>
  requires(detail::form_of_tensor<X> == detail::form::summands)
detail::refusal item(const X&)
DEVPLACE_REFUSED("item: the places have summands; item(reduce<cpu>(x)) reads their sum.");

}  // namespace devplace::inline DEVPLACE_CONFIGURATION
