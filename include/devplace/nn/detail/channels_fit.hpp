// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

#include <devplace/nn/layer.hpp>
#include <devplace/ops/detail/channel_sums.hpp>
#include <devplace/tensor/extents.hpp>

namespace devplace::nn::detail {

/// The input extents of a normalisation of channels: `X` if its first axis has `Channels` elements, with any further
/// axes, else a stand-in.
template <std::size_t Channels, class X> struct channels_fit {
  using type = extents<Channels>;
  using expected = type;
};
template <std::size_t Channels, std::size_t C, std::size_t... Positions>
struct channels_fit<Channels, extents<C, Positions...>> {
  using type = extents<Channels, Positions...>;
  using expected = type;
};

/// The shape of a batch for operations on channels.
template <class Call> devplace::detail::channel_shape shape_of_channels(const Call& c) {
  constexpr std::size_t channels = Call::sample::static_extent(0);
  return {c.batch(), channels, sample_size<typename Call::sample> / channels};
}

}  // namespace devplace::nn::detail
