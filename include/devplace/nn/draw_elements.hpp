// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <devplace/base/hash.hpp>
#include <devplace/nn/detail/initialize.hpp>
#include <devplace/nn/init.hpp>
#include <devplace/ops/for_each.hpp>

namespace devplace::nn {

/// Draws the initial values of `count` elements of a parameter, from element `first` on, on a device's current stream.
/// The bits are those of a model with this seed whose parameter at `path`, such as `0.weight`, has this rule.
template <class Backend, class T>
void draw_elements(int ordinal, T* data, std::size_t count, const initialization& rule, std::uint64_t seed,
                   std::string_view path, std::size_t first = 0) {
  constexpr std::size_t grain = 1024;
  const detail::initial_values<T> values{data, rule, seed, devplace::detail::fnv1a(path), first};
  devplace::detail::for_each_index<Backend>(ordinal, count, grain, values);
}

}  // namespace devplace::nn
