// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

namespace devplace {}
namespace dp = devplace;

#include <devplace/ops/activations.hpp>

using matrix = dp::tensor<float, dp::extents<2, 3>, dp::on<dp::cpu>>;
inline matrix activate(const matrix& x) { return dp::gelu(x) + dp::gelu_tanh(x) + dp::silu(x) + dp::softplus(x); }

#include <devplace/ops/assign.hpp>

inline void fill_view(dp::view<float, dp::dextents<2>, dp::on<dp::cpu>> x) {
  x = 1.0f;
  dp::fill(x, 2.0f);
}

#include <devplace/ops/attention.hpp>

inline void attend(const dp::detail::attention_arguments<float>& a) {
  dp::detail::dispatch<dp::op::attention, dp::backend::cpu>(0, a, dp::detail::columns_of_head<4>{});
}

#include <devplace/ops/batch_norm.hpp>

static_assert(sizeof(dp::detail::channel_scales<float>) > 0);

#include <devplace/ops/batch_norm_over_places.hpp>

static_assert(sizeof(dp::detail::channel_range<float>) > 0);

#include <devplace/ops/categorical.hpp>

using logits = dp::tensor<float, dp::extents<2, 3>, dp::on<dp::cpu>>;
inline auto draw(const logits& x) { return dp::categorical(x, dp::seed{1}, {.temperature = 0.8, .top_k = 2}); }

#include <devplace/ops/concat.hpp>

using row = dp::tensor<float, dp::extents<3>, dp::on<dp::cpu>>;
inline auto join(const row& a, const row& b) { return dp::concat(dp::axis<0>{}, a, b); }

#include <devplace/ops/convolution.hpp>

inline void convolve(const dp::detail::convolution_arguments<float>& a) {
  dp::detail::dispatch<dp::op::convolution, dp::backend::cpu>(0, a);
}

#include <devplace/ops/creation.hpp>

using cpu = dp::on<dp::cpu>;
inline float create() {
  auto x = dp::zeros<float, cpu>(2, 3);
  x = dp::uniform<float, cpu>(x.extents(), dp::seed{1}) + dp::normal<float, cpu>(x.extents(), dp::seed{2});
  return dp::full<float, cpu>(x.extents(), 2.0f)(0, 0) + dp::arange<float, cpu>(3)(0) + dp::zeros_like(x)(0, 0);
}

#include <devplace/ops/cross_entropy.hpp>

inline float loss(const dp::tensor<float, dp::extents<2, 3>, dp::on<dp::cpu>>& logits,
                  const dp::tensor<std::int32_t, dp::extents<2>, dp::on<dp::cpu>>& labels) {
  return dp::cross_entropy(logits, labels)();
}

#include <devplace/ops/cross_entropy_options.hpp>

inline constexpr dp::cross_entropy_options<float> smoothed{.label_smoothing = 0.1f};

#include <devplace/ops/distributed_matmul.hpp>

using left = dp::tensor<float, dp::extents<2, 3>, dp::sharded_on<dp::axis<0>, dp::cpu>>;
using right = dp::tensor<float, dp::extents<3, 4>, dp::replicated_on<dp::cpu>>;
inline auto multiply(const left& a, const right& b) { return dp::matmul(a, b); }

#include <devplace/ops/elementwise.hpp>

using matrix = dp::tensor<float, dp::extents<2, 3>, dp::on<dp::cpu>>;
inline matrix compute(const matrix& a, const matrix& b) {
  matrix c = dp::where(a > b, 2.0f * a, dp::exp(b)) + dp::cast<float>(a == b);
  c += dp::maximum(a, 0.0f);
  return c;
}

#include <devplace/ops/embedding_gradient.hpp>

template <class T> using arguments = dp::detail::embedding_gradient_arguments<T, float, std::int32_t>;

#include <devplace/ops/for_each.hpp>

struct store_index {
  float* to;
  DEVPLACE_HD void operator()(std::size_t i) const { to[i] = static_cast<float>(i); }
};
inline void store_indices(float* to) { dp::detail::for_each_index<dp::backend::cpu>(0, 3, 1, store_index{to}); }

struct clear_row {
  float* to;
  DEVPLACE_HD void operator()(std::size_t row) const { to[row] = 0; }
};
inline void clear_rows(float* to) { dp::detail::for_each_row<dp::backend::cpu>(0, 3, 1, 1, clear_row{to}); }

#include <devplace/ops/group_norm.hpp>

inline void normalize(const dp::detail::normalize_group<float>& group) {
  dp::detail::for_each_group<dp::backend::cpu>(0, 2, group);
}

#include <devplace/ops/linear_gradients.hpp>

template <class Weight, class Bias, class Dy, class X>
void add_gradients(const Weight& weight, const Bias& bias, const Dy& dy, const X& x) {
  dp::detail::linear_products<float, dp::backend::cpu>{0, dy.extent(0), x.extent(1), dy.extent(1)}.parameter_gradients(
      weight.data(), bias.data(), dy.data(), x.data(), 0.0f);
}

#include <devplace/ops/math.hpp>

inline auto angles(const dp::tensor<float, dp::extents<3>, dp::on<dp::cpu>>& y) {
  return dp::tensor(dp::clamp(dp::atan2(y, 2) + dp::round(y), -1, 1));
}

#include <devplace/ops/matmul.hpp>

using matrix = dp::tensor<float, dp::extents<2, 2>, dp::on<dp::cpu>>;
inline void multiply(matrix& c, const matrix& a, const matrix& b) {
  dp::matmul_into(c, a, b);
  c = dp::matmul(a, c);
}

#include <devplace/ops/matrix_engine.hpp>

inline void print_engine(std::ostream& out) { out << dp::matrix_engine().name; }

