// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <utility>

namespace devplace::nn::detail {

template <std::size_t Index, class T> struct numbered {
  using type = T;
};

/// A list of types, indexed by a single overload resolution: `typename decltype(Types::template find<2>())::type`. An
/// alias template with the types as arguments, such as std::tuple_element_t, makes nvcc 13.0's front end take time
/// exponential in the length of the list.
template <class Indices, class... T> struct numbered_types;
template <std::size_t... Index, class... T>
struct numbered_types<std::index_sequence<Index...>, T...> : numbered<Index, T>... {
 private:
  template <std::size_t I, class Found> static numbered<I, Found> pick(const numbered<I, Found>*);

 public:
  template <std::size_t I> static auto find() -> decltype(pick<I>(static_cast<numbered_types*>(nullptr)));
};

}  // namespace devplace::nn::detail
