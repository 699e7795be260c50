// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <type_traits>

#include <devplace/base/error.hpp>
#include <devplace/place/device_info.hpp>
#include <devplace/place/placement.hpp>

namespace devplace::detail::inline DEVPLACE_CONFIGURATION {

/// Why this machine lacks a place; empty if it has the place. Throws for invalid settings.
template <class P> std::string why_place_unavailable() {
  // The devices' backend allocates pinned memory.
  using queried_backend = std::conditional_t<computes<backend_of_t<P>>, backend_of_t<P>, backend::device>;
  if constexpr (provided<queried_backend, op::device_query>)
    return implementation<queried_backend, op::device_query>::why_unavailable(place_traits<P>::ordinal);
  else
    return cuda_component_missing();
}

template <class Where> [[DEVPLACE_FOR_SIZE]] std::string why_unavailable() {
  std::string reason;
  [&]<class... P>(devices<P...>) {
    static_cast<void>((((reason = why_place_unavailable<P>()).empty()) && ...));
  }(typename mesh_of<Where>::local{});
  return reason;
}

template <class Backend, class... P> constexpr bool is_backend_in(devices<P...>) {
  return (std::is_same_v<backend_of_t<P>, Backend> || ...);
}
template <class Where, class... Backend>
inline constexpr bool uses = (is_backend_in<Backend>(typename mesh_of<Where>::local{}) || ...);

/// Whether a candidate is skipped in this translation unit because no component for it is linked.
template <class Where>
inline constexpr bool skipped =
    configuration::cuda == cuda_support::none && uses<Where, backend::device, backend::pinned>;

/// Whether a candidate would be usable if this file were compiled as CUDA.
template <class Where>
inline constexpr bool wrong_language = configuration::cuda == cuda_support::host_only && uses<Where, backend::device>;

}  // namespace devplace::detail::inline DEVPLACE_CONFIGURATION

namespace devplace::inline DEVPLACE_CONFIGURATION {

/// Whether all places of `Where` exist on this machine and this program can use them. Also called as
/// `available(where)`. Throws argument_error for an invalid setting (DEVPLACE_DEVICE_MAP, DEVPLACE_SIMULATED_DEVICES).
template <placement Where> bool available(Where = {}) { return detail::why_unavailable<Where>().empty(); }

/// Throws placement_unavailable, with the reason and the fix, unless `available<Where>()`. Call it early, before the
/// program reads its data.
template <placement Where> void require_available() {
  const std::string reason = detail::why_unavailable<Where>();
  if (!reason.empty()) throw placement_unavailable({placement_name<Where>(), " cannot be used: ", reason, "."});
}

/// Information about one place. Throws placement_unavailable, with the reason, if the program cannot use it.
template <place P> device_information device_information_of() {
  return detail::naming_bad_alloc("the information", [] {
    require_available<on<P>>();
    return implementation<backend_of_t<P>, op::device_query>::describe(place_traits<P>::ordinal);
  });
}

}  // namespace devplace::inline DEVPLACE_CONFIGURATION
