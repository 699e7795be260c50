// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cstddef>
#include <vector>

#include <devplace/base/thread_team.hpp>
#include <devplace/ops/convolution.hpp>

#include "support/catch.hpp"
#include "support/convolution_loops.hpp"
#include "support/sanitizers.hpp"

namespace dp = devplace;
using dp::detail::cpu_isa;
using dp::test::for_each_product;

namespace {

template <class Op> using on_cpu = dp::implementation<dp::backend::cpu, Op>;

/// Returns small integers, whose products and sums are exact in float.
template <class T> std::vector<T> integers(std::size_t count, std::size_t seed) {
  std::vector<T> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<T>((i * 37 + seed * 11 + i / 7) % 9) - 4;
  return values;
}

/// Returns numbers whose sum depends on the order.
std::vector<float> fractions(std::size_t count, std::size_t seed) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = 1 / static_cast<float>((i * 37 + seed * 11) % 101 + 3);
  return values;
}

struct sizes {
  std::size_t x, y, weights, outputs;
  explicit sizes(const dp::detail::convolution_shape& s)
      : x(s.samples * s.groups * s.channels * s.plane()),
        y(s.samples * s.groups * s.outputs * s.pixels()),
        weights(s.weights()),
        outputs(s.groups * s.outputs) {}
};

/// Returns all results of one convolution: forward, both gradients and the sums of channels. Converts 16-bit results.
template <class T>
std::vector<dp::detail::computed_t<T>> all_results(const dp::detail::convolution_shape& s, cpu_isa isa,
                                                   const std::vector<T>& x, const std::vector<T>& weight,
                                                   const std::vector<T>& bias, const std::vector<T>& dy) {
  using sum_type = dp::detail::computed_t<T>;
  const sizes size(s);
  constexpr std::size_t guard = 8;
  const sum_type untouched = -77;
  const auto make = [&](std::size_t count, auto element) {
    return std::vector<decltype(element)>(count + guard, element);
  };
  auto y = make(size.y, static_cast<T>(untouched)), dx = make(size.x, static_cast<T>(untouched));
  auto dw = make(size.weights, untouched), db = make(size.outputs, untouched);
  auto scratch = make(s.samples * convolution_scratch(s), untouched);
  auto wide = make(size.weights + size.outputs, untouched), sums = make(s.samples * convolution_sums(s), untouched);
  auto gradient_sums = make(s.samples * convolution_gradient_sums(s), untouched);
  on_cpu<dp::op::convolution>::run(0,
                                   dp::detail::convolution_arguments<T>{s,
                                                                        x.data(),
                                                                        weight.data(),
                                                                        bias.data(),
                                                                        y.data(),
                                                                        dp::detail::epilogue::none,
                                                                        dp::detail::product_math::strict,
                                                                        {wide.data(), sums.data()}},
                                   isa);
  on_cpu<dp::op::convolution_input_gradient>::run(
      0,
      dp::detail::convolution_input_gradient_arguments<T>{s,
                                                          dy.data(),
                                                          weight.data(),
                                                          nullptr,
                                                          dx.data(),
                                                          dp::detail::product_math::strict,
                                                          {wide.data(), gradient_sums.data()}},
      isa);
  on_cpu<dp::op::convolution_weight_gradient>::run(0,
                                                   dp::detail::convolution_weight_gradient_arguments<T>{
                                                       s, dy.data(), x.data(), dw.data(), sum_type{0}, scratch.data()},
                                                   isa);
  on_cpu<dp::op::convolution_bias_gradient>::run(
      0,
      dp::detail::convolution_bias_gradient_arguments<T>{s.samples, size.outputs, s.pixels(), dy.data(), db.data(),
                                                         sum_type{0}},
      isa);
  std::vector<sum_type> all;
  const auto append = [&](const auto& part, bool is_result = true) {
    for (std::size_t i = part.size() - guard; i < part.size(); ++i)
      REQUIRE(static_cast<sum_type>(part[i]) == untouched);
    if (is_result) all.insert(all.end(), part.begin(), part.end() - guard);
  };
  append(y), append(dx), append(dw), append(db);
  for (const auto* part : {&scratch, &wide, &sums, &gradient_sums}) append(*part, false);
  return all;
}

std::vector<dp::detail::convolution_shape> all_shapes() {
  auto shapes = dp::test::convolution_shapes();
  for (const auto& more : {dp::test::depthwise_shapes(), dp::test::one_column_shapes()})
    shapes.insert(shapes.end(), more.begin(), more.end());
  return shapes;
}

