// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <cstddef>
#include <utility>

#include <devplace/ops/for_each.hpp>

/// Negative control: a functor that depends on the ordinal, so that a kernel and a large function are instantiated per
/// ordinal. Shows that the symbol count detects this.
namespace {

template <int I> struct ordinal_functor {
  float* x;

  DEVPLACE_HD void operator()(std::size_t i) const { many(i, std::make_index_sequence<200>{}); }

  template <std::size_t... K> DEVPLACE_HD void many(std::size_t i, std::index_sequence<K...>) const {
    ((x[i + K] = x[i + K] * static_cast<float>(K + 3) + static_cast<float>(I)), ...);
  }
};

template <int... I> void run_on_devices(float* x) {
  (devplace::detail::for_each_index<devplace::backend::cuda>(I, 1, 1, ordinal_functor<I>{x}), ...);
}

}  // namespace

#if defined(SEVERAL_ORDINALS)
void ordinal_in_functor(float* x) { run_on_devices<0, 1, 7>(x); }
#else
void ordinal_in_functor(float* x) { run_on_devices<0>(x); }
#endif
