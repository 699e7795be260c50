// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <devplace/nn/batch_norm.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <ratio>
#include <string>
#include <vector>

#include <devplace/base/thread_team.hpp>
#include <devplace/nn/flatten.hpp>
#include <devplace/nn/gradient_check.hpp>
#include <devplace/nn/input.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/sequential.hpp>

#include "support/layer_fixture.hpp"
#include "support/sanitizers.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;

namespace {

/// Runs two training passes on the fixture's input and a prediction with the resulting running statistics. Compares the
/// second pass, its backward pass and the prediction with the fixture.
template <class Net, class T> void compare_batch_norm(const std::string& name, std::size_t batch) {
  using run = dp::runtime::engine<Net, T, dp::backend::cpu>;
  using plan = dp::runtime::network_plan<Net>;
  constexpr std::size_t rank = plan::input::rank + 1;
  const std::string folder = "normalizations/" + name + (std::is_same_v<T, float> ? "/f32/" : "/f64/");
  const auto read = [&](const char* file) { return dp::test::read_all<T, dp::dextents<rank>>(folder + file); };
  const auto read_row = [&](const std::string& file) { return dp::test::read_all<T, dp::dextents<1>>(folder + file); };
  constexpr int place[] = {0};
  const auto state =
      dp::runtime::empty_state<T, dp::backend::cpu>(place, {plan::parameter_elements, plan::buffer_elements});
  dp::runtime::require_gradients<dp::backend::cpu>(*state);
  const auto& r = state->replicas.front();
  plan::visit_parameters([&](const std::string& path, const auto&, std::size_t offset) {
    const auto values = read_row(path.substr(path.find('.') + 1));
    std::copy(values.begin(), values.end(), r.parameter_data() + offset);
  });
  plan::visit_buffers([&](const std::string&, const nn::parameter& entry, std::size_t offset) {
    const bool ones = std::string(entry.name) == "running_var";
    std::fill_n(r.buffer_data() + offset, entry.shape.size(), static_cast<T>(ones));
  });

  const std::vector<T> x = read("x"), dy = read("dy");
  std::vector<T> workspace(run::workspace_bytes(batch, nn::mode::train) / sizeof(T)), dx(x.size());
  const auto p = run::make_pass(r, workspace.data(), batch, nn::mode::train, {});
  run::forward(p, x.data());
  run::forward(p, x.data());
  const T* const y = run::output_of(p);
  dp::test::require_agreement(std::vector<T>(y, y + x.size()), read("y"), name + ": y");
  run::backward(p, r, x.data(), dy.data(), false, dx.data());
  dp::test::require_agreement(dx, read("dx"), name + ": dx");
  const auto agree = [&](const char* prefix, const T* values, const std::string& path, const nn::parameter& entry) {
    const std::string file = prefix + path.substr(path.find('.') + 1);
    dp::test::require_agreement(std::vector<T>(values, values + entry.shape.size()), read_row(file),
                                name + ": " + file);
  };
  plan::visit_parameters([&](const std::string& path, const nn::parameter& entry, std::size_t offset) {
    agree("d", r.gradient_data() + offset, path, entry);
  });
  plan::visit_buffers([&](const std::string& path, const nn::parameter& entry, std::size_t offset) {
    agree("", r.buffer_data() + offset, path, entry);
  });

  const auto q = run::make_pass(r, workspace.data(), batch, nn::mode::predict, {});
  run::forward(q, x.data());
  dp::test::require_agreement(std::vector<T>(run::output_of(q), run::output_of(q) + x.size()), read("predicted"),
                              name + ": predicted");
}

template <class Net> void compare_batch_norm_in_both(const std::string& name, std::size_t batch) {
  if constexpr (!support::sanitized) compare_batch_norm<Net, float>(name, batch);
  compare_batch_norm<Net, double>(name, batch);
}

/// Outputs and running statistics of a training pass on one sample with weights 2 and -3, biases 1 and 4, running means
/// 5 and 6, and running variances 3 and 8.
template <class Net> std::vector<double> train_one(const std::vector<double>& x) {
  using run = dp::runtime::engine<Net, double, dp::backend::cpu>;
  constexpr int place[] = {0};
  const auto state = dp::runtime::empty_state<double, dp::backend::cpu>(place, {32, 32});
  const auto& r = state->replicas.front();
  const auto fill = [](double* to, double a, double b, double c, double d) {
    to[0] = a, to[1] = b, to[16] = c, to[17] = d;
  };
  fill(r.parameter_data(), 2, -3, 1, 4);
  fill(r.buffer_data(), 5, 6, 3, 8);
  std::vector<double> workspace(run::workspace_bytes(1, nn::mode::train) / sizeof(double));
  const auto p = run::make_pass(r, workspace.data(), 1, nn::mode::train, {});
  run::forward(p, x.data());
  std::vector<double> result(run::output_of(p), run::output_of(p) + x.size());
  const double* const buffers = r.buffer_data();
  result.insert(result.end(), {buffers[0], buffers[1], buffers[16], buffers[17]});
  return result;
}

}  // namespace

