// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <span>
#include <type_traits>

#include <devplace/base/error.hpp>
#include <devplace/tensor/distributed.hpp>
#include <devplace/tensor/extents.hpp>
#include <devplace/tensor/tensor.hpp>

namespace devplace::detail {

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
    fail(rows, sizes_of(before));
  }

 private:
  template <class Where> static constexpr bool splits_rows = std::is_same_v<kind_of<Where>, split_along<0>>;

  static bool holds(const memory_block& block, const auto& extents, std::size_t element_bytes) {
    const std::size_t row_bytes = extents.stride(0) * element_bytes;
    return row_bytes == 0 || extents.extent(0) <= block.bytes() / row_bytes;
  }
  [[noreturn, gnu::noinline]] static void fail(std::size_t rows, std::span<const std::size_t> now) {
    throw shape_error({rows, " rows do not fit into the memory of a tensor that is now ", sizes_text(now),
                       "; make it with the largest number of rows that it will have."});
  }
};

}  // namespace devplace::detail
