// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include <devplace/backend/cuda/cudnn_attention_plan.hpp>
#include <devplace/backend/cuda/cudnn_plan.hpp>
#include <devplace/backend/cuda/planning.hpp>
#include <devplace/backend/cuda/unfolded_convolution.hpp>

namespace devplace::detail {

/// The workspace of engines that need more than cuda_unfolding_workspace. Engines on tensor cores copy images to
/// another axis order, which takes about as much memory as the images.
struct cuda_cudnn_workspace {
  static constexpr std::size_t bytes = std::size_t{256} << 20;
  static constexpr std::size_t zeroed = 0;
};

/// Returns a workspace of `bytes` bytes for the stream of `scope`; null if `bytes` is 0.
inline void* cudnn_workspace(int ordinal, const cuda_scope& scope, std::size_t bytes) {
  if (bytes == 0) return nullptr;
  return bytes <= cuda_unfolding_workspace::bytes ? cuda_workspace<cuda_unfolding_workspace>(ordinal, scope)
                                                  : cuda_workspace<cuda_cudnn_workspace>(ordinal, scope);
}

/// A place's cuDNN handle and plans. Guarded by sequence_mutex_of(), because the engines use the workspace of patches.
struct cudnn_cache {
  static constexpr std::size_t capacity = 512;

  cudnnHandle_t handle = nullptr;
  cudaStream_t stream = nullptr;  ///< the handle's stream
  std::map<convolution_key, cudnn_plan> plans;
  std::map<attention_key, cudnn_plan> attention;
  std::optional<bool> attends;  ///< result of has_attention(), once called
  std::uint64_t uses = 0;

  /// Returns the plan of `key` in `plans_of_kind`, made by make_cudnn_plan() at its first use. Replaces the least
  /// recently used plan if there are too many. Does not allocate if the plan exists.
  template <class Key> cudnn_plan& plan_of(std::map<Key, cudnn_plan>& plans_of_kind, const Key& key, int ordinal) {
    auto found = plans_of_kind.find(key);
    if (found == plans_of_kind.end()) {
      if (handle == nullptr) cudnn_caller(ordinal, key).check(cudnnCreate(&handle), "cudnnCreate");
      cudnn_plan plan = make_cudnn_plan(handle, key, cuda_cudnn_workspace::bytes, ordinal);
      if (plans_of_kind.size() == capacity) erase_oldest(plans_of_kind);
      found = plans_of_kind.emplace(key, std::move(plan)).first;
    }
    found->second.last_use = ++uses;
    return found->second;
  }
};

/// Returns the cache of a place. Never destroyed, because CUDA may shut down before static objects are destroyed.
inline cudnn_cache& cudnn_cache_of(int ordinal) {
  static auto& caches = *new std::array<cudnn_cache, counted_ordinals>;
  return caches[static_cast<std::size_t>(ordinal)];
}

/// Returns the workspace of a plan: `before` bytes, followed by the engine's bytes. Null if the plan needs none.
inline std::byte* workspace_of(int ordinal, const cuda_scope& device, const cudnn_plan& plan) {
  return static_cast<std::byte*>(cudnn_workspace(ordinal, device, plan.before + plan.workspace));
}

/// Enqueues a plan, which has an engine, on the place's stream. Adds the workspace's address to `addresses`. Returns
/// false, with nothing enqueued, if cuDNN rejects the plan after all. `name` is for error messages.
inline bool run_plan(int ordinal, const cuda_scope& device, cudnn_cache& cache, cudnn_plan& plan,
                     cudnn_addresses addresses, const char* name, const cudnn_caller& caller) {
  if (cache.stream != device.stream()) {
    caller.check(cudnnSetStream(cache.handle, device.stream()), "cudnnSetStream");
    cache.stream = device.stream();
  }
  addresses.back() = plan.workspace == 0 ? nullptr : workspace_of(ordinal, device, plan) + plan.before;
  const cudnn_descriptor& pack = plan.pack_of(addresses, cache.uses, caller);
  if (only_plans()) return true;
  if (!caller.offers(cudnnBackendExecute(cache.handle, plan.plan.get(), pack.get()), "cudnnBackendExecute")) {
    plan.plan = {};  // do not try again, although cuDNN had offered the engine
    return false;
  }
  device.after_launch(name);
  return true;
}

}  // namespace devplace::detail
