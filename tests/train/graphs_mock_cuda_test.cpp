// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A step whose launches repeat becomes one CUDA graph, with the bits of steps without graphs.

#include <devplace/train/trainer.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <devplace/fully_sharded.hpp>
#include <devplace/memory/event.hpp>
#include <devplace/memory/stream.hpp>
#include <devplace/nn/batch_norm.hpp>
#include <devplace/nn/cross_entropy.hpp>
#include <devplace/nn/dropout.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/recomputed.hpp>
#include <devplace/nn/relu.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/optim/adam.hpp>
#include <devplace/optim/on_host.hpp>
#include <devplace/optim/scheduled.hpp>
#include <devplace/optim/schedules.hpp>
#include <devplace/optim/sgd.hpp>
#include <devplace/parallel/to_batch.hpp>
#include <devplace/parallel/wire.hpp>
#include <devplace/tensor/copy.hpp>

#include "support/catch.hpp"
#include "support/mock_cuda/mock_cuda.hpp"
#include "support/replicas.hpp"
#include "support/training_data.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;
namespace mock = devplace::test::mock_cuda;
using device = dp::on<dp::cuda<0>>;
/// The parameters of each layer are a unit, so that a step has stops between all layers.
using each_layer = dp::spread<dp::mesh<dp::shares<2, 1>>, 0, 1>;

namespace {

using net = nn::sequential<nn::linear<6, 16>, nn::relu, nn::linear<16, 3>>;

/// Returns the number of calls of CUDA whose name begins with `start`.
std::size_t calls_of(const std::string& start) {
  return static_cast<std::size_t>(std::count_if(mock::calls().begin(), mock::calls().end(),
                                                [&](const std::string& call) { return call.starts_with(start); }));
}

template <class Where> auto samples(std::size_t rows) {
  return dp::to_batch<Where>(dp::test::integer_samples<float, 6>(rows));
}
template <class Where> auto labels(std::size_t rows) { return dp::to_batch<Where>(dp::test::square_labels(rows, 3)); }

template <class Model> auto parameters_of(const Model& model) {
  if constexpr (dp::stores_shares<typename Model::placement_type>)
    return dp::test::parameters_of(dp::to<dp::cpu>(model));
  else
    return dp::test::parameters_of(model);
}

/// A model with its trainer, and an equal one without graphs.
template <class Net, class Where, class P, class Rule, std::size_t Batches = 1,
          class Policy = dp::collective::default_policy_t<Where>>
struct compared {
  using model_type = dp::model<Net, Where, P>;

  model_type model{dp::seed{4}}, other{dp::seed{4}};
  dp::trainer<model_type, nn::cross_entropy, Rule, Policy, dp::accumulate<Batches>> step, single;

  explicit compared(const Rule& rule = {})
      : step(model, nn::cross_entropy{}, rule), single(other, nn::cross_entropy{}, rule) {
    single.launch_as_graphs(false);
  }
  /// Makes a step with both, and returns how the first was launched.
  template <class X, class Y> dp::step_launches operator()(const X& x, const Y& y) {
    step(x, y);
    single(x, y);
    CHECK(single.last_launches().graphs == 0);
    CHECK(parameters_of(model) == parameters_of(other));
    return step.last_launches();
  }
};

}  // namespace

TEST_CASE("a step becomes one graph when the launches repeat, for each buffer of batches", "[train]") {
  compared<net, device, float, dp::optim::adam> steps;
  constexpr std::size_t rows = 150;  // a batch that several blocks of a kernel share
  const auto x0 = samples<device>(rows), x1 = samples<device>(rows);
  const auto y0 = labels<device>(rows), y1 = labels<device>(rows);
  for (int i = 0; i != 8; ++i) {
    INFO("step " << i);
    const auto& x = i % 2 == 0 ? x0 : x1;
    const auto& y = i % 2 == 0 ? y0 : y1;
    const std::size_t captures = calls_of("cudaStreamBeginCapture");
    const dp::step_launches how = steps(x, y);
    CHECK(calls_of("cudaStreamBeginCapture") - captures == (i == 3 || i == 4 ? 1 : 0));
    CHECK(how.graphs == (i < 3 ? 0 : 1));
    CHECK((how.single == 0) == (i >= 3));
    CHECK(how.in_graphs == (i < 3 ? 0 : 8));
    CHECK((i < 3 || how.interrupted_after == nullptr));
  }
  mock::clear_calls();
  auto& step = steps.step;
  step(x0, y0);
  const dp::step_launches how = step.last_launches();
  CHECK(how.graphs == 1);     // launches of graphs,
  CHECK(how.in_graphs == 8);  // of kernels, products and copies together,
  CHECK(how.single == 0);     // and launches one by one
  CHECK(mock::calls() == std::vector<std::string>{"cudaGraphLaunch device 0"});
  CHECK(mock::launches().size() == 8);
  CHECK(mock::violations().empty());
}

