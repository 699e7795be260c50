// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Gradients in 16 bits between places are bitwise equal to a loop that rounds at the documented points.

#include <devplace/parallel/wire.hpp>

#include <array>
#include <cmath>
#include <cstddef>
#include <random>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include <devplace/memory/block.hpp>
#include <devplace/memory/statistics.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/mse.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/ops/creation.hpp>
#include <devplace/optim/sgd.hpp>
#include <devplace/parallel/scatter.hpp>
#include <devplace/parallel/to_batch.hpp>
#include <devplace/train/memory_plan.hpp>
#include <devplace/train/trainer.hpp>

#include "parallel/nine_devices.hpp"
#include "support/catch.hpp"
#include "support/forked_group.hpp"
#include "support/replicas.hpp"
#include "support/sanitizers.hpp"
#include "support/thread_processes.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;
namespace collective = devplace::collective;
using device = dp::backend::cuda;

namespace {

constexpr std::array<int, 8> wire_ordinals{0, 1, 2, 3, 4, 5, 6, 7};
using wire_values = std::vector<std::vector<float>>;  // of the participants

wire_values random_gradients(std::size_t participants, std::size_t count) {
  std::mt19937 random(7);
  std::normal_distribution<float> number;
  wire_values all(participants, std::vector<float>(count));
  for (auto& one : all)
    for (std::size_t i = 0; i != count; ++i) one[i] = std::ldexp(number(random), static_cast<int>(i % 30) - 20);
  return all;
}

/// The values of each place after its process has called reduce_rounded.
template <class Short>
wire_values after_rounding(int processes, std::size_t local, const wire_values& before, bool everyone) {
  wire_values result(before.size());
  const auto run = [&](auto&& connect, std::size_t first) {
    const std::size_t count = before[0].size();
    const std::span<const int> own(wire_ordinals.data() + first, local);
    std::vector<dp::detail::memory_block> blocks;
    std::vector<float*> buffers;
    for (std::size_t k = 0; k != local; ++k) {
      blocks.push_back(dp::detail::allocate<device>(own[k], count * sizeof(float)));
      buffers.push_back(static_cast<float*>(blocks[k].data()));
      dp::detail::copy_in<device>(own[k], buffers[k], before[first + k].data(), count * sizeof(float));
    }
    auto communicator = connect(own);
    communicator.reduce_rounded(std::span<float* const>(buffers), count, everyone);
    for (std::size_t k = 0; k != local; ++k) {
      result[first + k].resize(count);
      dp::detail::copy_out<device>(own[k], result[first + k].data(), buffers[k], count * sizeof(float));
    }
  };
  const collective::wire<Short> engine;
  if (processes == 1)
    run([&](auto own) { return engine.template connect<device>(own); }, 0);
  else
    dp::test::in_processes(processes, [&](const dp::process_group& group) {
      run([&](auto own) { return engine.template connect_across<device>(own, group); },
          static_cast<std::size_t>(group.rank()) * local);
    });
  return result;
}

template <class Short> void check_rounded_sums() {
  const double step = std::is_same_v<Short, dp::bf16> ? 0x1p-7 : 0x1p-10;
  for (const auto& [processes, local] : {std::pair{1, 2}, {1, 5}, {2, 1}, {2, 2}, {3, 1}}) {
    const auto of_process = static_cast<std::size_t>(local);
    const wire_values before = random_gradients(static_cast<std::size_t>(processes) * of_process, 3001);
    std::vector<float> expected(3001);
    std::size_t far = 0;
    for (std::size_t i = 0; i != expected.size(); ++i) {
      double exact = 0, magnitude = 0;
      for (const auto& one : before) {
        expected[i] += static_cast<float>(Short(one[i]));
        exact += one[i], magnitude += std::abs(static_cast<double>(one[i]));
      }
      expected[i] = Short(expected[i]);
      far += !(std::abs(expected[i] - exact) <= 1.01 * step * magnitude + 0x1p-22);  // half's subnormal numbers
    }
    INFO(processes << " processes with " << local << " places each");
    CHECK(far == 0);
    CHECK(after_rounding<Short>(processes, of_process, before, true) == wire_values(before.size(), expected));
    CHECK(after_rounding<Short>(processes, of_process, before, false)[0] == expected);
  }
  const wire_values alone = random_gradients(1, 100);
  CHECK(after_rounding<Short>(1, 1, alone, true) == alone);
}

using wire_where = dp::replicated<2, 0, 1>;
using wire_net = nn::sequential<nn::linear<6, 5>, nn::linear<5, 3>>;
using wire_model = dp::model<wire_net, wire_where>;

/// The parameters of all places, and the loss, after some steps with a policy.
template <class Policy> std::pair<wire_values, double> trained(std::size_t steps) {
  using plan = dp::memory_plan<wire_model, dp::batch<7>, dp::optim::sgd, Policy>;
  const std::size_t before = dp::memory_statistics<dp::cuda<2>>().allocated;
  wire_model model{dp::seed{1}};
  dp::trainer step{model, nn::mse{}, dp::optim::sgd{.learning_rate = 0.125}, Policy{}};
  step.prepare(7);
  CHECK(dp::memory_statistics<dp::cuda<2>>().allocated - before == plan::bytes);
  const auto x = dp::uniform<float, dp::cpu>(dp::extents<dp::dyn, 6>{7}, dp::seed{2}, -1, 1);
  const auto y = dp::uniform<float, dp::cpu>(dp::extents<dp::dyn, 3>{7}, dp::seed{3}, -1, 1);
  double loss = 0;
  for (std::size_t i = 0; i != steps; ++i)
    loss = step(dp::scatter<dp::batch_placement_t<wire_where>>(x), dp::scatter<dp::batch_placement_t<wire_where>>(y))
               .item();
  wire_values result(3);
  for (std::size_t k = 0; k != 3; ++k) {
    const auto weight = std::as_const(model).template parameter<0>(k);
    result[k].resize(weight.size());
    dp::detail::copy_out<device>(weight.ordinal(), result[k].data(), weight.data(), weight.size() * sizeof(float));
  }
  return {result, loss};
}

using each_parameter = collective::buckets<1, 1>;
template <template <class, class> class Policy, class Short, class Buckets = collective::buckets<>>
using in_short = Policy<collective::wire<Short>, Buckets>;

/// The parameters after steps with batches that do not divide evenly, one smaller than the number of places. The last
/// steps clip gradients.
template <class Where, class Policy> std::vector<float> trained_on() {
  dp::model<wire_net, Where> model{dp::seed{1}};
  dp::trainer step{model, nn::mse{}, dp::optim::sgd{.learning_rate = 0.125, .momentum = 0.5}, Policy{}};
  for (const std::size_t rows : {std::size_t{7}, std::size_t{1}, std::size_t{10}, std::size_t{6}}) {
    if (rows == 10) step.clip({.max_norm = 0.25});
    step(dp::to_batch<Where>(dp::uniform<float, dp::cpu>(dp::extents<dp::dyn, 6>{rows}, dp::seed{rows}, -1, 1)),
         dp::to_batch<Where>(dp::uniform<float, dp::cpu>(dp::extents<dp::dyn, 3>{rows}, dp::seed{3}, -1, 1)));
  }
  return dp::test::parameters_of(model, dp::local_place_count<Where> - 1);
}

}  // namespace

