// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cmath>
#include <cstddef>
#include <limits>

#include <devplace/nn/gradient_check.hpp>
#include <devplace/nn/sequential.hpp>

#include "support/catch.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;

namespace {

/// y = 3 x, with a backward that multiplies by `Gradient`.
template <int Gradient> struct triple {
  using input_extents = dp::extents<2>;
  template <class In> using output = In;
  static void forward(const auto& c) { c.output = 3.0 * c.input; }
  static void backward(const auto& c) { c.input_gradient = static_cast<double>(Gradient) * c.output_gradient; }
};

/// An identity layer whose backward gives NaN for the first element of each sample.
struct broken {
  using input_extents = dp::extents<2>;
  template <class In> using output = In;
  static void forward(const auto& c) { c.output = 1.0 * c.input; }
  static void backward(const auto& c) {
    c.input_gradient = 1.0 * c.output_gradient;
    for (std::size_t i = 0; i < c.batch(); ++i)
      c.input_gradient.data()[2 * i] = std::numeric_limits<double>::quiet_NaN();
  }
};

}  // namespace

TEST_CASE("check_gradients rejects NaN gradients", "[nn]") {
  const auto check = nn::check_gradients<broken>(dp::seed{1});
  CHECK(std::isnan(check.worst));
  CHECK(check.where == "input[0]");
}

TEST_CASE("check_gradients distinguishes a correct backward from a wrong one", "[nn]") {
  const auto right = nn::check_gradients<triple<3>>(dp::seed{1});
  CHECK(right.worst < 1e-8);
  CHECK(right.checked == 6);
  const auto wrong = nn::check_gradients<triple<4>>(dp::seed{1});
  CHECK(wrong.worst > 0.01);
  CHECK(wrong.where.substr(0, 5) == "input");
}
