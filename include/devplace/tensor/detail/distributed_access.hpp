// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include <devplace/base/error.hpp>
#include <devplace/tensor/detail/any_tensor.hpp>
#include <devplace/tensor/detail/as_view.hpp>
#include <devplace/tensor/distributed.hpp>
#include <devplace/tensor/extents.hpp>
#include <devplace/tensor/summand_view.hpp>
#include <devplace/tensor/tensor.hpp>

namespace devplace::detail {

/// Lets collectives access distributed tensors, to move memory between tensors of different placements.
struct distributed_access {
  template <class Tensor> static auto extents(const Tensor& x, std::size_t k) { return x.part_extents(k); }
  template <class View> static const View& elements(const summand_view<View>& x) { return x.elements_; }
  template <class T, class Extents, class Where> static auto& blocks(tensor<T, Extents, Where>& x) { return x.blocks_; }
  /// Moves the blocks into a tensor of another placement on the same places; each place holds the whole extents.
  template <class To, class T, class Extents, class Where>
  static tensor<T, Extents, To> as(tensor<T, Extents, Where>&& x) {
    return tensor<T, Extents, To>(std::move(x.blocks_), x.extents_, {});
  }
  /// Makes an uninitialised tensor with the split of `source` and the rule by which `source` divides later extents.
  template <class Result, class Extents, class Source>
  DEVPLACE_CONFIGURED static Result split_like(const Extents& extents, const Source& source) {
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

inline namespace DEVPLACE_CONFIGURATION {

/// Returns the k-th place's elements as an erased view of any layout; for a value on one place, its elements.
template <class X> auto erased_local_view(X&& x, std::size_t k) {
  if constexpr (requires { x.only_on(k); }) {
    return x.only_on(k);
  } else {
    static_cast<void>(k);
    return as_any_view(x).erased();
  }
}

/// Returns the k-th place's elements as a row-major view; rejects views with strides.
template <class X> auto local_part(X&& x, std::size_t k) { return as_row_major(erased_local_view(x, k)); }

}  // namespace DEVPLACE_CONFIGURATION

/// Changes the number of rows of a tensor within the capacity of its memory: an epoch's last batch is smaller and must
/// not allocate. Does not move elements, so on several places the elements belong to other rows afterwards. If axis 0
/// is split, the tensor's rule divides the new rows; if sizes gave the split, the rows are divided evenly.
struct leading_extent {
  /// Throws shape_error, leaving the tensor unchanged, if the rows do not fit on some place.
  template <class T, class Extents, class Where> static void set(tensor<T, Extents, Where>& x, std::size_t rows) {
    static_assert(Extents::rank > 0, "devplace: a scalar has no first axis; give the tensor one, as in extents<dyn>.");
    static_assert(Extents::static_extent(0) == dyn,
                  "devplace: only a dynamic first extent can be changed; make it dyn, as in extents<dyn, 784>.");
    const Extents before = x.extents_;
    x.extents_ = with_dynamic_axis<Extents>::with(rows, before);
    if constexpr (single_place<Where>) {
      if (holds(x.block_, x.extents_, sizeof(T))) return;
    } else {
      const auto division_before = x.division_;
      if constexpr (splits_rows<Where>) x.division_.set(rows);
      bool all = true;
      for (std::size_t k = 0; k < local_place_count<Where>; ++k)
        all = all && holds(x.blocks_[k], x.part_extents(k), sizeof(T));
      if (all) return;
      x.division_ = division_before;
    }
    x.extents_ = before;
    throw shape_error({rows, " rows do not fit into the memory of a tensor that is now ", to_string(before),
                       "; make it with the largest number of rows that it will have."});
  }

 private:
  template <class Where> static constexpr bool splits_rows = std::is_same_v<kind_of<Where>, split_along<0>>;

  template <class Extents>
  static bool holds(const memory_block& block, const Extents& extents, std::size_t element_bytes) {
    const std::size_t row_bytes = extents.stride(0) * element_bytes;
    return row_bytes == 0 || extents.extent(0) <= block.bytes() / row_bytes;
  }
};

}  // namespace devplace::detail
