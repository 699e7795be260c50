// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include <devplace/base/refusal.hpp>
#include <devplace/config.hpp>
#include <devplace/ops/detail/index_rows.hpp>
#include <devplace/ops/detail/operands.hpp>
#include <devplace/ops/detail/reducers.hpp>
#include <devplace/ops/detail/reduction_plan.hpp>
#include <devplace/ops/for_each.hpp>
#include <devplace/place/availability.hpp>
#include <devplace/place/kind.hpp>
#include <devplace/place/place.hpp>
#include <devplace/tensor/extents.hpp>
#include <devplace/tensor/tensor.hpp>

// Loops and reductions over indices with a functor of the user's, written once for every place. In layers and losses,
// `where` is one of the views that they are given.

namespace devplace {

/// Where a loop runs: a place, as `cpu{}` or `cuda<0>{}`, or the device of a tensor or view on one place.
template <class Where>
concept loop_location = place<std::remove_cvref_t<Where>> || tensor_like<Where>;

}  // namespace devplace

namespace devplace::detail {

/// The backend and ordinal that a location stands for. Loops over pinned memory run on the CPU.
template <class Backend> struct loop_device {
  using backend_type = std::conditional_t<in_host_memory<Backend>, backend::cpu, Backend>;
  int ordinal;
};
inline namespace DEVPLACE_CONFIGURATION {

template <loop_location Where> auto device_of_loop(const Where& where) {
  if constexpr (place<Where>) {
    require_available<on<Where>>();
    return loop_device<backend_of_t<Where>>{place_traits<Where>::ordinal};
  } else {
    const auto window = as_any_view(where);
    return loop_device<operand_backend_t<Where>>{window.ordinal()};
  }
}

}  // namespace DEVPLACE_CONFIGURATION

/// Calls a functor with the indices of element number i of a row-major array.
template <class F, std::size_t Rank, class = std::make_index_sequence<Rank>> struct indexed_functor;
template <class F, std::size_t Rank, std::size_t... Axis>
struct indexed_functor<F, Rank, std::index_sequence<Axis...>> {
  F f;
  std::size_t sizes[Rank == 0 ? 1 : Rank];

  DEVPLACE_HD_CALLS_ANY
  DEVPLACE_HD auto operator()([[maybe_unused]] std::size_t i) const {
    std::size_t index[Rank == 0 ? 1 : Rank];
    split_index(i, sizes, index);
    return f(index[Axis]...);
  }

  /// On the CPU, with a plain loop along the last axis.
  void range(std::size_t begin, std::size_t end) const {
    if constexpr (Rank == 0) {
      f();
    } else {
      for_rows(sizes, begin, end, [this](const std::size_t* index, std::size_t n) {
        const std::size_t first = index[Rank - 1];
        for (std::size_t k = first; k != first + n; ++k) f((Axis + 1 == Rank ? k : index[Axis])...);
      });
    }
  }
};

template <class F, extents_like Extents> auto with_indices_of(const F& f, const Extents& extents) {
  indexed_functor<F, Extents::rank> indexed{f, {}};
  for (std::size_t axis = 0; axis < Extents::rank; ++axis) indexed.sizes[axis] = extents.extent(axis);
  return indexed;
}

/// The type that a functor returns for one index per axis.
template <class F, class Axes> struct result_of_indices;
template <class F, std::size_t... Axis> struct result_of_indices<F, std::index_sequence<Axis...>> {
  static constexpr bool exists = std::is_invocable_v<const F&, decltype(Axis)...>;
  using type = typename std::conditional_t<exists, std::invoke_result<const F&, decltype(Axis)...>,
                                           std::type_identity<void>>::type;
};
template <class F, class Extents>
using result_of_indices_t = result_of_indices<F, std::make_index_sequence<Extents::rank>>;

/// Whether F can be called for indices of Extents on every place; if not, an assertion fails.
template <class F, class Extents> constexpr bool is_loop_functor() {
  constexpr bool copied = std::is_trivially_copyable_v<F>, called = result_of_indices_t<F, Extents>::exists;
  static_assert(copied,
                "devplace: parallel_for, parallel_reduce: devices get a bytewise copy of the functor, so it must be "
                "trivially copyable: give it pointers or views, not tensors, vectors or strings.");
  static_assert(
      called,
      "devplace: parallel_for, parallel_reduce: the functor must be callable with a std::size_t for each axis "
      "of the extents, and its operator() must be const.");
  return copied && called;
}

template <reduction By, class T> auto loop_reducer(T* result, [[maybe_unused]] std::size_t count) {
  if constexpr (By == reduction::sum)
    return sum_reducer<T, T>{result, T{0}};
  else if constexpr (By == reduction::mean)
    return mean_reducer<T>{result, static_cast<double>(count)};
  else
    return extremum_reducer<T, By == reduction::max>{result};
}

}  // namespace devplace::detail

