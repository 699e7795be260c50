// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <string>

#include <devplace/tensor/view.hpp>

namespace devplace::nn::detail {

/// Passes the parameters of one replica to `f(name, view)`. `Where` is a place or, for replicas on several places,
/// `here<Backend>`, so that a walk over a network is instantiated once, independent of the places.
template <class Element, class Where, class F>
struct parameter_visitor {
  F& f;
  Element* data;
  int ordinal;

  template <class Entry>
  void operator()(const std::string& name, Entry, std::size_t offset) const {
    using extents_type = typename Entry::extents;
    devplace::detail::device_of<Where> device;
    if constexpr (!devplace::detail::is_on<Where>) device = devplace::detail::device_of<Where>{ordinal};
    f(name, view<Element, extents_type, Where>{data + offset, extents_type{}, device});
  }
};

}  // namespace devplace::nn::detail