std::vector<cpu_isa> instruction_sets() {
  std::vector<cpu_isa> all;
  for (const cpu_isa isa : {cpu_isa::generic, cpu_isa::avx2, cpu_isa::avx512})
    if (isa <= dp::detail::supported_isa()) all.push_back(isa);
  return all;
}

}  // namespace

TEMPLATE_TEST_CASE("convolutions of integers are exact, by each instruction set", "[ops]", float, double) {
  for (const auto& s : dp::test::shapes_for<TestType>(all_shapes())) {
    const sizes size(s);
    const auto x = integers<TestType>(size.x, 1), weight = integers<TestType>(size.weights, 2),
               bias = integers<TestType>(size.outputs, 3), dy = integers<TestType>(size.y, 4);
    std::vector<TestType> y(size.y), dx(size.x), dw(size.weights), db(size.outputs);
    // Pointers, since a vector's operator is a call without optimisation.
    for_each_product(s, [at_y = y.data(), at_dx = dx.data(), at_dw = dw.data(), at_dy = dy.data(), at_x = x.data(),
                         at_weight = weight.data()](std::size_t to, std::size_t from, std::size_t by) {
      at_y[to] += at_x[from] * at_weight[by];
      at_dx[from] += at_dy[to] * at_weight[by];
      at_dw[by] += at_dy[to] * at_x[from];
    });
    for (std::size_t i = 0; i < size.y; ++i) {
      y[i] += bias[i / s.pixels() % size.outputs];
      db[i / s.pixels() % size.outputs] += dy[i];
    }
    std::vector<TestType> expected;
    for (const auto* part : {&y, &dx, &dw, &db}) expected.insert(expected.end(), part->begin(), part->end());
    for (const cpu_isa isa : instruction_sets()) {
      INFO(name_of(isa) << ": " << s.samples << " samples, " << s.groups << " groups of " << s.channels << " to "
                        << s.outputs << ", " << s.rows.in << "x" << s.columns.in << ", kernel " << s.rows.size << "x"
                        << s.columns.size);
      CHECK(all_results(s, isa, x, weight, bias, dy) == expected);
    }
  }
}

TEMPLATE_TEST_CASE("convolutions of integers in 16 bits are rounded once, by each instruction set", "[ops]", dp::bf16,
                   dp::half) {
  for (const auto& s : dp::test::shapes_for<TestType>(all_shapes())) {
    const sizes size(s);
    const auto in_short = [](const std::vector<float>& values) {
      std::vector<TestType> result;
      for (const float value : values) result.push_back(static_cast<TestType>(value));
      return result;
    };
    const auto x = integers<float>(size.x, 1), weight = integers<float>(size.weights, 2),
               bias = integers<float>(size.outputs, 3), dy = integers<float>(size.y, 4);
    const auto short_x = in_short(x), short_weight = in_short(weight), short_bias = in_short(bias),
               short_dy = in_short(dy);
    const auto generic = all_results(s, cpu_isa::generic, x, weight, bias, dy);
    std::vector<float> expected(generic);
    for (std::size_t i = 0; i < size.y + size.x; ++i)
      expected[i] = static_cast<float>(static_cast<TestType>(expected[i]));
    for (const cpu_isa isa : instruction_sets()) {
      INFO(name_of(isa) << ": " << s.samples << " samples, " << s.groups << " groups of " << s.channels << " to "
                        << s.outputs << ", " << s.rows.in << "x" << s.columns.in << ", kernel " << s.rows.size << "x"
                        << s.columns.size);
      CHECK(all_results(s, isa, short_x, short_weight, short_bias, short_dy) == expected);
    }
  }
}

TEST_CASE("the bits of a convolution do not depend on the number of threads", "[ops]") {
  // Large enough to be divided by samples, pixels, channels and columns of the weight.
  const dp::detail::window_axis axis{14, 14, 3, 1, 1, 1}, small{4, 4, 3, 1, 1, 1};
  const dp::detail::window_axis strided = dp::test::axis_of(28, 3, 2, 1, 1),
                                long_axis = dp::test::axis_of(300, 3, 1, 1, 1);
  const dp::detail::convolution_shape shapes[] = {
      {40, 1, 8, 16, axis, axis},      {1, 1, 40, 65, axis, axis},         {9, 3, 16, 20, axis, axis},
      {9, 2, 16, 5, axis, axis},       {40, 5, 1, 1, axis, axis},          {9, 30, 1, 2, axis, axis},
      {9, 30, 2, 1, strided, strided}, {1, 2, 1, 1, long_axis, long_axis}, {5, 1, 70, 150, small, small}};
  for (const auto& s : shapes) {
    const sizes size(s);
    const auto x = fractions(size.x, 1), weight = fractions(size.weights, 2), bias = fractions(size.outputs, 3),
               dy = fractions(size.y, 4);
    for (const cpu_isa isa : instruction_sets()) {
      dp::serial_team alone;
      std::vector<float> serial;
      {
        const dp::thread_team_scope scope(alone);
        serial = all_results(s, isa, x, weight, bias, dy);
      }
      for (const int threads : {2, 3, 7}) {
        if (support::sanitized && threads < 7) continue;
        dp::builtin_thread_team team(threads);
        const dp::thread_team_scope scope(team);
        CHECK(all_results(s, isa, x, weight, bias, dy) == serial);
      }
    }
  }
}