TEST_CASE("batch_norm, its running statistics and predictions agree with PyTorch", "[nn]") {
  compare_batch_norm_in_both<nn::sequential<nn::input<5>, nn::batch_norm<5>>>("batch_norm", 6);
  compare_batch_norm<nn::sequential<nn::input<3, 11>, nn::batch_norm<3>>, double>("batch_norm_positions", 4);
  compare_batch_norm_in_both<nn::sequential<nn::input<4, 3, 5>, nn::batch_norm<4>>>("batch_norm_images", 3);
  using with_options = nn::batch_norm<3, nn::of_each_place, std::ratio<1, 4>, std::ratio<1, 1000>>;
  compare_batch_norm<nn::sequential<nn::input<3, 2>, with_options>, double>("batch_norm_options", 4);
}

TEST_CASE("batch_norm's gradient agrees with differences", "[nn]") {
  CHECK(
      nn::check_gradients<nn::sequential<nn::input<3, 2, 5>, nn::batch_norm<3>, nn::batch_norm<3>>>(dp::seed{4}).worst <
      1e-6);
  CHECK(nn::check_gradients<nn::sequential<nn::linear<4, 9>, nn::batch_norm<9>, nn::linear<9, 3>>>(dp::seed{5}).worst <
        1e-6);
}

TEST_CASE("batch_norm stays accurate where the mean is large", "[nn]") {
  using run = dp::runtime::engine<nn::sequential<nn::input<1, 64>, nn::batch_norm<1>>, float, dp::backend::cpu>;
  std::vector<float> x(128), parameters(32), buffers(32), workspace(run::workspace_bytes(2, nn::mode::train) / 4);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = 1e6F + static_cast<float>(i % 2);
  parameters[0] = 1;
  dp::runtime::pass<float> p{2, 0, parameters.data(), buffers.data()};
  p.mode = nn::mode::train;
  p.master_parameters = parameters.data();
  p.saved = reinterpret_cast<std::byte*>(workspace.data());
  p.scratch = p.saved + run::saved_bytes(2, nn::mode::train) + run::output_bytes(2);
  run::forward(p, x.data());
  for (std::size_t i = 0; i < x.size(); ++i)
    REQUIRE(run::output_of(p)[i] == Catch::Approx(i % 2 == 0 ? -1 : 1).epsilon(1e-4));
  CHECK(buffers[0] == Catch::Approx(1e5 + 0.05).epsilon(1e-7));
  CHECK(buffers[16] == Catch::Approx(0.1 * 0.25 * 128 / 127));
}

TEST_CASE("batch_norm's bits do not depend on the number of threads", "[nn]") {
  // Few channels with many elements, so that several threads share a sum, with and without positions.
  using net = nn::sequential<nn::input<3, 700>, nn::batch_norm<3>, nn::flatten, nn::batch_norm<2100>>;
  using run = dp::runtime::engine<net, float, dp::backend::cpu>;
  using plan = dp::runtime::network_plan<net>;
  constexpr std::size_t batch = 120;
  std::vector<float> x(batch * 2100), dy(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = 1.0F / static_cast<float>(i * 7919 % 1009 + 1);
    dy[i] = 1.0F / static_cast<float>(i * 104729 % 1013 + 1);
  }
  const auto bits_of = [&](int threads) {
    dp::set_thread_count(threads);
    std::vector<float> parameters(plan::parameter_elements, 0.5F), gradients(parameters),
        buffers(plan::buffer_elements);
    std::vector<float> workspace(run::workspace_bytes(batch, nn::mode::train) / 4), dx(x.size());
    dp::runtime::pass<float> p{batch, 0, parameters.data(), buffers.data()};
    p.mode = nn::mode::train;
    p.master_parameters = parameters.data();
    p.saved = reinterpret_cast<std::byte*>(workspace.data());
    p.scratch = p.saved + run::saved_bytes(batch, nn::mode::train) + run::output_bytes(batch);
    run::forward(p, x.data());
    plan::backward<dp::backend::cpu, float>(
        p, {x.data(), run::output_of(p), dy.data(), nullptr, dx.data(), gradients.data(), false, nullptr});
    buffers.insert(buffers.end(), gradients.begin(), gradients.end());
    buffers.insert(buffers.end(), dx.begin(), dx.end());
    return buffers;
  };
  const auto one = bits_of(1);
  CHECK(bits_of(2) == one);
  CHECK(bits_of(5) == one);
}

