// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

#include <devplace/place/detail/refusal.hpp>

namespace devplace {

/// Appear in the compiler's message for elements of a tensor over several places, and for one that is made from a list.
///@{
struct TAKE_ELEMENTS_OF_x_local_OF_A_PLACE_OR_gather_IT_FIRST;
struct MAKE_IT_ON_THE_HOST_THEN_scatter_OR_broadcast;
///@}

}  // namespace devplace

namespace devplace::detail {

#define DEVPLACE_DETAIL_ELEMENTS_OF_PLACES \
  "elements and rows of a tensor over several places are taken of x.local(k), or of gather<cpu>(x)."
#define DEVPLACE_DETAIL_KEEP_TENSOR \
  "a view of a temporary tensor would outlive its memory; keep the tensor in a variable."

/// Members of tensors over several places that answer by a sentence: elements and rows are those of a place's local
/// tensor.
struct refused_uses_of_places {
  template <class FIX = TAKE_ELEMENTS_OF_x_local_OF_A_PLACE_OR_gather_IT_FIRST, class... Index>
  refusal operator()(Index...) const DEVPLACE_REFUSED(DEVPLACE_DETAIL_ELEMENTS_OF_PLACES);
  template <class FIX = TAKE_ELEMENTS_OF_x_local_OF_A_PLACE_OR_gather_IT_FIRST>
  refusal operator[](std::size_t) const DEVPLACE_REFUSED(DEVPLACE_DETAIL_ELEMENTS_OF_PLACES);
  template <class FIX = TAKE_ELEMENTS_OF_x_local_OF_A_PLACE_OR_gather_IT_FIRST>
  const refusal* begin() const = delete;
  template <class FIX = TAKE_ELEMENTS_OF_x_local_OF_A_PLACE_OR_gather_IT_FIRST>
  const refusal* end() const = delete;
};

}  // namespace devplace::detail
