// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <utility>

#include <devplace/tensor/detail/any_tensor.hpp>
#include <devplace/tensor/detail/as_view.hpp>
#include <devplace/tensor/summand_view.hpp>

namespace devplace::detail {

/// Gives collectives access to private parts of distributed tensors, to move memory between tensors of different
/// placements.
struct distributed_access {
  template <class Tensor> static auto extents(const Tensor& x, std::size_t k) { return x.part_extents(k); }
  template <class View> static const View& elements(const summand_view<View>& x) { return x.elements_; }
  /// Moves the blocks into a tensor of another placement on the same places; each place holds the whole extents.
  template <class To, class T, class Extents, class Where>
  static tensor<T, Extents, To> as(tensor<T, Extents, Where>&& x) {
    return tensor<T, Extents, To>(std::move(x.blocks_), x.extents_, {});
  }
  /// Makes an uninitialised tensor with the split of `source` and the rule by which `source` divides later extents.
  template <class Result> DEVPLACE_CONFIGURED static Result split_like(const auto& extents, const auto& source) {
    return Result(extents, source.division_);
  }
  /// Returns the batch_note of a batch that a loader made; null for other tensors.
  template <class Tensor> static auto& note(const Tensor& x) { return x.note_; }
  /// Moves the k-th place's block into a tensor on that place.
  template <class To, class T, class Extents, class Where>
  static tensor<T, Extents, To> take(tensor<T, Extents, Where>&& x, std::size_t k) {
    return tensor<T, Extents, To>(std::move(x.blocks_[k]), x.extents_);
  }
};

/// Returns the k-th place's elements as an erased view of any layout; for a value on one place, its elements.
DEVPLACE_CONFIGURED auto erased_local_view(auto&& x, [[maybe_unused]] std::size_t k) {
  if constexpr (requires { x.only_on(k); })
    return x.only_on(k);
  else
    return as_any_view(x).erased();
}

/// Returns the k-th place's elements as a row-major view; rejects views with strides.
template <class X> DEVPLACE_CONFIGURED auto local_part(X&& x, std::size_t k) {
  return as_row_major(erased_local_view(x, k));
}

}  // namespace devplace::detail