TEST_CASE("batch_norm normalises one element per channel by the running statistics and keeps them", "[nn]") {
  const std::vector<double> expected{
      2 * (7 - 5) / std::sqrt(3 + 1e-5) + 1, -3 * (4 - 6) / std::sqrt(8 + 1e-5) + 4, 5, 6, 3, 8};
  const auto compare = [&](const std::vector<double>& result) {
    REQUIRE(result.size() == expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) CHECK(result[i] == Catch::Approx(expected[i]).epsilon(1e-14));
  };
  compare(train_one<nn::sequential<nn::input<2>, nn::batch_norm<2>>>({7, 4}));
  compare(train_one<nn::sequential<nn::input<2, 1, 1>, nn::batch_norm<2>>>({7, 4}));
  compare(train_one<nn::sequential<nn::input<2>, nn::batch_norm<2, nn::over_all_places>>>({7, 4}));
}

TEST_CASE("batch_norm normalises one sample with several positions by the sample's statistics", "[nn]") {
  // 7 and 9 have mean 8 and variance 1 (2 unbiased); 4 and 10 have mean 7 and variance 9 (18 unbiased).
  const auto result = train_one<nn::sequential<nn::input<2, 2>, nn::batch_norm<2>>>({7, 9, 4, 10});
  const std::vector<double> expected{-1, 3, 7, 1, 0.9 * 5 + 0.8, 0.9 * 6 + 0.7, 0.9 * 3 + 0.2, 0.9 * 8 + 1.8};
  REQUIRE(result.size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) CHECK(result[i] == Catch::Approx(expected[i]).epsilon(1e-4));
}

TEST_CASE("batch_norm's gradient with one element per channel agrees with differences", "[nn]") {
  const auto worst = []<class Layer>(Layer) {
    return nn::check_gradients<nn::sequential<nn::linear<4, 3>, Layer, nn::linear<3, 3>>>(dp::seed{6}, 1).worst;
  };
  CHECK(worst(nn::batch_norm<3>{}) < 1e-6);
  CHECK(worst(nn::batch_norm<3, nn::over_all_places>{}) < 1e-6);
}

TEST_CASE("batch_norm with refuse_one throws in training with one element per channel", "[nn]") {
  using refusing = nn::batch_norm<2, nn::of_each_place, std::ratio<1, 10>, std::ratio<1, 100000>, nn::refuse_one>;
  CHECK_THROWS_WITH((train_one<nn::sequential<nn::input<2>, refusing>>({7, 4})),
                    Catch::Matchers::ContainsSubstring("more than one element of each channel"));
  CHECK_NOTHROW(train_one<nn::sequential<nn::input<2, 2>, refusing>>({7, 9, 4, 10}));
  using run = dp::runtime::engine<nn::sequential<nn::input<2>, refusing>, float, dp::backend::cpu>;
  std::vector<float> x(2), parameters(32), buffers(32), workspace(run::workspace_bytes(1, nn::mode::predict) / 4);
  dp::runtime::pass<float> prediction{1, 0, parameters.data(), buffers.data()};
  prediction.master_parameters = parameters.data();
  prediction.saved = reinterpret_cast<std::byte*>(workspace.data());
  prediction.scratch = prediction.saved + run::saved_bytes(1, nn::mode::predict) + run::output_bytes(1);
  CHECK_NOTHROW(run::forward(prediction, x.data()));
}
