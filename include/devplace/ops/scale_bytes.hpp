// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <type_traits>

#include <devplace/config.hpp>
#include <devplace/ops/detail/operands.hpp>
#include <devplace/ops/for_each.hpp>
#include <devplace/tensor/dtype.hpp>
#include <devplace/tensor/view.hpp>

namespace devplace {

/// A table of `(x * scale - mean) / standard_deviation` for all byte values x. Computed in double and rounded once to
/// T, so it is identical on every place and with all compiler options.
template <floating_element T> struct byte_scale {
  /// The value of byte x.
  T values[256];

  /// Without a scale, the table has `(x / 255 - mean) / standard_deviation`, as torchvision's ToTensor and Normalize.
  explicit byte_scale(std::optional<double> scale = {}, double mean = 0, double standard_deviation = 1) {
    for (std::size_t x = 0; x < 256; ++x) {
      const double value = static_cast<double>(x);
      const double centred = scale ? std::fma(value, *scale, -mean) : value / 255 - mean;
      values[x] = static_cast<T>(centred / standard_deviation);
    }
  }
};

namespace detail {

/// Look-ups on the CPU: as fast as arithmetic with the vector instructions of baseline x86-64.
template <class T>
void scale_byte_range(T* to, const std::uint8_t* from, std::size_t count, const byte_scale<T>& scale) {
  const T* const table = scale.values;
  std::size_t i = 0;
  if constexpr (std::endian::native == std::endian::little) {
    // Reads eight bytes into one register: compilers would vectorise the obvious loop into slow gathers, and g++ with
    // -O3 and AVX2 also a loop over these eight.
    for (; i + 8 <= count; i += 8) {
      std::uint64_t bytes;
      std::memcpy(&bytes, from + i, sizeof bytes);
      to[i] = table[bytes & 255];
      to[i + 1] = table[bytes >> 8 & 255];
      to[i + 2] = table[bytes >> 16 & 255];
      to[i + 3] = table[bytes >> 24 & 255];
      to[i + 4] = table[bytes >> 32 & 255];
      to[i + 5] = table[bytes >> 40 & 255];
      to[i + 6] = table[bytes >> 48 & 255];
      to[i + 7] = table[bytes >> 56];
    }
  }
  for (; i < count; ++i) to[i] = table[from[i]];
}

template <class T> struct byte_scaler {
  T* to;
  const std::uint8_t* from;
  byte_scale<T> scale;

  void range(std::size_t begin, std::size_t end) const {
    scale_byte_range(to + begin, from + begin, end - begin, scale);
  }
};

}  // namespace detail
}  // namespace devplace

namespace devplace::inline DEVPLACE_CONFIGURATION {

/// Converts the bytes of x to y by the table `scale`, for example pixels to a network's input. y is float or double, x
/// is uint8; both have the same extents and place. The results have the same bits on every place. In the order of the
/// place's current stream, without allocation. Throws shape_error for different extents.
template <tensor_like Y, tensor_like X>
void scale_bytes_into(Y&& y, const X& x, const byte_scale<typename std::remove_cvref_t<Y>::value_type>& scale) {
  const auto to = detail::as_view(y);
  const auto from = detail::as_view(x);
  using to_view = std::remove_const_t<decltype(to)>;
  using from_view = std::remove_const_t<decltype(from)>;
  static_assert(!std::is_const_v<typename to_view::element_type>,
                "devplace: scale_bytes: y's elements are const; pass a tensor or view that may be changed.");
  static_assert(std::is_same_v<typename from_view::value_type, std::uint8_t>,
                "devplace: scale_bytes: x's elements are not uint8; scale numbers by an expression, as in "
                "cast<float>(x) * scale.");
  static_assert(std::is_same_v<typename to_view::placement_type, typename from_view::placement_type>,
                "devplace: scale_bytes: y and x live on different places; move x with to<placement>(x) first.");
  static_assert(detail::compatible<typename to_view::extents_type, typename from_view::extents_type>,
                "devplace: scale_bytes: the static extents of y and x differ; they must be equal.");
  detail::require_same_extents("scale_bytes", "y", to, "x", from);
  detail::require_one_device("scale_bytes", to, from);
  constexpr std::size_t grain = 32768;  // bytes that justify a thread
  detail::for_each_index<typename to_view::backend_type>(
      to.ordinal(), to.size(), grain,
      detail::byte_scaler<typename to_view::value_type>{detail::raw_data(to), detail::raw_data(from), scale});
}

}  // namespace devplace::inline DEVPLACE_CONFIGURATION

#include DEVPLACE_BACKENDS(scale_bytes)
