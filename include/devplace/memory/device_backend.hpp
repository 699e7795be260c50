// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>

#include <devplace/memory/block.hpp>
#include <devplace/memory/event.hpp>
#include <devplace/memory/stream.hpp>
#include <devplace/place/device_info.hpp>

namespace devplace {

/// A backend `B` provides static functions of `implementation<B, Op>` for its devices (op::device_query), their memory
/// (op::memory), queues of work (op::streams), and events and failures in these queues (op::events). Every function
/// takes the device's ordinal as a value. A function that does not wait only enqueues work; a device executes the work
/// of one stream in the order of the calls. Each operation is another `implementation<B, Op>` with a static
/// `run(ordinal, arguments...)` (place/backend.hpp); an operation without an implementation does not compile on the
/// backend's places. docs/backends.md describes each function.
template <class B>
concept device_backend =
    requires(int ordinal, void* to, const void* from, std::size_t bytes, void* state, detail::copy_kind kind) {
      // Devices.
      { implementation<B, op::device_query>::count() } -> std::same_as<int>;
      { implementation<B, op::device_query>::why_unavailable(ordinal) } -> std::convertible_to<std::string>;
      { implementation<B, op::device_query>::describe(ordinal) } -> std::same_as<device_information>;
      // Memory. `copy` and `copy_from_peer` enqueue if the backend's work is asynchronous; `wait` blocks the host until
      // the current stream is done.
      {
        implementation<B, op::memory>::allocate(ordinal, bytes, memory_purpose::tensors)
      } -> std::same_as<detail::memory_block>;
      implementation<B, op::memory>::copy(kind, ordinal, to, from, bytes);
      implementation<B, op::memory>::copy_from_peer(ordinal, to, ordinal, from, bytes);
      { implementation<B, op::memory>::why_apart(ordinal, ordinal) } -> std::convertible_to<std::string>;
      implementation<B, op::memory>::wait(ordinal);
      implementation<B, op::memory>::synchronize(ordinal);
      { implementation<B, op::memory>::trim(ordinal) } -> std::same_as<std::size_t>;
      // Streams.
      { implementation<B, op::streams>::create(ordinal) } -> std::same_as<detail::stream_handle>;
      { implementation<B, op::streams>::own(ordinal) } -> std::same_as<detail::stream_handle>;
      { implementation<B, op::streams>::native(state) } -> std::same_as<void*>;
      implementation<B, op::streams>::synchronize(ordinal, state);
      { implementation<B, op::streams>::ready(ordinal, state) } -> std::same_as<bool>;
      // Events and failures. `wait` and `drain` block the host; `drain` returns and clears a failure not yet reported.
      { implementation<B, op::events>::create(ordinal) } -> std::same_as<detail::event_handle>;
      implementation<B, op::events>::record(ordinal, state);
      implementation<B, op::events>::follow(ordinal, state);
      implementation<B, op::events>::wait(state, ordinal);
      { implementation<B, op::events>::ready(state, ordinal) } -> std::same_as<bool>;
      { implementation<B, op::events>::drain(ordinal) } -> std::same_as<detail::device_failure>;
      { implementation<B, op::events>::failures(ordinal) } -> std::same_as<std::uint64_t>;
    };

static_assert(device_backend<backend::cpu>);
static_assert(!detail::provided<backend::device, op::memory> || device_backend<backend::device>);

}  // namespace devplace
