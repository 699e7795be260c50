// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <devplace/memory/event.hpp>
#include <devplace/memory/stream.hpp>
#include <devplace/ops/elementwise.hpp>
#include <devplace/ops/for_each.hpp>
#include <devplace/ops/matmul.hpp>
#include <devplace/place/first_available.hpp>
#include <devplace/place/select.hpp>
#include <devplace/tensor/copy.hpp>
#include <devplace/tensor/copy_async.hpp>
#include <devplace/tensor/print.hpp>

namespace dp = devplace;

// C++ that links component cuda: memory and copies work, kernels need nvcc.
using list = dp::tensor<float, dp::extents<3>, dp::on<dp::cuda<0>>>;
using matrix = dp::tensor<float, dp::extents<2, 2>, dp::on<dp::cuda<0>>>;

void host_work(std::ostream& out) {
  list x{1, 2, 3};
  auto y = dp::to<dp::on<dp::cpu>>(x);
  y(0) = 4;
  dp::copy(x, y);
  const auto z = x.clone();
  out << z;
  const dp::stream<dp::cuda<0>> copies;
  auto back = dp::to_async<dp::on<dp::pinned>>(x, copies);
  dp::event<dp::cuda<0>> done;
  done.record(copies);
  back.get()(1) = 5;
  dp::synchronize<dp::cuda<0>>();
  static_cast<void>(dp::available<dp::on<dp::cuda<0>>>());
  dp::first_available<dp::on<dp::cpu>>([](auto) {});
}

// Passes x to a case. See compile_fail.cmake.
template <class Case, class... X> void in_a_template(const Case& f, X&&... x) { f(x...); }

struct set_to_zero {
  float* x;
  DEVPLACE_HD void operator()(std::size_t i) const { x[i] = 0; }
};

#if defined(FIRST_AVAILABLE)  // expect: devplace: first_available, select: a cuda placement is listed and
void choose() {
  dp::first_available<dp::replicated<0, 1>, dp::on<dp::cpu>>([](auto) {});
}
#endif

#if defined(SELECT)  // expect: devplace: first_available, select: a cuda placement is listed and
void choose() {
  dp::select<dp::on<dp::cpu>, dp::on<dp::cuda<0>>>("cpu", [](auto) {});
}
#endif

#if defined(EXPRESSION)  // expect: devplace: this operation needs a kernel, and the file is compiled as C\+\+; compile
                         // it
list sum(const list& x) { return list(x + x); }
#endif

#if defined(PRODUCT)  // expect: devplace: this operation needs a kernel.* as CUDA: devplace_compile_as_cuda\(target\)
void product(const matrix& x) {
  in_a_template([](auto& y) { dp::matmul(y, y); }, x);
}
#endif

#if defined(KERNEL)  // expect: devplace: this operation needs a kernel, and the file is compiled as C\+\+; compile it
void launch(float* x) { dp::detail::for_each_index<dp::backend::cuda>(0, 1, 1, set_to_zero{x}); }
#endif
