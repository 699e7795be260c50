// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>

#include <devplace/backend/cuda/cudnn_cache.hpp>
#include <devplace/base/divided_up.hpp>
#include <devplace/ops/attention.hpp>
#include <devplace/ops/detail/attention_arguments.hpp>

// Attention of 16-bit elements by cuDNN: component devplace::cudnn.

namespace devplace::detail {

/// Returns whether cuDNN computes attention on this GPU. cuDNN before 9.16 is wrong for some lengths that are not
/// multiples of 128 (cudnn-frontend adds a mask for these lengths). False on GPUs after Hopper: their engines with
/// reproducible gradients must be selected by other means.
inline bool has_attention(const cuda_scope& device, int ordinal) {
  constexpr std::size_t first_version = 91600;
  if (cudnnGetVersion() < first_version) return false;
  int major = 0;
  check_cuda(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device.visible()),
             "cudaDeviceGetAttribute", ordinal);
  return major == 8 || major == 9;
}

/// Returns how many samples' gradients are computed at once. Their score gradients, in matrices padded to multiples of
/// 128 rows and columns, fit into `room` bytes of the workspace. The default leaves 1 MiB for other uses.
inline std::size_t samples_at_once(const attention_shape& s,
                                   std::size_t room = cuda_cudnn_workspace::bytes - (std::size_t{1} << 20)) {
  const std::size_t padded = padded_to(s.length, 128);
  if (padded > (std::size_t{1} << 14)) return 1;  // the workspace cannot hold even one sample
  return std::clamp(room / (2 * padded * padded * s.heads), std::size_t{1}, std::max(s.samples, std::size_t{1}));
}

/// The plans of a place's attention. Create local objects only: an object holds the mutex of the place's cuDNN.
template <class T> class cudnn_attention {
 public:
  /// Computes gradients of `at_once` samples at a time; 0: of as many as fit the workspace.
  cudnn_attention(int ordinal, const attention_shape& shape, float scale, std::size_t at_once = 0)
      : ordinal_(ordinal),
        shape_(shape),
        scale_(scale),
        at_once_(at_once == 0 ? samples_at_once(shape) : at_once),
        device_(ordinal),
        lock_(ordinal),
        cache_(cudnn_cache_of(ordinal)) {}

  /// Returns whether cuDNN computes attention of this shape, and also its gradient if `training`.
  bool computes(bool training) const {
    if (shape_.width % 8 != 0 || shape_.length == 0 || shape_.samples == 0) return false;
    if (!cache_.attends) cache_.attends = has_attention(device_, ordinal_);
    if (!*cache_.attends || !plan_of(shape_.samples, false).plan) return false;
    if (!training) return true;
    const std::size_t rest = shape_.samples % at_once_;
    return plan_of(at_once_, true).plan && (rest == 0 || plan_of(rest, true).plan);
  }

  /// Returns false, with nothing enqueued, if cuDNN does not support an operation for which it has a plan.
  bool run(const attention_arguments<T>& g) const {
    return run_part(false, shape_.samples,
                    {to_write(g.queries), to_write(g.queries + shape_.row()), to_write(g.queries + 2 * shape_.row()),
                     g.results, g.log_sums});
  }
  /// Returns true. Throws error if cuDNN does not support an operation for which it has a plan.
  bool run(const attention_gradient_arguments<T>& g) const {
    const std::size_t row = shape_.row();
    for (std::size_t first = 0; first < shape_.samples; first += at_once_) {
      const std::size_t results = first * shape_.length * row, numbers = first * shape_.length * shape_.heads;
      const T* const q = g.queries + 3 * results;
      T* const dq = g.dqueries + 3 * results;
      const std::size_t count = std::min(at_once_, shape_.samples - first);
      const bool runs = run_part(true, count,
                                 {to_write(q), to_write(q + row), to_write(q + 2 * row), to_write(g.results + results),
                                  to_write(g.log_sums + numbers), nullptr, nullptr, to_write(g.dresults + results), dq,
                                  dq + row, dq + 2 * row, g.products + numbers});
      if (!runs)
        throw error(to_string(key_of(count, true)) +
                    " is not supported by this cuDNN although cuDNN made a plan for it; use another version of cuDNN, "
                    "or build without component cudnn.");
    }
    return true;
  }

 private:
  template <class Element> static void* to_write(const Element* data) {
    return const_cast<Element*>(data);  // addresses in cuDNN's pack are not const
  }
  attention_key key_of(std::size_t samples, bool gradient) const {
    attention_shape part = shape_;
    part.samples = samples;
    return {part, dtype_of<T>, gradient, scale_};
  }
  cudnn_plan& plan_of(std::size_t samples, bool gradient) const {
    return cache_.plan_of(key_of(samples, gradient), ordinal_);
  }

  /// Runs the plan, with the scalars' addresses added. `by_number`: addresses in the order of attention_tensor.
  bool run_part(bool gradient, std::size_t samples, const cudnn_addresses& by_number) const {
    const attention_key key = key_of(samples, gradient);
    cudnn_plan& plan = cache_.plan_of(key, ordinal_);
    if (!plan.plan) return false;
    cudnn_addresses addresses{};
    for (std::size_t i = 0; i < plan.tensors.size(); ++i) {
      const auto tensor = static_cast<attention_tensor>(plan.tensors[i]);
      const float* const factors = plan.factors.get();
      addresses[i] = tensor == attention_tensor::scale            ? to_write(factors)
                     : tensor == attention_tensor::minus_infinity ? to_write(factors + 1)
                     : tensor == attention_tensor::one            ? to_write(factors + 2)
                                                                  : by_number[static_cast<std::size_t>(tensor) - 1];
    }
    return run_plan(ordinal_, device_, cache_, plan, key, addresses, "attention of cuDNN");
  }

  int ordinal_;
  attention_shape shape_;
  float scale_;
  std::size_t at_once_;
  cuda_scope device_;
  operation_lock lock_;
  cudnn_cache& cache_;
};

}  // namespace devplace::detail

namespace devplace {

template <> struct implementation<backend::cuda, op::mixed_attention> {
  template <class T>
  static bool computes(int ordinal, const detail::attention_shape& shape, float scale, bool training) {
    return detail::cudnn_attention<T>(ordinal, shape, scale).computes(training);
  }
  template <class T, template <class> class Arguments> static bool run(int ordinal, const Arguments<T>& g) {
    return detail::cudnn_attention<T>(ordinal, g.shape, g.scale).run(g);
  }
};

}  // namespace devplace
