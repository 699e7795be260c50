// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include <devplace/nn/linear.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/nn/tanh.hpp>

namespace devplace::test {

/// Returns the number of inputs of linear layer number `index`, where `sizes` consecutive layers differ in size.
constexpr std::size_t deep_width(std::size_t index, std::size_t sizes) { return 8 + index % sizes; }

template <std::size_t Sizes, std::size_t Index>
using deep_layer =
    std::conditional_t<Index % 2 == 0, nn::linear<deep_width(Index / 2, Sizes), deep_width(Index / 2 + 1, Sizes)>,
                       nn::tanh>;

template <std::size_t Sizes, std::size_t... Index>
auto deep_layers(std::index_sequence<Index...>) -> nn::sequential<deep_layer<Sizes, Index>...>;

/// A network of `Layers` layers, alternately linear and tanh, whose linear layers have `Sizes` sizes in turn.
template <std::size_t Layers, std::size_t Sizes>
using deep_network = decltype(deep_layers<Sizes>(std::make_index_sequence<Layers>{}));

}  // namespace devplace::test
