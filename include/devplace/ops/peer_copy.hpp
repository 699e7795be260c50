// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <string>

#include <devplace/config.hpp>
#include <devplace/place/backend.hpp>

namespace devplace {

namespace op {

/// `run(to_ordinal, to, from_ordinal, from, bytes)`: copies between two devices in the order of the destination's
/// current stream; events order it with the source's work. `why_apart(a, b)`, for backends whose devices may lack peer
/// access: why kernels of device a cannot access memory of b; empty if they can, once it has been called.
struct peer_copy {};

}  // namespace op

namespace detail {

/// Enqueues a copy between two devices of one backend on the destination's current stream.
template <class Backend>
void copy_from_peer(int to_ordinal, void* to, int from_ordinal, const void* from, std::size_t bytes) {
  if (bytes != 0) dispatch<op::peer_copy, Backend>(to_ordinal, to, from_ordinal, from, bytes);
}

template <class Backend>
concept says_why_apart = requires(int ordinal) {
  implementation<Backend, op::peer_copy>::why_apart(ordinal, ordinal);
};

/// Why kernels of device `ordinal` cannot access another device's memory; empty if they can.
template <class Backend>
std::string why_apart(int ordinal, int other) {
  if constexpr (says_why_apart<Backend>)
    return implementation<Backend, op::peer_copy>::why_apart(ordinal, other);
  else
    return static_cast<void>(ordinal), static_cast<void>(other), std::string();
}

}  // namespace detail
}  // namespace devplace

#include <devplace/backend/cpu/peer_copy.hpp>
#include DEVPLACE_CUDA_BACKEND(peer_copy)