TEST_CASE("updates on the host divide the graph of a step, and have the bits of the CPU", "[train]") {
  using on_host = dp::optim::on_host<dp::optim::adam>;
  compared<net, device, float, on_host> steps(on_host{{.learning_rate = 0.01}});
  const auto x = samples<device>(8);
  const auto y = labels<device>(8);
  for (int i = 0; i != 5; ++i) {
    const dp::step_launches how = steps(x, y);
    CHECK(how.graphs == (i < 2 ? 0 : 1));  // of the passes
    CHECK(how.interrupted_after != nullptr);
  }
  mock::clear_calls();
  steps.step(x, y);
  CHECK(calls_of("cudaMemcpyAsync") == 3);  // the sum of weights, and gradients down; parameters up
  CHECK(calls_of("cudaEventSynchronize") + calls_of("cudaEventQuery") >= 1);
  CHECK(calls_of("cudaMallocAsync") + calls_of("cudaHostAlloc") == 0);
  CHECK(mock::violations().empty());

  dp::model<net, device> on_device{dp::seed{4}};
  dp::trainer step{on_device, nn::cross_entropy{}, dp::optim::adam{.learning_rate = 0.01}};
  for (int i = 0; i != 6; ++i) step(x, y);
  const auto expected = dp::test::parameters_of(on_device), found = dp::test::parameters_of(steps.model);
  for (std::size_t i = 0; i != expected.size(); ++i) CHECK(found[i] == Catch::Approx(expected[i]).margin(1e-5));
}

TEST_CASE("steps that do not repeat leave the graphs of others alone", "[train]") {
  dp::model<net, device> model{dp::seed{4}};
  dp::trainer step{model, nn::cross_entropy{}, dp::optim::adam{}};
  const auto x = samples<device>(2);
  const auto y = labels<device>(2);
  for (int i = 0; i != 140; ++i) {
    step.clip({.max_norm = i % 2 == 0 ? 1 : 2.0 + i});
    step(x, y);
    if (i % 2 == 0 && i > 2) CHECK(step.last_launches().graphs == 1);
  }
  CHECK(calls_of("cudaStreamBeginCapture") == 1);
}

TEMPLATE_TEST_CASE("a trainer works without graphs where CUDA cannot capture", "[train]", device, each_layer) {
  const std::string call = GENERATE("cudaStreamBeginCapture", "cudaStreamEndCapture", "cudaGraphInstantiate");
  compared<net, TestType, float, dp::optim::adam> steps;
  const auto x = samples<TestType>(8);
  const auto y = labels<TestType>(8);
  mock::fail(call, cudaErrorNotSupported);
  for (int i = 0; i != 5; ++i) CHECK(steps(x, y).graphs == 0);
  CHECK(cudaGetLastError() == cudaSuccess);
  CHECK(mock::violations().empty());
}

TEST_CASE("a call that fails while the launches are captured is not missing in the step", "[train]") {
  compared<net, device, float, dp::optim::adam> steps;
  const auto x = samples<device>(8);
  const auto y = labels<device>(8);
  for (int i = 0; i != 2; ++i) steps(x, y);
  mock::fail("cudaLaunchKernelExC", cudaErrorNotSupported, 3);  // the third kernel of the step, in its capture
  for (int i = 0; i != 3; ++i) CHECK(steps(x, y).graphs == 0);
  CHECK(mock::violations().empty());
}

