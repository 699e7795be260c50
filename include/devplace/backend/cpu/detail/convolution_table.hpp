// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <type_traits>

#include <devplace/backend/cpu/detail/depthwise_convolution.hpp>
#include <devplace/backend/cpu/detail/direct_convolution.hpp>
#include <devplace/backend/cpu/detail/gemm_blocks.hpp>
#include <devplace/backend/cpu/detail/gemm_buffer.hpp>
#include <devplace/ops/detail/convolution_arguments.hpp>

// Convolutions as products of the matrix engine, and direct and depthwise convolutions. In products, the operand that
// consists of patches is read from the image into the engine's packed panels, block by block ("implicit im2col"). The
// order of each sum depends on the extents only, not on the ranges that threads compute.
namespace devplace::detail {

/// The largest number of columns of a weight's gradient that are computed at a time.
template <class T> inline constexpr std::size_t convolution_weight_columns = convolution_block_columns<T> / 2;

/// The largest depth of a block of patches, including the bias element. 16-bit convolutions use one block if possible.
template <class T>
inline constexpr std::size_t patch_depth =
    std::is_same_v<T, computed_t<T>> ? convolution_block_depth : convolution_depth + 1;

/// Largest number of pixels whose sums stay in a buffer, [pixel][vectors]. direct_sums is the size of the buffer, which
/// has room for one more tile.
inline constexpr std::size_t direct_pixels = 64;
template <class T> inline constexpr std::size_t direct_sums = (direct_pixels + 16) * 2 * 64 / sizeof(T);

/// The tile functions of one width, with one vector and with two.
template <class T> struct direct_tiles {
  void (*pixels[2])(T* sums, const T* image, const std::size_t* offsets, std::size_t depth, const T* weights,
                    const T* bias, bool relu);
  void (*patches[2])(T* sums, const T* image, const std::size_t* offsets, std::size_t rows, std::size_t columns,
                     std::size_t stride, const T* dy);
};

/// A sum of weight gradients that one call computes: of a group, over samples [first, last). `sum` [outputs, depth] of
/// the group becomes the gradient + beta sum.
template <class T> struct weight_sum {
  std::size_t group, first, last;
  T* sum;
  T beta;
};

/// The numbers of taps for which tap_products is compiled.
inline constexpr unsigned char tap_widths[] = {9, 7, 5, 3, 0};

/// `n` output pixels from number `at` on that read consecutive elements of the image; `from` is the first element.
struct pixel_run {
  std::size_t at, from, n;
};

/// Finds the runs for which tap `tap` reads the image, among `count` pixels from row y and column x on; for other
/// pixels the tap reads padding. Returns the number of runs, at most `count`, and adds their pixel count to `read`.
/// Has no vectors, and so serves all instruction sets.
inline std::size_t find_runs(pixel_run* runs, const convolution_shape& s, std::size_t tap, std::size_t y, std::size_t x,
                             std::size_t count, std::size_t& read) {
  const std::size_t row = s.row_of(tap), column = s.column_of(tap);
  const std::size_t low = s.columns.first_inside(column), high = s.columns.end_inside(column);
  std::size_t found = 0;
  for (std::size_t at = 0; at < count; ++y, x = 0) {
    const std::size_t left = s.columns.out - x, n = left < count - at ? left : count - at;
    const std::size_t begin = x > low ? x : low, end = x + n < high ? x + n : high;
    const std::size_t from = s.rows.padded(y, row);
    if (begin < end && s.rows.inside(from)) {
      const pixel_run run{at + begin - x,
                          (from - s.rows.padding) * s.columns.in + s.columns.padded(begin, column) - s.columns.padding,
                          end - begin};
      read += run.n;
      pixel_run* const before = found == 0 ? nullptr : runs + found - 1;
      if (before != nullptr && before->at + before->n == run.at && before->from + before->n == run.from &&
          s.columns.stride == 1)
        before->n += run.n;  // joins whole rows, of which images with short rows have many
      else
        runs[found++] = run;
    }
    at += n;
  }
  return found;
}

/// The functions of the bodies of convolutions (convolution_*_body.hpp) for one instruction set, and the loops over
/// blocks of images and panels that call them. The loops are compiled once for all instruction sets.
template <class T> struct convolution_kernels {
  using sum_type = computed_t<T>;  ///< type of sums, and of the weights and biases read
  using tap_products_function = void (*)(double* sums, const sum_type* image, const std::size_t* offsets,
                                         const sum_type* gradient, std::size_t n);

  gemm_kernels<sum_type> gemm;
  /// See convolution_patches_body.hpp. `widen` converts to the type of sums, `narrow` from it.
  ///@{
  void (*pack)(sum_type* target, std::size_t width, const T* source, std::size_t stride_i, std::size_t stride_p,
               std::size_t count, std::size_t depth);
  void (*widen)(sum_type* to, const T* from, std::size_t n);
  void (*narrow)(T* to, const sum_type* from, std::size_t n);
  void (*fill)(sum_type* to, sum_type value, std::size_t n);
  void (*pack_patches)(sum_type* target, std::size_t width, const convolution_shape& s, const T* image, std::size_t q0,
                       std::size_t count, std::size_t p0, std::size_t depth);
  void (*unfold_row)(sum_type* target, const convolution_shape& s, const T* image, std::size_t p, std::size_t q0,
                     std::size_t count);
  void (*fold_row)(const sum_type* source, const convolution_shape& s, sum_type* image, std::size_t p, std::size_t q0,
                   std::size_t count);
  sum_type (*sum_run)(const T* x, std::size_t n);
  ///@}
  /// See convolution_direct_body.hpp and convolution_tiles_body.hpp. `store_rounded` is null unless T has 16 bits.
  ///@{
  void (*copy_segment)(sum_type* to, const direct_convolution& d, const convolution_shape& s, const T* image,
                       std::size_t channels, std::size_t y0, std::size_t n);
  void (*store_turned)(sum_type* c, std::size_t ldc, const sum_type* sums, std::size_t width, std::size_t count,
                       std::size_t outputs, sum_type beta, bool relu);
  void (*store_rounded)(T* c, std::size_t ldc, const float* sums, std::size_t width, std::size_t count,
                        std::size_t outputs);
  const direct_tiles<sum_type>& (*tiles_of)(std::size_t width);
  const unsigned char* direct_widths;
  ///@}
  /// See convolution_phases_body.hpp and convolution_depthwise_body.hpp.
  ///@{
  void (*copy_phases)(sum_type* to, const depthwise_convolution& d, const convolution_shape& s, const T* image,
                      std::size_t y0, std::size_t n);
  void (*copy_gradient)(sum_type* to, const depthwise_convolution& d, const convolution_shape& s, const T* dy,
                        std::size_t y0, std::size_t n, std::size_t above);
  void (*join_phases)(sum_type* to, const depthwise_convolution& d, const window_axis& a, const sum_type* sums,
                      sum_type otherwise);
  void (*copy_rows)(T* to, std::size_t to_pitch, const sum_type* from, std::size_t from_pitch, std::size_t width,
                    std::size_t rows);
  void (*tap_sums)(sum_type* sums, const sum_type* image, const std::size_t* offsets, const sum_type* weights,
                   std::size_t depth, sum_type bias, bool relu, std::size_t n);
  tap_products_function (*products_of)(std::size_t taps);
  ///@}

  direct_convolution direct_of(const convolution_shape& s) const {
    return direct_convolution_of(s, gemm.lanes, sizeof(sum_type), direct_widths);
  }
  depthwise_convolution depthwise_of(const convolution_shape& s) const {
    return depthwise_convolution_of(s, gemm.lanes, sizeof(sum_type));
  }

  /// Computes rows [row_begin, row_end) of each group's outputs for the panels [begin, end) of pixels. Panels are
  /// numbered by group, then by sample, then by pixel. A bias is appended to each weight row, and the matching element
  /// of each patch is 1. `mirrored`: uses the weights of pack_mirrored_rows.
  void convolve_range(const convolution_arguments<T, sum_type>& g, bool mirrored, std::size_t row_begin,
                      std::size_t row_end, std::size_t begin, std::size_t end) const;

  /// Computes the input's gradient for channels [begin, end) of a group in one sample, for any strides. The products
  /// W^T dY of a block of pixels are computed in the buffer and added to the image.
  void convolve_back_range(const convolution_input_gradient_arguments<T, sum_type>& g, std::size_t group,
                           std::size_t sample, std::size_t begin, std::size_t end) const;

  /// Computes columns [begin, end) of a sum of weight gradients, at most convolution_weight_columns.
  void convolve_weight_range(const convolution_weight_gradient_arguments<T>& g, const weight_sum<sum_type>& of,
                             std::size_t begin, std::size_t end) const;

  /// Computes rows [begin, end) of outputs, numbered by group, then by sample, then by row. `mirrored`: g is a
  /// transposed convolution, whose channels are the original convolution's outputs and whose taps are in reverse order.
  void convolve_rows(const convolution_arguments<T, sum_type>& g, bool mirrored, const direct_convolution& d,
                     std::size_t begin, std::size_t end) const;

  /// Computes `channels` channels of a sum of weight gradients, from channel c0 on.
  void convolve_weight_rows(const convolution_weight_gradient_arguments<T>& g, const direct_convolution& d,
                            const weight_sum<sum_type>& of, std::size_t c0, std::size_t channels) const;

  /// Computes segments [begin, end) of outputs, numbered by sample, then by group, then by row.
  void convolve_depthwise(const convolution_arguments<T, sum_type>& g, const depthwise_convolution& d,
                          std::size_t begin, std::size_t end) const;

  /// Computes the input's gradient for segments [begin, end) of rows of phases, numbered as in convolve_depthwise. For
  /// each phase, convolves the output's gradient with the taps that read the phase.
  void convolve_back_depthwise(const convolution_input_gradient_arguments<T, sum_type>& g,
                               const depthwise_convolution& d, std::size_t begin, std::size_t end) const;

  /// Computes a sum of weight gradients. Vectors sum parts of a sample; the sums of the parts are added in double.
  void convolve_weight_depthwise(const convolution_weight_gradient_arguments<T>& g, const depthwise_convolution& d,
                                 const weight_sum<sum_type>& of) const;

 private:
  /// Packs `rows` rows of A, at most convolution_block_rows, into contiguous panels of tile_rows rows and depth
  /// `depth`. Element (i, p) is source[i * stride_i + p * stride_p]. With a `bias`, the depth of panels is one larger,
  /// and bias[i] is the last element of row i.
  template <class From>
  void pack_rows(sum_type* packed, const From* source, std::size_t stride_i, std::size_t stride_p, std::size_t rows,
                 std::size_t depth, const sum_type* bias = nullptr) const;

  /// Packs rows [begin, begin + rows) of the weights of a transposed convolution in the layout of pack_rows. `s` is the
  /// shape of the transposed convolution, whose channels are the original convolution's outputs and whose taps are in
  /// reverse order. Element (i, p) belongs to output p / taps of the original convolution.
  void pack_mirrored_rows(sum_type* packed, const convolution_shape& s, const sum_type* weight, std::size_t begin,
                          std::size_t rows, std::size_t p0, std::size_t depth, const sum_type* bias) const;

  /// Adds the sums of one block of channels to the outputs of y from element `at` on; the first block overwrites the
  /// outputs.
  void store_outputs(const convolution_arguments<T, sum_type>& g, std::size_t at, const sum_type* sums,
                     std::size_t width, std::size_t count, std::size_t outputs, bool first, bool last) const;
};

}  // namespace devplace::detail