namespace devplace::inline DEVPLACE_CONFIGURATION {

/// Calls `f(i, j, ...)` once for each index of `extents`, in any order and concurrently:
/// `parallel_for(cpu{}, x.extents(), f)`. `f` is a trivially copyable functor or lambda, called through a const
/// reference; for CUDA devices its operator() is marked DEVPLACE_HD. Runs in the order of the place's current stream;
/// asynchronous on devices, so pointers in `f` must stay valid. `grain` is the number of indices that justify a thread
/// on the CPU, a few microseconds of work. Does not allocate. Exceptions of `f` are rethrown on the CPU; on simulated
/// devices the next call that waits throws them.
template <loop_location Where, extents_like Extents, class F>
void parallel_for(const Where& where, const Extents& extents, const F& f, std::size_t grain = 1024) {
  if constexpr (detail::is_loop_functor<F, Extents>()) {
    const auto device = detail::device_of_loop(where);
    detail::for_each_index<typename decltype(device)::backend_type>(device.ordinal, extents.size(), grain,
                                                                    detail::with_indices_of(f, extents));
  }
}

/// result = the sum, mean, largest or smallest of `f(i, j, ...)` over all indices of `extents`, on the device of
/// `result`, a tensor or view of one element of f's return type. The bits do not depend on the number of threads; sums
/// of floating-point values are accumulated in double. Without indices, a sum is 0, a mean NaN, and an extremum the
/// infinity or limit that every value replaces. Other rules are those of parallel_for.
template <reduction By = reduction::sum, tensor_like Y, extents_like Extents, class F>
void parallel_reduce_into(Y&& result, const Extents& extents, const F& f) {
  if constexpr (detail::is_loop_functor<F, Extents>()) {
    using value = std::remove_cvref_t<typename detail::result_of_indices_t<F, Extents>::type>;
    constexpr bool same = std::is_same_v<detail::operand_element_t<Y>, value>, written = detail::writable<Y>;
    static_assert(same,
                  "devplace: parallel_reduce_into: the result must have the element type that the functor returns.");
    static_assert(written, "devplace: parallel_reduce_into: the result's element is const.");
    constexpr bool divides = By != reduction::mean || !std::is_integral_v<value>;
    static_assert(divides,
                  "devplace: parallel_reduce: the mean of integers is not an integer; return float or double.");
    if constexpr (same && written && divides) {
      const auto to = detail::as_any_view(result);
      if (to.size() != 1)
        throw shape_error({"parallel_reduce_into: the result has ", to.size(), " elements; give it one."});
      const auto source = detail::with_indices_of(f, extents);
      const auto reducer = detail::loop_reducer<By, value>(detail::raw_data(to), extents.size());
      const auto device = detail::device_of_loop(to);
      detail::reduce<typename decltype(device)::backend_type>(
          device.ordinal, detail::reduction_plan{1, extents.size(), 1, source, reducer});
    }
  }
}

/// The sum, mean, largest or smallest of `f(i, j, ...)` over all indices of `extents`, as a tensor without axes on a
/// place: `item(parallel_reduce<reduction::max>(cpu{}, extents<3, 4>{}, f))`. See parallel_reduce_into.
template <reduction By = reduction::sum, place Where, extents_like Extents, class F>
auto parallel_reduce(Where, const Extents& extents, const F& f) {
  using value = std::remove_cvref_t<typename detail::result_of_indices_t<F, Extents>::type>;
  constexpr bool called = detail::is_loop_functor<F, Extents>(), of_elements = !called || detail::is_element<value>;
  static_assert(of_elements, "devplace: parallel_reduce: the functor must return an element, such as float or int64.");
  if constexpr (called && of_elements) {
    tensor<value, devplace::extents<>, Where> result(devplace::extents<>{});
    parallel_reduce_into<By>(result, extents, f);
    return result;
  } else {
    return detail::refusal{};
  }
}

}  // namespace devplace::inline DEVPLACE_CONFIGURATION
