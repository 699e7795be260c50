// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The memory of each place of a model in parts, and the bytes that a step moves between the places, are those of
// memory_plan and step_traffic. Defects planted in the exchange of rows change parameters.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include <devplace/convolution.hpp>
#include <devplace/in_parts.hpp>
#include <devplace/nn.hpp>
#include <devplace/parallel.hpp>
#include <devplace/train/trainer.hpp>

#include "parallel/recording_communicator.hpp"
#include "support/catch.hpp"
#include "support/replicas.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;
namespace collective = devplace::collective;
using dp::test::distribute;
using dp::test::parameters_of;
using dp::test::recorded_call;

namespace {

template <int... I> using in_rows = dp::in_parts<dp::axis<2>, I...>;
using block = nn::sequential<nn::conv2d<4, 4, nn::kernel<3>, nn::padding<1>>, nn::group_norm<2, 4>, nn::relu>;
using net = nn::sequential<nn::input<2, 16, 8>, nn::max_pool2d<nn::kernel<3>, nn::stride<1>, nn::padding<1>>,
                           nn::conv2d<2, 4, nn::kernel<5>, nn::padding<2>>, nn::batch_norm<4>, nn::relu,
                           nn::residual<block>, nn::max_pool2d<nn::kernel<3>, nn::stride<2>, nn::padding<1>>,
                           nn::recomputed<block>, nn::avg_pool2d<nn::kernel<3>, nn::stride<1>, nn::padding<1>>,
                           nn::upsample<2>, nn::frozen<nn::conv2d<4, 2, nn::kernel<3>, nn::padding<1>>>>;

template <class T, class Where> auto images(std::size_t n, std::size_t seed) {
  dp::tensor<T, dp::extents<dp::dyn, 2, 16, 8>, dp::on<dp::cpu>> x(dp::extents<dp::dyn, 2, 16, 8>{n});
  for (std::size_t i = 0; i != x.size(); ++i) x.data()[i] = static_cast<T>((i * i * 7 + i * seed) % 7) - T{3};
  return distribute<Where>(x);
}

dp::memory_usage usage(int ordinal) {
  const dp::memory_usage of[] = {dp::memory_statistics<dp::cuda<0>>(), dp::memory_statistics<dp::cuda<1>>(),
                                 dp::memory_statistics<dp::cuda<2>>(), dp::memory_statistics<dp::cuda<3>>()};
  return of[ordinal];
}

template <class Where, class P, class Policy> void check_memory() {
  using model_type = dp::model<net, Where, P>;
  using plan = dp::memory_plan<model_type, dp::batch<6>, dp::optim::adam, Policy>;
  using T = typename dp::precision_traits<P>::parameter;
  INFO(dp::placement_name<Where>());
  const auto x = images<T, Where>(6, 1), y = images<T, Where>(6, 2);
  constexpr auto ordinals = dp::detail::mesh_of<Where>::ordinals;
  std::vector<dp::memory_usage> before;
  for (std::size_t k = 0; k != dp::local_place_count<Where>; ++k) before.push_back(usage(ordinals[k]));
  dp::reset_peak_memory<dp::cuda<0>>();
  dp::reset_peak_memory<dp::cuda<1>>();
  dp::reset_peak_memory<dp::cuda<2>>();
  dp::reset_peak_memory<dp::cuda<3>>();
  model_type model{dp::seed{1}};
  dp::trainer step{model, nn::mse{}, dp::optim::adam{}, Policy{}};
  step(x, y);
  std::vector<std::size_t> allocations;
  for (std::size_t k = 0; k != before.size(); ++k) allocations.push_back(usage(ordinals[k]).allocations);
  for (int i = 0; i != 3; ++i) step(x, y);
  static_cast<void>(step.mean_loss());
  for (std::size_t k = 0; k != before.size(); ++k) {
    const dp::memory_usage now = usage(ordinals[k]);
    CHECK(now.allocations == allocations[k]);
    CHECK(now.peak - before[k].allocated == plan::bytes);
  }
  using prediction = dp::memory_plan<model_type, dp::batch<6>>;
  static_cast<void>(model.predict(x));
  CHECK(usage(ordinals[0]).allocated - before[0].allocated == plan::bytes + prediction::activations);
}

/// A defect that the engine below plants in exchanges of rows, and a record of these exchanges.
enum class defect : unsigned char { none, rows_missing, gradients_missing, rows_of_other_side };
struct row_log {
  dp::test::call_log calls = {};
  std::size_t bytes = 0;  ///< of rows
  std::size_t exchanges = 0, of_forward = 0;
  defect planted = defect::none;
};

/// Engine that records what its communicator moves.
struct recording_rows {
  row_log* log = nullptr;

