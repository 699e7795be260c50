// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

#include <devplace/ops/elementwise.hpp>
#include <devplace/place/axis.hpp>
#include <devplace/runtime/pass.hpp>
#include <devplace/tensor/view.hpp>

// Images whose rows lie on several places: each place has a strip, consecutive rows of all channels. Windows of
// convolutions and poolings reach over the edges of a strip, so that a place gets rows of its neighbours before it
// computes, and gives back their gradients afterwards.

namespace devplace::nn::detail {

/// A place's strip of the images of a batch, as run-time values. The windows of a layer reach `before` rows before the
/// strip's first row, and `behind` rows behind its last row. An image is the strip with these rows, of which the first
/// place has none before and the last place none behind: there begins the layer's padding.
template <class T, class Backend> struct strip_rows {
  int ordinal;
  std::size_t planes, rows, columns, before, behind;
  runtime::row_exchange* with;  ///< null if the pass is not one of several places; the strip is then a whole image
  /// Memory for `before + behind` rows of each plane: `kept` from forward to backward, `sent` and `received` in a pass.
  T *kept, *sent, *received;

  bool is_first() const { return with == nullptr || with->is_first(); }
  bool is_last() const { return with == nullptr || with->is_last(); }
  std::size_t rows_before() const { return is_first() ? 0 : before; }
  std::size_t rows_of_image() const { return rows_before() + rows + (is_last() ? 0 : behind); }

  /// Requests that the neighbours get the rows of x that their windows reach.
  [[gnu::noinline]] void give_rows(const T* x) const { give(x, rows, rows - before, before, behind, kept); }
  /// Makes an image of the strip x and of the rows that give_rows() received.
  [[gnu::noinline]] void make_image(T* image, const T* x) const {
    const std::size_t all = rows_of_image(), end = rows_before() + rows;
    assign(part(image, all, rows_before(), rows), part(x, rows, 0, rows));
    if (!is_first()) assign(part(image, all, 0, before), part(kept, before, 0, before));
    if (!is_last()) assign(part(image, all, end, behind), part(kept + size_of(before), behind, 0, behind));
  }
  /// Requests that the neighbours get the gradients of the rows that they gave, which are at the edges of an image's
  /// gradient.
  [[gnu::noinline]] void give_gradients(const T* image) const {
    give(image, rows_of_image(), rows_before() + rows, behind, before, received);
  }
  /// Makes the strip's gradient dx of an image's gradient and of the gradients that give_gradients() received.
  [[gnu::noinline]] void add_gradients(T* dx, const T* image) const {
    assign(part(dx, rows, 0, rows), part(image, rows_of_image(), rows_before(), rows));
    if (!is_first()) part(dx, rows, 0, behind) += part(received, behind, 0, behind);
    if (!is_last()) part(dx, rows, rows - before, before) += part(received + size_of(behind), before, 0, before);
  }

 private:
  std::size_t size_of(std::size_t some_rows) const { return planes * some_rows * columns; }
  /// Rows [first, first + count) of each plane of an array of `all` rows.
  template <class Element> auto part(Element* data, std::size_t all, std::size_t first, std::size_t count) const {
    return devplace::detail::view_at<Backend>(ordinal, data, extents<dyn, dyn, dyn>{planes, all, columns})
        .slice(axis<1>{}, first, first + count);
  }
  /// Requests that the next place gets `next` rows from row `at` on, and the previous place the first `previous` rows,
  /// of an array of `all` rows. The rows of the neighbours arrive at `to`.
  void give(const T* from, std::size_t all, std::size_t at, std::size_t next, std::size_t previous, T* to) const {
    T* const to_previous = sent + size_of(next);
    if (!is_last()) assign(part(sent, next, 0, next), part(from, all, at, next));
    if (!is_first()) assign(part(to_previous, previous, 0, previous), part(from, all, 0, previous));
    if (with != nullptr)
      *with = {with->part,
               with->parts,
               sent,
               to,
               to_previous,
               to + size_of(next),
               size_of(next) * sizeof(T),
               size_of(previous) * sizeof(T)};
  }
};

}  // namespace devplace::nn::detail
