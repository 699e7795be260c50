// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <devplace/nn/detail/initialize.hpp>
#include <devplace/nn/parameter.hpp>

namespace devplace::nn {

/// Draws the initial values of `count` elements of a parameter, from element `first` on, on a device's current stream.
/// They have the bits that a model of this seed has, where the parameter has this name.
template <class Backend, class T>
void draw_elements(int ordinal, T* data, const parameter& entry, std::uint64_t seed, const std::string& name,
                   std::size_t first, std::size_t count) {
  detail::initialize_into<Backend>(ordinal, data, count, entry.init, seed, name, first);
}

}  // namespace devplace::nn
