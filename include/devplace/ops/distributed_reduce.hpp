// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <devplace/ops/assign.hpp>
#include <devplace/ops/detail/distributed_operand.hpp>
#include <devplace/ops/detail/limits.hpp>
#include <devplace/ops/detail/placement_check.hpp>
#include <devplace/ops/reduce.hpp>

namespace devplace::detail {

// What the functions below compute: which reduction it is for the algebra, the result's elements, and how one place
// does it (ops/reduce.hpp).

struct distributed_sum {
  static constexpr reducing kind = reducing::sum;
  template <class T>
  using result = sum_result_t<T>;
  template <class T>
  using maker = make_sum<T>;
};
struct distributed_mean {
  static constexpr reducing kind = reducing::mean;
  template <class T>
  using result = T;
  template <class T>
  using maker = make_mean<T>;
};
template <bool Largest>
struct distributed_extremum {
  static constexpr reducing kind = Largest ? reducing::max : reducing::min;
  template <class T>
  using result = T;
  template <class T>
  using maker = make_extremum<T, Largest>;
};
template <bool Largest>
struct distributed_extremum_position {
  static constexpr reducing kind = reducing::position;
  template <class T>
  using result = std::int64_t;
  template <class T>
  using maker = make_extremum_position<T, Largest>;
};

/// The largest or smallest of no elements: what changes no other place's.
template <class T, bool Largest>
constexpr T extremum_of_nothing() {
  if constexpr (std::is_floating_point_v<T>)
    return Largest ? -infinity<T> : infinity<T>;
  else
    return Largest ? lowest_number<T> : highest_number<T>;
}

}  // namespace devplace::detail

namespace devplace::detail::inline DEVPLACE_CONFIGURATION {

/// Reduces place k's part x, which may have no elements where the whole has some.
template <class Operation, std::size_t Axis, class To, class X>
void reduce_part(const To& to, const X& x, std::size_t count_of_whole) {
  using value = typename X::value_type;
  constexpr reducing kind = Operation::kind;
  std::size_t count = x.size();
  if constexpr (Axis != all_axes) count = x.extent(Axis);
  if constexpr (kind == reducing::max || kind == reducing::min) {
    if (count == 0 && count_of_whole != 0) {
      fill(to, extremum_of_nothing<value, kind == reducing::max>());
      return;
    }
  }
  const auto reducer = typename Operation::template maker<value>{}(to.data(), count);
  if constexpr (Axis == all_axes)
    reduce_all(x, reducer);
  else
    reduce_along<Axis>(x, reducer);
}

/// The extents of a reduction's result.
template <std::size_t Axis, class E>
constexpr auto reduced_extents(const E& extents) {
  if constexpr (Axis == all_axes)
    return devplace::extents<>{};
  else
    return without_axis<Axis, E>::from(extents);
}

template <class Operation, std::size_t Axis, class T, class E, class Where>
auto reduced_on_places(const tensor<T, E, Where>& x) {
  using rule = reduction_result<Operation::kind, Axis, Where>;
  if constexpr (Operation::kind == reducing::mean) require_floating_mean<T>();
  static_assert(Axis == all_axes || Axis < E::rank,
                "devplace: the reduced axis does not exist; axes count from 0 to rank - 1.");
  if constexpr (common_result<rule>::value && (Axis == all_axes || Axis < E::rank)) {
    using result_element = typename Operation::template result<T>;
    auto result = make_like<result_element, typename rule::type>(reduced_extents<Axis>(x.extents()), x);
    std::size_t count = x.size();
    if constexpr (Axis != all_axes) count = x.extent(Axis);
    for (std::size_t k = 0; k != x.places; ++k)
      reduce_part<Operation, Axis>(result.local(k), x.local(k), count);
    return result;
  }
}

/// An expression becomes a tensor first.
template <class Operation, std::size_t Axis, class Where, class F, class... Operands>
auto reduced_on_places(const distributed_expression<Where, F, Operands...>& x) {
  using source = distributed_expression<Where, F, Operands...>;
  return reduced_on_places<Operation, Axis>(
      tensor<typename source::value_type, typename source::extents_type, Where>(x));
}

}  // namespace devplace::detail::inline DEVPLACE_CONFIGURATION

namespace devplace::inline DEVPLACE_CONFIGURATION {

// The reductions of ops/reduce.hpp on tensors over several places, each reducing what it has: nothing crosses places,
// and the places work at the same time. Of a replicated tensor the result is replicated. Of a split one it is split
// along an axis that stays, and partial where the split axis is reduced: partial<sum> for sum, partial<max> for max,
// partial<min> for min; a mean or a position has no such form. Sums and means of partial sums are partial. Errors and
// element types are as on one place.
#define DEVPLACE_DETAIL_PLACED_REDUCTION(name, operation)                     \
  template <detail::distributed_operand X>                                    \
  auto name(const X& x) {                                                     \
    return detail::reduced_on_places<detail::operation, detail::all_axes>(x); \
  }                                                                           \
  template <std::size_t Axis, detail::distributed_operand X>                  \
  auto name(const X& x) {                                                     \
    return detail::reduced_on_places<detail::operation, Axis>(x);             \
  }                                                                           \
  static_assert(true)

/// Reductions over all elements, or along one axis, of what lies over several places.
///@{
DEVPLACE_DETAIL_PLACED_REDUCTION(sum, distributed_sum);
DEVPLACE_DETAIL_PLACED_REDUCTION(mean, distributed_mean);
DEVPLACE_DETAIL_PLACED_REDUCTION(max, distributed_extremum<true>);
DEVPLACE_DETAIL_PLACED_REDUCTION(min, distributed_extremum<false>);
DEVPLACE_DETAIL_PLACED_REDUCTION(argmax, distributed_extremum_position<true>);
DEVPLACE_DETAIL_PLACED_REDUCTION(argmin, distributed_extremum_position<false>);
///@}

#undef DEVPLACE_DETAIL_PLACED_REDUCTION

}  // namespace devplace::inline DEVPLACE_CONFIGURATION
