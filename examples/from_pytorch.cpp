// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Predicts with a network trained in PyTorch, and saves its parameters for PyTorch: from_pytorch [the folder that
// `from_pytorch.py train` has written [the file to write]]. See docs/inference.md.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include <devplace/all.hpp>
#include <devplace/convolution.hpp>
#include <devplace/io/parameters.hpp>
#include <devplace/nn/batch_norm.hpp>
#include <devplace/train/read_predictor.hpp>

namespace dp = devplace;
namespace nn = devplace::nn;

namespace {

/// The module of from_pytorch.py, with the names of its attributes; layers without parameters need none.
using block = nn::residual<nn::named<"fc1", nn::linear<48, 32>>, nn::relu, nn::named<"fc2", nn::linear<32, 48>>>;
using net = nn::sequential<nn::input<1, 8, 8>,                                                            //
                           nn::named<"conv1", nn::conv2d<1, 8, nn::kernel<3>, nn::padding<1>>>,           //
                           nn::named<"bn1", nn::batch_norm<8>>, nn::relu, nn::max_pool2d<nn::kernel<2>>,  //
                           nn::named<"conv2", nn::conv2d<8, 12, nn::kernel<3>, nn::padding<1>, nn::stride<2>>>,
                           nn::relu, nn::flatten, nn::named<"block", block>, nn::named<"head", nn::linear<48, 10>>>;

using images = dp::extents<dp::dyn, 1, 8, 8>;
using logits = dp::extents<dp::dyn, 10>;

/// The largest difference of two arrays, relative to the largest element.
template <class A, class B> double difference(const A& a, const B& b) {
  double most = 0, largest = 0;
  for (std::size_t i = 0; i < a.extent(0); ++i)
    for (std::size_t j = 0; j < a.extent(1); ++j) {
      most = std::max(most, std::abs(double{a(i, j)} - double{b(i, j)}));
      largest = std::max(largest, std::abs(double{b(i, j)}));
    }
  return most / largest;
}

/// Whether two files have the same tensors, except for PyTorch's counts of batches.
bool same_tensors(const std::string& first, const std::string& second) {
  const dp::safetensors_file a(first), b(second);
  for (const dp::safetensors_entry& entry : a.tensors()) {
    if (entry.name.ends_with(".num_batches_tracked")) continue;
    const dp::safetensors_entry* const other = b.find(entry.name);
    if (other == nullptr || other->dtype != entry.dtype || other->extents != entry.extents) return false;
    std::vector<char> bytes(entry.bytes), other_bytes(entry.bytes);
    a.read_elements(entry, bytes.data());
    b.read_elements(*other, other_bytes.data());
    if (bytes != other_bytes) return false;
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) try {
  const std::string folder = argc > 1 ? argv[1] : DEVPLACE_EXAMPLE_DATA "/from_pytorch";
  const std::string back = argc > 2 ? argv[2] : "from_pytorch_back.safetensors";
  const auto x = dp::read_npy<float, images>(folder + "/images.npy");
  const auto expected = dp::read_npy<float, logits>(folder + "/logits.npy");

  const double error = dp::first_available<dp::on<dp::cuda<0>>, dp::on<dp::cpu>>([&]<class Where>(Where) {
    const auto network = dp::read_predictor<net, Where>(folder + "/network.safetensors", dp::batch<16>{});
    dp::save_parameters(network.as_model(), back);
    return difference(dp::to<dp::cpu>(network.predict(dp::to<Where>(x))), expected);
  });
  const bool same = same_tensors(folder + "/network.safetensors", back);
  std::printf("logits differ from PyTorch's by %.1e of the largest; the file for PyTorch has %s tensors\n", error,
              same ? "the same" : "other");
  return error <= 1e-6 && same ? 0 : 1;
} catch (const std::exception& problem) {
  std::fprintf(stderr, "%s\n", problem.what());
  return 2;
}
