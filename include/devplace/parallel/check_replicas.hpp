// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include <devplace/memory/block.hpp>
#include <devplace/memory/wait_for_replicas.hpp>
#include <devplace/nn/model.hpp>
#include <devplace/place/error.hpp>
#include <devplace/place/place.hpp>

namespace devplace::parallel::detail {

/// The first difference between replicas, in the order of the network's parameters and then of its buffers.
struct replica_difference {
  const char* what = nullptr;  ///< "parameter" or "buffer"; null if none was found
  std::string name;
  nn::parameter_shape shape{};
  std::size_t position = 0;  ///< in the arena
  std::size_t element = 0;   ///< in row-major order
  std::size_t replica = 0;
};

/// A row-major position as a multi-dimensional index: [1, 2].
inline std::string index_text(std::size_t element, const nn::parameter_shape& shape) {
  std::string text;
  for (std::size_t axis = shape.rank; axis-- != 0; element /= shape.extent[axis])
    text.insert(0, (axis == 0 ? "" : ", ") + std::to_string(element % shape.extent[axis]));
  return "[" + text + "]";
}

/// A number with all its digits and its bits, because two NaN can differ.
template <class T>
std::string value_text(T value) {
  std::uint64_t bits = 0;
  if constexpr (sizeof(T) == sizeof(std::uint32_t)) {
    std::uint32_t narrow = 0;
    std::memcpy(&narrow, &value, sizeof narrow);
    bits = narrow;
  } else {
    std::memcpy(&bits, &value, sizeof bits);
  }
  char text[64];
  std::snprintf(text, sizeof text, "%.*g (0x%0*llx)", sizeof(T) == 4 ? 9 : 17, static_cast<double>(value),
                static_cast<int>(2 * sizeof(T)), static_cast<unsigned long long>(bits));
  return text;
}

/// The first element of an entry in which two arenas differ, or the entry's size.
template <class T>
std::size_t first_difference(const T* a, const T* b, std::size_t size) {
  if (std::memcmp(a, b, size * sizeof(T)) == 0) return size;
  std::size_t i = 0;
  while (std::memcmp(a + i, b + i, sizeof(T)) == 0)
    ++i;
  return i;
}

/// Copies a device's arena to the host, after all earlier work of the device.
template <class T, class Backend>
void read_arena(std::vector<T>& values, int ordinal, const devplace::detail::memory_block& block) {
  values.resize(block.bytes() / sizeof(T));
  devplace::detail::copy_out<Backend>(ordinal, values.data(), block.data(), block.bytes());
}

/// Replaces `best` by an earlier difference, if any. `for_each(f)` calls f(name, shape, offset) for every entry.
template <class T, class ForEach>
void find_difference(replica_difference& best, const char* what, std::size_t replica, const std::vector<T>& first,
                     const std::vector<T>& other, const ForEach& for_each) {
  for_each([&](const std::string& name, const nn::parameter_shape& shape, std::size_t offset) {
    if (best.what != nullptr && best.position <= offset) return;
    const std::size_t element = first_difference(first.data() + offset, other.data() + offset, shape.size());
    if (element != shape.size() && (best.what == nullptr || offset + element < best.position))
      best = {what, name, shape, offset + element, element, replica};
  });
}

template <class Backend, class T, class S>
[[noreturn]] void report_difference(const runtime::model_state<S>& state, const replica_difference& found, T first,
                                    T other) {
  const auto replica = [&](std::size_t k) {
    return "replica " + std::to_string(k) + " (" + devplace::detail::place_name(Backend{}, state.replicas[k].ordinal) +
           ")";
  };
  std::string text = "replicas differ after " + std::to_string(state.updates) + " updates: ";
  text.append(found.what).append(" '").append(found.name).append("', ").append(replica(0)).append(" against ");
  text.append(replica(found.replica)).append(": element ").append(index_text(found.element, found.shape));
  text.append(" is ").append(value_text(first)).append(" and ").append(value_text(other));
  text.append(
      ". Every place must do the same to its copy: look for writes to one replica alone, or go on from the first "
      "place's copy with to<Where>(to<on<cpu>>(model)).");
  throw error(text);
}

/// Compares one kind of arena of all replicas with that of the first replica.
template <class T, class Backend, class S, class ForEach>
void check_arenas(const runtime::model_state<S>& state, devplace::detail::memory_block runtime::replica<S>::*arena,
                  const char* what, const ForEach& for_each) {
  std::vector<T> first, other, differing;
  replica_difference best;
  read_arena<T, Backend>(first, state.replicas[0].ordinal, state.replicas[0].*arena);
  for (std::size_t k = 1; k < state.replicas.size(); ++k) {
    read_arena<T, Backend>(other, state.replicas[k].ordinal, state.replicas[k].*arena);
    find_difference(best, what, k, first, other, for_each);
    if (best.replica == k) differing.swap(other);
  }
  if (best.what != nullptr) report_difference<Backend, T>(state, best, first[best.position], differing[best.position]);
}

template <class Net, class Backend, class S>
void check_replicas(const runtime::model_state<S>& state, std::span<const int> ordinals) {
  using plan = runtime::network_plan<Net>;
  using T = typename runtime::replica<S>::parameter;
  devplace::detail::wait_for_replicas<Backend>(ordinals);
  if (state.replicas.size() == 1) return;
  const auto shapes = [](const auto& f) {
    return [&f](const std::string& name, auto entry, std::size_t offset) { f(name, entry.info.shape, offset); };
  };
  check_arenas<T, Backend>(state, &runtime::replica<S>::parameters, "parameter",
                           [&](const auto& f) { plan::for_each_parameter("", 0, shapes(f)); });
  check_arenas<T, Backend>(state, &runtime::replica<S>::buffers, "buffer",
                           [&](const auto& f) { plan::for_each_buffer("", 0, shapes(f)); });
}

}  // namespace devplace::parallel::detail

namespace devplace::inline DEVPLACE_CONFIGURATION {

/// Compares the parameters and buffers of all replicas of a model bitwise with those of the first place and throws
/// error if they differ: the message names the first such parameter (`0.weight`), both places, the element's index and
/// both values. devplace's own updates keep replicas equal; this detects writes of the program to a single replica.
/// Waits for all places (also for the only one of a model on one place) and copies each replica to the host.
template <class Net, placement Where, precision P>
void check_replicas(const model<Net, Where, P>& m) {
  parallel::detail::check_replicas<Net, placement_backend_t<Where>>(m.state(), detail::mesh_of<Where>::ordinals);
}

}  // namespace devplace::inline DEVPLACE_CONFIGURATION
