// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

#include <devplace/backend/cuda/kernels/groups.hpp>

namespace devplace::detail {

/// A thread's share of a row of at most PerThread * Group::size elements, held in registers: the row is read once.
template <class T, class Group, unsigned PerThread>
class row_values {
 public:
  DEVPLACE_DEVICE row_values(const Group& group, const T* row, std::size_t columns)
      : first_(group.index()), columns_(columns) {
    DEVPLACE_DEVICE_UNROLL
    for (unsigned k = 0; k < PerThread; ++k)
      values_[k] = column(k) < columns ? row[column(k)] : T{};
  }

  /// Calls f(column, element) for each of the thread's elements.
  template <class F>
  DEVPLACE_DEVICE void each(const F& f) const {
    DEVPLACE_DEVICE_UNROLL
    for (unsigned k = 0; k < PerThread; ++k)
      if (column(k) < columns_) f(column(k), values_[k]);
  }

 private:
  DEVPLACE_DEVICE std::size_t column(unsigned k) const { return first_ + k * Group::size; }

  unsigned first_;
  std::size_t columns_;
  T values_[PerThread];
};

/// A thread's share of a row of any length, which is read again in each pass.
template <class T, class Group>
class row_values<T, Group, 0> {
 public:
  DEVPLACE_DEVICE row_values(const Group& group, const T* row, std::size_t columns)
      : first_(group.index()), row_(row), columns_(columns) {}

  template <class F>
  DEVPLACE_DEVICE void each(const F& f) const {
    for (std::size_t c = first_; c < columns_; c += Group::size)
      f(c, row_[c]);
  }

 private:
  unsigned first_;
  const T* row_;
  std::size_t columns_;
};

/// What functors of rows get to read a row: 0 elements per thread are rows of any length.
template <unsigned PerThread>
struct row_access {
  template <class T, class Group>
  DEVPLACE_DEVICE static row_values<T, Group, PerThread> values(const Group& group, const T* row, std::size_t columns) {
    return {group, row, columns};
  }
};

}  // namespace devplace::detail
