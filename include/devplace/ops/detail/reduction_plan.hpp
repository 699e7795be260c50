// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <utility>

#include <devplace/place/backend.hpp>
#include <devplace/tensor/extents.hpp>

namespace devplace {

namespace op {

/// `run(ordinal, reduction_plan)`: reduces along the middle axis of outer x count x inner elements. Every result has
/// the same bits however many threads there are.
struct reduce {};

}  // namespace op

namespace detail {

/// Elements outer x count x inner, reduced along `count` to outer x inner results. Element (o, k, i) is
/// `source((o * count + k) * inner + i)`, result (o, i) goes to `reducer.store(o * inner + i, accumulator)`.
template <class Source, class Reducer>
struct reduction_plan {
  std::size_t outer;
  std::size_t count;
  std::size_t inner;
  Source source;
  Reducer reducer;
};

/// Elements in memory.
template <class T>
struct element_source {
  const T* data;
  DEVPLACE_HD T operator()(std::size_t i) const { return data[i]; }
  /// For those who read several elements at once.
  DEVPLACE_HD const T* contiguous() const { return data; }
};

/// Reduces on a backend's device, in the order of its work.
template <class Backend, class Source, class Reducer>
void reduce(int ordinal, const reduction_plan<Source, Reducer>& plan) {
  if (plan.outer != 0 && plan.inner != 0) dispatch<op::reduce, Backend>(ordinal, plan);
}

template <std::size_t Axis, class E, class = std::make_index_sequence<E::rank - 1>>
struct without_axis;
template <std::size_t Axis, class E, std::size_t... K>
struct without_axis<Axis, E, std::index_sequence<K...>> {
  using type = extents<E::static_extent(K < Axis ? K : K + 1)...>;
  static constexpr type from([[maybe_unused]] const E& e) {
    if constexpr (sizeof...(K) == 0)
      return type{};
    else
      return type(e.extent(K < Axis ? K : K + 1)...);
  }
};

}  // namespace detail
}  // namespace devplace

#include <devplace/backend/cpu/reduce.hpp>
#include DEVPLACE_CUDA_BACKEND(reduce)