TEST_CASE("a convolution of images of one column is bitwise equal to one of images of one row", "[ops]") {
  const dp::detail::window_axis one{1, 1, 1, 1, 0, 1};
  for (const std::size_t groups : {1U, 3U})
    for (const std::size_t outputs : {1U, 16U, 20U})
      for (const auto& axis : {dp::test::axis_of(300, 5, 1, 2, 1), dp::test::axis_of(301, 3, 2, 1, 2)}) {
        const dp::detail::convolution_shape column{3, groups, outputs == 1 ? 1U : 6U, outputs, axis, one},
            row{3, groups, column.channels, outputs, one, axis};
        const sizes size(column);
        const auto x = fractions(size.x, 1), weight = fractions(size.weights, 2), bias = fractions(size.outputs, 3),
                   dy = fractions(size.y, 4);
        for (const cpu_isa isa : instruction_sets())
          CHECK(all_results(column, isa, x, weight, bias, dy) == all_results(row, isa, x, weight, bias, dy));
      }
}

TEST_CASE("a convolution's relu, and its accumulated gradients", "[ops]") {
  auto shapes = dp::test::depthwise_shapes();
  for (const auto& s : dp::test::convolution_shapes()) shapes.push_back(s);
  const auto& s = shapes[GENERATE_COPY(std::size_t{0}, std::size_t{10}, std::size_t{22}, shapes.size() - 28,
                                       shapes.size() - 27, shapes.size() - 26, shapes.size() - 1)];
  const sizes size(s);
  const auto x = integers<float>(size.x, 1), weight = integers<float>(size.weights, 2),
             bias = integers<float>(size.outputs, 3), dy = integers<float>(size.y, 4);
  std::vector<float> plain(size.y), rectified(size.y);
  on_cpu<dp::op::convolution>::run(
      0, dp::detail::convolution_arguments<float>{s, x.data(), weight.data(), bias.data(), plain.data()});
  on_cpu<dp::op::convolution>::run(0, dp::detail::convolution_arguments<float>{s, x.data(), weight.data(), bias.data(),
                                                                               rectified.data(), dp::epilogue::relu});
  for (float& value : plain) value = value < 0 ? 0 : value;
  CHECK(rectified == plain);

  std::vector<float> once(size.weights), twice(size.weights), scratch(s.samples * convolution_scratch(s));
  const auto weights = [&](std::vector<float>& to, float beta) {
    on_cpu<dp::op::convolution_weight_gradient>::run(0, dp::detail::convolution_weight_gradient_arguments<float>{
                                                            s, dy.data(), x.data(), to.data(), beta, scratch.data()});
  };
  weights(once, 0);
  weights(twice, 0);
  weights(twice, 3);
  for (float& value : once) value *= 4;
  CHECK(twice == once);

  std::vector<float> sums(size.outputs, 5), zero(size.x), with_bias(size.x);
  const auto channels = integers<float>(s.groups * s.channels, 5);
  on_cpu<dp::op::convolution_bias_gradient>::run(
      0, dp::detail::convolution_bias_gradient_arguments<float>{s.samples, size.outputs, s.pixels(), dy.data(),
                                                                sums.data(), 2});
  for (std::size_t i = 0; i < size.y; ++i) sums[i / s.pixels() % size.outputs] -= dy[i];
  CHECK(sums == std::vector<float>(size.outputs, 10));
  for (const float* added : {static_cast<const float*>(nullptr), channels.data()})
    on_cpu<dp::op::convolution_input_gradient>::run(
        0, dp::detail::convolution_input_gradient_arguments<float>{s, dy.data(), weight.data(), added,
                                                                   added == nullptr ? zero.data() : with_bias.data()});
  for (std::size_t i = 0; i < size.x; ++i) zero[i] += channels[i / s.plane() % channels.size()];
  CHECK(with_bias == zero);
}
