// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <string>

#include <devplace/place/error.hpp>
#include <devplace/tensor/placed.hpp>
#include <devplace/tensor/tensor.hpp>

namespace devplace::detail {

/// Changes how many rows a tensor has inside the memory it was made with, which is its capacity: the last batch of an
/// epoch is smaller than the others, and nothing is to be allocated for it. Elements are left as they are, so that
/// those of a tensor over several places belong to other rows afterwards.
struct leading_extent {
  /// Throws shape_error when the rows do not fit, on any place; the tensor is unchanged then.
  template <class T, class Extents, class Where>
  static void set(tensor<T, Extents, Where>& x, std::size_t rows) {
    static_assert(Extents::rank > 0, "devplace: a scalar has no first axis; give the tensor one, as in extents<dyn>.");
    static_assert(Extents::static_extent(0) == dyn,
                  "devplace: only a dynamic first extent can be changed; make it dyn, as in extents<dyn, 784>.");
    const Extents before = x.extents_;
    x.extents_ = with_dynamic_first<Extents>::with(rows, before);
    if (fits(x)) return;
    x.extents_ = before;
    throw shape_error(std::to_string(rows) + " rows do not fit into the memory of a tensor that is now " +
                      to_string(before) + "; make it with the largest number of rows that it will have.");
  }

 private:
  template <class T, class Extents, class Where>
  static bool fits(const tensor<T, Extents, Where>& x) {
    const std::size_t row_bytes = x.extents_.stride(0) * sizeof(T);
    if constexpr (single_place<Where>) {
      return holds(x.block_, x.extents_.extent(0), row_bytes);
    } else {
      bool all = true;
      for (std::size_t k = 0; k < place_count<Where>; ++k)
        all = all && holds(x.blocks_[k], x.part_extents(k).extent(0), row_bytes);
      return all;
    }
  }

  static bool holds(const memory_block& block, std::size_t rows, std::size_t row_bytes) {
    return row_bytes == 0 || rows <= block.bytes() / row_bytes;
  }
};

}  // namespace devplace::detail
