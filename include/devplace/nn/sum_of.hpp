// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <type_traits>
#include <utility>

#include <devplace/nn/detail/branch_fit.hpp>
#include <devplace/nn/sequential.hpp>

namespace devplace::nn {

/// Adds, in order, the outputs of branches that take the same input: `sum_of<linear<8, 4>, sequential<linear<8, 16>,
/// relu, linear<16, 4>>>`. Branches are layers or networks with outputs of the same extents; nn::identity adds the
/// input itself. Parameters are named by branch, as in PyTorch's ModuleList: `0.weight`, `1.2.weight`.
template <class... Branches> struct sum_of {};

namespace detail {

template <class... Branches> struct network_input<sum_of<Branches...>> : input_of_branches<Branches...> {};
template <class First, class... Rest, class Activation>
struct input_element<sum_of<First, Rest...>, Activation> : input_element<First, Activation> {};

/// Combines results by adding them.
struct join_by_sum {
  using rule = summands_of_one_size;
  static constexpr bool adds = true;
  template <class First, class Other> static constexpr bool fits() { return std::is_same_v<First, Other>; }
  template <class First, class...> using output = First;
  template <class> static constexpr std::size_t rows() { return 1; }
};

template <class... Branches, class In>
struct layer_plan<sum_of<Branches...>, In>
    : branch_plan<join_by_sum, In, std::index_sequence_for<Branches...>, Branches...> {};

}  // namespace detail
}  // namespace devplace::nn
