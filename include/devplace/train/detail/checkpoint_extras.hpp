// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <devplace/base/joined.hpp>
#include <devplace/io/parameters.hpp>
#include <devplace/memory/block.hpp>
#include <devplace/place/placement.hpp>
#include <devplace/runtime/model_state.hpp>
#include <devplace/tensor/precision.hpp>
#include <devplace/train/detail/checkpoint_text.hpp>

namespace devplace::train::detail {

struct checkpoint_tensor {
  safetensors_entry entry;
  void* data;
};

/// The part of a checkpoint for further objects, such as a moving average: the objects' models, copied to the host, and
/// the objects' numbers. Keys of numbers contain the object's index; names of tensors contain the model's index among
/// the models of all objects.
class checkpoint_extras {
 public:
  /// Copies an object's models to the host; adds the models' tensors and the object's numbers.
  DEVPLACE_CONFIGURED void save(auto& extra, std::vector<checkpoint_tensor>& tensors, safetensors_metadata& metadata) {
    const std::string key = devplace::detail::joined({"extra.", saved_++, "."});
    extra.for_checkpoint(
        [&](auto& model) {
          using placed_on = typename std::remove_cvref_t<decltype(model)>::placement_type;
          using backend_type = placement_backend_t<placed_on>;
          auto& state = model.state();
          runtime::wait_for_model<backend_type>(state);
          const auto& first = state.replicas.front();
          const auto [parameters, buffers] = append(model, tensors);
          if constexpr (stores_shares<placed_on>) {
            const auto whole = state.whole_parameters();
            std::memcpy(parameters, whole.data(), arenas_.back().first.size());
          } else {
            devplace::detail::copy_out<backend_type>(first.ordinal, parameters, first.parameters.data(),
                                                     first.parameters.bytes());
          }
          devplace::detail::copy_out<backend_type>(first.ordinal, buffers, first.buffers.data(), first.buffers.bytes());
        },
        [&](const char* name, auto& value) { metadata.emplace_back(key + name, exact_text(value)); });
  }

  /// Adds the tensors of an object's models to the tensors to read.
  template <class Extra> void expect(Extra& extra, std::vector<checkpoint_tensor>& tensors) {
    extra.for_checkpoint([&](auto& model) { append(model, tensors); }, [](const char*, auto&) {});
  }
  /// Throws file_error unless the texts have the next object's numbers.
  template <class Extra> void check(Extra& extra, const checkpoint_texts& texts) {
    const std::string key = devplace::detail::joined({"extra.", checked_++, "."});
    extra.for_checkpoint([](auto&) {},
                         [&](const char* name, auto& value) {
                           static_cast<void>(texts.number<std::remove_cvref_t<decltype(value)>>(key + name));
                         });
  }

  /// Restores the next expected object. `model_updates`: number of updates of the trained model.
  DEVPLACE_CONFIGURED void load(auto& extra, const checkpoint_texts& texts,
                                [[maybe_unused]] std::uint64_t model_updates) {
    const std::string key = devplace::detail::joined({"extra.", loaded_++, "."});
    extra.for_checkpoint(
        [&](auto& model) {
          using placed_on = typename std::remove_cvref_t<decltype(model)>::placement_type;
          using backend_type = placement_backend_t<placed_on>;
          const auto& [parameters, buffers] = arenas_[loaded_models_++];
          auto& state = model.state();
          runtime::set_arenas<backend_type>(state, elements_in(model, parameters), elements_in(model, buffers));
          runtime::wait_for_model<backend_type>(state);
        },
        [&](const char* name, auto& value) { value = texts.number<std::remove_cvref_t<decltype(value)>>(key + name); });
    if constexpr (requires { extra.follow(model_updates); }) extra.follow(model_updates);
  }

 private:
  using bytes = std::vector<std::byte>;

  /// Allocates memory for a model's parameters and buffers and adds its tensors.
  template <class Net, class Where, class P>
  std::pair<void*, void*> append(const model<Net, Where, P>&, std::vector<checkpoint_tensor>& tensors) {
    using T = typename precision_traits<P>::parameter;
    using plan = runtime::network_plan<Net>;
    const std::string prefix = devplace::detail::joined({"extra/", arenas_.size(), "/"});
    auto& [parameters, buffers] =
        arenas_.emplace_back(bytes(plan::arena_elements * sizeof(T)), bytes(plan::buffer_elements * sizeof(T)));
    for (const devplace::detail::kept_parameter& parameter : devplace::detail::kept_parameters<Net, T>()) {
      tensors.push_back({parameter.entry, parameter.in(static_cast<T*>(static_cast<void*>(parameters.data())),
                                                       static_cast<T*>(static_cast<void*>(buffers.data())))});
      tensors.back().entry.name.insert(0, prefix);
    }
    return {parameters.data(), buffers.data()};
  }

  template <class Net, class Where, class P> static auto* elements_in(const model<Net, Where, P>&, const bytes& arena) {
    return static_cast<const typename precision_traits<P>::parameter*>(static_cast<const void*>(arena.data()));
  }

  std::deque<std::pair<bytes, bytes>> arenas_;                            ///< arenas of all models
  std::size_t saved_ = 0, checked_ = 0, loaded_ = 0, loaded_models_ = 0;  ///< numbers of objects, and of models
};

}  // namespace devplace::train::detail
