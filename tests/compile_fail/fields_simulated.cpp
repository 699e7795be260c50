// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Fields: exchanges, stencils and loops over cells.
#include <cstddef>
#include <utility>
#include <vector>

#include <devplace/fields.hpp>
#include <devplace/tensor/distributed.hpp>
#include <devplace/tensor/tensor.hpp>

namespace dp = devplace;
namespace edge = devplace::edge;
using dp::axis;

using rows = dp::sharded<axis<0>, 0, 1>;
template <class Where, class T = float, class Halo = dp::halo<1, 1>>
using plate = dp::field<T, dp::dextents<2>, Where, Halo>;

template <int> struct above {
  DEVPLACE_HD auto operator()(const auto& u) const { return u(-1, 0); }
};
template <int> struct set {
  DEVPLACE_HD void operator()(auto& x) const { x = 1; }
};
struct with_vector {
  std::vector<float> factors;
  float operator()(const auto& u) const { return u(0, 0) * factors[0]; }
};
struct of_three {
  float operator()(const auto& u, float, float, float) const { return u(0, 0); }
};
struct one_index {
  float operator()(const auto& u) const { return u(-1); }
};
struct unsigned_index {
  float operator()(const auto& u) const { return u(std::size_t{1}, 0); }
};

struct text_of {
  const char* operator()(float) const { return ""; }
};
template <class T> struct whole {
  T operator()(float x) const { return static_cast<T>(x); }
};

template <class Case, class... X> void in_a_template(const Case& f, X&&... x) { f(x...); }

void work(plate<rows>& u, plate<rows>& v, const plate<rows>& fixed) {
  dp::stencil(v, above<0>{}, dp::exchange(u, edge::periodic));
  dp::parallel_for(set<0>{}, u);
#if defined(STALE_HALO)  // expect: devplace: stencil: the ghost rows of the inputs are not filled; exchange the field
  in_a_template([](auto& to, auto& from) { dp::stencil(to, above<1>{}, from); }, v, u);
#endif
#if defined(STENCIL_OF_A_TENSOR)  // expect: devplace: stencil: the arguments are the field that is written, the functor
  dp::tensor<float, dp::extents<2, 3>, dp::cuda<0>> x{dp::extents<2, 3>{}};
  in_a_template([](auto& to, auto& from) { dp::stencil(to, above<2>{}, from); }, v, x);
#endif
#if defined(STENCIL_TO_CONST)  // expect: devplace: stencil: the first argument is the field that is written, in a
                               // variable
  in_a_template([](auto& to, auto& from) { dp::stencil(to, above<3>{}, dp::exchange(from, edge::periodic)); }, fixed,
                u);
#endif
#if defined(OTHER_MESH)  // expect: devplace: stencil, parallel_for, parallel_reduce: the fields lie on different places
  plate<dp::sharded<axis<0>, 0, 2>> other(u.extents());
  in_a_template([](auto& to, auto& from) { dp::stencil(to, above<4>{}, dp::exchange(from, edge::periodic)); }, other,
                u);
#endif
#if defined(OTHER_SPLIT)  // expect: devplace: stencil, parallel_for, parallel_reduce: .* split along different axes
  plate<dp::sharded<axis<1>, 0, 1>> other(u.extents());
  in_a_template([](auto& to, auto& from) { dp::stencil(to, above<5>{}, dp::exchange(from, edge::periodic)); }, other,
                u);
#endif
#if defined(OTHER_RANK)  // expect: devplace: stencil, parallel_for, parallel_reduce: .* different numbers of axes
  dp::field<float, dp::dextents<1>, rows> line(dp::extents{4});
  in_a_template([](auto& to, auto& from) { dp::stencil(to, above<6>{}, dp::exchange(from, edge::periodic)); }, line, u);
#endif
#if defined(FUNCTOR_WITH_VECTOR)  // expect: devplace: stencil, parallel_for, parallel_reduce: devices get a bytewise
                                  // copy
  in_a_template([](auto& to, auto& from) { dp::stencil(to, with_vector{}, dp::exchange(from, edge::periodic)); }, v, u);
#endif
#if defined(FUNCTOR_OF_THREE)  // expect: devplace: stencil, parallel_for, parallel_reduce: the functor must be callable
  in_a_template([](auto& to, auto& from) { dp::stencil(to, of_three{}, dp::exchange(from, edge::periodic)); }, v, u);
#endif
#if defined(ONE_RELATIVE_INDEX)  // expect: devplace: stencil: give one relative index for each axis of the field
  dp::stencil(v, one_index{}, dp::exchange(u, edge::periodic));
#endif
#if defined(UNSIGNED_RELATIVE_INDEX)  // expect: devplace: stencil: relative indices are signed integers
  dp::stencil(v, unsigned_index{}, dp::exchange(u, edge::periodic));
#endif
#if defined(EXCHANGE_OF_A_TENSOR)  // expect: devplace: exchange: the argument is a field; tensors have no ghost rows
  dp::tensor<float, dp::extents<2, 4>, dp::cuda<0>> x{dp::extents<2, 4>{}};
  in_a_template([](auto& from) { static_cast<void>(dp::exchange(from, edge::periodic)); }, x);
#endif
#if defined(EXCHANGE_OF_CONST)  // expect: devplace: exchange: the field is a temporary or const
  in_a_template([](auto& from) { static_cast<void>(dp::exchange(from, edge::periodic)); }, fixed);
#endif
#if defined(EXCHANGE_WITH_NUMBER)  // expect: devplace: exchange: after the field come the rules of its edges
  in_a_template([](auto& from) { static_cast<void>(dp::exchange(from, 0)); }, u);
#endif
#if defined(THREE_EDGES)  // expect: devplace: exchange: give one rule for the edges of all axes, or one for each axis
  in_a_template(
      [](auto& from) { static_cast<void>(dp::exchange(from, edge::periodic, edge::periodic, edge::periodic)); }, u);
#endif
#if defined(REDUCE_TO_TEXT)  // expect: devplace: parallel_reduce: the functor must return an element, such as float or
  in_a_template([](auto& from) { static_cast<void>(dp::parallel_reduce(text_of{}, from)); }, u);
#endif
#if defined(MEAN_OF_WHOLE_CELLS)  // expect: devplace: parallel_reduce: the mean of integers is not an integer; return
                                  // float
  in_a_template([](auto& from) { static_cast<void>(dp::parallel_reduce<dp::reduction::mean>(whole<int>{}, from)); }, u);
#endif
#if defined(GATHER_TO_COPIES)  // expect: devplace: gather: the result lies on one place, as in gather<on<cpu>>\(x\)\.
  in_a_template([](auto& from) { static_cast<void>(dp::gather<dp::replicated<0, 1>>(from)); }, u);
#endif
#if defined(TWO_ON_THEIR_WAY)  // expect: devplace: stencil: between processes one exchange is on its way at a time
  using over_processes = plate<dp::across<dp::sharded_on<axis<0>, dp::cpu>>>;
  over_processes to(dp::extents{4, 4}), one(dp::extents{4, 4}), other(dp::extents{4, 4});
  dp::stencil(to, of_three{}, dp::exchange_async(one, edge::periodic), dp::exchange_async(other, edge::periodic));
#endif
#if defined(VIEW_OF_TEMPORARY)  // expect: devplace: local: the temporary field would be destroyed before the view
  static_cast<void>(plate<rows>(u.extents()).local(std::size_t{0}));
#endif
#if defined(NO_PART_THERE)  // expect: devplace: local: the field has no part on this place
  static_cast<void>(u.local<dp::cuda<3>>());
#endif
}

