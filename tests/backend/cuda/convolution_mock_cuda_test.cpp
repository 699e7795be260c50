// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <devplace/backend/cuda/unfolded_convolution.hpp>

#include <algorithm>
#include <cstddef>
#include <thread>
#include <vector>

#include "support/catch.hpp"
#include "support/convolution_loops.hpp"
#include "support/mock_cuda/kernel_launch.hpp"

namespace dp = devplace;
using dp::detail::convolution_shape;

namespace {

/// Runs kernels in fewer blocks than on a GPU.
struct few_blocks {
  template <class Kernel> void operator()(std::size_t blocks, const Kernel& kernel) const {
    dp::test::mock_cuda::run_kernel(std::min<std::size_t>(blocks, 3), kernel);
  }
};

/// Small integers, whose products and sums are exact, in the mock's memory.
template <class T = float> struct device_array {
  dp::detail::memory_block block;
  std::size_t size;

  device_array(std::size_t n, std::size_t seed)
      : block(dp::detail::allocate<dp::backend::cuda>(0, (n + 1) * sizeof(T))), size(n) {
    std::vector<T> values(n + 1);
    for (std::size_t i = 0; i <= n; ++i)
      values[i] = static_cast<T>(static_cast<float>((i * 37 + seed * 11 + i / 7) % 9) - 4);
    dp::detail::copy_in<dp::backend::cuda>(0, data(), values.data(), (n + 1) * sizeof(T));
  }
  T* data() const { return static_cast<T*>(block.data()); }
  std::vector<float> values() const {
    dp::synchronize<dp::cuda<0>>();
    return {data(), data() + size + 1};
  }
};

}  // namespace

// Sums of 16-bit elements are exact, too: half represents the integers up to 2048.
TEMPLATE_TEST_CASE("convolutions on CUDA devices are right for every shape, however few patches fit", "[backend]",
                   float, dp::half) {
  using T = TestType;
  const auto shapes = dp::test::convolution_shapes();
  for (std::size_t k = sizeof(T) == 2 ? 1 : 0; k < shapes.size(); k += 2) {  // the types share the shapes
    const convolution_shape& s = shapes[k];
    const std::size_t outputs = s.groups * s.outputs, channels = s.groups * s.channels;
    const device_array<T> x(s.samples * channels * s.plane(), 1), weight(s.weights(), 2), bias(outputs, 3),
        dy(s.samples * outputs * s.pixels(), 4), into_x(channels, 5);
    const device_array<T> y(dy.size, 6), dx(x.size, 6);
    const device_array<float> dw(weight.size, 6);
    auto expected_y = y.values(), expected_dx = dx.values(), expected_dw = dw.values();
    for (std::size_t i = 0; i < y.size; ++i) expected_y[i] = static_cast<float>(bias.data()[i / s.pixels() % outputs]);
    for (std::size_t i = 0; i < x.size; ++i)
      expected_dx[i] = static_cast<float>(into_x.data()[i / s.plane() % channels]);
    for (std::size_t i = 0; i < dw.size; ++i) expected_dw[i] *= 2;
    dp::test::for_each_product(s, [&](std::size_t to, std::size_t from, std::size_t by) {
      expected_y[to] += x.data()[from] * weight.data()[by];
      expected_dx[from] += dy.data()[to] * weight.data()[by];
      expected_dw[by] += dy.data()[to] * x.data()[from];
    });
    const auto original_dw = dw.values();
    for (float* value = expected_y.data(); value != expected_y.data() + y.size; ++value)
      *value = *value < 0 ? 0 : *value;

    // All pixels at once, two samples at a time, and parts of a sample.
    const std::size_t of_pixel = s.groups * (s.depth() + s.outputs) * sizeof(float);
    for (const std::size_t bytes :
         {std::size_t{32} << 20, 2 * s.pixels() * of_pixel, (s.pixels() / 3 + 1) * of_pixel + 8}) {
      INFO(s.samples << " samples, " << s.groups << " groups of " << s.channels << " to " << s.outputs << ", "
                     << s.rows.in << "x" << s.columns.in << ", workspace of " << bytes);
      std::copy(original_dw.begin(), original_dw.end(), dw.data());
      dp::detail::convolve(0,
                           dp::detail::convolution_arguments<T>{s, x.data(), weight.data(), bias.data(), y.data(),
                                                                dp::detail::epilogue::relu},
                           few_blocks{}, bytes);
      dp::detail::convolve(
          0, dp::detail::convolution_input_gradient_arguments<T>{s, dy.data(), weight.data(), into_x.data(), dx.data()},
          few_blocks{}, bytes);
      dp::detail::convolve(
          0, dp::detail::convolution_weight_gradient_arguments<T>{s, dy.data(), x.data(), dw.data(), 2, nullptr},
          few_blocks{}, bytes);
      CHECK(y.values() == expected_y);
      CHECK(dx.values() == expected_dx);
      CHECK(dw.values() == expected_dw);
    }
  }
}

TEST_CASE("a convolution without samples clears nothing and launches nothing", "[backend]") {
  auto s = dp::test::convolution_shapes()[2];
  s.samples = 0;
  const device_array<> y(4, 1);
  const auto before = y.values();
  dp::detail::convolve(0, dp::detail::convolution_arguments<float>{s, y.data(), y.data(), nullptr, y.data()},
                       few_blocks{});
  CHECK(y.values() == before);
}

TEST_CASE("no thread overwrites the patches of a convolution that a step has launched in part", "[backend]") {
  auto s = dp::test::convolution_shapes()[2];
  s.samples = 7;  // a product that cuBLASLt has not computed yet ends the calls that the step collects
  const std::size_t values = s.samples * s.groups * s.outputs * s.pixels();
  const device_array<> x(s.samples * s.groups * s.channels * s.plane(), 1), other_x(x.size, 2), weight(s.weights(), 3);
  const device_array<> y(values, 4), other_y(values, 4), expected(values, 4);
  const auto convolve = [&](const device_array<>& from, const device_array<>& to) {
    dp::detail::convolve(0, dp::detail::convolution_arguments<float>{s, from.data(), weight.data(), nullptr, to.data()},
                         dp::detail::kernel_launch{0});
  };
  dp::detail::launch_memory memory;
  {
    dp::detail::cuda_repeated_launches::scope step(memory);
    convolve(x, y);
    std::thread([&] { convolve(other_x, other_y); }).join();
  }
  convolve(x, expected);
  CHECK(y.values() == expected.values());
}

TEST_CASE("patches that do not fit into the workspace are refused", "[backend]") {
  const auto s = dp::test::convolution_shapes()[3];
  const device_array<> y(4, 1);
  CHECK_THROWS_WITH(
      dp::detail::convolve(0, dp::detail::convolution_arguments<float>{s, y.data(), y.data(), nullptr, y.data()},
                           few_blocks{}, 100),
      Catch::Contains("patches of 144 elements") && Catch::Contains("Divide its channels"));
}
