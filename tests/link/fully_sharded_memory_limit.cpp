// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Devices with less than half of the memory that a training takes on one of them: in shares the model trains on four
// devices. On three the plan exceeds the memory, and the program reports which device is full.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include <devplace/all.hpp>
#include <devplace/fully_sharded.hpp>

namespace dp = devplace;
namespace nn = dp::nn;

namespace {

using layer = nn::sequential<nn::linear<256, 256>, nn::relu>;
using net = nn::sequential<layer, layer, layer, layer, layer, layer, nn::linear<256, 10>>;
constexpr std::size_t samples = 12;
template <std::size_t Count, int... I> using shares_on = dp::spread<dp::mesh<dp::shares<Count, 4096>>, I...>;
template <class Where>
constexpr std::size_t plan_of = dp::memory_plan<dp::model<net, Where>, dp::batch<samples>, dp::optim::adam>::bytes;

using four = shares_on<4, 0, 1, 2, 3>;
using three = shares_on<3, 4, 5, 6>;
/// A batch with its labels, which plans do not count.
template <std::size_t Places>
constexpr std::size_t batch_of = samples / Places * (256 * sizeof(float) + sizeof(std::int64_t)) + 2 * 64;

constexpr std::size_t limit = plan_of<four> + batch_of<4>;
static_assert(limit * 100 <= plan_of<dp::cuda<0>> * 45, "the devices have less than half of what one device needs");
static_assert(plan_of<three> > limit, "three devices are too few");

template <class Where> void train() {
  dp::model<net, Where> model{dp::seed{1}};
  dp::trainer step{model, nn::cross_entropy{}, dp::optim::adam{.learning_rate = 1e-3}};
  dp::tensor<float, dp::extents<dp::dyn, 256>, dp::cpu> x(dp::extents<dp::dyn, 256>{samples});
  dp::tensor<std::int64_t, dp::extents<dp::dyn>, dp::cpu> y(dp::extents<dp::dyn>{samples});
  for (std::size_t i = 0; i != x.size(); ++i) x.data()[i] = static_cast<float>(i * 7 % 13) / 13;
  for (std::size_t i = 0; i != samples; ++i) y(i) = static_cast<std::int64_t>(i % 10);
  const auto images = dp::scatter<dp::batch_placement_t<Where>>(x);
  const auto labels = dp::scatter<dp::batch_placement_t<Where>>(y);
  const double first = step(images, labels).item();
  for (int i = 0; i != 20; ++i) step(images, labels);
  const double last = step(images, labels).item();
  std::printf("the loss falls from %g to %g\n", first, last);
  if (!(last < first / 2)) throw dp::error("the loss does not fall.");
}

}  // namespace

int main() {
  ::setenv("DEVPLACE_SIMULATED_MEMORY", (std::to_string(limit) + "B").c_str(), 1);
  ::setenv("DEVPLACE_SIMULATED_DEVICES", "7", 1);
  std::printf("%zu bytes on each device, %zu planned on four, %zu on three, %zu on one\n", limit, plan_of<four>,
              plan_of<three>, plan_of<dp::cuda<0>>);
  train<four>();
  try {
    train<three>();
    std::puts("wrong: three devices have enough memory");
    return 1;
  } catch (const dp::out_of_memory& full) {
    const std::string text = full.what();
    std::puts(text.c_str());
    for (const char* part : {"devplace: ", "bytes are in use by devplace", "DEVPLACE_SIMULATED_MEMORY", "parameters"})
      if (text.find(part) == std::string::npos) {
        std::printf("wrong: the message does not contain \"%s\"\n", part);
        return 1;
      }
  }
  return 0;
}
