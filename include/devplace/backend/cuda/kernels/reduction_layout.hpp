// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <bit>
#include <cstddef>

#include <devplace/base/divided_up.hpp>
#include <devplace/config.hpp>

namespace devplace::detail {

inline constexpr unsigned reduction_threads = 256;
/// Largest number of blocks that pass partial results to a last block: as many as an H100 runs concurrently. It is
/// constant so that the order of summation is equal on every GPU.
inline constexpr std::size_t most_partial_blocks = 1024;
/// Largest number of adjacent results that a block computes together.
inline constexpr std::size_t most_block_columns = 32;

/// Memory in which the blocks of a launch pass partial results to a last block. Tickets are 0 between launches.
template <class T> struct partial_results {
  T* values;
  unsigned* tickets;
};

/// How the elements of a reduction are distributed over blocks. The layout depends only on the shape and the element
/// type. It determines the order of summation, so the bits depend neither on the GPU nor on addresses.
///
/// A group of columns * lanes threads computes adjacent results: one result, or one pack of results, per column. The
/// lanes of a column share the column's elements. A set is as many groups as fit a block. If there are too few sets
/// to fill a GPU, the elements are cut into chunks, one per block, and the last block of a set merges the results of
/// its chunks.
struct reduction_layout {
  unsigned columns = 1;    ///< a power of two
  unsigned lanes = 1;      ///< a power of two; columns * lanes <= reduction_threads
  std::size_t tiles = 1;   ///< groups per index of the outer axis
  std::size_t groups = 0;  ///< total number of groups
  std::size_t sets = 0;    ///< total number of sets
  std::size_t chunks = 1;  ///< blocks per set
  std::size_t chunk = 0;   ///< elements along the reduced axis per chunk, a multiple of the width

  DEVPLACE_HD constexpr unsigned group_threads() const { return columns * lanes; }
  DEVPLACE_HD constexpr unsigned groups_per_block() const { return reduction_threads / group_threads(); }
  DEVPLACE_HD constexpr std::size_t blocks() const { return sets * chunks; }
};

/// Returns the layout for outer x count x inner elements. A thread takes `width` adjacent elements at a time. If inner
/// is 1, these elements are adjacent along the reduced axis; otherwise they are columns, and inner is a multiple of
/// `width`.
constexpr reduction_layout reduction_layout_of(std::size_t outer, std::size_t count, std::size_t inner,
                                               unsigned width) {
  constexpr std::size_t warp = 32, few_per_lane = 8, enough_sets = most_partial_blocks / 2;
  const bool along = inner == 1;
  const std::size_t elements = along ? width : 1;  // per access
  const std::size_t accesses = divided_up(count, elements);
  reduction_layout layout;
  std::size_t lanes = reduction_threads;
  if (along) {
    if (accesses <= few_per_lane * warp) lanes = accesses < warp ? std::bit_ceil(accesses) : warp;
  } else {
    const std::size_t packs = inner / width, most = most_block_columns / width;
    layout.columns = static_cast<unsigned>(packs < most ? std::bit_ceil(packs) : most);
    layout.tiles = divided_up(packs, layout.columns);
    lanes /= layout.columns;
    if (accesses < lanes) lanes = std::bit_ceil(accesses);
  }
  layout.lanes = static_cast<unsigned>(lanes);
  layout.groups = outer * layout.tiles;
  layout.sets = divided_up(layout.groups, layout.groups_per_block());
  layout.chunk = count;
  if (layout.groups_per_block() == 1 && layout.sets < enough_sets) {
    const std::size_t least = lanes * elements * (along ? 4 : 16);  // minimum number of elements per block
    const std::size_t most = most_partial_blocks / layout.sets;
    const std::size_t wanted = divided_up(count, least);
    const std::size_t chunks = wanted < most ? wanted : most;
    if (chunks > 1) {
      layout.chunk = divided_up(divided_up(count, chunks), lanes * elements) * lanes * elements;
      layout.chunks = divided_up(count, layout.chunk);
    }
  }
  return layout;
}

}  // namespace devplace::detail
