// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <type_traits>

#include <devplace/base/error.hpp>
#include <devplace/base/refusal.hpp>
#include <devplace/memory/block.hpp>
#include <devplace/tensor/copy.hpp>
#include <devplace/tensor/evaluated.hpp>

namespace devplace::inline DEVPLACE_CONFIGURATION {

/// Returns the only element of a tensor, view or expression, read by the host after all earlier work of its place.
/// Static extents of more or fewer elements do not compile; run-time extents throw shape_error. From a tensor over
/// several places read one copy, `item(x.local(cuda<0>{}))`, or the result of a collective on one place.
template <class X> auto item(X&& x) {
  using stored = detail::evaluated_value_t<X>;
  if constexpr (detail::check_unnamed<X>() && detail::check_operands<stored>() && detail::check_item<stored>()) {
    const auto& elements = evaluated(x);
    const auto source = detail::as_any_view(elements);
    using source_type = std::remove_const_t<decltype(source)>;
    if (source.size() != 1)
      throw shape_error({"item: a tensor of ", detail::to_string(source.extents()),
                         " has more or fewer elements than one; index it or reduce it first."});
    typename source_type::value_type value{};
    detail::copy_out<typename source_type::backend_type>(source.ordinal(), &value, detail::raw_data(source),
                                                         sizeof value);
    return value;
  } else {
    return detail::refusal{};
  }
}

}  // namespace devplace::inline DEVPLACE_CONFIGURATION
