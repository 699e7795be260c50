// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include <devplace/config.hpp>
#include <devplace/ops/detail/elementary.hpp>
#include <devplace/ops/detail/exponential.hpp>
#include <devplace/ops/detail/half_blocks.hpp>
#include <devplace/ops/detail/independent_loop.hpp>
#include <devplace/ops/detail/index_rows.hpp>
#include <devplace/ops/detail/square_roots.hpp>
#include <devplace/ops/detail/strided_copy.hpp>
#include <devplace/ops/detail/tree.hpp>

namespace devplace::detail {

/// Number of elements that justify a thread: a few microseconds of work.
inline constexpr std::size_t elementwise_grain = 16384;

/// Writes tree elements begin..end-1. Each destination element depends only on operand elements with the same index, so
/// the destination may be an operand. `Alternating`: by alternating_loop.
template <bool Alternating = false, class T, class Tree>
[[gnu::always_inline]] inline void assign_row(T* destination, const Tree& tree, std::size_t begin, std::size_t end) {
  // Always inlined: g++ does not vectorise loops with calls, and does not inline long expressions otherwise.
  const auto assign = [&](std::size_t i) __attribute__((always_inline)) { destination[i] = tree.at(i); };
  if constexpr (Alternating && computes_much<Tree> && sizeof(T) >= 4)
    alternating_loop<T>(begin, end, assign);
  else
    independent_loop(begin, end, assign);
}

/// Square roots: evaluates the operand block by block and takes the roots while a block is in the cache.
template <bool Alternating = false, class T, class Operand>
  requires(std::is_floating_point_v<T> &&
           std::is_same_v<T, std::remove_cvref_t<decltype(std::declval<Operand>().at(std::size_t{}))>>)
[[gnu::always_inline]] inline void assign_row(
    T* destination, const node<elementary::square_root, std::index_sequence<0>, Operand>& tree, std::size_t begin,
    std::size_t end) {
  constexpr std::size_t most = 1024;
  for (std::size_t first = begin; first < end; first += most) {
    const std::size_t last = end - first < most ? end : first + most;
    assign_row<Alternating>(destination, static_cast<const branch<0, Operand>&>(tree).child, first, last);
    take_square_roots(destination + first, last - first);
  }
}

template <bool = false, class T, class F, class Operand>
  requires(std::is_same_v<F, elementary::exponential> ||
           std::is_same_v<F, elementary::in_float<elementary::exponential, bf16>>)
[[gnu::always_inline]] inline void assign_row(T* destination, const node<F, std::index_sequence<0>, Operand>& tree,
                                              std::size_t begin, std::size_t end) {
  using value = computed_t<T>;
  constexpr std::size_t most = exponential_block<value>::most;
  const Operand& operand = static_cast<const branch<0, Operand>&>(tree).child;
  for (; begin < end; begin += most) {
    exponential_block<value> block;
    const std::size_t count = end - begin < most ? end - begin : most;
    independent_loop(0, count, [&](std::size_t i) __attribute__((always_inline)) {
      block.numbers[i] = limited_to(exponential_constants<value>::limit, static_cast<value>(operand.at(begin + i)));
    });
    block.template take_exponentials<exponent_parts<value>>(count);
    independent_loop(0, count, [&](std::size_t i) __attribute__((always_inline)) {
      destination[begin + i] = static_cast<T>(block.numbers[i]);
    });
  }
}

// Stores that bypass the caches, for results that no cache could hold. An ordinary store first reads the line of memory
// that it changes; these write whole lines.

#if defined(__x86_64__)
/// Number of bytes that one thread writes from which on stores bypass the caches: several times a processor's part of
/// the last cache, so that nothing of the result would be found there.
inline constexpr std::size_t streamed_from = std::size_t{16} << 20U;

/// Copies a block that lies in the first cache. Not inlined into code for other instruction sets, because 16-byte
/// vectors need none.
[[gnu::noinline]] inline void store_around_caches(void* to, const void* from, std::size_t bytes) {
  typedef float vector __attribute__((vector_size(16)));
  typedef float in_memory __attribute__((vector_size(16), aligned(1), may_alias));
  if (reinterpret_cast<std::uintptr_t>(to) % sizeof(vector) != 0) {
    std::memcpy(to, from, bytes);
    return;
  }
  auto* target = static_cast<std::byte*>(to);
  auto* source = static_cast<const std::byte*>(from);
  for (; bytes >= sizeof(vector); bytes -= sizeof(vector), target += sizeof(vector), source += sizeof(vector)) {
    const vector part = *reinterpret_cast<const in_memory*>(source);
    __asm__ volatile("movntps %1, %0" : "=m"(*reinterpret_cast<in_memory*>(target)) : "x"(part));
  }
  std::memcpy(target, source, bytes);
}

/// Orders these stores before the later stores of this thread, as other stores are.
inline void finish_stores_around_caches() { __asm__ volatile("sfence" ::: "memory"); }
#else
inline constexpr std::size_t streamed_from = ~std::size_t{0};
inline void store_around_caches(void* to, const void* from, std::size_t bytes) { std::memcpy(to, from, bytes); }
inline void finish_stores_around_caches() {}
#endif

/// Index functor without broadcasting, except of tensors with one element.
template <class T, class Tree> struct assign_linear {
  static constexpr bool computes_much = deserves_avx512<Tree>;
  T* destination;
  Tree tree;

  DEVPLACE_HD void operator()(std::size_t i) const { destination[i] = tree.at(i); }

  /// Computes a large result that is no operand in blocks, which are then stored around the caches. Where an element
  /// takes longer than its transfer (computes_much), or no memory is read, this would gain nothing.
  template <bool Alternating = false> void range(std::size_t begin, std::size_t end) const {
    constexpr std::size_t most = 1024 / sizeof(T);
    alignas(64) T block[most];
    const bool is_streamed = !detail::computes_much<Tree> && reads_memory<Tree> &&
                             (end - begin) * sizeof(T) >= streamed_from && !is_leaf(destination, tree);
    const std::size_t step = is_streamed ? most : end - begin;
    for (; begin != end; begin += std::min(step, end - begin)) {
      const std::size_t count = std::min(step, end - begin);
      assign_row<Alternating>(is_streamed ? block : destination + begin, transformed(leaf_from{{}, begin}, tree), 0,
                              count);
      if (is_streamed) store_around_caches(destination + begin, block, count * sizeof(T));
    }
    if (is_streamed) finish_stores_around_caches();
  }
};

/// The axis along which consecutive rows lie. An array of one axis has one row.
template <std::size_t Rank> inline constexpr std::size_t axis_of_rows = Rank > 1 ? Rank - 2 : 0;

/// Holds an operand's elements for a block of `count` elements of the result, gathered in the result's order.
/// `from` is the address of the first gathered element. Reused while the operand repeats these elements.
struct gathered_block {
  static constexpr std::size_t most = 256;
  const void* from = nullptr;
  std::ptrdiff_t count = 0;
  alignas(64) std::byte elements[most * sizeof(double)];
};

/// Copies [rows, columns] elements, `strides` apart in the source, to a contiguous block, unless the block holds them.
/// Like copy_rows(), the function is not inlined.
template <class T>
[[gnu::noinline]] const T* gather(gathered_block& block, const T* from, const std::ptrdiff_t* strides,
                                  std::ptrdiff_t rows, std::ptrdiff_t columns) {
  T* const to = reinterpret_cast<T*>(block.elements);
  if (block.from == from && block.count >= rows * columns) return to;
  block.from = from, block.count = rows * columns;
  if (strides[1] == 0 && (rows == 1 || columns >= 8))
    for (std::ptrdiff_t row = 0; row < rows; ++row) std::fill_n(to + row * columns, columns, from[row * strides[0]]);
  else
    copy_rows(to, columns, std::integral_constant<std::ptrdiff_t, 1>{}, from, strides, rows, columns);
  return to;
}

/// Replaces leaves for a block of the result, `rows` x `columns` elements from `start` on, so that one loop computes
/// the block for any strides. Gathers operands that are strided or repeated within the block into the next buffer.
template <std::size_t Rank> struct leaf_of_block : load_singles {
  using load_singles::operator();

  const position<Rank>& start;
  std::ptrdiff_t rows, columns;
  gathered_block*& buffers;

  template <class T> linear_leaf<T> operator()(const strided_leaf<T, Rank>& leaf) const {
    const std::ptrdiff_t strides[] = {leaf.strides[axis_of_rows<Rank>], leaf.strides[Rank - 1]};
    const T* const from = leaf.data + start.offset(leaf.strides);
    gathered_block& block = *buffers++;
    const bool is_contiguous = strides[1] == 1 && (rows == 1 || strides[0] == columns);
    return {is_contiguous ? from : gather(block, from, strides, rows, columns)};
  }
};

template <class T, std::size_t Rank> struct row_major_target {
  T* data;

  DEVPLACE_HD T* at(std::size_t i, const position<Rank>&) const { return data + i; }
  static std::ptrdiff_t stride_between_rows(const std::size_t* extents) {
    return static_cast<std::ptrdiff_t>(extents[Rank - 1]);
  }
  static constexpr std::integral_constant<std::ptrdiff_t, 1> row_stride() { return {}; }
};

template <class T, std::size_t Rank> struct strided_target {
  T* data;
  std::ptrdiff_t strides[Rank];

  DEVPLACE_HD T* at(std::size_t, const position<Rank>& p) const { return data + p.offset(strides); }
  std::ptrdiff_t stride_between_rows(const std::size_t*) const { return strides[axis_of_rows<Rank>]; }
  std::ptrdiff_t row_stride() const { return strides[Rank - 1]; }
};

DEVPLACE_ANY_LOOP_BODY_BEGIN
/// Index functor for a destination or operands with a stride for each axis, which is 0 along broadcast axes.
template <class Target, class Tree, std::size_t Rank> struct assign_strided {
  static constexpr bool computes_much = deserves_avx512<Tree>;
  Target destination;
  Tree tree;
  std::size_t extents[Rank];
  bool linear_rows;

  DEVPLACE_HD constexpr position<Rank> position_of(std::size_t i) const {
    position<Rank> p{};
    split_index(i, extents, p.index);
    return p;
  }

  DEVPLACE_HD void operator()(std::size_t i) const {
    const position<Rank> p = position_of(i);
    *destination.at(i, p) = tree.at(p);
  }

  template <bool Alternating = false> void range(std::size_t begin, std::size_t end) const {
    constexpr std::size_t most = gathered_block::most;
    const std::size_t width = extents[Rank - 1];
    const bool are_short = width <= (linear_rows ? 16 : most / 2);
    const bool copies = is_strided_leaf<Tree> && !linear_rows;
    const std::size_t together = copies ? 64 : are_short ? most / width : 1;
    gathered_block buffers[strided_leaves<Tree> + 1];
    position<Rank> start = position_of(begin);
    while (begin < end) {
      std::size_t rows = 1;
      if (together > 1 && start.index[Rank - 1] == 0 && end - begin >= width)
        rows =
            std::min({(end - begin) / width, extents[axis_of_rows<Rank>] - start.index[axis_of_rows<Rank>], together});
      // The rest of one row in parts that fit a block, or several whole rows at once.
      const std::size_t of_row = std::min(end - begin, width - start.index[Rank - 1]);
      const std::size_t longest = linear_rows || rows > 1 ? of_row : most;
      const std::size_t stop = begin + rows * of_row;
      while (begin < stop) {
        const std::size_t columns = std::min(longest, stop - begin);
        assign_block<Alternating>(begin, start, static_cast<std::ptrdiff_t>(rows), static_cast<std::ptrdiff_t>(columns),
                                  buffers);
        begin += rows * columns;
        start.index[Rank - 1] += columns;
      }
      start.index[Rank - 1] = 0;
      if constexpr (Rank > 1) start.index[Rank - 2] += rows;
      for (std::size_t axis = Rank - 1; axis-- > 1 && start.index[axis] == extents[axis];)
        start.index[axis] = 0, ++start.index[axis - 1];
    }
  }

 private:
  template <bool Alternating>
  void assign_block(std::size_t begin, const position<Rank>& start, std::ptrdiff_t rows, std::ptrdiff_t columns,
                    gathered_block* buffers) const {
    auto* const to = destination.at(begin, start);
    const auto stride = destination.row_stride();
    const std::ptrdiff_t between = destination.stride_between_rows(extents);
    if constexpr (is_strided_leaf<Tree>) {
      const std::ptrdiff_t strides[] = {tree.strides[axis_of_rows<Rank>], tree.strides[Rank - 1]};
      if (!linear_rows)
        return copy_rows(to, between, stride, tree.data + start.offset(tree.strides), strides, rows, columns);
    }
    const bool contiguous = stride == 1 && (rows == 1 || between == columns);
    auto* const block = contiguous ? to : reinterpret_cast<decltype(to)>(buffers->elements);
    assign_row<Alternating>(block, transformed(leaf_of_block<Rank>{{}, start, rows, columns, ++buffers}, tree), 0,
                            static_cast<std::size_t>(rows * columns));
    const std::ptrdiff_t packed[] = {columns, 1};
    if (!contiguous) copy_rows(to, between, stride, block, packed, rows, columns);
  }
};
DEVPLACE_ANY_LOOP_BODY_END

}  // namespace devplace::detail
