// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include <devplace/base/joined.hpp>
#include <devplace/config.hpp>
#include <devplace/memory/detail/named_segment.hpp>
#include <devplace/tensor/copy.hpp>
#include <devplace/tensor/detail/as_view.hpp>
#include <devplace/tensor/dtype.hpp>
#include <devplace/tensor/extents.hpp>
#include <devplace/tensor/tensor.hpp>

namespace devplace {

namespace detail {

inline constexpr segment_error_texts texts_of_create{"create_shared"};
inline constexpr segment_error_texts texts_of_open{
    "open_shared",
    "a process of the same user on this host must create it by create_shared and keep it until it has been opened.",
    "Open it as the type with which it was created, with the same version of the program."};

/// Returns the static extents of the type, and the segment's extents for dynamic extents. Throws argument_error for
/// more elements than a machine can address.
template <class Extents> Extents stored_extents(const named_segment& segment) {
  if constexpr (Extents::is_static) {
    return Extents();
  } else {
    std::array<std::size_t, Extents::rank> sizes;
    for (std::size_t axis = 0; axis != sizes.size(); ++axis)
      sizes[axis] = Extents::static_extent(axis) == dyn ? segment.extents()[axis] : Extents::static_extent(axis);
    if (!addressable(sizes)) segment.refuse_header();
    return std::apply([](auto... size) { return Extents(size...); }, sizes);
  }
}

template <class T, class Extents> std::string tensor_text(const char* kind, const Extents& extents) {
  static_assert(Extents::rank <= named_segment::most_extents,
                "devplace: a tensor in shared memory has at most 8 axes; reshape it to fewer axes.");
  return joined(
      {shared_version_text(kind), "element type: ", dtype_name<T>(), "\nextents: ", to_string(extents), "\n"});
}

inline namespace DEVPLACE_CONFIGURATION {

/// Creates and opens values in named segments. Has members for tensors and models (nn/shared_model.hpp) only.
template <class Value> struct shared_form {};

template <class T, class Extents> struct shared_form<tensor<T, Extents, shared_memory>> {
  using value_type = tensor<T, Extents, shared_memory>;
  static value_type create(std::string_view name, const Extents& extents = {}) {
    return create(name, extents, [](value_type&) {});
  }
  template <tensor_like From> static value_type create(std::string_view name, const From& from) {
    return create(name, Extents(from.extents()), [&](value_type& value) { copy(value, from); });
  }
  static value_type open(std::string_view name) {
    Extents extents;
    const auto segment = named_segment::open(texts_of_open, name, [&](const named_segment& found) {
      extents = stored_extents<Extents>(found);
      return std::pair{text(extents), extents.size() * sizeof(T)};
    });
    return at(segment, extents);
  }

 private:
  template <class Fill> static value_type create(std::string_view name, const Extents& extents, const Fill& fill) {
    const auto segment =
        named_segment::create(texts_of_create, name, text(extents), sizes_of(extents), extents.size() * sizeof(T));
    value_type value = at(segment, extents);
    fill(value);
    segment->publish();
    return value;
  }
  static value_type at(const std::shared_ptr<named_segment>& segment, const Extents& extents) {
    return block_access::make<value_type>(
        named_segment::part(segment, 0, extents.size() * sizeof(T), memory_purpose::tensors), extents);
  }
  static std::string text(const Extents& extents) { return tensor_text<T>("tensor", extents); }
};

}  // namespace DEVPLACE_CONFIGURATION

/// The result for a rejected type, which avoids follow-up errors; never called.
template <class Value> Value not_shared();

template <class Value> constexpr bool can_be_shared() {
  constexpr bool shared = requires { &shared_form<Value>::open; };
  static_assert(shared,
                "devplace: create_shared, open_shared: name a tensor or a model on shared memory, as in "
                "open_shared<tensor<float, extents<3>, on<shared_memory>>>(\"weights\").");
  return shared;
}

}  // namespace detail

/// Creates a tensor or model whose memory other processes of this user and host open by `name`:
/// `create_shared<tensor<float, extents<3, 4>, on<shared_memory>>>("weights")`. After the name, give a tensor's
/// run-time extents to make zeros, or a tensor or view on any place to copy it. For a model, give a seed, or a model on
/// any placement to copy it. Other processes see the result when it is complete. The name disappears when the last
/// process that has the memory has destroyed it or has ended. The next create_shared of any program of this user
/// removes segments of killed processes from /dev/shm. Throws argument_error for a name that is in use or invalid, and
/// out_of_memory if /dev/shm has too little space.
template <class Value, class... Arguments>
[[nodiscard]] DEVPLACE_CONFIGURED Value create_shared(std::string_view name, Arguments&&... arguments) {
  if constexpr (detail::can_be_shared<Value>())
    return detail::shared_form<Value>::create(name, std::forward<Arguments>(arguments)...);
  else
    return detail::not_shared<Value>();
}

/// Opens the tensor or model that a process made by create_shared. The processes share the memory, which exists as long
/// as any process has it. Compares static extents of a tensor; run-time extents are read from the segment. Throws
/// argument_error if no process has the memory, if the header does not fit the file, and if the file is another user's
/// or stays locked exclusively for two seconds. Also throws argument_error, with the first difference, if the type, the
/// extents, the network or the version of devplace differ.
template <class Value> [[nodiscard]] DEVPLACE_CONFIGURED Value open_shared(std::string_view name) {
  if constexpr (detail::can_be_shared<Value>())
    return detail::shared_form<Value>::open(name);
  else
    return detail::not_shared<Value>();
}

}  // namespace devplace
