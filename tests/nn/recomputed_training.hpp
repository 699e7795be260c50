// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Trainings of networks with and without nn::recomputed: `Group` is nn::sequential or nn::recomputed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <ratio>
#include <type_traits>
#include <vector>

#include <devplace/attention.hpp>
#include <devplace/convolution.hpp>
#include <devplace/nn.hpp>
#include <devplace/nn/recomputed.hpp>
#include <devplace/optim/adam.hpp>
#include <devplace/parallel/check_replicas.hpp>
#include <devplace/parallel/to_batch.hpp>
#include <devplace/train/memory_plan.hpp>
#include <devplace/train/trainer.hpp>

#include "support/random_values.hpp"

namespace devplace::test {

/// What a training leaves.
struct trained {
  std::vector<double> losses;
  std::vector<std::byte> state;  ///< the arenas of parameters and of buffers of the first replica
  std::size_t planned = 0, peak = 0;
  std::uint64_t allocations = 0;  ///< after the first step

  bool same_bits(const trained& other) const { return losses == other.losses && state == other.state; }
  /// Training changes the loss, so that equal bits mean something.
  bool moves() const { return losses.size() > 1 && losses.front() != losses.back(); }
};

/// Trains for 20 steps with batches of at most `Rows` samples on each place. The peak is the one of the first place,
/// without its part of the batches.
template <class Net, class Where, class P = float, std::size_t Rows = 12> trained train() {
  using model_type = model<Net, Where, P>;
  using plan = runtime::network_plan<Net>;
  using element = typename plan::template input_element<P>;
  using number = typename precision_traits<P>::accumulator;
  const auto samples = [](std::size_t rows, unsigned seed) {
    return to_batch<Where>(random_values<element>(runtime::batch_extents<typename plan::input>(rows), seed,
                                                  std::is_integral_v<element> ? 0 : -1, 1));
  };
  const auto targets = [](std::size_t rows, unsigned seed) {
    return to_batch<Where>(random_values<number>(runtime::batch_extents<typename plan::output>(rows), seed));
  };
  std::vector<decltype(samples(1, 1))> x;
  std::vector<decltype(targets(1, 1))> y;
  for (const std::size_t rows : {Rows, Rows - 5, Rows}) {
    x.push_back(samples(rows, static_cast<unsigned>(x.size())));
    y.push_back(targets(rows, static_cast<unsigned>(7 + y.size())));
  }
  using place = primary_place_t<Where>;
  devplace::detail::gemm_prepare();  // the threads' packing buffers are not part of the plan
  const std::size_t before = memory_statistics<place>().allocated;
  reset_peak_memory<place>();
  model_type model{seed{3}};
  trainer step{model, nn::mse{}, optim::adam{.learning_rate = 1e-2}};
  trained result;
  std::uint64_t allocations = 0;
  for (std::size_t i = 0; i < 20; ++i) {
    const std::size_t batch = i % 5 == 4 ? 1 : i % 2 * 2;
    result.losses.push_back(static_cast<double>(step(x[batch], y[batch]).item()));
    if (i == 0) allocations = memory_statistics<place>().allocations;
  }
  result.allocations = memory_statistics<place>().allocations - allocations;
  result.peak = memory_statistics<place>().peak - before;
  if constexpr (!spans_processes<Where>) result.planned = memory_plan<model_type, batch<Rows>, optim::adam>::bytes;
  check_replicas(model);
  const auto here = to<on<cpu>>(model);
  const auto& r = here.state().replicas[0];
  result.state.resize(r.parameters.bytes() + r.buffers.bytes());
  std::memcpy(result.state.data(), r.parameters.data(), r.parameters.bytes());
  if (r.buffers.bytes() != 0)
    std::memcpy(result.state.data() + r.parameters.bytes(), r.buffers.data(), r.buffers.bytes());
  return result;
}

template <template <class...> class Group>
using mlp_of =
    nn::sequential<nn::linear<6, 40>, nn::relu, Group<nn::linear<40, 128>, nn::relu, nn::linear<128, 40>>, nn::relu,
                   Group<nn::dropout<std::ratio<1, 4>>, nn::linear<40, 96>, nn::tanh, nn::linear<96, 36>, nn::tanh>,
                   Group<nn::linear<36, 4>, nn::relu>>;

/// A batch_norm is the last layer of the first groups, but not of the last one.
template <template <class...> class Group, class... Options>
using images_of = nn::sequential<
    nn::input<2, 8, 8>, Group<nn::conv2d<2, 6, nn::kernel<3>, nn::padding<1>>, nn::relu, nn::batch_norm<6, Options...>>,
    Group<nn::conv2d<6, 6, nn::kernel<3>, nn::padding<1>>, nn::relu, nn::batch_norm<6, Options...>>,
    Group<nn::conv2d<6, 4, nn::kernel<3>>, nn::batch_norm<4, Options...>, nn::relu, nn::max_pool2d<nn::kernel<2>>>,
    Group<nn::flatten, nn::linear<36, 3>>>;

template <template <class...> class Group>
using block_of = Group<
    nn::residual<nn::layer_norm<16>,
                 nn::multi_head_attention<16, 2, nn::causal, nn::attention_dropout<std::ratio<1, 10>>>>,
    nn::residual<nn::layer_norm<16>, nn::linear<16, 64>, nn::gelu, nn::dropout<std::ratio<1, 10>>, nn::linear<64, 16>>>;
template <template <class...> class Group>
using text_of = nn::sequential<nn::input<8>, Group<nn::embedding<10, 16>, nn::positional_embedding<8, 16>>,
                               block_of<Group>, block_of<Group>, nn::layer_norm<16>, nn::linear<16, 10>>;

/// Groups in branches, in groups, frozen, with a rate of their own, and in front.
template <template <class...> class Group>
using branches_of = nn::sequential<
    nn::input<5>, Group<nn::tanh, nn::linear<5, 8>>, nn::residual<Group<nn::linear<8, 6>, nn::tanh>, nn::linear<6, 8>>,
    nn::sum_of<Group<nn::linear<8, 7>, nn::tanh>, Group<nn::dropout<>, nn::linear<8, 7>>>,
    Group<nn::concat_of<Group<nn::linear<7, 4>, nn::sigmoid>, nn::linear<7, 3>>, nn::dropout<std::ratio<1, 8>>>,
    nn::frozen<Group<nn::linear<7, 7>, nn::batch_norm<7>>>,
    nn::learning_rate_times<
        std::ratio<1, 3>,
        Group<nn::linear<7, 9>, nn::tanh, Group<nn::linear<9, 9>, nn::batch_norm<9>, nn::residual<nn::linear<9, 9>>>>>>;

}  // namespace devplace::test