#if defined(FIELD_OF_COPIES)  // expect: devplace: field: a field lies on one place or is split along an axis
plate<dp::replicated<0, 1>> copies(dp::extents{4, 4});
#endif
#if defined(AXIS_NOT_THERE)  // expect: devplace: field: the placement splits an axis that the field does not have
plate<dp::sharded<axis<2>, 0, 1>> split_along_2(dp::extents{4, 4});
#endif
#if defined(GRID_OF_THREE_AXES)  // expect: devplace: field: the placement splits an axis that the field does not have
plate<dp::sharded<dp::grid<1, 1, 2>, 0, 1>> grid_of_three_axes(dp::extents{4, 4});
#endif
#if defined(GRID_OF_OTHER_PLACES)  // expect: devplace: field: the grid has another number of parts than the placement
plate<dp::sharded<dp::grid<2, 2>, 0, 1>> grid_of_four(dp::extents{4, 4});
#endif
#if defined(TENSOR_ON_A_GRID)  // expect: devplace: tensor: a tensor is split along one axis, as on sharded<axis<0>, 0,
                               // 1>
dp::tensor<float, dp::extents<4, 4>, dp::sharded<dp::grid<2, 1>, 0, 1>> tensor_on_a_grid(dp::extents<4, 4>{});
#endif
#if defined(HALO_OF_THREE)  // expect: devplace: field: the halo has more widths than the field has axes
plate<rows, float, dp::halo<1, 1, 1>> in_space(dp::extents{4, 4});
#endif
#if defined(FIELD_WITHOUT_AXES)  // expect: devplace: field: a field has at least one axis
dp::field<float, dp::extents<>, dp::cpu> scalar(dp::extents<>{});
#endif