TEST_CASE("whatever uses a stream first launches what a step has collected", "[train]") {
  const auto x = samples<device>(8);
  auto y = samples<device>(8);
  const auto stream = dp::stream<dp::cuda<0>>::current();
  const auto launches_before = [&](const auto& use) {
    dp::detail::launch_memory memory;
    dp::detail::cuda_repeated_launches::scope step(memory);
    mock::clear_calls();
    y = x + x;
    CHECK(mock::launches().empty());
    use();
    return mock::launches().size();
  };
  CHECK(launches_before([] {}) == 0);
  CHECK(launches_before([&] { static_cast<void>(stream.native_handle()); }) == 1);
  CHECK(launches_before([&] { static_cast<void>(stream.ready()); }) == 1);
  CHECK(launches_before([&] { stream.synchronize(); }) == 1);
  CHECK(launches_before([] { dp::synchronize<dp::cuda<0>>(); }) == 1);
  CHECK(launches_before([] { dp::event<dp::cuda<0>>().record(); }) == 1);
  CHECK(launches_before([&] { static_cast<void>(dp::to<dp::on<dp::cpu>>(x)); }) == 1);
}

TEST_CASE("accumulation, clipping, dropout and a rate that changes in each step become graphs", "[train]") {
  using dropping = nn::sequential<nn::linear<6, 16>, nn::relu, nn::dropout<>, nn::linear<16, 3>>;
  using rule = dp::optim::scheduled<dp::optim::sgd, dp::optim::linear>;
  compared<dropping, device, float, rule, 3> steps(rule{{.learning_rate = 0.1, .momentum = 0.9}, {.steps = 100}});
  steps.step.clip({.max_norm = 0.5});
  steps.single.clip({.max_norm = 0.5});
  const auto x = samples<device>(8);
  const auto y = labels<device>(8);
  for (int i = 0; i != 15; ++i) {
    INFO("step " << i);
    const dp::step_launches how = steps(x, y);
    if (i < 9) continue;
    CHECK(how.graphs == 1);
    CHECK(how.single == 0);
    CHECK(how.interrupted_after == nullptr);
  }
}

TEST_CASE("layers that backward computes again, and a copy of their buffers, are part of the graph", "[train]") {
  using plain =
      nn::sequential<nn::sequential<nn::linear<6, 16>, nn::batch_norm<16>, nn::relu, nn::dropout<>>, nn::linear<16, 3>>;
  using recomputed =
      nn::sequential<nn::recomputed<nn::linear<6, 16>, nn::batch_norm<16>, nn::relu, nn::dropout<>>, nn::linear<16, 3>>;
  compared<recomputed, device, float, dp::optim::adam> steps;
  dp::model<plain, device> model{dp::seed{4}};
  dp::trainer step{model, nn::cross_entropy{}, dp::optim::adam{}};
  const auto x = samples<device>(8);
  const auto y = labels<device>(8);
  for (int i = 0; i != 8; ++i) {
    INFO("step " << i);
    const dp::step_launches how = steps(x, y);
    step(x, y);
    CHECK(dp::test::parameters_of(steps.model) == dp::test::parameters_of(model));
    if (i < 4) continue;
    CHECK(how.graphs == 1);
    CHECK(how.single == 0);
    CHECK(how.interrupted_after == nullptr);
  }
  CHECK(mock::violations().empty());
}

TEST_CASE("steps that mixed<half> skips are graphs", "[train]") {
  compared<net, device, dp::mixed<dp::half>, dp::optim::adam> steps;
  const auto x = samples<device>(8);
  auto host = dp::test::integer_samples<float, 6>(8);
  host(3, 2) = std::numeric_limits<float>::infinity();
  const auto overflows = dp::to_batch<device>(host);
  const auto y = labels<device>(8);
  for (int i = 0; i != 9; ++i) {
    INFO("step " << i);
    CHECK(steps(i % 3 == 2 ? overflows : x, y).graphs == (i >= 3 ? 1 : 0));
  }
  CHECK(steps.step.scaler().skipped_steps == 3);
  CHECK(steps.step.scaler().scale == steps.single.scaler().scale);
}

