// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <array>
#include <cstddef>
#include <ratio>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <devplace/nn/cross_entropy.hpp>
#include <devplace/nn/dropout.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/optim/sgd.hpp>
#include <devplace/parallel/broadcast_parameters.hpp>
#include <devplace/parallel/to_batch.hpp>
#include <devplace/train/trainer.hpp>

#include "support/catch.hpp"
#include "support/replicas.hpp"
#include "support/thread_processes.hpp"
#include "support/training_data.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;
using Catch::Matchers::ContainsSubstring;

namespace {

/// An identity layer with a buffer.
struct with_buffer {
  template <class In> using output = In;
  static constexpr std::array buffers{nn::parameter{"mean", {2, 2}, nn::init::constant(3)}};
  static void forward(const auto& c) { c.output = c.input + 0.0F; }
  static void backward(const auto& c) {
    if (c.needs_input_gradient) c.input_gradient = c.output_gradient + 0.0F;
  }
};

using net = nn::sequential<nn::linear<6, 8>, nn::dropout<std::ratio<1, 5>>, nn::linear<8, 3>, with_buffer>;

constexpr std::size_t buffer_elements = 4;

/// Parameters and buffers of place k.
template <class Net, class Where, class P>
std::vector<float> all_of(const dp::model<Net, Where, P>& model, std::size_t k) {
  std::vector<float> values = dp::test::parameters_of(model, k);
  const std::size_t parameters = values.size();
  values.resize(parameters + buffer_elements);
  const auto& r = model.state().replicas[k];
  dp::detail::copy_out<dp::placement_backend_t<Where>>(r.ordinal, values.data() + parameters, r.buffer_data(),
                                                       buffer_elements * sizeof(float));
  return values;
}

/// Fills parameter 1 and the buffer of place k with `value`.
template <class Net, class Where, class P> void fill(dp::model<Net, Where, P>& model, std::size_t k, float value) {
  const std::vector<float> values(64, value);
  const auto bias = model.template parameter_only_on<1>(k);
  const auto& r = model.state().replicas[k];
  using backend = dp::placement_backend_t<Where>;
  dp::detail::copy_in<backend>(r.ordinal, bias.data(), values.data(), bias.size() * sizeof(float));
  dp::detail::copy_in<backend>(r.ordinal, r.buffer_data(), values.data(), buffer_elements * sizeof(float));
}

template <class Where, class Model> std::vector<float> trained(Model& model) {
  dp::trainer step{model, nn::cross_entropy{}, dp::optim::sgd{.learning_rate = 0.1f}};
  for (int i = 0; i != 2; ++i)
    step(dp::to_batch<Where>(dp::test::integer_samples<float, 6>(7)),
         dp::to_batch<Where>(dp::test::square_labels(7, 3)));
  return dp::test::parameters_of(model);
}

template <class Where> void check(int processes) {
  std::vector<float> expected;
  {
    dp::model<net, dp::replicated<0, 1, 2, 3>> model{dp::seed{5}};
    for (std::size_t k = 0; k != 4; ++k) fill(model, k, 0.25F);
    expected = trained<dp::replicated<0, 1, 2, 3>>(model);
  }
  dp::test::in_processes(processes, [&](const dp::process_group& group) {
    const dp::process_scope scope{group};
    const auto rank = static_cast<std::size_t>(group.rank());
    dp::model<net, Where> model{dp::seed{5 + rank}};
    for (std::size_t k = 0; k != dp::local_place_count<Where>; ++k)
      fill(model, k, 0.25F + static_cast<float>(2 * rank + k));
    std::vector<float> of_first = all_of(model, 0);
    group.broadcast(std::span(of_first));
    dp::broadcast_parameters(model);
    for (std::size_t k = 0; k != dp::local_place_count<Where>; ++k)
      if (all_of(model, k) != of_first)
        throw std::logic_error("place " + std::to_string(k) + " of rank " + std::to_string(rank) + " differs.");
    if (trained<Where>(model) != expected) throw std::logic_error("dropout or the parameters differ.");
  });
}

}  // namespace

TEST_CASE("all places of all processes get the parameters and buffers of the first place", "[parallel]") {
  CHECK_NOTHROW(check<dp::across<dp::on<dp::cpu>>>(4));
  CHECK_NOTHROW(check<dp::across<dp::replicated<0, 1>>>(2));
  CHECK_NOTHROW(check<dp::replicated<0, 1, 2, 3>>(1));
}

TEST_CASE("a model on one place keeps its parameters", "[parallel]") {
  dp::model<net, dp::on<dp::cpu>> model{dp::seed{5}};
  const auto before = all_of(model, 0);
  dp::broadcast_parameters(model);
  CHECK(all_of(model, 0) == before);
}

TEST_CASE("values saved by forward before a broadcast of parameters are stale", "[parallel]") {
  dp::model<net, dp::on<dp::cpu>> model{dp::seed{5}};
  auto [output, saved] = model.forward(dp::test::integer_samples<float, 6>(4));
  auto [loss, gradient] = nn::cross_entropy{}(output, dp::test::square_labels(4, 3));
  dp::broadcast_parameters(model);
  CHECK_THROWS_AS(model.backward(std::move(saved), gradient), dp::error);
}

TEST_CASE("a broadcast of parameters across processes needs a scope", "[parallel]") {
  dp::model<net, dp::across<dp::on<dp::cpu>>> model{dp::seed{1}};
  CHECK_THROWS_WITH(dp::broadcast_parameters(model),
                    ContainsSubstring("broadcast_parameters: its placement lies across processes"));
}
