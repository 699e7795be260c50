// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// backward accepts loss gradients of the tensor that forward returned, and gradients computed by the program.

#include <cstddef>
#include <utility>
#include <vector>

#include <devplace/nn/bce_with_logits.hpp>
#include <devplace/nn/cross_entropy.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/log_softmax.hpp>
#include <devplace/nn/model.hpp>
#include <devplace/nn/mse.hpp>
#include <devplace/nn/nll.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/nn/sigmoid.hpp>
#include <devplace/nn/softmax.hpp>
#include <devplace/ops/elementwise.hpp>
#include <devplace/ops/softmax.hpp>
#include <devplace/parallel.hpp>

#include "support/catch.hpp"
#include "support/replicas.hpp"
#include "support/training_data.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;
using Catch::Matchers::ContainsSubstring;
using dp::test::copies_of;

namespace {

using host = dp::on<dp::cpu>;
using device = dp::on<dp::cuda<1>>;
using three = dp::replicated<2, 0, 1>;
using net = nn::sequential<nn::linear<6, 3>>;
constexpr const char* of_another = "backward: the loss was not computed from the tensor that this forward";

/// Calls `f(model, samples, labels)`.
template <class Where, class F> void with_model(const F& f) {
  dp::model<net, Where> model{dp::seed{1}};
  f(model, dp::to_batch<Where>(dp::test::integer_samples<float, 6>(7)),
    dp::to_batch<Where>(dp::test::square_labels(7, 3)));
}

/// Calls f for each place or placement of the batches below.
template <class F> void on_all_placements(const F& f) {
  with_model<host>(f);
  with_model<device>(f);
  with_model<three>(f);  // the batch is divided
  dp::model<net, three> model{dp::seed{1}};
  f(model, copies_of<three>(dp::test::integer_samples<float, 6>(7)), copies_of<three>(dp::test::square_labels(7, 3)));
}

}  // namespace

TEST_CASE("backward rejects the gradient of a loss of any tensor but forward's output", "[nn]") {
  on_all_placements([](auto& model, const auto& x, const auto& y) {
    auto [output, saved] = model.forward(x);
    const auto probabilities = dp::softmax(output);
    CHECK_THROWS_WITH(model.backward(std::move(saved), nn::cross_entropy{}(probabilities, y).gradient),
                      ContainsSubstring(of_another));
    CHECK_THROWS_WITH(model.backward_to_input(std::move(saved), nn::cross_entropy{}(probabilities, y).gradient),
                      ContainsSubstring(of_another));
    CHECK_THROWS_WITH(model.backward(std::move(saved), nn::cross_entropy{}(model.predict(x), y).gradient),
                      ContainsSubstring(of_another));
    // The activations remain usable, and gradients can be accumulated.
    const auto [loss, gradient] = nn::cross_entropy{}(output, y);
    auto gradients = model.backward(std::move(saved), gradient);
    auto again = model.forward(x);
    CHECK_THROWS_WITH(model.backward(std::move(again.saved), gradient, std::move(gradients)),
                      ContainsSubstring(of_another));
    CHECK_NOTHROW(
        model.backward(std::move(again.saved), nn::cross_entropy{}(again.output, y).gradient, std::move(gradients)));
  });
}

TEST_CASE("backward rejects the gradient of a loss of a tensor that replaced forward's output", "[nn]") {
  on_all_placements([](auto& model, const auto& x, const auto& y) {
    auto [output, saved] = model.forward(x);
    output = dp::softmax(output);
    CHECK_THROWS_WITH(model.backward(std::move(saved), nn::cross_entropy{}(output, y).gradient),
                      ContainsSubstring(of_another));
  });
}

TEST_CASE("backward accepts the gradient of a loss of forward's output under another name", "[nn]") {
  on_all_placements([](auto& model, const auto& x, const auto& y) {
    auto result = model.forward(x);
    const auto moved = std::move(result.output);
    auto gradient = nn::cross_entropy{}(moved, y).gradient;
    gradient.gradient += gradient.gradient;  // doubles the loss
    CHECK_NOTHROW(model.backward(std::move(result.saved), gradient));
  });
  with_model<host>([](auto& model, const auto& x, const auto& y) {
    auto [output, saved] = model.forward(x);
    const auto rows = output.reshape(dp::extents<dp::dyn, 1, 3>{output.extent(0)});
    const auto label_of_row = y.reshape(dp::extents<dp::dyn, 1>{y.extent(0)});
    CHECK_NOTHROW(model.backward(std::move(saved), nn::cross_entropy{}(rows, label_of_row).gradient));
  });
}

TEST_CASE("backward accepts gradients computed by the program", "[nn]") {
  on_all_placements([](auto& model, const auto& x, const auto& y) {
    auto [output, saved] = model.forward(x);
    auto of_probabilities = nn::cross_entropy{}(dp::softmax(output), y).gradient;
    CHECK_NOTHROW(model.backward(std::move(saved), nn::output_gradient(std::move(of_probabilities.gradient))));
  });
}

TEST_CASE("backward rejects losses on logits and on log-probabilities for a network that outputs probabilities",
          "[nn]") {
  const auto x = dp::test::integer_samples<float, 6>(7);
  const auto y = dp::test::square_labels(7, 3);
  const dp::tensor<float, dp::extents<dp::dyn, 3>, host> targets(dp::extents<dp::dyn, 3>{7});
  const auto backward = [&]<class Last>(Last, const auto& loss, const auto& of) {
    dp::model<nn::sequential<nn::linear<6, 3>, Last>, host> model{dp::seed{1}};
    auto [output, saved] = model.forward(x);
    const auto gradient = loss(output, of).gradient;
    static_cast<void>(model.backward(std::move(saved), gradient));
  };
  CHECK_THROWS_WITH(backward(nn::softmax{}, nn::cross_entropy{}, y), ContainsSubstring("ends in softmax or sigmoid"));
  CHECK_THROWS_WITH(backward(nn::softmax{}, nn::nll{}, y), ContainsSubstring("ends in softmax or sigmoid"));
  CHECK_THROWS_WITH(backward(nn::sigmoid{}, nn::bce_with_logits{}, targets),
                    ContainsSubstring("ends in softmax or sigmoid"));
  CHECK_NOTHROW(backward(nn::softmax{}, nn::mse{}, targets));
  CHECK_NOTHROW(backward(nn::log_softmax{}, nn::nll{}, y));
}
