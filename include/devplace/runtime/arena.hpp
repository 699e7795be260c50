// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>
#include <cstddef>
#include <cstring>
#include <type_traits>
#include <utility>

#include <devplace/base/error.hpp>
#include <devplace/memory/block.hpp>
#include <devplace/ops/for_each.hpp>
#include <devplace/runtime/pass.hpp>
#include <devplace/tensor/detail/float_bits.hpp>

namespace devplace::runtime {

/// Number of elements behind the gradients in their arena, reduced together with the gradients: the sums of the
/// samples' weights and losses, and four elements by which processes compare their steps (train/detail/step_mark.hpp).
inline constexpr std::size_t gradient_tail = element_alignment;

/// Bytes for a replica's sums of the last losses and weights, and a flag that is set if processes differ: a cache line.
inline constexpr std::size_t loss_sums_bytes = devplace::detail::alignment;

template <class T> struct zero_functor {
  static constexpr bool computes_little = true;
  T* data;
  DEVPLACE_HD void operator()(std::size_t i) const { data[i] = T{0}; }

  /// For the CPU.
  void range(std::size_t begin, std::size_t end) const { std::memset(data + begin, 0, (end - begin) * sizeof(T)); }
};
template <class Backend, class T> [[gnu::noinline]] void set_to_zero(int ordinal, T* data, std::size_t elements) {
  devplace::detail::for_each_index<Backend>(ordinal, elements, 4096, zero_functor<T>{data});
}

/// Replaces an arena by a new one of zeros. Not inlined, because each use would contain a block's assignment and
/// destructor.
template <class T, class Backend>
[[gnu::noinline]] void assign_zeros(devplace::detail::memory_block& to, int ordinal, std::size_t elements,
                                    memory_purpose purpose) {
  auto block = devplace::detail::allocate<Backend>(ordinal, elements * sizeof(T), purpose);
  set_to_zero<std::conditional_t<devplace::detail::computes<Backend>, Backend, backend::cpu>>(
      ordinal, static_cast<T*>(block.data()), elements);
  to = std::move(block);
}

/// Stores a loss's sums after the gradients, the sum of weights first. If `add`, adds them to the stored sums.
template <class Gradient, class Sum> struct tail_functor {
  Gradient* tail;
  const Sum* sums;
  bool add;
  DEVPLACE_HD void operator()(std::size_t) const {
    tail[0] = (add ? tail[0] : Gradient{0}) + static_cast<Gradient>(sums[1]);
    tail[1] = (add ? tail[1] : Gradient{0}) + static_cast<Gradient>(sums[0]);
  }
};

[[noreturn, gnu::noinline]] inline void throw_label_error() {
  throw argument_error(
      "a batch has a label that is neither a class of the network's output nor the loss's ignore_index; updates with "
      "this batch were skipped and changed nothing. Labels are 0 to classes - 1; correct the data.");
}

/// Computes a loss from its sums of losses and of weights. A NaN result has no sign. Weights are NaN if a label is no
/// class; then throws argument_error.
template <class T> T loss_from(double sum, double weights, reduction loss_reduction) {
  if (std::isnan(weights)) throw_label_error();
  return devplace::detail::without_sign_of_nan(static_cast<T>(loss_reduction == reduction::mean ? sum / weights : sum));
}

}  // namespace devplace::runtime
