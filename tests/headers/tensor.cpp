// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

namespace devplace {}
namespace dp = devplace;

#include <devplace/tensor/bf16.hpp>

inline float rounded_to_bf16(float x) {
  return static_cast<float>(dp::bf16(x)) + static_cast<float>(std::numeric_limits<dp::bf16>::epsilon());
}

#include <devplace/tensor/copy.hpp>

inline void copy(const dp::tensor<float, dp::extents<2, 3>, dp::on<dp::cpu>>& x) {
  auto y = dp::to<dp::on<dp::cpu>>(x);
  dp::copy(y, x);
}

#include <devplace/tensor/copy_async.hpp>

// Compiles only with a component for devices.
template <class X> auto start_copy(const X& x) { return dp::to_async<dp::cuda<0>>(x); }

#include <devplace/tensor/distributed.hpp>

inline float first_element(const dp::tensor<float, dp::extents<2, 3>, dp::replicated_on<dp::cpu>>& x) {
  return x.local(dp::cpu{})(0, 0);
}

#include <devplace/tensor/dtype.hpp>

static_assert(dp::floating_element<float> && dp::half_precision_element<dp::half>);
constexpr const char* name = dp::dtype_name<double>();

#include <devplace/tensor/evaluated.hpp>

inline const float* first_of(const dp::tensor<float, dp::extents<2, 3>, dp::on<dp::cpu>>& x) {
  return dp::evaluated(x).data();
}

#include <devplace/tensor/extents.hpp>

inline std::size_t elements(std::size_t rows) {
  return dp::extents<dp::dyn, 3>(rows).size() + dp::dextents<2>(rows, rows).size() + dp::extents(rows).size();
}

#include <devplace/tensor/half.hpp>

inline float rounded_to_half(float x) {
  return static_cast<float>(dp::half(x)) + static_cast<float>(std::numeric_limits<dp::half>::epsilon());
}

#include <devplace/tensor/ipc.hpp>

static_assert(sizeof(dp::ipc_handle<float, dp::extents<2>>) == 24);

#include <devplace/tensor/item.hpp>

inline float number(const dp::tensor<float, dp::extents<>, dp::on<dp::cpu>>& x) { return dp::item(x); }

#include <devplace/tensor/layout.hpp>

static_assert(dp::view_layout<dp::column_major>);

#include <devplace/tensor/mdspan.hpp>

// Of any library's mdspan.
template <class M> auto twice_through_views(const M& m) { return dp::as_mdspan<M>(dp::wrap(m)); }

#include <devplace/tensor/pending.hpp>

inline float finish(dp::pending<float, dp::cpu>& result) { return result.get(); }

#include <devplace/tensor/precision.hpp>

static_assert(dp::precision<dp::mixed<dp::bf16>> && dp::scales_losses<dp::mixed<dp::half>>);

#include <devplace/tensor/print.hpp>

inline void print(std::ostream& out, const dp::tensor<float, dp::extents<2, 3>, dp::on<dp::cpu>>& x) {
  out << x << x.view() << x.extents();
}

#include <devplace/tensor/rows.hpp>

inline float sum_of_first_column(dp::view<const float, dp::extents<2, 3>, dp::on<dp::cpu>> x) {
  float sum = 0;
  for (const auto row : dp::rows(x)) sum += row(0);
  return sum;
}

#include <devplace/tensor/shared_tensor.hpp>

using shared = dp::tensor<float, dp::extents<2, 3>, dp::on<dp::shared_memory>>;
inline void share() {
  const auto mine = dp::create_shared<shared>("x");
  const auto theirs = dp::open_shared<shared>("x");
}

#include <devplace/tensor/split.hpp>

static_assert(dp::split_rule<decltype(dp::split::sizes{1, 2})>);

#include <devplace/tensor/summand_view.hpp>

template <class View> auto part_of_sum(const View& x) { return dp::summand_view<View>(x); }

#include <devplace/tensor/tensor.hpp>

inline float fill_tensor() {
  dp::tensor<float, dp::extents<2, 3>, dp::on<dp::cpu>> x{{1, 2, 3}, {4, 5, 6}};
  x = 1.0f;
  x(1, 2) = 7;
  const auto y = x.clone();
  return y(0, 0);
}

#include <devplace/tensor/transposed.hpp>

inline float corner(const dp::tensor<float, dp::extents<2, 3>, dp::on<dp::cpu>>& x) { return dp::transposed(x)(2, 1); }

#include <devplace/tensor/view.hpp>

inline void fill_view(dp::view<float, dp::dextents<2>, dp::on<dp::cpu>> x) {
  x = 1.0f;
  x(0, 0) = x(0, 1);
}

#include <devplace/tensor/wrap.hpp>

inline float wrap_memory(float* numbers) {
  const auto x = dp::wrap(numbers, dp::extents<2, 3>{});
  x = 1.0f;
  return x(1, 2);
}
