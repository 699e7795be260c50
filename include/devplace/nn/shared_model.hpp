// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <devplace/base/type_text.hpp>
#include <devplace/memory/detail/named_segment.hpp>
#include <devplace/nn/model.hpp>
#include <devplace/nn/to.hpp>
#include <devplace/runtime/model_state.hpp>
#include <devplace/runtime/relaxed_copy.hpp>
#include <devplace/tensor/dtype.hpp>
#include <devplace/tensor/shared_tensor.hpp>

namespace devplace {

inline namespace DEVPLACE_CONFIGURATION {

/// Copies a model out of shared memory. While other processes train the model, elements of the copy may stem from
/// different updates. Other writes, by assign() or by views of parameters, must not run meanwhile.
template <placement Where, class Net, precision P> [[nodiscard]] auto to(const model<Net, shared_memory, P>& source) {
  return detail::naming_bad_alloc("the copy of a model", [&] {
    static constexpr int ordinals[] = {0};
    using storage = typename precision_traits<P>::storage;
    using parameter = typename precision_traits<P>::parameter;
    using plan = runtime::network_plan<Net>;
    auto state = runtime::empty_state<storage, backend::cpu>(
        ordinals, {plan::parameter_elements, plan::buffer_elements, plan::frozen_elements});
    const auto& from = source.state();
    runtime::relaxed_copy<parameter>(state->replicas[0].parameters, from.replicas[0].parameters);
    runtime::relaxed_copy<parameter>(state->replicas[0].buffers, from.replicas[0].buffers);
    state->seed = from.seed;
    state->step = from.step;
    return to<Where>(detail::model_access::adopt<model<Net, cpu, P>>(std::move(state)));
  });
}

}  // namespace DEVPLACE_CONFIGURATION

namespace detail {

/// The segment of a model: parameters, then buffers. Seed and number of passes take the place of a tensor's extents.
template <class Net, class P> struct shared_form<model<Net, shared_memory, P>> {
  using value_type = model<Net, shared_memory, P>;
  using state_type = typename value_type::state_type;
  using parameter = typename precision_traits<P>::parameter;
  using plan = runtime::network_plan<Net>;

  static value_type create(std::string_view name, seed start) { return created(name, model<Net, cpu, P>(start)); }
  template <class From> static value_type create(std::string_view name, const model<Net, From, P>& source) {
    if constexpr (std::is_same_v<From, cpu>)
      return created(name, source);
    else
      return created(name, to<cpu>(source));
  }
  static value_type open(std::string_view name) {
    return at(named_segment::open(texts_of_open, name,
                                  [](const named_segment&) { return std::pair{text(), buffers_at + buffer_bytes}; }));
  }

 private:
  static constexpr std::size_t parameter_bytes = plan::arena_elements * sizeof(parameter);
  static constexpr std::size_t buffers_at = aligned(parameter_bytes),
                               buffer_bytes = plan::buffer_elements * sizeof(parameter);

  static value_type created(std::string_view name, const model<Net, cpu, P>& source) {
    const std::array<std::size_t, 2> counters{source.state().seed, source.state().step};
    const auto segment = named_segment::create(texts_of_create, name, text(), counters, buffers_at + buffer_bytes);
    auto shared = at(segment);
    runtime::copy_parameters<backend::cpu, backend::cpu>(shared.state(), source.state());
    segment->publish();
    return shared;
  }
  static value_type at(const std::shared_ptr<named_segment>& segment) {
    static constexpr int ordinals[] = {shared_memory_ordinal};
    using replica_type = runtime::replica<typename precision_traits<P>::storage>;
    auto state = runtime::empty_state<typename precision_traits<P>::storage, backend::cpu>(ordinals, {0, 0});
    replica_type& replica = state->replicas[0];
    replica.trained = plan::parameter_elements;
    replica.parameters = named_segment::part(segment, 0, parameter_bytes, memory_purpose::parameters);
    if constexpr (replica_type::has_working_copy)
      runtime::assign_zeros<typename replica_type::working, backend::cpu>(
          replica.working_copy, shared_memory_ordinal, plan::arena_elements, memory_purpose::parameters);
    replica.buffers = named_segment::part(segment, buffers_at, buffer_bytes, memory_purpose::parameters);
    state->seed = segment->extents()[0];
    state->step = segment->extents()[1];
    return detail::model_access::adopt<value_type>(std::move(state));
  }
  static std::string text() {
    std::string all = shared_version_text("model");
    plan::visit_parameters([&](const std::string& name, const auto& entry, std::size_t) {
      all.append("parameter ").append(name).append(": ").append(dtype_name<parameter>());
      for (std::size_t axis = 0; axis != entry.shape.rank; ++axis)
        all.append(axis == 0 ? " " : "x").append(std::to_string(entry.shape.extent[axis]));
      all += '\n';
    });
    return all.append("precision: ").append(type_text<P>()).append("\nnetwork: ").append(type_text<Net>()) += '\n';
  }
};

}  // namespace detail

}  // namespace devplace
