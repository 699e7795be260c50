// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <utility>

#include <devplace/backend/cuda/cudnn_plan.hpp>
#include <devplace/backend/cuda/kernels/convolution.hpp>
#include <devplace/backend/cuda/kernels/for_each.hpp>
#include <devplace/backend/cuda/planning.hpp>
#include <devplace/backend/cuda/unfolded_convolution.hpp>

// Convolutions by cuDNN: component devplace::cudnn. `launch(blocks, kernel)` enqueues a kernel on the place's stream.

namespace devplace::detail {

/// The workspace of engines that need more than that of patches. On tensor cores they store images in another order of
/// their axes, which takes about as much as the images.
struct cuda_cudnn_workspace {
  static constexpr std::size_t bytes = std::size_t{256} << 20;
  static constexpr std::size_t zeroed = 0;
};

/// A workspace of the stream of `scope` with `bytes` bytes; null for 0.
inline void* cudnn_workspace(int ordinal, const cuda_scope& scope, std::size_t bytes) {
  if (bytes == 0) return nullptr;
  return bytes <= cuda_unfolding_workspace::bytes ? cuda_workspace<cuda_unfolding_workspace>(ordinal, scope)
                                                  : cuda_workspace<cuda_cudnn_workspace>(ordinal, scope);
}

/// cuDNN on one place and the plans of its convolutions. Guarded by unfolding_mutex_of(): the engines use the workspace
/// of patches.
struct cudnn_cache {
  static constexpr std::size_t capacity = 512;

  cudnnHandle_t handle = nullptr;
  cudaStream_t stream = nullptr;  ///< of the handle
  std::map<convolution_key, cudnn_plan> plans;
  std::uint64_t uses = 0;

  /// The plan of a convolution, made at its first use; replaces the least recently used one if the cache is full. Does
  /// not allocate if the plan exists.
  cudnn_plan& plan_of(const convolution_key& key, int ordinal) {
    auto found = plans.find(key);
    if (found == plans.end()) {
      if (handle == nullptr) cudnn_caller{ordinal, key}.check(cudnnCreate(&handle), "cudnnCreate");
      cudnn_plan plan = make_cudnn_plan(handle, key, cuda_cudnn_workspace::bytes, ordinal);
      if (plans.size() == capacity)
        plans.erase(std::min_element(plans.begin(), plans.end(), [](const auto& a, const auto& b) {
          return a.second.last_use < b.second.last_use;
        }));
      found = plans.emplace(key, std::move(plan)).first;
    }
    found->second.last_use = ++uses;
    return found->second;
  }
};

/// The cache of a place. Never destroyed, because CUDA may shut down before static objects are destroyed.
inline cudnn_cache& cudnn_cache_of(int ordinal) {
  static auto& caches = *new std::array<cudnn_cache, counted_ordinals>;
  return caches[static_cast<std::size_t>(ordinal)];
}

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
  const cudnn_caller caller{ordinal, key};
  const cuda_scope device(ordinal);
  const std::lock_guard lock(unfolding_mutex_of(ordinal));
  cudnn_cache& cache = cudnn_cache_of(ordinal);
  cudnn_plan& plan = cache.plan_of(key, ordinal);
  if (!plan.plan) return false;
  if (cache.stream != device.stream()) {
    caller.check(cudnnSetStream(cache.handle, device.stream()), "cudnnSetStream");
    cache.stream = device.stream();
  }
  void* const workspace = cudnn_workspace(ordinal, device, plan.workspace);
  const cudnn_descriptor& pack =
      plan.pack_of({const_cast<T*>(x), const_cast<T*>(weight), const_cast<T*>(y), workspace}, cache.uses, caller);
  if (only_plans()) return true;
  if (!caller.offers(cudnnBackendExecute(cache.handle, plan.plan.get(), pack.get()), "cudnnBackendExecute")) {
    plan.plan = {};  // although the engine was offered
    return false;
  }
  after_launch(device, ordinal, "a convolution of cuDNN");
  return true;
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
