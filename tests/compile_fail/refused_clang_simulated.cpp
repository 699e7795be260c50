// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What refers to a local object and is returned: errors of clang, which knows the lifetimes from
// DEVPLACE_LIFETIMEBOUND.
#include <devplace/all.hpp>

namespace dp = devplace;

using on_cpu = dp::on<dp::cpu>;
using matrix = dp::tensor<float, dp::extents<2, 3>, on_cpu>;
using network = dp::nn::sequential<dp::nn::linear<3, 2>>;
using regression = dp::model<network, on_cpu>;

auto row_of(matrix& a) {
  return a[1];
}
#if defined(RETURNED_VIEW)  // expect: address of stack memory associated with local variable 'a' returned
auto returned_view() {
  matrix a(dp::extents<2, 3>{});
  return a.view();
}
#endif
#if defined(RETURNED_ROW)  // expect: address of stack memory associated with local variable 'a' returned
auto returned_row() {
  matrix a(dp::extents<2, 3>{});
  return a[1];
}
#endif
#if defined(RETURNED_SLICE)  // expect: address of stack memory associated with local variable 'a' returned
auto returned_slice() {
  matrix a(dp::extents<2, 3>{});
  return a.slice(dp::axis<1>{}, 0, 2);
}
#endif
#if defined(RETURNED_ELEMENT)  // expect: reference to stack memory associated with local variable 'a' returned
const float& returned_element() {
  matrix a(dp::extents<2, 3>{});
  return a(0, 0);
}
#endif
#if defined(RETURNED_PART)  // expect: address of stack memory associated with local variable 'a' returned
auto returned_part() {
  dp::tensor<float, dp::extents<2, 3>, dp::replicated<0, 1>> a(dp::extents<2, 3>{});
  return a.local(0);
}
#endif
#if defined(RETURNED_PARAMETER)  // expect: address of stack memory associated with local variable 'm' returned
auto returned_parameter() {
  regression m(dp::seed{1});
  return m.parameter<0>();
}
#endif
#if defined(RETURNED_TRAINER)  // expect: address of stack memory associated with local variable 'm' returned
auto returned_trainer() {
  regression m(dp::seed{1});
  return dp::trainer{m, dp::nn::mse{}, dp::optim::sgd{.learning_rate = 0.1f}};
}
#endif
