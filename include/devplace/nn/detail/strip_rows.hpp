// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>

#include <devplace/base/host.hpp>
#include <devplace/ops/for_each.hpp>
#include <devplace/runtime/row_exchange.hpp>
#include <devplace/tensor/dtype.hpp>

// Images whose rows lie on several places: each place has a strip, consecutive rows of all channels. Windows of
// convolutions and poolings reach over the edges of a strip, so that a place gets rows of its neighbours before it
// computes, and gives back their gradients afterwards.

namespace devplace::nn::detail {

/// Copies a block of elements of each plane, or adds it to what is there.
template <class T, bool Adds> struct block_copy {
  static constexpr bool computes_little = true;
  T* to;
  const T* from;
  std::size_t block, to_pitch, from_pitch;

  DEVPLACE_HD void operator()(std::size_t i) const { put(i / block, i % block); }
  void range(std::size_t begin, std::size_t end) const {
    while (begin != end) {
      const std::size_t plane = begin / block, first = begin % block;
      const std::size_t last = std::min(block, first + (end - begin));
      for (std::size_t i = first; i != last; ++i) put(plane, i);
      begin += last - first;
    }
  }

 private:
  DEVPLACE_HD void put(std::size_t plane, std::size_t i) const {
    using sum = devplace::detail::computed_t<T>;
    T& element = to[plane * to_pitch + i];
    const T other = from[plane * from_pitch + i];
    if constexpr (Adds)
      element = static_cast<T>(static_cast<sum>(element) + static_cast<sum>(other));
    else
      element = other;
  }
};

/// A place's strip of the images of a batch, as run-time values. The windows of a layer reach `before` rows before the
/// strip's first row, and `behind` rows behind its last row. An image is the strip with these rows, of which the first
/// place has none before and the last place none behind: there begins the layer's padding.
template <class T, class Backend> struct strip_rows {
  int ordinal;
  std::size_t planes, rows, columns, before, behind;
  runtime::row_exchange* with;  ///< null if the pass is not one of several places; the strip is then a whole image

  bool is_first() const { return with == nullptr || with->is_first(); }
  bool is_last() const { return with == nullptr || with->is_last(); }
  std::size_t rows_of_image() const { return rows_before() + rows + rows_behind(); }

  /// Requests that the neighbours get the rows of x that their windows reach. `sent` and `received` are memory for
  /// `before + behind` rows of each plane.
  [[gnu::noinline]] void give_rows(const T* x, T* sent, T* received) const {
    T* const to_previous = sent + size_of(before);
    if (!is_last()) copy(sent, before, x + (rows - before) * columns, rows, before);
    if (!is_first()) copy(to_previous, behind, x, rows, behind);
    request(sent, before, to_previous, behind, received);
  }
  /// Makes an image of the strip x and of the rows that give_rows() received.
  [[gnu::noinline]] void make_image(T* image, const T* x, const T* received) const {
    const std::size_t all = rows_of_image();
    copy(image + rows_before() * columns, all, x, rows, rows);
    if (!is_first()) copy(image, all, received, before, before);
    if (!is_last()) copy(image + (rows_before() + rows) * columns, all, received + size_of(before), behind, behind);
  }
  /// Requests that the neighbours get the gradients of the rows that they gave, which are at the edges of an image's
  /// gradient.
  [[gnu::noinline]] void give_gradients(const T* image, T* sent, T* received) const {
    const std::size_t all = rows_of_image();
    T* const to_previous = sent + size_of(behind);
    if (!is_last()) copy(sent, behind, image + (rows_before() + rows) * columns, all, behind);
    if (!is_first()) copy(to_previous, before, image, all, before);
    request(sent, behind, to_previous, before, received);
  }
  /// Makes the strip's gradient dx of an image's gradient and of the gradients that give_gradients() received.
  [[gnu::noinline]] void add_gradients(T* dx, const T* image, const T* received) const {
    copy(dx, rows, image + rows_before() * columns, rows_of_image(), rows);
    if (!is_first()) copy<true>(dx, rows, received, behind, behind);
    if (!is_last()) copy<true>(dx + (rows - before) * columns, rows, received + size_of(behind), before, before);
  }

 private:
  std::size_t rows_before() const { return is_first() ? 0 : before; }
  std::size_t rows_behind() const { return is_last() ? 0 : behind; }
  std::size_t size_of(std::size_t some_rows) const { return planes * some_rows * columns; }
  /// Copies `count` rows of each plane between arrays of `to_rows` and `from_rows` rows.
  template <bool Adds = false>
  void copy(T* to, std::size_t to_rows, const T* from, std::size_t from_rows, std::size_t count) const {
    devplace::detail::for_each_index<Backend>(
        ordinal, size_of(count), 16384,
        block_copy<T, Adds>{to, from, count * columns, to_rows * columns, from_rows * columns});
  }
  void request(const T* to_next, std::size_t next_rows, const T* to_previous, std::size_t previous_rows,
               T* received) const {
    if (with == nullptr) return;
    with->to_next = to_next;
    with->to_previous = to_previous;
    with->from_previous = received;
    with->from_next = received + size_of(next_rows);
    with->forward = size_of(next_rows) * sizeof(T);
    with->backward = size_of(previous_rows) * sizeof(T);
  }
};

}  // namespace devplace::nn::detail
