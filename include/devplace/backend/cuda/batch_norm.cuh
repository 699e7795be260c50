// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

#include <devplace/backend/cuda/kernels/wide.hpp>
#include <devplace/base/divided_up.hpp>
#include <devplace/config.hpp>
#include <devplace/ops/batch_norm.hpp>
#include <devplace/tensor/dtype.hpp>

// Elementwise passes of batch normalisation on 16-bit elements, 16 bytes at a time, for channels of any extent.

namespace devplace::detail {

/// Computes result[w] = f.of_channel(c)(element w of each pack) for w < N, where c is the channel of element i + w.
template <class Functor, class X, unsigned N, class... Packs>
DEVPLACE_DEVICE void map_channels(const Functor& f, std::size_t i, pack<X, N>& result, const Packs&... x) {
  const std::size_t plane = quotient(i, f.shape.extent);
  std::size_t position = i - plane * f.shape.extent, channel = f.shape.channel_of(i);
  auto map = f.of_channel(channel);
  DEVPLACE_DEVICE_UNROLL
  for (unsigned w = 0; w < N; ++w) {
    if (position == f.shape.extent) {
      position = 0;
      channel = channel + 1 == f.shape.channels ? 0 : channel + 1;
      map = f.of_channel(channel);
    }
    result.value[w] = map(x.value[w]...);
    ++position;
  }
}

template <half_precision_element X, class F> struct wide_form<scale_channels_functor<X, F>> {
  static constexpr unsigned width = widest_access<X>;
  scale_channels_functor<X, F> f;

  bool is_wide() const { return is_aligned<width>(f.x) && is_aligned<width>(f.y); }

  template <class Thread> DEVPLACE_DEVICE void several(const Thread& t, std::size_t i) const {
    pack<X, width> y;
    map_channels(f, i, y, t.template load<X, width>(f.x + i));
    t.store(f.y + i, y);
  }
};

template <half_precision_element X, class F> struct wide_form<batch_norm_gradient_functor<X, F>> {
  static constexpr unsigned width = widest_access<X>;
  batch_norm_gradient_functor<X, F> f;

  bool is_wide() const { return is_aligned<width>(f.x) && is_aligned<width>(f.dy) && is_aligned<width>(f.dx); }

  template <class Thread> DEVPLACE_DEVICE void several(const Thread& t, std::size_t i) const {
    pack<X, width> dx;
    map_channels(f, i, dx, t.template load<X, width>(f.x + i), t.template load<X, width>(f.dy + i));
    t.store(f.dx + i, dx);
  }
};

}  // namespace devplace::detail
