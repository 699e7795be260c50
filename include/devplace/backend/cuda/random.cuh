// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <devplace/backend/cuda/kernels/wide.hpp>
#include <devplace/base/divided_up.hpp>
#include <devplace/config.hpp>
#include <devplace/ops/detail/random_body.hpp>

namespace devplace::detail {

/// Generates n random elements. A thread generates Body::at_once elements, 16 bytes, and stores them with one access if
/// the destination is aligned (`wide`) and none of the elements lies beyond n.
template <class Body> struct random_kernel {
  static constexpr unsigned threads = 256;
  static constexpr unsigned width = Body::at_once;

  std::size_t n;
  bool wide;
  Body body;

  std::size_t blocks() const { return divided_up(n, threads * width); }

  template <class Thread> DEVPLACE_DEVICE void operator()(Thread& t) const {
    using value = std::remove_pointer_t<decltype(body.destination)>;
    const std::size_t thread = std::size_t{t.block_index()} * threads + t.thread_index();
    const std::size_t stride = std::size_t{t.grid_size()} * threads;
    for (std::size_t i = thread * width; i < n; i += stride * width) {
      pack<value, width> values;
      body.several(i, values.value);
      if (wide && i + width <= n) {
        t.store(body.destination + i, values);
      } else {
        DEVPLACE_DEVICE_UNROLL
        for (unsigned k = 0; k < width; ++k)
          if (i + k < n) body.destination[i + k] = values.value[k];
      }
    }
  }
};

template <class T> random_kernel<uniform_body<T>> make_kernel(std::size_t n, const uniform_body<T>& body) {
  return {n, is_aligned<widest_access<T>>(body.destination), body};
}
template <class T> random_kernel<normal_body<T>> make_kernel(std::size_t, const normal_body<T>& body) {
  return {body.size, is_aligned<widest_access<T>>(body.destination), body};
}

/// Applies dropout to `rows` samples. A thread handles the four elements of a sample that share a block of random
/// words, or eight 16-bit elements with two blocks. Accesses are wide if these four or eight elements are aligned for
/// every thread.
template <class T> struct dropout_kernel {
  static constexpr unsigned threads = 256;
  static constexpr unsigned of_block = 4;
  static constexpr unsigned width = widest_access<T>;
  static constexpr unsigned group = width < of_block ? of_block : width;

  std::size_t rows;
  bool wide;
  dropout_body<T> body;

  DEVPLACE_HD std::size_t groups_of_row() const { return divided_up(body.columns, group); }
  DEVPLACE_HD std::size_t groups() const { return rows * groups_of_row(); }
  std::size_t blocks() const { return divided_up(groups(), threads); }

  template <class Thread> DEVPLACE_DEVICE void operator()(Thread& t) const {
    const std::size_t thread = std::size_t{t.block_index()} * threads + t.thread_index();
    const std::size_t stride = std::size_t{t.grid_size()} * threads;
    dropout_body<T> with_key = body;
    with_key.key = body.key.resolved();
    for (std::size_t i = thread; i < groups(); i += stride) {
      const std::size_t row = i / groups_of_row(), column = i % groups_of_row() * group;
      std::uint32_t words[group];
      DEVPLACE_DEVICE_UNROLL
      for (unsigned k = 0; k < group; k += of_block) {
        const philox_block block = with_key.words(row, (column + k) / of_block);
        DEVPLACE_DEVICE_UNROLL
        for (unsigned j = 0; j < of_block; ++j) words[k + j] = block.word[j];
      }
      const std::size_t first = row * body.columns + column;
      if (wide) {
        DEVPLACE_DEVICE_UNROLL
        for (unsigned k = 0; k < group; k += width) {
          pack<T, width> x = t.template load<T, width>(body.source + first + k);
          DEVPLACE_DEVICE_UNROLL
          for (unsigned j = 0; j < width; ++j) x.value[j] = body.element(x.value[j], words[k + j]);
          t.store(body.destination + first + k, x);
        }
      } else {
        DEVPLACE_DEVICE_UNROLL
        for (unsigned k = 0; k < group; ++k)
          if (column + k < body.columns) body.destination[first + k] = body.element(body.source[first + k], words[k]);
      }
    }
  }
};

template <class T> dropout_kernel<T> make_kernel(std::size_t n, const dropout_body<T>& body) {
  constexpr unsigned width = dropout_kernel<T>::width;
  const bool wide = is_aligned<width>(body.destination) && is_aligned<width>(body.source) &&
                    body.columns % dropout_kernel<T>::group == 0;
  return {n / body.columns, wide, body};
}

}  // namespace devplace::detail
