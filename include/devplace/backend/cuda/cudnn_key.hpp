// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>

#include <devplace/backend/cuda/product_key.hpp>
#include <devplace/base/divided_up.hpp>
#include <devplace/base/joined.hpp>
#include <devplace/ops/detail/convolution_arguments.hpp>

namespace devplace::detail {

/// Which tensor of a convolution y = x * weight is computed from the other two: y, dx or dweight.
enum class convolution_pass : unsigned char { output, input_gradient, weight_gradient };

/// Everything that the choice of cuDNN's engine depends on.
struct convolution_key {
  convolution_shape shape;
  convolution_pass pass;
  const dtype* element;  ///< type of the tensors; sums of 16-bit elements are float
  product_math math;
  double beta;                             ///< factor of the existing result
  std::array<std::uint32_t, 3> alignment;  ///< of x, weight and y, in bytes; powers of two

  friend auto operator<=>(const convolution_key&, const convolution_key&) = default;
};

/// Returns the size in bytes of a 16-bit weight gradient, which cuDNN writes to the workspace; otherwise 0.
inline std::size_t rounded_gradient_bytes(const convolution_key& key) {
  if (key.pass != convolution_pass::weight_gradient || key.element->bytes != 2) return 0;
  return padded_to(key.shape.weights() * 2, 256);
}

/// Describes the key for error messages: "the weight gradient of a convolution (float; x 8x64x28x28, weight 64x32x3x3,
/// y 8x64x28x28, groups 2, stride 1x1, padding 1x1, dilation 1x1)".
inline std::string to_string(const convolution_key& key) {
  const convolution_shape& s = key.shape;
  const auto size = [](std::size_t rows, std::size_t columns) { return joined({rows, "x", columns}); };
  const auto array = [&](std::size_t outer, std::size_t channels, std::size_t rows, std::size_t columns) {
    return joined({outer, "x", channels, "x", size(rows, columns)});
  };
  return joined({key.pass == convolution_pass::output           ? "a convolution"
                 : key.pass == convolution_pass::input_gradient ? "the input gradient of a convolution"
                                                                : "the weight gradient of a convolution",
                 " (", precision_name(key.element, key.math), "; x ",
                 array(s.samples, s.groups * s.channels, s.rows.in, s.columns.in), ", weight ",
                 array(s.groups * s.outputs, s.channels, s.rows.size, s.columns.size), ", y ",
                 array(s.samples, s.groups * s.outputs, s.rows.out, s.columns.out), ", groups ", s.groups, ", stride ",
                 size(s.rows.stride, s.columns.stride), ", padding ", size(s.rows.padding, s.columns.padding),
                 ", dilation ", size(s.rows.dilation, s.columns.dilation), ")"});
}

}  // namespace devplace::detail
