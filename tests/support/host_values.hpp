// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include <devplace/memory/block.hpp>
#include <devplace/tensor/tensor.hpp>

namespace support {

/// Returns the elements of a tensor or view on one place, copied to the host.
template <class X> auto values_of(const X& x) {
  const auto view = devplace::detail::as_view(x);
  using view_type = std::remove_const_t<decltype(view)>;
  std::vector<typename view_type::value_type> values(view.size());
  devplace::detail::copy_out<typename view_type::backend_type>(
      view.ordinal(), values.data(), std::to_address(view.data()), values.size() * sizeof(values[0]));
  return values;
}

/// Writes elements into a view.
template <class View, class T> void set_values(const View& view, const std::vector<T>& values) {
  devplace::detail::copy_in<typename View::backend_type>(view.ordinal(), std::to_address(view.data()), values.data(),
                                                         view.size() * sizeof(values[0]));
}

/// Returns the elements of a row-major array whose index along `axis` is in [begin, end), selected index by index.
template <class T, class Extents>
std::vector<T> part_of(const std::vector<T>& whole, const Extents& extents, std::size_t axis, std::size_t begin,
                       std::size_t end) {
  std::vector<T> part;
  for (std::size_t i = 0; i < whole.size(); ++i) {
    std::size_t inner = 1;
    for (std::size_t next = axis + 1; next < Extents::rank; ++next) inner *= extents.extent(next);
    const std::size_t index = i / inner % extents.extent(axis);
    if (index >= begin && index < end) part.push_back(whole[i]);
  }
  return part;
}

/// Returns a tensor on the CPU with the elements 0, 1, 2, ...
template <class T, class Extents> auto counted(const Extents& extents) {
  devplace::tensor<T, Extents, devplace::on<devplace::cpu>> x(extents);
  for (std::size_t i = 0; i < x.size(); ++i) x.data()[i] = static_cast<T>(i);
  return x;
}

}  // namespace support