  template <class Backend> class communicator : public dp::test::recording_communicator<Backend> {
   public:
    communicator(std::span<const int> ordinals, row_log& log)
        : dp::test::recording_communicator<Backend>(ordinals, log.calls), halos_(ordinals), log_(&log) {}
    void exchange_rows(std::span<const dp::runtime::row_exchange> rows) {
      log_->bytes += (rows.size() - 1) * (rows[0].forward + rows[0].backward);
      const bool forward = log_->exchanges++ < log_->of_forward;
      if (log_->planted == defect::rows_missing && forward) return;
      if (log_->planted == defect::gradients_missing && !forward) return;
      if (log_->planted == defect::rows_of_other_side) {
        std::vector<dp::runtime::row_exchange> wrong(rows.begin(), rows.end());
        for (auto& row : wrong) row.to_next = row.to_previous;
        return halos_.exchange(wrong);
      }
      halos_.exchange(rows);
    }

   private:
    dp::parallel::row_halos<Backend> halos_;
    row_log* log_;
  };

  static constexpr std::string_view name = "recording rows";
  template <std::same_as<dp::backend::cuda> Backend> communicator<Backend> connect(std::span<const int> places) const {
    return {places, *log};
  }
  static constexpr std::size_t workspace_bytes(std::size_t, std::size_t, std::size_t) { return 0; }
};

template <class Where, class Net, class P> void check_traffic() {
  using model_type = dp::model<Net, Where, P>;
  using policy = collective::all_reduce<recording_rows>;
  using T = typename dp::precision_traits<P>::parameter;
  constexpr dp::step_traffic<model_type, policy> traffic;
  constexpr std::size_t n = dp::local_place_count<Where>;
  INFO(dp::placement_name<Where>());
  row_log log;
  model_type model{dp::seed{1}};
  dp::trainer step{model, nn::mse{}, dp::optim::sgd{}, policy{{&log}}};
  step(images<T, Where>(6, 1), images<T, Where>(6, 2));
  CHECK(log.bytes == 6 * traffic.rows_of_sample);
  std::size_t reduced = 0;  // each place sends and receives the others' parts
  for (const recorded_call& call : log.calls.of("all_reduce")) reduced += 2 * (n - 1) * call.count * call.element_bytes;
  // The buffers of the first place are those of checkpoints alone, and stay where they are.
  CHECK(log.bytes + reduced + traffic.buffers == traffic.bytes_for(6));
}

}  // namespace

TEST_CASE("a model in parts uses the planned bytes on each place", "[train]") {
  check_memory<in_rows<0, 1>, float, collective::all_reduce<>>();
  check_memory<in_rows<3, 1, 0, 2>, double, collective::all_reduce<>>();
  check_memory<in_rows<2, 1>, float, collective::ring_all_reduce>();
  check_memory<in_rows<0, 2>, dp::mixed<dp::bf16>, collective::all_reduce<>>();
  using model_type = dp::model<net, in_rows<0, 1, 2, 3>>;
  using of_one = dp::memory_plan<dp::model<net, dp::cuda<0>>, dp::batch<32>, dp::optim::sgd>;
  STATIC_REQUIRE(dp::memory_plan<model_type, dp::batch<32>, dp::optim::sgd>::activations < of_one::activations / 2);
}

TEST_CASE("the recorded bytes of a step of a model in parts are those of step_traffic", "[train]") {
  check_traffic<in_rows<0, 1>, net, float>();
  check_traffic<in_rows<3, 1, 0, 2>, net, dp::mixed<dp::bf16>>();
  // A first layer has no gradient of its input, so its rows are sent once: 3 and 3 rows of 8 columns in forward.
  using wide = nn::sequential<nn::input<2, 16, 8>, nn::conv2d<2, 2, nn::kernel<7>, nn::padding<3>>>;
  check_traffic<in_rows<0, 1>, wide, double>();
  constexpr dp::step_traffic<dp::model<wide, in_rows<0, 1>, double>, collective::all_reduce<>> traffic;
  STATIC_REQUIRE(traffic.rows_of_sample == 2 * 6 * 8 * sizeof(double));
}

TEST_CASE("defects in the exchange of rows change parameters", "[train]") {
  using where = in_rows<0, 1, 2>;
  using two = nn::sequential<nn::input<2, 18, 8>, nn::conv2d<2, 4, nn::kernel<3>, nn::padding<1>>, nn::relu,
                             nn::conv2d<4, 2, nn::kernel<3>, nn::padding<1>>>;
  const auto trained = [](defect planted) {
    row_log log;
    dp::model<two, where, double> model{dp::seed{1}};
    dp::trainer step{model, nn::mse{}, dp::optim::sgd{.learning_rate = 0.01},
                     collective::all_reduce<recording_rows>{{&log}}};
    const auto batch = [](std::size_t seed) {
      const dp::extents<dp::dyn, 2, 18, 8> extents{4};
      dp::tensor<double, dp::extents<dp::dyn, 2, 18, 8>, dp::on<dp::cpu>> x(extents);
      for (std::size_t i = 0; i != x.size(); ++i) x.data()[i] = static_cast<double>(i * (i + seed) % 7) - 3;
      return distribute<where>(x);
    };
    step(batch(1), batch(2));  // leaves other rows in the memory
    log.planted = planted;
    log.of_forward = log.exchanges + 2;
    step(batch(3), batch(4));
    return parameters_of(model);
  };
  const auto right = trained(defect::none);
  CHECK(trained(defect::none) == right);
  CHECK(trained(defect::rows_missing) != right);
  CHECK(trained(defect::gradients_missing) != right);
  CHECK(trained(defect::rows_of_other_side) != right);
}
