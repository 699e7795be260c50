// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>

#include <devplace/memory/block.hpp>
#include <devplace/nn/layer.hpp>
#include <devplace/ops/for_each.hpp>
#include <devplace/ops/random.hpp>

namespace devplace::nn::detail {

/// Dropout of strips: a strip has `strip` elements of each plane, which begin at element `first` of the whole plane.
template <class T> struct strip_dropout_functor {
  devplace::detail::dropout_body<T> body;  ///< of whole samples
  std::size_t planes, strip, plane, first;

  DEVPLACE_HD void operator()(std::size_t i) const {
    const std::size_t of_all = i / strip, at = of_all % planes * plane + first + i % strip;
    devplace::detail::dropout_body<T> own = body;
    own.key = body.key.resolved();
    body.destination[i] = own.element(body.source[i], own.words(of_all / planes, at / 4).word[at % 4]);
  }
};

/// dropout over strips on `Parts` places: drops the elements that it drops on one place. Its pass has a second phase,
/// in which it is idle, so that every pass of the network knows its place.
template <std::size_t Parts, class Probability> struct strip_dropout {
  template <class X> using output = X;
  static constexpr keep keeps = keep::nothing;
  static constexpr bool in_place = true;
  static constexpr std::size_t reductions_per_pass = 1;

  static void forward(const auto& c) { apply(c, c.output, c.input); }
  static void backward(const auto& c) { apply(c, c.input_gradient, c.output_gradient); }

 private:
  template <class Call> static void apply(const Call& c, const auto& to, const auto& from) {
    using T = typename Call::value_type;
    using backend_type = typename Call::backend_type;
    if (c.phase() != 0) return;
    constexpr double probability = number_of<Probability>;
    if (c.mode != mode::train || probability == 0)
      return devplace::detail::copy_within<backend_type>(c.ordinal(), to.data(), from.data(), to.size() * sizeof(T));
    using sample = typename Call::sample;
    constexpr std::size_t planes = sample::static_extent(0), strip = sample_size<sample> / planes;
    const auto* const request = c.pass_of_layer().reduced;
    const std::size_t part = request == nullptr ? 0 : request->rows->part;
    const auto key = devplace::detail::make_layer_key(c.key.seed, c.key.layer, c.key.step, c.key.step_on_place);
    const devplace::detail::dropout_body<T> body{to.data(),
                                                 from.data(),
                                                 planes * strip * Parts,
                                                 c.key.first_sample,
                                                 key,
                                                 static_cast<std::uint64_t>(probability * 0x1p32),
                                                 static_cast<devplace::detail::computed_t<T>>(1 / (1 - probability))};
    devplace::detail::for_each_index<backend_type>(
        c.ordinal(), to.size(), 4096, strip_dropout_functor<T>{body, planes, strip, strip * Parts, strip * part});
  }
};

}  // namespace devplace::nn::detail