namespace graphs_test {

/// A layer that reads its output on the host.
struct reading {
  template <class In> using output = In;
  static void forward(const auto& c) {
    c.output = c.input * 1;
    dp::to<dp::on<dp::cpu>>(c.output);
  }
  static void backward(const auto& c) { c.input_gradient = c.output_gradient * 1; }
};

/// A layer with memory of its own.
struct allocating {
  template <class In> using output = In;
  template <class Call> static void forward(const Call& c) {
    using backend = typename Call::backend_type;
    using value = typename Call::value_type;
    const auto memory = dp::detail::allocate<backend>(c.ordinal(), c.input.size() * sizeof(value));
    const auto twice = dp::detail::view_at<backend>(c.ordinal(), static_cast<value*>(memory.data()), c.input.extents());
    twice = c.input * 2;
    c.output = twice / 2;
  }
  static void backward(const auto& c) { c.input_gradient = c.output_gradient * 1; }
};

}  // namespace graphs_test

TEST_CASE("layers that wait for the device or allocate divide the graph of a step", "[train]") {
  compared<
      nn::sequential<nn::linear<6, 16>, nn::relu, graphs_test::reading, graphs_test::allocating, nn::linear<16, 3>>,
      device, float, dp::optim::adam>
      steps;
  const auto x = samples<device>(8);
  const auto y = labels<device>(8);
  for (int i = 0; i != 4; ++i) {
    const dp::step_launches how = steps(x, y);
    REQUIRE(how.interrupted_after != nullptr);
    CHECK((how.graphs >= 2) == (i > 1));
  }
  CHECK_THAT(steps.step.last_launches().interrupted_after, Catch::Matchers::Contains("assign"));
}

TEST_CASE("each place of a model has graphs", "[train]") {
  using places = dp::replicated<0, 1>;
  compared<net, places, float, dp::optim::adam> steps;
  const auto x = samples<places>(8);
  const auto y = labels<places>(8);
  for (int i = 0; i != 5; ++i) CHECK((steps(x, y).graphs >= 2) == (i > 1));
}

namespace {

using deep = nn::sequential<nn::linear<6, 16>, nn::relu, nn::linear<16, 16>, nn::batch_norm<16>, nn::relu,
                            nn::recomputed<nn::linear<16, 16>, nn::dropout<>>, nn::linear<16, 3>>;

/// Makes steps with two batches in turn; each step after the first ones is one graph, which contains the exchanges.
void check_one_graph(auto&& steps, const auto& x0, const auto& x1, const auto& y, int first_steps = 6) {
  for (int i = 0; i != first_steps + 4; ++i) {
    INFO("step " << i);
    const dp::step_launches how = steps(i % 2 == 0 ? x0 : x1, y);
    if (i < first_steps) continue;
    CHECK(how.graphs == 1);
    CHECK(how.in_graphs > 20);
    CHECK(how.single == 0);
    CHECK(how.interrupted_after == nullptr);
  }
  mock::clear_calls();
  steps.step(x0, y);
  UNSCOPED_INFO(mock::calls().size());
  CHECK(calls_of("cudaGraphLaunch") == 1);
  CHECK(calls_of("cudaLaunchKernel") + calls_of("cublasLtMatmul") + calls_of("cudaMemcpy") == 0);
  CHECK(calls_of("cudaMalloc") + calls_of("cudaEventSynchronize") + calls_of("cudaStreamSynchronize") == 0);
  CHECK(mock::violations().empty());
}
template <class Where, class P = float, class Policy = dp::collective::default_policy_t<Where>, class Net = deep>
void check_one_graph() {
  constexpr std::size_t rows = 24;
  check_one_graph(compared<Net, Where, P, dp::optim::adam, 1, Policy>(), samples<Where>(rows), samples<Where>(rows),
                  labels<Where>(rows));
}

}  // namespace

