// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What clang alone refuses: references to local objects that are returned, whose lifetimes it knows from
// DEVPLACE_LIFETIMEBOUND, and constant indices past static extents or a halo.
#include <utility>

#include <devplace/all.hpp>
#include <devplace/fields.hpp>

namespace dp = devplace;

using on_cpu = dp::on<dp::cpu>;
using matrix = dp::tensor<float, dp::extents<2, 3>, on_cpu>;
using network = dp::nn::sequential<dp::nn::linear<3, 2>>;
using regression = dp::model<network, on_cpu>;

auto row_of(matrix& a) { return a[1]; }
float elements(matrix& a, std::size_t row) {
  return a(1, 2) + a(row, 2) + a.view()(1, 2) + static_cast<float>(a.extent(1));
}
#if defined(INDEX_PAST_THE_END)  // expect: devplace: an index is past the extent of its axis
float past_the_end(matrix& a) { return a(0, 3); }
#endif
#if defined(INDEX_OF_A_VIEW_PAST_THE_END)  // expect: devplace: an index is past the extent of its axis
float past_the_end(matrix& a) { return a.view()(2, 0); }
#endif
#if defined(NEGATIVE_INDEX)  // expect: devplace: an index is past the extent of its axis
void negative(matrix& a) { a(-1, 0) = 1; }
#endif
#if defined(NO_SUCH_AXIS)  // expect: devplace: extent: the array has fewer axes
std::size_t depth(const matrix& a) { return a.extent(2); }
#endif
#if defined(NO_SUCH_AXIS_OF_COPIES)  // expect: devplace: extent: the array has fewer axes
std::size_t depth(const dp::tensor<float, dp::extents<2, 3>, dp::replicated<0, 1>>& a) { return a.extent(2); }
#endif
#if defined(BEYOND_THE_HALO)  // expect: devplace: a relative index is beyond the field's halo; give the field a wider
                              // one
float two_above(const dp::neighbourhood<float, dp::halo<1, 1>, 2>& u) { return u(-2, 0); }
#endif
#if defined(BEYOND_A_HALO_OF_ROWS)  // expect: devplace: a relative index is beyond the field's halo; give the field a
                                    // wider
float to_the_right(const dp::neighbourhood<float, dp::halo<2>, 2>& u) { return u(2, 1); }
#endif
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

// A loader refers to variables and owns tensors that are moved in.
using labels = dp::tensor<float, dp::extents<2>, on_cpu>;
auto loader_of_its_own_data() {
  matrix x{dp::extents<2, 3>{}};
  labels y{dp::extents<2>{}};
  return dp::make_loader<on_cpu>(std::move(x), std::move(y), {.batch = 2});
}
auto loader_of_views(const matrix& a, const labels& b) {
  const auto x = a.view();
  return dp::make_loader<on_cpu>(x, b.view(), {.batch = 2});
}
auto loader_of_arguments(const matrix& x, labels& y) { return dp::make_loader<on_cpu>(x, y, {.batch = 2}); }
#if defined(RETURNED_LOADER_OF_TENSORS)  // expect: address of stack memory associated with local variable 'x' returned
auto returned_loader() {
  matrix x{dp::extents<2, 3>{}};
  labels y{dp::extents<2>{}};
  return dp::make_loader<on_cpu>(x, y, {.batch = 2});
}
#endif
#if defined(RETURNED_LOADER_OF_IMAGES)  // expect: address of stack memory associated with local variable 'data'
                                        // returned
auto returned_loader_of_images() {
  dp::image_set data;
  return dp::loader<on_cpu>{data, {.batch = 2}};
}
#endif
#if defined(RETURNED_ORDER)  // expect: address of stack memory associated with local variable 'visited' returned
auto returned_order() {
  dp::sampler visited(10);
  return visited.order(0);
}
#endif
