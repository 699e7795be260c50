// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <span>
#include <string>
#include <type_traits>

#include <devplace/memory/block.hpp>
#include <devplace/place/error.hpp>
#include <devplace/tensor/tensor.hpp>

namespace devplace::inline DEVPLACE_CONFIGURATION {

/// A tensor on any place with a copy of row-major elements in host memory: `from_span<on<cuda<0>>>(std::span(values),
/// extents<dyn, 3>{5})`. Accepts everything that converts to a std::span of an element type (a std::vector, an array).
/// The source may be changed after the call. Throws shape_error unless the number of elements is that of the extents.
template <single_place Where, class Source, extents_like Extents>
  requires requires(const Source& source) {
    std::span(source);
  }
auto from_span(const Source& source, const Extents& extents) {
  const std::span values(source);
  using value_type = typename std::remove_const_t<decltype(values)>::value_type;
  static_assert(element<value_type>,
                "devplace: from_span: the elements must be float, double, std::int32_t, std::int64_t or std::uint8_t.");
  if (values.size() != extents.size())
    throw shape_error("from_span: " + std::to_string(values.size()) + " elements were given for a tensor of " +
                      detail::to_string(extents) + ", which has " + std::to_string(extents.size()) + ".");
  using result_type = tensor<value_type, Extents, Where>;
  result_type result(extents);
  detail::copy_in<typename result_type::backend_type>(result.view().ordinal(), result.data(), values.data(),
                                                      values.size_bytes());
  return result;
}

}  // namespace devplace::inline DEVPLACE_CONFIGURATION