#include <devplace/ops/matrix_parts.hpp>

using vector = dp::tensor<float, dp::extents<3>, dp::on<dp::cpu>>;
inline auto square_matrix(const vector& a, const vector& b) { return dp::tril(dp::outer(a, b)); }

#include <devplace/ops/mse.hpp>

using matrix = dp::tensor<float, dp::extents<2, 3>, dp::on<dp::cpu>>;
inline float loss(const matrix& y, const matrix& target) { return dp::mse(y, target)(); }

#include <devplace/ops/normalize.hpp>

inline void normalize(const dp::detail::normalize_row<float, true>& row) {
  dp::detail::for_each_row<dp::backend::cpu>(0, 3, 4, 1, row);
}

#include <devplace/ops/parallel_for.hpp>

inline void clear_numbers(float* to) {
  dp::parallel_for(dp::cpu{}, dp::extents<2, 3>{}, [to](std::size_t i, std::size_t j) { to[3 * i + j] = 0; });
}

#include <devplace/ops/permutation.hpp>

inline void shuffle(dp::tensor<std::int64_t, dp::extents<8>, dp::on<dp::cpu>>& order) {
  dp::permutation_into(order, dp::seed{1});
}

#include <devplace/ops/planning.hpp>

static_assert(!dp::detail::provided<dp::backend::cpu, dp::op::planning>);
inline void prepare() { dp::detail::prepare_workspaces<dp::backend::cpu>(0); }

#include <devplace/ops/pooling.hpp>

template <class F> void pool(const F& f) { dp::detail::for_each_in_planes<dp::backend::cpu>(0, 2, 16, f); }

#include <devplace/ops/random.hpp>

inline void draw(dp::view<float, dp::extents<2, 3>, dp::on<dp::cpu>> x) {
  dp::uniform_into(x, dp::seed{1}, 0, 0.0f, 1.0f);
  dp::normal_into(x, dp::seed{1}, 0, 0.0f, 1.0f);
}

#include <devplace/ops/rearrange.hpp>

using numbers = dp::tensor<float, dp::extents<3>, dp::on<dp::cpu>>;
inline auto widen(const numbers& x) { return dp::pad(dp::flip(x, dp::axis<0>{}), dp::axis<0>{}, {.before = 1}); }

#include <devplace/ops/reduce.hpp>

using matrix = dp::tensor<float, dp::extents<2, 3>, dp::on<dp::cpu>>;
inline float reduce(const matrix& x) {
  return dp::sum(x)() + dp::mean(x, dp::axis<0>{})(1) + dp::max(x)() +
         static_cast<float>(dp::argmax(x, dp::axis<1>{})(0));
}

#include <devplace/ops/reduce_into.hpp>

inline void sum_columns(dp::view<float, dp::extents<3>, dp::on<dp::cpu>> y,
                        dp::view<const float, dp::extents<2, 3>, dp::on<dp::cpu>> x) {
  dp::sum_into(y, x, dp::axis<0>{});
}

#include <devplace/ops/repeated_work.hpp>

static_assert(std::is_same_v<dp::detail::repeated_launches<dp::backend::cpu>, dp::detail::single_launches>);

#include <devplace/ops/scale_bytes.hpp>

inline void scale(dp::view<float, dp::extents<2, 3>, dp::on<dp::cpu>> y,
                  dp::view<const std::uint8_t, dp::extents<2, 3>, dp::on<dp::cpu>> x,
                  const dp::byte_scale<float>& scale) {
  dp::scale_bytes_into(y, x, scale);
}

#include <devplace/ops/scan.hpp>

using list = dp::tensor<float, dp::extents<3>, dp::on<dp::cpu>>;
inline float scan(const list& x) { return dp::cumsum(x)(2); }

#include <devplace/ops/softmax.hpp>

using matrix = dp::tensor<float, dp::extents<2, 3>, dp::on<dp::cpu>>;
inline float probability(const matrix& x) { return dp::softmax(x)(0, 0) + dp::log_softmax(x)(0, 0); }

#include <devplace/ops/sort.hpp>

using list = dp::tensor<float, dp::extents<3>, dp::on<dp::cpu>>;
inline float smallest(const list& x) {
  return dp::sort(x)(0) + dp::top_k(x, 2).values(0) + static_cast<float>(dp::argsort(x)(0));
}

#include <devplace/ops/sorted_elements.hpp>

constexpr dp::sort_order order = dp::sort_order::descending;

#include <devplace/ops/statistics.hpp>

using matrix = dp::tensor<float, dp::extents<2, 3>, dp::on<dp::cpu>>;
inline float spread(const matrix& x) {
  return dp::norm(x)() + dp::variance(x)() + dp::standard_deviation(x)() + dp::logsumexp(x, dp::axis<0>{})(0);
}

#include <devplace/ops/step_launches.hpp>

static_assert(dp::step_launches{}.graphs == 0);

#include <devplace/ops/take_along.hpp>

using elements = dp::tensor<float, dp::extents<3>, dp::on<dp::cpu>>;
using positions = dp::tensor<std::int64_t, dp::extents<2>, dp::on<dp::cpu>>;
inline auto choose(const elements& x, const positions& chosen) { return dp::take_along(x, chosen, dp::axis<0>{}); }

#include <devplace/ops/take_rows.hpp>

using matrix = dp::tensor<float, dp::extents<2, 3>, dp::on<dp::cpu>>;
inline matrix take(const matrix& x, const dp::tensor<std::int64_t, dp::extents<2>, dp::on<dp::cpu>>& indices) {
  return dp::take_rows(x, indices);
}

#include <devplace/ops/upsample.hpp>

static_assert(sizeof(dp::detail::upsample_functor<float>) > 0);