TEST_CASE("gradients are rounded once on each place and once as sums, with equal bits everywhere", "[parallel]") {
  check_rounded_sums<dp::bf16>();
  check_rounded_sums<dp::half>();
}

TEST_CASE("the memory plan of processes includes the rounded gradients of each place", "[parallel]") {
  using where = dp::across<dp::cuda<0>>;
  using model = dp::model<nn::linear<6, 3>, where>;
  using in_bf16 = collective::all_reduce<collective::wire<dp::bf16>>;
  using plan = dp::memory_plan<model, dp::batch<8>, dp::optim::sgd, in_bf16, dp::processes<2>>;
  STATIC_REQUIRE(plan::reduction_buffer >= (6 * 3 + 3) * sizeof(dp::bf16));
  const std::size_t before = dp::memory_statistics<dp::cuda<0>>().allocated;
  std::size_t with_both = 0;
  dp::test::in_processes(2, [&](const dp::process_group& group) {
    const dp::process_scope scope(group);
    model m{dp::seed{1}};
    dp::trainer step{m, nn::mse{}, dp::optim::sgd{}, in_bf16{}};
    step.prepare(4);
    group.barrier();
    if (group.rank() == 0) with_both = dp::memory_statistics<dp::cuda<0>>().allocated;
    group.barrier();
  });
  CHECK(with_both - before == 2 * plan::bytes);
}

