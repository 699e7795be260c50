// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

#include <devplace/backend/cuda/cudnn_cache.hpp>
#include <devplace/backend/cuda/kernels/convolution.hpp>
#include <devplace/backend/cuda/kernels/wide.hpp>
#include <devplace/backend/cuda/kernels/wide_convolution.hpp>
#include <devplace/backend/cuda/unfolded_convolution.hpp>

// Convolutions by cuDNN: component devplace::cudnn. `launch(blocks, kernel)` enqueues a kernel on the place's stream.

namespace devplace::detail {

/// Enqueues a convolution or one of its gradients on the place's current stream, then the work of `finish(weight)`.
/// Returns false, with nothing enqueued, if no engine that fits the workspace satisfies keeps_promises(). For a 16-bit
/// weight gradient, `weight` is null, and finish() gets the gradient's address in the workspace.
template <class T, class Finish>
bool run_cudnn(int ordinal, convolution_pass pass, const convolution_shape& shape, product_math math, const T* x,
               const T* weight, const T* y, computed_t<T> beta, const Finish& finish) {
  if (shape.samples == 0) return false;
  const convolution_key key{shape,
                            pass,
                            dtype_of<T>,
                            math,
                            static_cast<double>(beta),
                            {alignment_of(x), alignment_of(weight), alignment_of(y)}};
  const cuda_scope device(ordinal);
  const operation_lock lock(ordinal);
  cudnn_cache& cache = cudnn_cache_of(ordinal);
  cudnn_plan& plan = cache.plan_of(key, ordinal);
  if (!plan.plan) return false;
  if (plan.before != 0) weight = reinterpret_cast<const T*>(workspace_of(ordinal, device, plan));
  if (!run_plan(ordinal, device, cache, plan, key, {const_cast<T*>(x), const_cast<T*>(weight), const_cast<T*>(y)},
                "a convolution of cuDNN"))
    return false;
  finish(weight);
  lock.finish();
  return true;
}

/// Computes image = epilogue(image + bias) for images [samples, channels, pixels].
template <class T, class Launch>
void finish_images(std::size_t samples, std::size_t channels, std::size_t pixels, const T* bias, epilogue epilogue,
                   T* image, const Launch& launch) {
  if (bias == nullptr && epilogue == epilogue::none) return;
  with_kernel(samples * channels * pixels, finish_images_functor<T>{channels, pixels, bias, epilogue, image}, launch);
}

/// Runs the operation. Returns false, with nothing enqueued, if cuDNN does not compute it. 16-bit elements are
/// multiplied exactly and summed in float. Sums are rounded once; with a bias, y and dx are rounded a second time.
template <class T> bool convolve_by_cudnn(int ordinal, const convolution_arguments<T>& a, const auto& launch) {
  const convolution_shape& s = a.shape;
  return run_cudnn<T>(ordinal, convolution_pass::output, s, a.math, a.x, a.weight, a.y, 0, [&](const T*) {
    finish_images(s.samples, s.groups * s.outputs, s.pixels(), a.bias, a.epilogue, a.y, launch);
  });
}
template <class T, class Launch>
bool convolve_by_cudnn(int ordinal, const convolution_input_gradient_arguments<T>& a, const Launch& launch) {
  const convolution_shape& s = a.shape;
  return run_cudnn<T>(ordinal, convolution_pass::input_gradient, s, a.math, a.dx, a.weight, a.dy, 0, [&](const T*) {
    finish_images(s.samples, s.groups * s.channels, s.plane(), a.bias, epilogue::none, a.dx, launch);
  });
}
template <class T, class Launch>
bool convolve_by_cudnn(int ordinal, const convolution_weight_gradient_arguments<T>& a, const Launch& launch) {
  constexpr auto pass = convolution_pass::weight_gradient;
  if constexpr (half_precision_element<T>)
    return run_cudnn<T>(ordinal, pass, a.shape, a.math, a.x, nullptr, a.dy, 0, [&](const T* rounded) {
      with_kernel(a.shape.weights(), add_rounded_gradient_functor<T>{rounded, a.dweight, a.beta}, launch);
    });
  else
    return run_cudnn<T>(ordinal, pass, a.shape, a.math, a.x, a.dweight, a.dy, a.beta, [](const T*) {});
}

}  // namespace devplace::detail
