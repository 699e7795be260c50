// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>
#include <type_traits>
#include <utility>

#include <devplace/backend/cuda/kernels/wide.hpp>
#include <devplace/backend/cuda/pack.hpp>
#include <devplace/config.hpp>
#include <devplace/ops/detail/reduced_inputs.hpp>

// Reads the sources of reductions (ops/detail/reduced_inputs.hpp), several adjacent elements at a time.

namespace devplace::detail {

/// The pack at index `at`, of which elements [first, last) are reduced. The element at `at` is number `position` among
/// the elements of its result.
struct reduced_pack {
  std::size_t at, position;
  unsigned first, last;
};

/// Elements that a thread has loaded from a source: `element(of, w)` returns the summand of element w.
///@{
template <class Value> struct read_value {
  Value value;

  template <class Elements> DEVPLACE_DEVICE Value element(const Elements&, unsigned) const { return value; }
};
template <class A, unsigned N> struct read_pack {
  pack<A, N> a;

  template <class Elements> DEVPLACE_DEVICE auto element(const Elements& elements, unsigned w) const {
    return elements.from_inputs(a.value[w]);
  }
};
template <class A, class B, unsigned N> struct read_packs {
  pack<A, N> a;
  pack<B, N> b;

  template <class Elements> DEVPLACE_DEVICE auto element(const Elements& elements, unsigned w) const {
    return elements.from_inputs(a.value[w], b.value[w]);
  }
};
///@}

/// Describes a source's arrays: how many elements a thread takes (16 bytes of the smallest type, but 4 elements of 1
/// byte), whether such accesses are aligned, and how to read a pack. Other sources are read one element at a time.
template <class Inputs> struct reduced_inputs {
  static constexpr unsigned width = 1;
};
template <class A> struct reduced_inputs<one_input<A>> {
  static constexpr unsigned width = sizeof(A) == 1 ? 4 : widest_access<A>;

  static bool are_aligned(const one_input<A>& x) { return is_aligned<width>(x.a); }
  template <unsigned N, class Read>
  DEVPLACE_DEVICE static read_pack<A, N> read(const one_input<A>& x, const Read& read) {
    return {read(x.a)};
  }
};
template <class A, class B> struct reduced_inputs<two_inputs<A, B>> {
  static constexpr unsigned width = width_of_sizes(std::min(sizeof(A), sizeof(B)), std::max(sizeof(A), sizeof(B)));

  static bool are_aligned(const two_inputs<A, B>& x) { return is_aligned<width>(x.a) && is_aligned<width>(x.b); }
  template <unsigned N, class Read>
  DEVPLACE_DEVICE static read_packs<A, B, N> read(const two_inputs<A, B>& x, const Read& read) {
    return {read(x.a), read(x.b)};
  }
};

/// Returns the arrays of a source's elements; void if the elements do not come from arrays.
template <class Elements> auto inputs_of(const Elements& elements) {
  if constexpr (requires { elements.inputs(); }) return elements.inputs();
}

template <class Source> struct reduced_source {
  using elements = decltype(elements_of_result(std::declval<const Source&>(), 0));
  using inputs = reduced_inputs<decltype(inputs_of(std::declval<const elements&>()))>;
};

/// Reads N elements of an array, or only the reduced ones among them.
template <unsigned N, class Thread> struct pack_reader {
  const Thread& t;
  const reduced_pack& reduced;
  bool wide;

  template <class T> DEVPLACE_DEVICE pack<T, N> operator()(const T* array) const {
    if (wide) return t.template load<T, N>(array + reduced.at);
    pack<T, N> result;
    DEVPLACE_DEVICE_UNROLL
    for (unsigned w = 0; w < N; ++w)
      result.value[w] = reduced.first <= w && w < reduced.last ? array[reduced.at + w] : T{};
    return result;
  }
};

/// Reads a pack of a source's elements. `wide`: with wide accesses; packs then begin at multiples of their size.
template <unsigned N, class Thread, class Elements>
DEVPLACE_DEVICE auto read_elements(const Thread& t, const Elements& elements, const reduced_pack& reduced, bool wide) {
  if constexpr (requires { elements.inputs(); }) {
    const auto inputs = elements.inputs();
    return reduced_inputs<std::remove_const_t<decltype(inputs)>>::template read<N>(
        inputs, pack_reader<N, Thread>{t, reduced, N > 1 && wide});
  } else {
    using value = decltype(elements(0));
    return read_value<value>{reduced.last != 0 ? elements(reduced.at) : value{}};
  }
}

}  // namespace devplace::detail