TEST_CASE("training with gradients in bf16 between places stays close to float", "[parallel]") {
  using in_bf16 = collective::all_reduce<collective::wire<dp::bf16>>;
  const auto [exact, exact_loss] = trained<collective::all_reduce<>>(1);
  const auto [rounded, rounded_loss] = trained<in_bf16>(1);
  CHECK(rounded_loss == exact_loss);  // the sums of losses and weights are not rounded
  CHECK(rounded[1] == rounded[0]);
  CHECK(rounded[2] == rounded[0]);
  CHECK(rounded[0] != exact[0]);
  const auto [first, first_loss] = trained<collective::reduce_and_broadcast<collective::wire<dp::bf16>>>(1);
  CHECK(first[0] == rounded[0]);
  CHECK(first[2] == rounded[0]);
  const auto [shares, shares_loss] = trained<in_short<collective::sharded_all_reduce, dp::bf16, each_parameter>>(1);
  CHECK(shares == rounded);
  const auto [far, far_loss] = trained<collective::all_reduce<>>(30);
  const auto [near, near_loss] = trained<in_bf16>(30);
  CHECK(near_loss == Catch::Approx(far_loss).epsilon(0.01));
  for (std::size_t i = 0; i != near[0].size(); ++i) CHECK(std::abs(near[0][i] - far[0][i]) < 0.01);
}

TEST_CASE("rounded gradients have the same bits in one bucket, in several during backward, and in shares",
          "[parallel]") {
  using namespace devplace::collective;
  using several = in_short<all_reduce, dp::bf16, each_parameter>;
  STATIC_REQUIRE(dp::parallel::reduces_during_backward<wire_net, several, float, wire<>::communicator<device>>);
  STATIC_REQUIRE(dp::parallel::reduces_during_backward<wire_net, several, float, wire<>::communicator_across<device>>);
  const auto expected = trained_on<wire_where, in_short<all_reduce, dp::bf16>>();
  CHECK(trained_on<wire_where, several>() == expected);
  CHECK(trained_on<wire_where, in_short<sharded_all_reduce, dp::bf16, each_parameter>>() == expected);
  CHECK(trained_on<wire_where, all_reduce<>>() != expected);
  dp::test::in_processes(3, [&](const dp::process_group& group) {
    const dp::process_scope scope(group);
    const auto found =
        trained_on<dp::across<dp::on<dp::cuda<4>>>, in_short<sharded_all_reduce, dp::bf16, each_parameter>>();
    if (found != expected) throw std::logic_error("other bits");
  });
}

#if !DEVPLACE_TEST_THREAD_SANITIZER  // ThreadSanitizer does not support threads in children of fork()
TEST_CASE("processes that send gradients in 16 bits are bitwise equal to one process with as many places",
          "[parallel]") {
  using namespace devplace::collective;
  using process = dp::across<dp::on<dp::cpu>>;
  using shares = in_short<sharded_all_reduce, dp::bf16, each_parameter>;
  const auto one = support::in_forked_group(1, trained_on<process, shares>);
  const auto two =
      support::in_forked_group(2, trained_on<process, in_short<reduce_and_broadcast, dp::half, each_parameter>>);
  const auto three = support::in_forked_group(3, trained_on<process, shares>);
  CHECK(support::differences(one, trained_on<dp::on<dp::cpu>, all_reduce<>>()) == "");
  CHECK(support::differences(two, trained_on<dp::replicated<0, 1>, in_short<all_reduce, dp::half>>()) == "");
  CHECK(support::differences(three, trained_on<wire_where, in_short<all_reduce, dp::bf16>>()) == "");
}
#endif
