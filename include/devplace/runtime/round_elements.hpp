// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

#include <devplace/ops/elementwise.hpp>
#include <devplace/tensor/extents.hpp>
#include <devplace/tensor/view.hpp>

namespace devplace::runtime {

/// Converts `n` elements to another type, rounding to nearest. Asynchronous.
template <class Backend, class To> void round_elements(int ordinal, To* to, const auto* from, std::size_t n) {
  const extents<dyn> all{n};
  devplace::assign(devplace::detail::view_at<Backend>(ordinal, to, all),
                   cast<To>(devplace::detail::view_at<Backend>(ordinal, from, all)));
}

/// Converts `n` elements, each divided by `divisor` and multiplied by `*factor`, a number in the place's memory.
template <class Backend, class To, class From>
void round_scaled(int ordinal, To* to, const From* from, std::size_t n, From divisor, const From* factor) {
  const extents<dyn> all{n};
  devplace::assign(devplace::detail::view_at<Backend>(ordinal, to, all),
                   cast<To>(devplace::detail::view_at<Backend>(ordinal, from, all) / divisor *
                            devplace::detail::view_at<Backend>(ordinal, factor, extents<1>{})));
}

}  // namespace devplace::runtime
