// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
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

  template <class Key> using plans_by = std::map<Key, cudnn_plan>;

  cudnnHandle_t handle = nullptr;
  cudaStream_t stream = nullptr;  ///< the handle's stream
  std::tuple<plans_by<convolution_key>, plans_by<attention_key>> plans;
  std::optional<bool> attends;  ///< result of has_attention(), once called
  std::uint64_t uses = 0;

  /// Returns the plan of `key`, made by make_cudnn_plan() (see find_or_make).
  template <class Key> cudnn_plan& plan_of(const Key& key, int ordinal) {
    plans_by<Key>& known = std::get<plans_by<Key>>(plans);
    auto found = known.find(key);
    if (found == known.end()) {
      if (handle == nullptr) cudnn_caller(ordinal, key).check(cudnnCreate(&handle), "cudnnCreate");
      cudnn_plan plan = make_cudnn_plan(handle, key, cuda_cudnn_workspace::bytes, ordinal);
      plan.number = ++uses;
      if (known.size() == capacity) erase_oldest(known);
      found = known.emplace(key, std::move(plan)).first;
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
};

/// Enqueues a cudnn_call whose plan has been executed before.
template <class Key> void execute_again(const void* arguments, int ordinal, cudaStream_t stream) {
  const auto& call = *static_cast<const cudnn_call<Key>*>(arguments);
  cudnn_cache& cache = cudnn_cache_of(ordinal);
  cudnn_caller(ordinal, call.key)
      .check(call.enqueue(cache, cache.plan_of(call.key, ordinal), ordinal, stream), "cudnnBackendExecute");
}

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
  cudnn_call<Key> call{key, plan.number, addresses};
  if (plan.computes && collecting_launches() != nullptr) {
    clear_padding(call);
    device.enqueue(execute_again<Key>, name, &call, sizeof call);
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