TEST_CASE("the step of a model in shares is one graph, with the exchanges between its layers", "[train]") {
  using dp::collective::gather_units;
  SECTION("direct") { check_one_graph<each_layer>(); }
  SECTION("ring") { check_one_graph<each_layer, float, gather_units<dp::collective::ring>>(); }
  SECTION("one unit") { check_one_graph<dp::fully_sharded<0, 1>>(); }
  SECTION("bf16") { check_one_graph<each_layer, dp::mixed<dp::bf16>>(); }
  SECTION("gradients in bf16") { check_one_graph<each_layer, float, gather_units<dp::collective::wire<dp::bf16>>>(); }
  SECTION("devices without access to each other") {
    mock::separate_devices();
    check_one_graph<each_layer>();
  }
}

TEST_CASE("the step of a model on a mesh of replicas and shares is one graph", "[train]") {
  mock::set_devices(4, std::size_t{1} << 30);
  check_one_graph<dp::spread<dp::mesh<dp::replicas<2>, dp::shares<2, 1>>, 0, 1, 2, 3>>();
}

TEST_CASE("a graph of several places is ordered with the places' other work", "[train]") {
  dp::model<deep, each_layer> model{dp::seed{4}}, other{dp::seed{4}};
  dp::trainer step{model, nn::cross_entropy{}, dp::optim::adam{}};
  dp::trainer single{other, nn::cross_entropy{}, dp::optim::adam{}};
  single.launch_as_graphs(false);
  const auto y = labels<each_layer>(8);
  const auto train = [&](auto& trainer) {  // the host and other work do not wait meanwhile
    auto x = samples<each_layer>(8);
    for (int i = 0; i != 10; ++i) {
      x *= 0.75f;
      trainer(x, y);
    }
  };
  train(step);
  train(single);
  CHECK(step.last_launches().graphs == 1);
  CHECK(step.last_launches().single == 0);
  CHECK(parameters_of(model) == parameters_of(other));
  CHECK(mock::violations().empty());
}

TEST_CASE("a lost device ends a step of a model in shares whose graph it executes", "[train]") {
  dp::model<net, each_layer> model{dp::seed{4}};
  dp::trainer step{model, nn::cross_entropy{}, dp::optim::adam{}};
  const auto x = samples<each_layer>(8);
  const auto y = labels<each_layer>(8);
  for (int i = 0; i != 5; ++i) step(x, y);
  REQUIRE(step.last_launches().graphs == 1);
  mock::break_device(1, cudaErrorIllegalAddress);
  CHECK_THROWS_AS(step(x, y), dp::device_lost);
  CHECK_THROWS(step(x, y));
}

TEST_CASE("the step of a model whose layers reduce over all places is one graph", "[train]") {
  using joint = nn::sequential<nn::linear<6, 16>, nn::batch_norm<16, nn::over_all_places>, nn::relu, nn::linear<16, 3>>;
  check_one_graph<dp::replicated<0, 1>, float, dp::collective::all_reduce<>, joint>();
  check_one_graph<each_layer, float, dp::collective::gather_units<>, joint>();
}

TEST_CASE("clipped and accumulated steps of a model in shares are one graph", "[train]") {
  compared<deep, each_layer, dp::mixed<dp::half>, dp::optim::adam> clipped;
  clipped.step.clip({.max_norm = 0.5});
  clipped.single.clip({.max_norm = 0.5});
  const auto x = samples<each_layer>(8);
  const auto y = labels<each_layer>(8);
  check_one_graph(clipped, x, x, y);
  CHECK(clipped.step.scaler().scale == clipped.single.scaler().scale);
  compared<deep, each_layer, float, dp::optim::adam, 2> accumulated;
  check_one_graph(accumulated, x, x, y, 8);
}

TEST_CASE("updates on the host follow the graph of the passes of a model in shares", "[train]") {
  using on_host = dp::optim::on_host<dp::optim::adam>;
  compared<deep, each_layer, float, on_host> steps(on_host{{.learning_rate = 0.01}});
  const auto x = samples<each_layer>(8);
  const auto y = labels<each_layer>(8);
  for (int i = 0; i != 8; ++i) {
    const dp::step_launches how = steps(x, y);
    if (i < 6) continue;
    CHECK(how.graphs == 1);  // of the passes, with their exchanges
    CHECK(how.interrupted_after != nullptr);
  }
  CHECK(mock::violations().empty());
}
