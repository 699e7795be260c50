// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <devplace/base/thread_team.hpp>
#include <devplace/nn/detail/initial_state.hpp>
#include <devplace/nn/embedding.hpp>
#include <devplace/nn/input.hpp>
#include <devplace/nn/sequential.hpp>

#include "support/layer_fixture.hpp"
#include "support/sanitizers.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;

namespace {

using table = nn::sequential<nn::input<5>, nn::embedding<7, 3>>;
using padded_table = nn::sequential<nn::input<5>, nn::embedding<7, 3, nn::padding_index<2>>>;

/// A network with a single embedding on the CPU, its table and indices.
template <class Net, class T> struct embedded {
  using run = dp::runtime::engine<Net, T, dp::backend::cpu>;
  static constexpr int place[] = {0};
  decltype(nn::detail::drawn_state<Net, T, dp::backend::cpu>(place, 3)) state =
      nn::detail::drawn_state<Net, T, dp::backend::cpu>(place, 3);
  std::vector<std::int32_t> indices;
  std::vector<T> workspace;

  explicit embedded(std::vector<std::int32_t> of)
      : indices(std::move(of)), workspace(run::workspace_bytes(batch(), nn::mode::train) / sizeof(T)) {
    dp::runtime::require_gradients<dp::backend::cpu>(*state);
  }
  std::size_t batch() const { return indices.size() / typename run::input_extents{}.size(); }
  auto& replica() const { return state->replicas.front(); }
  auto pass() { return run::make_pass(replica(), workspace.data(), batch(), nn::mode::train, {}); }
  std::vector<T> forward() {
    const auto p = pass();
    run::forward(p, indices.data());
    return {run::output_of(p), run::output_of(p) + batch() * typename run::output_extents{}.size()};
  }
  std::vector<T> gradient(const std::vector<T>& dy, bool accumulate) {
    run::backward(pass(), replica(), indices.data(), dy.data(), accumulate, nullptr);
    return {replica().gradient_data(), replica().gradient_data() + run::plan::parameters};
  }
};

template <class Net, class T> void compare_embedding(const std::string& name) {
  using rows = dp::dextents<3>;
  const std::string folder = "attention/" + name + "/", typed = folder + (std::is_same_v<T, float> ? "f32/" : "f64/");
  const auto indices = dp::test::read_all<std::int64_t, dp::dextents<2>>(folder + "indices");
  embedded<Net, T> net({indices.begin(), indices.end()});
  const auto weight = dp::test::read_all<T, dp::extents<7, 3>>(typed + "weight");
  std::copy(weight.begin(), weight.end(), net.replica().parameter_data());
  dp::test::require_agreement(net.forward(), dp::test::read_all<T, rows>(typed + "y"), name + ": y");
  const auto dy = dp::test::read_all<T, rows>(typed + "dy");
  auto expected = dp::test::read_all<T, dp::extents<7, 3>>(typed + "dweight");
  dp::test::require_agreement(net.gradient(dy, false), expected, name + ": dweight");
  for (T& x : expected) x *= 2;
  dp::test::require_agreement(net.gradient(dy, true), expected, name + ": dweight, accumulated");
}

}  // namespace

TEST_CASE("embedding agrees with PyTorch", "[nn]") {
  compare_embedding<table, double>("embedding");
  compare_embedding<padded_table, double>("embedding_padding");
  if constexpr (!support::sanitized) {
    compare_embedding<table, float>("embedding");
    compare_embedding<padded_table, float>("embedding_padding");
  }
}

TEST_CASE("an embedding's padding row starts with zeros, other rows are normally distributed", "[nn]") {
  const embedded<padded_table, double> net({0, 1, 2, 3, 4});
  const double* const weight = net.replica().parameter_data();
  for (std::size_t i = 0; i < 21; ++i) CHECK((weight[i] == 0) == (i / 3 == 2));
  const embedded<nn::sequential<nn::input<1>, nn::embedding<1000, 20>>, double> large({0});
  double sum = 0, squares = 0;
  for (std::size_t i = 0; i < 20000; ++i) {
    sum += large.replica().parameter_data()[i];
    squares += large.replica().parameter_data()[i] * large.replica().parameter_data()[i];
  }
  CHECK(std::abs(sum / 20000) < 0.03);
  CHECK(std::abs(squares / 20000 - 1) < 0.05);
}

TEST_CASE("an index out of range of an embedding is an error", "[nn]") {
  for (const std::int32_t wrong : {7, -1}) {
    embedded<table, double> net({0, 1, 2, 3, wrong});
    CHECK_THROWS_WITH(net.forward(), Catch::Matchers::ContainsSubstring("at position 4"));
  }
}

TEST_CASE("embedding's gradient has the same bits for every number of threads, and overwrites old values", "[nn]") {
  const auto of_threads = [](int threads) {
    dp::builtin_thread_team team(threads);
    const dp::thread_team_scope scope(team);
    std::vector<std::int32_t> indices(2000);
    for (std::size_t i = 0; i < indices.size(); ++i) indices[i] = static_cast<std::int32_t>(i * i % 37);
    embedded<nn::sequential<nn::input<50>, nn::embedding<40, 100>>, float> net(indices);
    std::vector<float> dy(indices.size() * 100);
    for (std::size_t i = 0; i < dy.size(); ++i) dy[i] = 1 / static_cast<float>(i * 31 % 101 + 3);
    const auto first = net.gradient(dy, false);
    CHECK(net.gradient(dy, false) == first);
    return first;
  };
  const auto alone = of_threads(1);
  CHECK(of_threads(2) == alone);
  CHECK(of_threads(5) == alone);
}
