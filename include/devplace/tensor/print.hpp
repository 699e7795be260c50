// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <ostream>
#include <string>
#include <type_traits>
#include <vector>

#include <devplace/memory/block.hpp>
#include <devplace/tensor/detail/array_layout.hpp>
#include <devplace/tensor/detail/number_format.hpp>
#include <devplace/tensor/dtype.hpp>
#include <devplace/tensor/tensor.hpp>
#include <devplace/tensor/view.hpp>

namespace devplace {

namespace detail {

/// Elements as numpy prints them, from ordinary memory.
template <class T>
std::string printed_elements(const T* data, const std::vector<std::size_t>& extents, std::size_t size) {
  if (extents.empty()) return format_number(data[0]);
  if (size == 0) return "[]";
  const array_layout layout(extents);
  std::vector<T> shown;
  for (const std::size_t offset : layout.shown())
    shown.push_back(data[offset]);
  return layout.text(format_numbers(shown));
}

template <class Tu, class View>
void print(std::ostream& out, const std::string& kind, const View& x) {
  using value_type = typename View::value_type;
  std::vector<value_type> elements(x.size());
  copy_out<typename View::backend_type, Tu>(x.ordinal(), elements.data(), x.data(), x.size() * sizeof(value_type));
  std::vector<std::size_t> extents;
  for (std::size_t axis = 0; axis != View::rank; ++axis)
    extents.push_back(x.extent(axis));
  out << kind << dtype_name<value_type>() << ", " << to_string(x.extents()) << "> on "
      << place_name(typename View::backend_type{}, x.ordinal()) << '\n'
      << printed_elements(elements.data(), extents, elements.size());
}

}  // namespace detail

/// Prints a tensor in numpy's layout and number format (default print options: 8 digits, lines of 75 columns, `...`
/// for the middle of more than 1000 elements), under a head line such as `tensor<float, 2x3> on cpu`. No line end
/// follows. This is the one operation that copies from a device unasked: it waits for the tensor's place and copies
/// all its elements to ordinary memory.
template <class T, class Extents, class P, class Tu = detail::this_tu>
std::ostream& operator<<(std::ostream& out, const tensor<T, Extents, on<P>>& x) {
  detail::print<Tu>(out, "tensor<", x.view());
  return out;
}

/// The same for a view, under a head line such as `view<const float, 2x3> on cpu`.
template <class T, class Extents, class Where, class Tu = detail::this_tu>
std::ostream& operator<<(std::ostream& out, const view<T, Extents, Where>& x) {
  detail::print<Tu>(out, std::is_const_v<T> ? "view<const " : "view<", x);
  return out;
}

}  // namespace devplace
