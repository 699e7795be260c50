// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cstddef>
#include <sstream>
#include <string>
#include <vector>

#include <devplace/nn/batch_norm.hpp>
#include <devplace/nn/conv2d.hpp>
#include <devplace/nn/conv_transpose2d.hpp>
#include <devplace/nn/flatten.hpp>
#include <devplace/nn/frozen.hpp>
#include <devplace/nn/input.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/multi_head_attention.hpp>
#include <devplace/nn/named.hpp>
#include <devplace/nn/recomputed.hpp>
#include <devplace/nn/relu.hpp>
#include <devplace/nn/residual.hpp>
#include <devplace/optim/sgd.hpp>
#include <devplace/train/summary.hpp>

#include "support/catch.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;

namespace {

std::string numbers_of(const nn::layer_summary& layer) {
  std::string text = layer.name + ":";
  for (const std::size_t extent : layer.output) text += " " + std::to_string(extent);
  for (const std::size_t number : {layer.parameters, layer.frozen, layer.buffers, layer.flops})
    text += ", " + std::to_string(number);
  return text;
}

template <class Net> std::vector<std::string> numbers_of() {
  std::vector<std::string> all;
  for (const nn::layer_summary& layer : nn::layer_summaries<Net>()) all.push_back(numbers_of(layer));
  return all;
}

}  // namespace

// The FLOPs were counted by torch.utils.flop_counter of PyTorch 2.15.

TEST_CASE("summaries show layers with PyTorch's names, extents, parameters and FLOPs", "[train]") {
  using block = nn::residual<nn::projected_by<nn::conv2d<8, 16, nn::kernel<1>>>,
                             nn::conv2d<8, 16, nn::kernel<3>, nn::padding<1>, nn::groups<2>>, nn::relu>;
  using cnn = nn::sequential<nn::input<1, 28, 28>,
                             nn::named<"conv1", nn::conv2d<1, 8, nn::kernel<3>, nn::stride<2>, nn::padding<1>>>,
                             nn::batch_norm<8>, nn::named<"block", block>, nn::flatten,
                             nn::frozen<nn::named<"fc", nn::linear<16 * 14 * 14, 10>>>>;
  CHECK(numbers_of<cnn>() ==
        std::vector<std::string>{"0: 1 28 28, 0, 0, 0, 0", "conv1: 8 14 14, 80, 0, 0, 28224",
                                 "2: 8 14 14, 16, 0, 16, 0", "block.0: 16 14 14, 592, 0, 0, 225792",
                                 "block.1: 16 14 14, 0, 0, 0, 0", "block.shortcut.0: 16 14 14, 144, 0, 0, 50176",
                                 "4: 3136, 0, 0, 0, 0", "fc: 10, 31370, 31370, 0, 62720"});
  using up = nn::sequential<nn::input<16, 7, 7>, nn::conv_transpose2d<16, 4, nn::kernel<2>, nn::stride<2>>>;
  CHECK(numbers_of<up>().back() == "1: 4 14 14, 260, 0, 0, 25088");
  using tokens = nn::sequential<nn::input<12, 16>, nn::multi_head_attention<16, 4>, nn::linear<16, 3>>;
  CHECK(numbers_of<tokens>()[1] == "1: 12 16, 1088, 0, 0, " + std::to_string(24576 + 9216));
  CHECK(numbers_of<tokens>()[2] == "2: 12 3, 51, 0, 0, 1152");
  CHECK(numbers_of<nn::linear<3, 4>>() == std::vector<std::string>{": 4, 16, 0, 0, 24"});
}

TEST_CASE("a summary has a table of layers and a table of bytes by precision", "[train]") {
  using mlp = nn::sequential<nn::linear<784, 256>, nn::relu, nn::linear<256, 10>>;
  using model_type = dp::model<mlp, dp::on<dp::cpu>>;
  std::ostringstream out;
  dp::summary<model_type, dp::optim::sgd>(out, dp::batch<64>{});
  std::ostringstream of_a_model;
  dp::summary<dp::optim::sgd>(of_a_model, model_type{dp::seed{1}}, dp::batch<64>{});
  CHECK(of_a_model.str() == out.str());
  // Biases of 10 are padded to 16. A predictor has float samples, two buffers of 64x256, one of 64x10, and a cache line
  // of sums; in bf16 also the rounded samples.
  constexpr std::size_t parameters = 784 * 256 + 256 + 256 * 10 + 16;
  const auto predictor = [](std::size_t element, std::size_t rounded) {
    return std::to_string(parameters * (4 + rounded) + 64 * (784 * (4 + rounded) + (2 * 256 + 10) * element) + 64);
  };
  CHECK(parameters == 203536);
  CHECK(predictor(4, 0) == "1148544");
  const auto training = std::to_string(dp::memory_plan<model_type, dp::batch<64>, dp::optim::sgd>::bytes);
  const std::string text = out.str();
  const std::string types = nn::layer_summaries<mlp>().front().type;
  CHECK(types.find("linear<784") == 0);
  CHECK_THAT(text, Catch::Matchers::ContainsSubstring("layer  type "));
  CHECK_THAT(text, Catch::Matchers::ContainsSubstring("  256         200960  401408\n1      relu "));
  CHECK_THAT(text, Catch::Matchers::ContainsSubstring("  10            2570    5120\nall "));
  CHECK_THAT(text, Catch::Matchers::ContainsSubstring("          203530  406528\n\nbytes, batches of 64  "));
  CHECK_THAT(text, Catch::Matchers::ContainsSubstring("parameters and buffers   814144  1628288       814144\n"
                                                      "their copy in 16 bits         0        0       407072\n"
                                                      "a predictor             1148544  2297024      " +
                                                      predictor(2, 2) +
                                                      "\n"
                                                      "a training              " +
                                                      training + "  "));
}

TEST_CASE("a summary shows what recomputed layers cost and save", "[train]") {
  using layers = nn::sequential<nn::linear<8, 64>, nn::relu, nn::linear<64, 8>>;
  std::ostringstream out;
  dp::summary<nn::sequential<nn::recomputed<layers>, nn::recomputed<layers>>>(out, dp::batch<16>{});
  CHECK_THAT(out.str(), Catch::Matchers::ContainsSubstring(
                            "2192   4096\n2048 FLOPs more in a training, which computes recomputed layers again\n\n"));
  using plan =
      dp::memory_plan<dp::model<nn::sequential<nn::recomputed<layers>, nn::recomputed<layers>>, dp::on<dp::cpu>>,
                      dp::batch<16>, dp::optim::adam>;
  CHECK_THAT(out.str(),
             Catch::Matchers::ContainsSubstring("a training              " + std::to_string(plan::bytes) + " "));
}

TEST_CASE("types in summaries keep user namespaces", "[train]") {
  CHECK(nn::detail::short_type_text("devplace::nn::residual<rnn::cell, my::nn::gate<devplace::nn::detail::unit>>") ==
        "residual<rnn::cell, my::nn::gate<unit>>");
}

TEST_CASE("a summary shows the number of frozen parameters and the size of buffers", "[train]") {
  std::ostringstream out;
  dp::summary<nn::sequential<nn::linear<4, 8>, nn::batch_norm<8>, nn::frozen<nn::linear<8, 2>>>>(out);
  CHECK_THAT(out.str(), Catch::Matchers::ContainsSubstring(
                            "\n18 of the parameters are frozen\n"
                            "16 elements in buffers, which are not parameters\n\nbytes, batches of 1 "));
}
