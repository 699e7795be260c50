// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>

#include <devplace/backend/cuda/kernels/groups.hpp>
#include <devplace/backend/cuda/pack.hpp>
#include <devplace/runtime/step_record.hpp>

namespace devplace::detail {

/// For formulas without a wide form, which are computed element by element: has_wide_arrays is false, so never called.
template <class Numbers, class Thread, class T>
DEVPLACE_DEVICE void update_elements(const Numbers&, const Thread&, std::size_t, T) {}

/// Adam's update of the elements i to i + width - 1: one access per array; the formula is evaluated per element in
/// registers.
template <class T, class Thread>
DEVPLACE_DEVICE void update_elements(const runtime::adam_numbers<T>& u, const Thread& t, std::size_t i, T factor) {
  constexpr unsigned width = widest_access<T>;
  const pack<T, width> gradients = t.template load<T, width>(u.source.gradients + i);
  pack<T, width> parameters = t.template load<T, width>(u.parameters + i);
  pack<T, width> first = t.template load<T, width>(u.first_moments + i);
  pack<T, width> second = t.template load<T, width>(u.second_moments + i);
  runtime::adam_numbers<T> copies = u;
  copies.source.gradients = gradients.value;
  copies.parameters = parameters.value;
  copies.first_moments = first.value;
  copies.second_moments = second.value;
  DEVPLACE_DEVICE_UNROLL
  for (unsigned k = 0; k < width; ++k)
    copies.element(k, factor);
  t.store(u.parameters + i, parameters);
  t.store(u.first_moments + i, first);
  t.store(u.second_moments + i, second);
}

/// The same for stochastic gradient descent.
template <class T, bool Momentum, class Thread>
DEVPLACE_DEVICE void update_elements(const runtime::sgd_numbers<T, Momentum>& u, const Thread& t, std::size_t i,
                                     T factor) {
  constexpr unsigned width = widest_access<T>;
  const pack<T, width> gradients = t.template load<T, width>(u.source.gradients + i);
  pack<T, width> parameters = t.template load<T, width>(u.parameters + i);
  pack<T, width> momenta{};
  if constexpr (Momentum) momenta = t.template load<T, width>(u.momenta + i);
  runtime::sgd_numbers<T, Momentum> copies = u;
  copies.source.gradients = gradients.value;
  copies.parameters = parameters.value;
  copies.momenta = momenta.value;
  DEVPLACE_DEVICE_UNROLL
  for (unsigned k = 0; k < width; ++k)
    copies.element(k, factor);
  t.store(u.parameters + i, parameters);
  if constexpr (Momentum) t.store(u.momenta + i, momenta);
}

/// Whether the address is aligned for a wide access.
inline bool is_wide(const void* data) {
  return reinterpret_cast<std::uintptr_t>(data) % 16 == 0;
}
template <class Update>
bool has_wide_arrays(const Update&) {
  return false;
}
template <class T>
bool has_wide_arrays(const runtime::adam_update<T>& u) {
  return is_wide(u.source.gradients) && is_wide(u.parameters) && is_wide(u.first_moments) && is_wide(u.second_moments);
}
template <class T, bool Momentum>
bool has_wide_arrays(const runtime::sgd_update<T, Momentum>& u) {
  return is_wide(u.source.gradients) && is_wide(u.parameters) && (!Momentum || is_wide(u.momenta));
}

/// An optimizer's update of n elements: `groups` of `width` elements with wide accesses, the others one by one. The
/// last block writes the numbers of the next step, after all blocks have read those of this one.
template <class Update>
struct update_kernel {
  static constexpr unsigned threads = 256;
  static constexpr unsigned width = widest_access<typename Update::value_type>;

  static constexpr unsigned least_blocks = 3;  // because Adam in double needs 70 registers

  /// Fills a GPU several times over; a limit, because every block takes a ticket at the end.
  static constexpr std::size_t most_blocks = 2048;

  std::size_t n;
  std::size_t groups;
  Update update;

  std::size_t blocks() const {
    const std::size_t rounds = groups + (n - groups * width);  // each is the work of one thread
    const std::size_t all = (rounds + threads - 1) / threads;
    return all < most_blocks ? all : most_blocks;
  }

  template <class Thread>
  DEVPLACE_DEVICE void operator()(Thread& t) const {
    const auto numbers = update.numbers();
    const auto factor = numbers.source.factor();
    const std::size_t first = std::size_t{t.block_index()} * threads + t.thread_index();
    const std::size_t stride = std::size_t{t.grid_size()} * threads;
    for (std::size_t i = first; i < groups; i += stride)
      update_elements(numbers, t, i * width, factor);
    for (std::size_t i = groups * width + first; i < n; i += stride)
      numbers.element(i, factor);
    if (is_last_block(t, &update.steps->ticket, t.grid_size()) && t.thread_index() == 0) update.steps->advance();
  }
};

template <class Update>
update_kernel<Update> make_update_kernel(std::size_t n, const Update& update) {
  return {n, has_wide_arrays(update) ? n / update_kernel<Update>::width : 0, update};
}

}  // namespace devplace::detail
