// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include <devplace/nn/detail/branch_fit.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/place/axis.hpp>
#include <devplace/tensor/extents.hpp>

namespace devplace::nn {

/// Concatenates, along an axis, the outputs of branches that take the same input: `concat_of<conv2d<8, 4, kernel<1>>,
/// conv2d<8, 6, kernel<3>, padding<1>>>` gives 10 channels. Axes count as in torch.cat, with the batch as axis 0: the
/// default is 1, the channels or features; `concat_of<axis<2>, A, B>` names another axis. Branches are layers or
/// networks whose outputs have the same extents along the other axes; nn::identity passes on the input itself.
/// Parameters are named by branch, as in PyTorch's ModuleList: `0.weight`, `1.2.weight`.
template <class... Branches> struct concat_of {};

namespace detail {

/// Rejects the axis of the batch. A function, so that clang prints no further error.
template <std::size_t Axis> constexpr std::size_t axis_of_parts() {
  static_assert(Axis > 0,
                "devplace: concat_of joins the parts of each sample, and axis<0> is the batch; name axis<1> or a later "
                "axis: concat_of<axis<1>, A, B>.");
  return Axis == 0 ? 1 : Axis;
}

/// Combines results by concatenation along an axis of the batch other than axis 0.
template <std::size_t Axis> struct join_by_concatenation {
  using rule = parts_of_one_size;
  static constexpr bool adds = false;

  template <class Extents, std::size_t Size>
  using with_size = typename devplace::detail::with_axis<Extents, Axis - 1, Size>::type;
  template <class First, class Other> static constexpr bool fits() {
    return Axis <= First::rank && std::is_same_v<with_size<First, 0>, with_size<Other, 0>>;
  }

  template <class Extents>
  static constexpr std::size_t along = Axis <= Extents::rank ? Extents::static_extent(Axis - 1) : 0;
  template <class First, class... Others> using output = with_size<First, (along<First> + ... + along<Others>)>;

  /// Each branch's result for one sample consists of this many contiguous parts, which lie apart in the output.
  template <class Output> static constexpr std::size_t rows() {
    std::size_t product = 1;
    for (std::size_t i = 0; i + 1 < Axis && i < Output::rank; ++i) product *= Output::static_extent(i);
    return product;
  }
};

template <class... Branches> struct network_input<concat_of<Branches...>> : input_of_branches<Branches...> {};
template <class First, class... Rest, class Activation>
struct input_element<concat_of<First, Rest...>, Activation> : input_element<First, Activation> {};
template <std::size_t Axis, class... Branches, class Activation>
struct input_element<concat_of<axis<Axis>, Branches...>, Activation>
    : input_element<concat_of<Branches...>, Activation> {};

template <class... Branches, class In>
struct layer_plan<concat_of<Branches...>, In>
    : branch_plan<join_by_concatenation<1>, In, std::index_sequence_for<Branches...>, Branches...> {};
template <std::size_t Axis, class... Branches, class In>
struct layer_plan<concat_of<axis<Axis>, Branches...>, In>
    : branch_plan<join_by_concatenation<axis_of_parts<Axis>()>, In, std::index_sequence_for<Branches...>, Branches...> {
};

}  // namespace detail
}  // namespace devplace::nn
