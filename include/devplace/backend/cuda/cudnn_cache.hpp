// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <tuple>

#include <devplace/backend/cuda/cudnn_attention_plan.hpp>
#include <devplace/backend/cuda/cudnn_plan.hpp>
#include <devplace/backend/cuda/queue.hpp>
#include <devplace/backend/cuda/unfolded_convolution.hpp>

namespace devplace::detail {

/// The workspace of engines that need more than cuda_unfolding_workspace. Engines on tensor cores copy images to
/// another axis order, which takes about as much memory as the images.
struct cuda_cudnn_workspace {
  static constexpr std::size_t bytes = std::size_t{256} << 20;
};

/// A place's cuDNN handle and plans. Guarded by sequence_mutex_of(), because the engines use the workspace of patches.
struct cudnn_cache {
  static constexpr std::size_t capacity = 512;

  template <class Key> using plans_by = std::map<Key, cudnn_plan>;

  cudnnHandle_t handle = nullptr;
  cudaStream_t stream = nullptr;  ///< the handle's stream
  std::tuple<plans_by<convolution_key>, plans_by<attention_key>> plans;
  std::optional<bool> attends;  ///< result of has_attention(), once called
  std::uint64_t uses = 0;

  /// Returns the plan of `key`, made by make_cudnn_plan() at its first use. Replaces the least recently used plan if
  /// there are too many. Does not allocate if the plan exists.
  template <class Key> cudnn_plan& plan_of(const Key& key, int ordinal) {
    cudnn_plan& plan = find_or_make(std::get<plans_by<Key>>(plans), capacity, key, [&] {
      if (handle == nullptr) cudnn_caller(ordinal, key).check(cudnnCreate(&handle), "cudnnCreate");
      cudnn_plan made = make_cudnn_plan(handle, key, cuda_cudnn_workspace::bytes, ordinal);
      made.number = ++uses;
      return made;
    });
    plan.last_use = ++uses;
    return plan;
  }
};

inline cudnn_cache& cudnn_cache_of(int ordinal) { return of_place<cudnn_cache>(ordinal); }

/// Returns the workspace of a plan: `before` bytes, followed by the engine's bytes. Null if the plan needs none.
inline std::byte* workspace_of(int ordinal, const cuda_scope& device, const cudnn_plan& plan) {
  const std::size_t bytes = plan.before + plan.workspace;
  if (bytes == 0) return nullptr;
  return static_cast<std::byte*>(bytes <= cuda_unfolding_workspace::bytes
                                     ? cuda_workspace<cuda_unfolding_workspace>(ordinal, device)
                                     : cuda_workspace<cuda_cudnn_workspace>(ordinal, device));
}

template <class Key> struct cudnn_call {
  Key key;
  std::uint64_t plan_number;  ///< unequal to that of a captured call whose plan has been destroyed and made again
  cudnn_addresses addresses;

  cudnnStatus_t enqueue(cudnn_cache& cache, cudnn_plan& plan, int ordinal, cudaStream_t stream) const {
    const cudnn_caller caller(ordinal, key);
    if (cache.stream != stream) {
      caller.check(cudnnSetStream(cache.handle, stream), "cudnnSetStream");
      cache.stream = stream;
    }
    return cudnnBackendExecute(cache.handle, plan.plan.get(), plan.pack_of(addresses, cache.uses, caller).get());
  }
  /// Enqueues the call, whose plan has been executed before.
  void operator()(int ordinal, cudaStream_t stream) const {
    cudnn_cache& cache = cudnn_cache_of(ordinal);
    const cudnnStatus_t status = enqueue(cache, cache.plan_of(key, ordinal), ordinal, stream);
    cudnn_caller(ordinal, key).check(status, "cudnnBackendExecute");
  }
};

/// Enqueues the plan of `key`, which has an engine, on the place's stream. Adds the workspace's address to `addresses`.
/// Returns false, with nothing enqueued, if cuDNN rejects the plan after all. `name` is for error messages.
template <class Key>
bool run_plan(int ordinal, const cuda_scope& device, cudnn_cache& cache, cudnn_plan& plan, const Key& key,
              cudnn_addresses addresses, const char* name) {
  const cudnn_caller caller(ordinal, key);
  addresses.back() = plan.workspace == 0 ? nullptr : workspace_of(ordinal, device, plan) + plan.before;
  if (only_plans()) {
    plan.pack_of(addresses, cache.uses, caller);
    return true;
  }
  const cudnn_call<Key> call{key, plan.number, addresses};
  if (plan.computes && collecting_launches() != nullptr) {
    device.enqueue(name, call);
    return true;
  }
  if (!caller.offers(call.enqueue(cache, plan, ordinal, device.stream()), "cudnnBackendExecute")) {
    plan.plan = {};  // do not try again, although cuDNN had offered the engine
    return false;
  }
  plan.computes = true;
  device.after_launch(name);
  return true;
}

}  // namespace devplace::detail
