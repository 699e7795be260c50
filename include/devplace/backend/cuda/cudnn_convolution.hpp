// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <mutex>

#include <devplace/backend/cuda/cudnn_cache.hpp>
#include <devplace/backend/cuda/kernels/convolution.hpp>
#include <devplace/backend/cuda/kernels/for_each.hpp>
#include <devplace/backend/cuda/unfolded_convolution.hpp>

// Convolutions by cuDNN: component devplace::cudnn. `launch(blocks, kernel)` enqueues a kernel on the place's stream.

namespace devplace::detail {

/// Enqueues a convolution or a gradient of it on the place's current stream. Returns false, with nothing enqueued, if
/// cuDNN has no engine for it that keeps devplace's promises in the workspace.
template <class T>
bool run_cudnn(int ordinal, convolution_pass pass, const convolution_shape& shape, product_math math, const T* x,
               const T* weight, const T* y, T beta = 0) {
  if (shape.samples == 0) return false;
  const convolution_key key{shape,
                            pass,
                            product_element_of<T>,
                            math,
                            static_cast<double>(beta),
                            {alignment_of(x), alignment_of(weight), alignment_of(y)}};
  const cudnn_caller caller(ordinal, key);
  const cuda_scope device(ordinal);
  const std::lock_guard lock(unfolding_mutex_of(ordinal));
  cudnn_cache& cache = cudnn_cache_of(ordinal);
  cudnn_plan& plan = cache.plan_of(cache.plans, key, ordinal);
  return plan.plan &&
         run_plan(ordinal, device, cache, plan, {const_cast<T*>(x), const_cast<T*>(weight), const_cast<T*>(y)},
                  "a convolution of cuDNN", caller);
}

/// image = then(image + bias), of images [samples, channels, pixels].
template <class T, class Launch>
void finish_images(std::size_t samples, std::size_t channels, std::size_t pixels, const T* bias, epilogue then,
                   T* image, const Launch& launch) {
  if (bias == nullptr && then == epilogue::none) return;
  with_kernel(samples * channels * pixels, finish_images_functor<T>{channels, pixels, bias, then, image}, launch);
}

/// The operations on arguments. Each returns false, with nothing enqueued, if cuDNN does not compute it.
///@{
template <class T, class Launch>
bool convolve_by_cudnn(int ordinal, const convolution_arguments<T>& a, const Launch& launch) {
  const convolution_shape& s = a.shape;
  if (!run_cudnn<T>(ordinal, convolution_pass::output, s, a.math, a.x, a.weight, a.y)) return false;
  finish_images(s.samples, s.groups * s.outputs, s.pixels(), a.bias, a.then, a.y, launch);
  return true;
}
template <class T, class Launch>
bool convolve_by_cudnn(int ordinal, const convolution_input_gradient_arguments<T>& a, const Launch& launch) {
  const convolution_shape& s = a.shape;
  if (!run_cudnn<T>(ordinal, convolution_pass::input_gradient, s, a.math, a.dx, a.weight, a.dy)) return false;
  finish_images(s.samples, s.groups * s.channels, s.plane(), a.bias, epilogue::none, a.dx, launch);
  return true;
}
template <class T, class Launch>
bool convolve_by_cudnn(int ordinal, const convolution_weight_gradient_arguments<T>& a, const Launch&) {
  return run_cudnn<T>(ordinal, convolution_pass::weight_gradient, a.shape, a.math, a.x, a.dweight, a.dy, a.beta);
}
///@}

}  // namespace devplace::detail
