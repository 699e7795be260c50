// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

#include <devplace/nn/detail/window_options.hpp>
#include <devplace/tensor/extents.hpp>

namespace devplace::nn::detail {

/// The samples that a layer of images of any extents takes where it receives `X`; see window_fit.
template <class X>
struct image_fit {
  using type = extents<1, 1, 1>;
  using expected = at_least<type>;
};
template <std::size_t C, std::size_t H, std::size_t W>
struct image_fit<extents<C, H, W>> {
  using type = extents<C, H, W>;
  using expected = type;
};

}  // namespace devplace::nn::detail
