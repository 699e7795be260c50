// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <devplace/ops/for_each.hpp>
#include <devplace/place/first_available.hpp>
#include <devplace/place/select.hpp>
#include <devplace/tensor/copy.hpp>

namespace dp = devplace;

// C++ that links component cuda: memory and copies work, kernels need nvcc.
void host_work() {
  dp::tensor<float, dp::extents<3>, dp::on<dp::cuda<0>>> x{1, 2, 3};
  auto y = dp::to<dp::on<dp::cpu>>(x);
  static_cast<void>(dp::available<dp::on<dp::cuda<0>>>());
  dp::first_available<dp::on<dp::cpu>>([](auto) {});
}

struct set_to_zero {
  float* x;
  DEVPLACE_HD void operator()(std::size_t i) const { x[i] = 0; }
};

#if defined(FIRST_AVAILABLE)  // expect: devplace: first_available: a cuda placement is listed and devplace::cuda is
void choose() {
  dp::first_available<dp::replicated<0, 1>, dp::on<dp::cpu>>([](auto) {});
}
#endif

#if defined(SELECT)  // expect: devplace: select: a cuda placement is listed and devplace::cuda is linked, but this
void choose() {
  dp::select<dp::on<dp::cpu>, dp::on<dp::cuda<0>>>("cpu", [](auto) {});
}
#endif

#if defined(KERNEL)  // expect: devplace: this operation needs a kernel, and the file is compiled as C\+\+; compile it
void launch(float* x) {
  dp::detail::for_each_index<dp::backend::cuda>(0, 1, 1, set_to_zero{x});
}
#endif
