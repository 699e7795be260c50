// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <devplace/backend/cuda/kernels/convolution.hpp>
#include <devplace/backend/cuda/kernels/wide.hpp>
#include <devplace/backend/cuda/kernels/wide_convolution.hpp>
#include <devplace/backend/cuda/product.hpp>
#include <devplace/backend/cuda/workspace.hpp>
#include <devplace/base/divided_up.hpp>
#include <devplace/base/error.hpp>
#include <devplace/ops/detail/convolution_arguments.hpp>

// Convolutions as cuBLASLt products, with float results for 16-bit elements. A matrix stores the patches of a range of
// pixels ("im2col"), as many as fit the workspace; then the next range follows. `launch(blocks, kernel)` enqueues a
// kernel on the place's stream.

namespace devplace::detail {

/// The workspace of a range's matrices, small enough for the second-level cache of the larger GPUs.
struct cuda_unfolding_workspace {
  static constexpr std::size_t bytes = std::size_t{32} << 20;
};

/// The workspace, divided for a range of pixels.
template <class Unfolded, class Matrix> struct unfolding {
  Unfolded* unfolded;  ///< [groups * depth, count]
  Matrix* matrix;      ///< [groups * outputs, count]
  pixel_range pixels;
  std::size_t samples;  ///< samples that the range touches
};

/// Calls f(unfolding) for consecutive ranges of all pixels; ranges consist of whole samples if at least one fits.
template <class Unfolded, class Matrix, class F>
void for_each_range(int ordinal, const convolution_shape& s, std::size_t bytes, const F& f) {
  if (s.samples == 0) return;
  const std::size_t pixels = s.pixels(), all = s.samples * pixels;
  constexpr std::size_t gap = sizeof(Matrix) > sizeof(Unfolded) ? sizeof(Matrix) : 0;  // before the matrix
  std::size_t fit = (bytes - gap) / (s.groups * (s.depth() * sizeof(Unfolded) + s.outputs * sizeof(Matrix)));
  if (fit == 0 || pixels > INT32_MAX || s.plane() > INT32_MAX)
    throw shape_error({"a convolution with patches of ", s.groups * s.depth(), " elements and ", pixels,
                       " pixels exceeds the GPU's workspace of patches (32 MiB for a pixel's patch and outputs, "
                       "fewer than 2^31 pixels). Divide its channels or its images."});
  if (fit >= pixels)
    fit = fit / pixels * pixels;
  else if (fit >= 8)
    fit -= fit % 8;  // rows of the matrices then begin at aligned addresses
  const cuda_scope device(ordinal);
  auto* const workspace = static_cast<std::byte*>(cuda_workspace<cuda_unfolding_workspace>(ordinal, device));
  const operation_lock lock(ordinal);
  for (std::size_t begin = 0; begin < all; begin += fit) {
    const std::size_t count = std::min(fit, all - begin), first = begin % pixels;
    const std::size_t unfolded = s.groups * s.depth() * count * sizeof(Unfolded);
    void* const matrix = workspace + padded_to(unfolded, sizeof(Matrix));
    f(unfolding<Unfolded, Matrix>{reinterpret_cast<Unfolded*>(workspace), static_cast<Matrix*>(matrix),
                                  pixel_range{begin / pixels, static_cast<std::uint32_t>(first),
                                              static_cast<std::uint32_t>(count), static_cast<std::uint32_t>(pixels)},
                                  divided_up(first + count, pixels)});
  }
  lock.finish();
}

template <class T, class Launch>
void convolve(int ordinal, const convolution_arguments<T>& a, const Launch& launch,
              std::size_t bytes = cuda_unfolding_workspace::bytes) {
  const convolution_shape& s = a.shape;
  for_each_range<T, computed_t<T>>(ordinal, s, bytes, [&](const auto& u) {
    const std::size_t n = u.pixels.count;
    with_kernel(s.groups * s.depth() * n, unfold_functor<T>{s, u.pixels, a.x, u.unfolded}, launch);
    gemm_arguments<T, computed_t<T>> g;
    g.m = s.outputs, g.n = n, g.k = s.depth();
    g.a = a.weight, g.lda = g.k, g.b = u.unfolded, g.ldb = n, g.c = u.matrix, g.ldc = n;
    g.math = a.math;
    multiply(ordinal, gemm_batch<T, computed_t<T>>{g, s.groups, g.m * g.k, g.k * n, g.m * n}, launch);
    with_kernel(s.groups * s.outputs * n,
                finish_functor<T>{s.groups * s.outputs, u.pixels, u.matrix, a.bias, a.epilogue, a.y}, launch);
  });
}

template <class T, class Launch>
void convolve(int ordinal, const convolution_input_gradient_arguments<T>& a, const Launch& launch,
              std::size_t bytes = cuda_unfolding_workspace::bytes) {
  const convolution_shape& s = a.shape;
  for_each_range<computed_t<T>, T>(ordinal, s, bytes, [&](const auto& u) {
    const std::size_t n = u.pixels.count;
    with_kernel(s.groups * s.outputs * n, gather_functor<T>{s.groups * s.outputs, u.pixels, a.dy, u.matrix}, launch);
    gemm_arguments<T, computed_t<T>> g;
    g.m = s.depth(), g.n = n, g.k = s.outputs;
    g.transpose_a = true;
    g.a = a.weight, g.lda = g.m, g.b = u.matrix, g.ldb = n, g.c = u.unfolded, g.ldc = n;
    g.math = a.math;
    multiply(ordinal, gemm_batch<T, computed_t<T>>{g, s.groups, g.m * g.k, g.k * n, g.m * n}, launch);
    with_kernel(u.samples * s.groups * s.channels * s.plane(), fold_functor<T>{s, u.pixels, u.unfolded, a.bias, a.dx},
                launch);
  });
}

template <class T, class Launch>
void convolve(int ordinal, const convolution_weight_gradient_arguments<T>& a, const Launch& launch,
              std::size_t bytes = cuda_unfolding_workspace::bytes) {
  const convolution_shape& s = a.shape;
  computed_t<T> beta = a.beta;
  for_each_range<T, T>(ordinal, s, bytes, [&](const auto& u) {
    const std::size_t n = u.pixels.count;
    with_kernel(s.groups * s.outputs * n, gather_functor<T>{s.groups * s.outputs, u.pixels, a.dy, u.matrix}, launch);
    with_kernel(s.groups * s.depth() * n, unfold_functor<T>{s, u.pixels, a.x, u.unfolded}, launch);
    gemm_arguments<T, computed_t<T>> g;
    g.m = s.outputs, g.n = s.depth(), g.k = n;
    g.transpose_b = true;
    g.a = u.matrix, g.lda = n, g.b = u.unfolded, g.ldb = n, g.c = a.dweight, g.ldc = g.n;
    g.beta = beta;
    g.math = a.math;
    multiply(ordinal, gemm_batch<T, computed_t<T>>{g, s.groups, g.m * n, g.n * n, g.m * g.n}, launch);
    beta = 1;
  });
}

}  // namespace devplace::detail
