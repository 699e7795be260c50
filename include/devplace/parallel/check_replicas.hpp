// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <bit>
#include <charconv>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include <devplace/base/error.hpp>
#include <devplace/base/host_memory.hpp>
#include <devplace/memory/block.hpp>
#include <devplace/memory/wait_for_replicas.hpp>
#include <devplace/nn/model.hpp>
#include <devplace/place/place.hpp>
#include <devplace/tensor/detail/float_bits.hpp>

namespace devplace::parallel::detail {

/// Formats the multi-dimensional index of a row-major position: [1, 2].
inline std::string index_text(std::size_t element, const nn::parameter_shape& shape) {
  std::string text;
  for (std::size_t axis = shape.rank; axis-- != 0; element /= shape.extent[axis])
    text.insert(0, (axis == 0 ? "" : ", ") + std::to_string(element % shape.extent[axis]));
  return devplace::detail::joined({"[", text, "]"});
}

/// Formats a number with all digits, and with its bits, because different NaNs print alike.
template <class T> std::string value_text(T value) {
  char text[64];
  char* const end = std::to_chars(text, text + sizeof text, value).ptr;
  std::snprintf(end, static_cast<std::size_t>(text + sizeof text - end), " (0x%0*llx)", static_cast<int>(2 * sizeof(T)),
                static_cast<unsigned long long>(std::bit_cast<devplace::detail::bits_of<T>>(value)));
  return text;
}

/// Compares one parameter or buffer, at `offset` in the arenas, between the first replica and each other replica.
template <class Backend, class T, class S>
void check_entry(const runtime::model_state<S>& state, T* (runtime::replica<S>::*data)() const, std::size_t offset,
                 const std::string& name, const nn::parameter_shape& shape) {
  const auto read = [&](std::size_t k) {
    std::vector<T> values(shape.size());
    const auto& r = state.replicas[k];
    devplace::detail::copy_out<Backend>(r.ordinal, values.data(), (r.*data)() + offset, shape.size() * sizeof(T));
    return values;
  };
  const std::vector<T> first = read(0);
  std::size_t element = shape.size(), differing = 0;
  T other{};
  for (std::size_t k = 1; k < state.replicas.size(); ++k) {
    const std::vector<T> values = read(k);
    std::size_t at = 0;
    while (at != element && std::memcmp(&first[at], &values[at], sizeof(T)) == 0) ++at;
    if (at == element) continue;
    element = at;
    differing = k;
    other = values[at];
  }
  if (differing == 0) return;
  const auto replica = [&](std::size_t k) {
    return devplace::detail::joined(
        {"replica ", k, " (", devplace::detail::place_name(Backend{}, state.replicas[k].ordinal), ")"});
  };
  throw error(
      {"replicas differ after ", state.updates, " updates: ", name, ", ", replica(0), " against ", replica(differing),
       ": element ", index_text(element, shape), " is ", value_text(first[element]), " and ", value_text(other),
       ". All places must change their copies equally: look for writes to a single replica, or continue from the first "
       "place's copy with to<Where>(to<on<cpu>>(model))."});
}

template <class Net, class Backend, class S> void check_replicas(const runtime::model_state<S>& state) {
  using plan = runtime::network_plan<Net>;
  using replica = runtime::replica<S>;
  devplace::detail::wait_for_replicas<Backend>(state.ordinals);
  if (state.replicas.size() == 1) return;
  const auto check = [&](const char* arena, auto data) {
    return [&state, arena, data](const std::string& name, const auto& entry, std::size_t offset) {
      check_entry<Backend>(state, data, offset, std::string(arena).append(" '").append(name).append("'"), entry.shape);
    };
  };
  plan::visit_parameters(check("parameter", &replica::parameter_data));
  plan::visit_buffers(check("buffer", &replica::buffer_data));
}

}  // namespace devplace::parallel::detail

namespace devplace::inline DEVPLACE_CONFIGURATION {

/// Compares the parameters and buffers of all replicas of a model bitwise with those of the first place. Throws error
/// if they differ; the message names the first differing parameter (`0.weight`), both places, the element's index and
/// both values. devplace's updates keep replicas equal; this function detects writes of the program to a single
/// replica. Waits for all places and copies each replica to the host.
template <class Net, placement Where, precision P> void check_replicas(const model<Net, Where, P>& m) {
  constexpr bool has_copies = !stores_shares<Where>;
  static_assert(has_copies,
                "devplace: check_replicas: the places of a model in shares have different parameters, and no copies to "
                "compare; leave the call out.");
  if constexpr (has_copies)
    detail::naming_bad_alloc("the comparison of replicas",
                             [&] { parallel::detail::check_replicas<Net, placement_backend_t<Where>>(m.state()); });
}

}  // namespace devplace::inline DEVPLACE_CONFIGURATION
