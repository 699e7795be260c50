// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Checks that devplace's files for Python have the bytes that Python's packages have read:
// tests/reference/for_python.txt has their sizes and hashes (make_for_python.py). tests/python/files_for_python_test.py
// has the same contents in Python, and reads the files that this test leaves in the folder
// DEVPLACE_TEST_FILES_FOR_PYTHON.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <string>

#include <devplace/base/hash.hpp>
#include <devplace/io/npy.hpp>
#include <devplace/io/parameters.hpp>
#include <devplace/io/safetensors.hpp>
#include <devplace/nn/batch_norm.hpp>
#include <devplace/nn/frozen.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/model.hpp>
#include <devplace/nn/mse.hpp>
#include <devplace/nn/named.hpp>
#include <devplace/nn/relu.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/optim/sgd.hpp>
#include <devplace/train/checkpoint.hpp>
#include <devplace/train/training_log.hpp>

#include "support/catch.hpp"
#include "support/reference.hpp"
#include "support/temporary_folder.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;
using devplace::test::reference_path;

namespace {

using here = dp::on<dp::cpu>;

template <class T, class Extents = dp::extents<2, 4>> dp::tensor<T, Extents, here> special_numbers() {
  constexpr double infinity = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  constexpr double numbers[] = {0, -0.0, 1, -2.5, 65504, 0x1p-24, -infinity, nan};
  dp::tensor<T, Extents, here> result{Extents()};
  for (std::size_t i = 0; i < result.size(); ++i) result.data()[i] = static_cast<T>(numbers[i]);
  return result;
}

/// Element i is (i modulo 5 - 2) / 4 + shift.
template <class T, class Extents> dp::tensor<T, Extents, here> quarters(double shift = 0) {
  dp::tensor<T, Extents, here> result{Extents()};
  for (std::size_t i = 0; i < result.size(); ++i)
    result.data()[i] = static_cast<T>((static_cast<double>(i % 5) - 2) / 4 + shift);
  return result;
}

void write_tensors(const std::string& folder) {
  const auto f32 = special_numbers<float>();
  const auto f64 = special_numbers<double>();
  const auto f16 = special_numbers<dp::half>();
  const auto bf16 = special_numbers<dp::bf16>();
  const dp::tensor<std::int64_t, dp::extents<3>, here> i64{std::numeric_limits<std::int64_t>::min(), -1,
                                                           (1LL << 53) + 1};
  const dp::tensor<std::int32_t, dp::extents<3>, here> i32{std::numeric_limits<std::int32_t>::min(), 7, 65537};
  const dp::tensor<std::uint8_t, dp::extents<3>, here> u8{0, 1, 255};
  dp::tensor<float, dp::extents<>, here> scalar{dp::extents<>()};
  scalar.data()[0] = 0.5f;
  const dp::tensor<float, dp::extents<0, 3>, here> empty{dp::extents<0, 3>()};
  const auto cube = quarters<float, dp::extents<2, 3, 2>>();
  dp::write_safetensors(folder + "tensors.safetensors",
                        {{"u8", u8},
                         {"bf16", bf16},
                         {"a.f16", f16},
                         {"quote \" and \\", i32},
                         {"umlaut \xc3\xbc", f32},
                         {"i64", i64},
                         {"f64", f64},
                         {"scalar", scalar},
                         {"empty", empty},
                         {"cube", cube}},
                        {{"format", "pt"}, {"tab\t", "smile \xf0\x9f\x98\x80"}});
  dp::write_npy(folder + "f32.npy", f32);
  dp::write_npy(folder + "f64.npy", f64);
  dp::write_npy(folder + "f16.npy", f16);
  dp::write_npy(folder + "i64.npy", i64);
  dp::write_npy(folder + "i32.npy", i32);
  dp::write_npy(folder + "u8.npy", u8);
  dp::write_npy(folder + "scalar.npy", scalar);
  dp::write_npy(folder + "empty.npy", empty);
  dp::write_npy(folder + "cube.npy", cube);
}

/// Parameters and buffers in double.
void write_parameters(const std::string& folder) {
  dp::model<nn::sequential<nn::named<"fc", nn::linear<3, 4>>, nn::batch_norm<4>>, here, double> model{dp::seed{1}};
  const std::string path = folder + "parameters.safetensors";
  const auto vector = [](double shift) { return quarters<double, dp::extents<4>>(shift); };
  const auto scale = vector(1), shift = vector(2), mean = vector(0x1p-40), variance = vector(4), bias = vector(-1);
  const auto weight = quarters<double, dp::extents<4, 3>>();
  dp::write_safetensors(path, {{"1.weight", scale},
                               {"1.bias", shift},
                               {"1.running_mean", mean},
                               {"1.running_var", variance},
                               {"fc.weight", weight},
                               {"fc.bias", bias}});
  dp::load_parameters(model, path);
  dp::save_parameters(model, path);
}

/// Two steps of SGD with numbers that are exact in float, so that every processor computes the same bits.
void write_training(const std::string& folder) {
  using net =
      nn::sequential<nn::named<"body", nn::frozen<nn::linear<3, 4>>>, nn::relu, nn::named<"head", nn::linear<4, 2>>>;
  dp::model<net, here> model{dp::seed{1}};
  const std::string path = folder + "checkpoint.safetensors";
  const auto body = quarters<float, dp::extents<4, 3>>();
  const auto body_bias = quarters<float, dp::extents<4>>(0.5);
  const auto head = quarters<float, dp::extents<2, 4>>(0.25);
  const auto head_bias = quarters<float, dp::extents<2>>();
  dp::write_safetensors(
      path, {{"body.weight", body}, {"body.bias", body_bias}, {"head.weight", head}, {"head.bias", head_bias}});
  dp::load_parameters(model, path);
  dp::trainer step{model, nn::mse{}, dp::optim::sgd{.learning_rate = 0.5, .momentum = 0.5}};
  const dp::tensor<float, dp::extents<2, 3>, here> x{{1, -1, 2}, {0, 2, 1}};
  const dp::tensor<float, dp::extents<2, 2>, here> y{{1, 0}, {-1, 2}};
  dp::training_log log{folder + "log.csv", {"step", "loss", "rate"}};
  for (int i = 0; i < 2; ++i) {
    step.reset_mean_loss();
    step(x, y);
    log.append({{"step", i}, {"loss", step.mean_loss()}});
  }
  log.append({{"step", 2.5}, {"loss", std::numeric_limits<double>::quiet_NaN()}, {"rate", 0.1}});
  dp::save_checkpoint(step, {1, 2}, path);
}

}  // namespace

TEST_CASE("files for Python equal the files that Python's packages have read", "[io]") {
  const support::temporary_folder temporary;
  const char* const kept = std::getenv("DEVPLACE_TEST_FILES_FOR_PYTHON");
  const std::string folder = (kept == nullptr ? temporary.path() : std::string(kept)) + "/";
  std::filesystem::create_directories(folder);
  std::filesystem::remove(folder + "log.csv");  // an existing log would be continued
  write_tensors(folder);
  write_parameters(folder);
  write_training(folder);
  const std::string recorded = support::contents(reference_path("for_python.txt"));
  std::size_t files = 0;
  for (const auto& written : std::filesystem::directory_iterator(folder)) {
    const std::string bytes = support::contents(written.path().string());
    const std::string line = written.path().filename().string() + ' ' + std::to_string(bytes.size()) + ' ' +
                             std::to_string(dp::detail::fnv1a(bytes)) + '\n';
    CHECK_THAT(recorded, Catch::Matchers::ContainsSubstring(line));
    ++files;
  }
  CHECK(files == 13);
}
