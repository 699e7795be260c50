// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include <devplace/memory/block.hpp>
#include <devplace/nn/gradients.hpp>
#include <devplace/ops/for_each.hpp>
#include <devplace/place/placement.hpp>

namespace devplace {

/// How a data-parallel step makes its gradients whole.
namespace collective {

/// Gradients are summed on the first place, in the order of the places, and copied back to all: every place has the
/// same bits.
struct in_process_sum {};

}  // namespace collective

namespace parallel::detail {

/// Adds another replica's elements.
template <class T>
struct add_functor {
  T* to;
  const T* from;
  DEVPLACE_HD void operator()(std::size_t i) const { to[i] += from[i]; }
};

/// Sums the gradient arenas of all replicas, with the sums behind them, through a buffer of one arena's size on the
/// first place; then gives every replica the result.
template <class T, class Backend, class Tu>
void sum_over_replicas(nn::detail::model_state<T>& state, std::size_t elements, T* buffer) {
  namespace d = devplace::detail;
  const auto& first = state.replicas.front();
  const std::size_t bytes = elements * sizeof(T);
  for (std::size_t k = 1; k < state.replicas.size(); ++k) {
    d::copy_between<Backend, Tu>(first.ordinal, buffer, state.replicas[k].ordinal, state.replicas[k].gradient_data(),
                                 bytes);
    d::for_each_index<Backend, Tu>(first.ordinal, elements, 16384, add_functor<T>{first.gradient_data(), buffer});
  }
  for (std::size_t k = 1; k < state.replicas.size(); ++k)
    d::copy_between<Backend, Tu>(state.replicas[k].ordinal, state.replicas[k].gradient_data(), first.ordinal,
                                 first.gradient_data(), bytes);
}

template <class Gradients>
struct whole;
template <class Net, class P, class T>
struct whole<gradients<Net, on<P>, T>> {
  using type = on<P>;
  static constexpr bool reduces = false;
};
template <class Net, class... P, class T>
struct whole<gradients<Net, partial_on<reduction::sum, P...>, T>> {
  using type = replicated_on<P...>;
  static constexpr bool reduces = true;
};

template <class Gradients>
concept can_be_reduced = requires {
  typename whole<Gradients>::type;
};

}  // namespace parallel::detail

/// Named in the message when whole gradients are reduced again.
struct THESE_GRADIENTS_ARE_WHOLE_ALREADY_PASS_THEM_TO_step;

/// Makes the gradients of a batch whole, as `Policy` says: the same lease on one place, partial sums to replicated
/// gradients over several. The one line that generic code has for all placements.
template <class Policy = collective::in_process_sum, class Tu = detail::this_tu, class Net, placement Where, class T>
  requires parallel::detail::can_be_reduced<gradients<Net, Where, T>>
[[nodiscard]] auto synchronize(gradients<Net, Where, T>&& partial) {
  using reduced = parallel::detail::whole<gradients<Net, Where, T>>;
  if constexpr (!reduced::reduces) {
    return std::move(partial);
  } else {
    using backend_type = placement_backend_t<Where>;
    constexpr std::size_t elements = nn::detail::network_plan<Net>::parameter_elements + nn::detail::gradient_tail;
    auto& state = partial.arena();
    const auto buffer = detail::allocate<backend_type, Tu>(state.replicas.front().ordinal, elements * sizeof(T));
    parallel::detail::sum_over_replicas<T, backend_type, Tu>(state, elements, static_cast<T*>(buffer.data()));
    return nn::detail::gradient_access::as<typename reduced::type>(std::move(partial));
  }
}

/// Gradients that were reduced already would be multiplied by the number of places.
template <class Policy = collective::in_process_sum, class FIX = THESE_GRADIENTS_ARE_WHOLE_ALREADY_PASS_THEM_TO_step,
          class Net, placement Where, class T>
  requires(!parallel::detail::can_be_reduced<gradients<Net, Where, T>>)
void synchronize(gradients<Net, Where, T>&&) = delete;

}  // namespace devplace
