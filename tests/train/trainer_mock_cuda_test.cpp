// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <ratio>
#include <set>
#include <string>
#include <vector>

#include <devplace/backend/cuda/queue.hpp>
#include <devplace/backend/cuda/workspace.hpp>
#include <devplace/data/loader.hpp>
#include <devplace/nn/cross_entropy.hpp>
#include <devplace/nn/dropout.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/relu.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/ops/creation.hpp>
#include <devplace/optim/adam.hpp>
#include <devplace/optim/scheduled.hpp>
#include <devplace/optim/schedules.hpp>
#include <devplace/optim/sgd.hpp>
#include <devplace/train/memory_plan.hpp>
#include <devplace/train/moving_average.hpp>
#include <devplace/train/trainer.hpp>

#include "support/catch.hpp"
#include "support/mock_cuda/mock_cublaslt.hpp"
#include "support/mock_cuda/mock_cuda.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;
namespace lt = devplace::test::mock_cublaslt;
namespace mock = devplace::test::mock_cuda;

namespace {

using names = std::vector<std::string>;
using net = nn::sequential<nn::linear<784, 64>, nn::relu, nn::dropout<std::ratio<1, 5>>, nn::linear<64, 10>>;

// The launches of one step of `net`, by the distinguishing parts of the kernels' names. These lists are a promise to
// users: change a step only on purpose.

const names forward_and_backward{"cublasLtMatmul",        // 784 to 64
                                 "finish_kernel",         // its bias and relu
                                 "dropout_kernel",        //
                                 "cublasLtMatmul",        // 64 to 10, with its bias
                                 "cross_entropy_row",     // losses, gradients, and sums, stored where they are used
                                 "cublasLtMatmul",        // gradient of 64 to 10: weights and bias,
                                 "cublasLtMatmul",        // and input
                                 "dropout_kernel",        //
                                 "relu_gradient_source",  // and the bias's gradient, its column sums
                                 "cublasLtMatmul"};       // gradient of 784 to 64: weights
const names clip{"magnitude_reducer", "square_source"};

names operator+(names all, const names& more) {
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

/// A product's epilogue cannot add to an existing bias gradient, so column sums follow as a separate kernel.
names forward_and_adding_backward() {
  names all = forward_and_backward;
  all.insert(all.begin() + 6, "matrix_source");
  return all;
}

/// The distinguishing part of a kernel's name: "for_each_kernel<tail_functor<float> >" becomes "tail_functor",
/// "reduce_kernel<true, element_source<float>, sum<float> >" becomes "sum", "dropout_kernel<float>" "dropout_kernel".
/// Conversions are named after their result type.
std::string head(const std::string& name) {
  if (const std::size_t convert = name.find("convert<"); convert != std::string::npos)
    return name.substr(convert, name.find('>', convert) + 1 - convert);
  const auto word_at = [&name](std::size_t at) { return name.substr(at, name.find_first_of("<,> ", at) - at); };
  for (std::size_t at = name.find('<') + 1; at != 0; at = name.find(' ', at) + 1) {
    const std::string word = word_at(at);
    if (word == "float" || word == "double" || word == "bf16") break;
    const bool says_little = word == "true" || word == "false" || word == "element_source" ||
                             word.find_first_not_of("0123456789u") == std::string::npos;
    if (!says_little) return word;
  }
  return word_at(0);
}

names launched_on(int device) {
  names all;
  for (const mock::launch& l : mock::launches())
    if (l.device == device) all.push_back(head(l.name));
  return all;
}

/// A batch of equal samples.
template <class Where> struct batch_of {
  using placement = dp::batch_placement_t<Where>;
  dp::tensor<float, dp::extents<dp::dyn, 784>, placement> images;
  dp::tensor<std::int64_t, dp::extents<dp::dyn>, placement> labels;

  explicit batch_of(std::size_t samples)
      : images(dp::ones<float, placement>(dp::extents<dp::dyn, 784>{samples})),
        labels(dp::ones<std::int64_t, placement>(dp::extents<dp::dyn>{samples})) {}
};

std::size_t calls_of(const std::string& function) {
  return static_cast<std::size_t>(std::count_if(mock::calls().begin(), mock::calls().end(), [&](const std::string& c) {
    return c.compare(0, function.size(), function) == 0;
  }));
}

/// Whether CUDA got only launches and `order` calls that order streams since the last clear_calls(): no allocation,
/// copy or wait. The first repetition of launches is captured.
bool only_launches(std::size_t order = 0) {
  const bool ordered = calls_of("cudaEventRecord ") + calls_of("cudaStreamWaitEvent ") == order;
  return ordered && mock::calls().size() == mock::launching_calls() + order && mock::violations().empty();
}

bool all_on_their_streams() {
  return std::all_of(mock::launches().begin(), mock::launches().end(),
                     [](const mock::launch& l) { return l.stream == dp::detail::cuda_scope(l.device).stream(); });
}

/// Compares a place's memory by purpose since `before`, and its peak, with the plan.
template <class Plan, dp::place P> void check_plan(const dp::memory_usage& before, std::size_t more_workspace = 0) {
  const dp::memory_usage now = dp::memory_statistics<P>();
  const auto held = [&](dp::memory_purpose purpose) { return now.of(purpose) - before.of(purpose); };
  CHECK(held(dp::memory_purpose::parameters) == Plan::parameters + Plan::buffers);
  CHECK(held(dp::memory_purpose::gradients) == Plan::gradients);
  CHECK(held(dp::memory_purpose::optimizer_state) == Plan::optimizer_state);
  CHECK(held(dp::memory_purpose::activations) == Plan::activations);
  CHECK(held(dp::memory_purpose::workspace) == Plan::sums + Plan::reduction_buffer + more_workspace);
  CHECK(held(dp::memory_purpose::tensors) == 0);
  CHECK(now.peak - before.allocated == Plan::bytes + more_workspace);
}

/// Allocates the memory that exists once per place.
void take_gpu_workspace(int ordinal) { dp::detail::prepare_workspaces<dp::backend::cuda>(ordinal); }

}  // namespace

TEST_CASE("every step of Adam with clipping makes the same launches and no other CUDA calls", "[train]") {
  dp::model<net, dp::on<dp::cuda<0>>> model{dp::seed{1}};
  dp::trainer step{model, nn::cross_entropy{}, dp::optim::adam{}};
  step.clip(dp::optim::clip_norm{});
  const batch_of<dp::on<dp::cuda<0>>> batch(64), smaller(37);
  step.prepare(64);
  step(batch.images, batch.labels);
  const names expected = forward_and_backward + clip + names{"adam_formula"};
  std::vector<unsigned> blocks;
  for (int i = 0; i < 20; ++i) {
    mock::clear_calls();
    const auto loss = step(batch.images, batch.labels);
    INFO("step " << i);
    CHECK(launched_on(0) == expected);
    CHECK(only_launches());
    CHECK(all_on_their_streams());
    std::vector<unsigned> now;
    for (const mock::launch& l : mock::launches()) now.insert(now.end(), {l.blocks, l.threads});
    if (i == 0) blocks = now;
    CHECK(now == blocks);
  }
  mock::clear_calls();
  step(smaller.images, smaller.labels);
  CHECK(launched_on(0) == expected);
  CHECK(only_launches());
}

TEST_CASE("prepare makes all cuBLASLt plans, and the first steps make none", "[train]") {
  const auto made = [] { return std::count(lt::calls().begin(), lt::calls().end(), "cublasLtMatmulAlgoGetHeuristic"); };
  dp::model<net, dp::on<dp::cuda<0>>> model{dp::seed{1}};
  dp::trainer step{model, nn::cross_entropy{}, dp::optim::sgd{.momentum = 0.9}, dp::accumulate<2>{}};
  const batch_of<dp::on<dp::cuda<0>>> batch(64), smaller(37);
  lt::clear_calls();
  mock::clear_calls();
  step.prepare(64);
  CHECK(made() == 6);  // five, and the last layer's weight gradient without bias gradient
  CHECK(mock::launches().empty());
  CHECK(calls_of("cudaMemcpy") == 0);
  step.prepare(37);
  CHECK(made() == 12);
  mock::clear_calls();
  for (int i = 0; i < 2; ++i) {
    step(batch.images, batch.labels);
    step(smaller.images, smaller.labels);
  }
  CHECK(made() == 12);
  CHECK(only_launches());
}

TEST_CASE("schedules, averages and gradient norms are launches on CUDA, and reading norms does not stop the device",
          "[train]") {
  dp::model<net, dp::on<dp::cuda<0>>> model{dp::seed{1}};
  dp::trainer step{model, nn::cross_entropy{},
                   dp::optim::scheduled{dp::optim::adam{}, dp::optim::step_decay{.every = 7}}};
  const batch_of<dp::on<dp::cuda<0>>> batch(64);
  step(batch.images, batch.labels);
  const names update{"adam_formula"};
  for (const double learning_rate : {1e-3, 0.5, 0.5, 0.25}) {
    const bool changes = learning_rate != step.optimizer().rule().learning_rate;
    step.optimizer().rule().learning_rate = learning_rate;
    mock::clear_calls();
    step(batch.images, batch.labels);
    CHECK(launched_on(0) == (changes ? names{"begin_steps"} : names{}) + forward_and_backward + update);
    CHECK(only_launches());
  }
  dp::moving_average average{model};
  step.measure_gradients();
  for (int i = 5; i < 16; ++i) {
    mock::clear_calls();
    step(batch.images, batch.labels);
    average.update(model);
    CHECK(launched_on(0) == (i % 7 == 0 ? names{"begin_steps"} : names{}) + forward_and_backward + clip + update +
                                names{"average_functor"});
    CHECK(only_launches());
  }
  mock::clear_calls();
  const auto norms = step.gradient_norms();
  step(batch.images, batch.labels);
  static_cast<void>(norms.item());  // waits for an event before the second step, not for the stream
  CHECK(calls_of("cudaMemcpyAsync device 0 to host, 40 bytes") == 1);
  CHECK(calls_of("cudaEventRecord ") == 1);
  CHECK(calls_of("cudaStreamSynchronize") == 0);
  CHECK(calls_of("cudaDeviceSynchronize") == 0);
  CHECK(mock::violations().empty());
}

TEST_CASE("an epoch of a loader and a trainer on CUDA allocates nothing, waits for nothing and reads nothing back",
          "[train]") {
  using where = dp::on<dp::cuda<0>>;
  dp::set_device_map({{0, 1}});  // like process 1 of a machine, which must not use device 0
  dp::image_set data{dp::tensor<std::uint8_t, dp::extents<dp::dyn, dp::dyn, dp::dyn>, dp::on<dp::cpu>>(
                         dp::extents<dp::dyn, dp::dyn, dp::dyn>(150, 28, 28)),
                     dp::tensor<std::uint8_t, dp::extents<dp::dyn>, dp::on<dp::cpu>>(dp::extents<dp::dyn>(150))};
  std::fill_n(data.images.data(), data.images.size(), std::uint8_t{1});
  std::fill_n(data.labels.data(), data.labels.size(), std::uint8_t{1});
  dp::loader<where> batches{data, {.batch = 32, .shuffle = dp::seed{2}}};
  dp::model<net, where> model{dp::seed{1}};
  dp::trainer step{model, nn::cross_entropy{}, dp::optim::adam{}};
  for (int epoch = 0; epoch < 3; ++epoch) {
    mock::clear_calls();
    const std::size_t changes = mock::device_changes();
    for (const auto& [images, labels] : batches.epoch(epoch)) step(images, labels);
    if (epoch == 0) continue;
    for (const char* never : {"cudaMalloc", "cudaFree", "cudaHostAlloc", "cudaStreamSynchronize",
                              "cudaEventSynchronize", "cudaDeviceSynchronize"})
      CHECK(calls_of(never) == 0);
    CHECK(calls_of("cudaMemcpyAsync device 1 to device") == 5 * 2);  // bytes and labels
    CHECK(calls_of("cudaMemcpyAsync") == 5 * 2);
    CHECK(launched_on(1).size() == 5 * (1 + forward_and_backward.size() + 1));
    CHECK(mock::device_changes() == changes);
    CHECK(mock::violations().empty());
  }
  CHECK(mock::contexts() == std::set<int>{1});
}

TEST_CASE("an update on CUDA has the same launch arguments in every step, so that the launch can be repeated",
          "[train]") {
  using kernel = dp::detail::update_kernel<dp::optim::detail::adam_formula, float, 3>;
  mock::keep_arguments("adam_formula", sizeof(kernel));
  dp::model<net, dp::on<dp::cuda<0>>> model{dp::seed{1}};
  dp::trainer step{model, nn::cross_entropy{}, dp::optim::adam{}};
  const batch_of<dp::on<dp::cuda<0>>> batch(64);
  mock::clear_calls();
  for (int i = 0; i < 3; ++i) {
    if (i == 2) step.optimizer().rule().learning_rate = 0.5;
    step(batch.images, batch.labels);
  }
  std::vector<std::vector<unsigned char>> updates;
  for (const mock::launch& l : mock::launches())
    if (head(l.name) == "adam_formula") updates.push_back(l.argument);
  REQUIRE(updates.size() == 3);
  CHECK(updates[0].size() == sizeof(kernel));
  CHECK(updates[1] == updates[0]);
  CHECK(updates[2] == updates[0]);
}

TEST_CASE("on CUDA only reading a step's loss waits for the device", "[train]") {
  dp::model<net, dp::on<dp::cuda<0>>> model{dp::seed{1}};
  dp::trainer step{model, nn::cross_entropy{}, dp::optim::adam{}};
  const batch_of<dp::on<dp::cuda<0>>> batch(64);
  step(batch.images, batch.labels);
  mock::clear_calls();
  const auto loss = step(batch.images, batch.labels);
  CHECK(only_launches());
  mock::clear_calls();
  static_cast<void>(loss.item());
  CHECK(mock::launches().empty());
  CHECK(calls_of("cudaMemcpyAsync device 0 to host, 12 bytes") == 1);
  CHECK(calls_of("cudaStreamSynchronize") == 2);  // the first one checks for failures
  CHECK(mock::calls().size() == 3);
}

TEST_CASE("with accumulation every second step of gradient descent clips and updates", "[train]") {
  dp::model<net, dp::on<dp::cuda<0>>> model{dp::seed{1}};
  dp::trainer step{model, nn::cross_entropy{}, dp::optim::sgd{.momentum = 0.9}, dp::accumulate<2>{}};
  step.clip(dp::optim::clip_norm{});
  const batch_of<dp::on<dp::cuda<0>>> batch(64);
  for (int i = 0; i < 2; ++i) step(batch.images, batch.labels);
  for (int i = 0; i < 20; ++i) {
    mock::clear_calls();
    step(batch.images, batch.labels);
    INFO("step " << i);
    const names update = clip + names{"sgd_formula", "reduced_loss_functor"};
    CHECK(launched_on(0) == (i % 2 == 0 ? forward_and_backward : forward_and_adding_backward() + update));
    CHECK(only_launches());
  }
}

TEST_CASE("replicas on CUDA make the same launches, each on its own stream, ordered by events", "[train]") {
  dp::model<net, dp::replicated<0, 1>> model{dp::seed{1}};
  dp::trainer step{model, nn::cross_entropy{}, dp::optim::adam{}};
  const batch_of<dp::replicated<0, 1>> batch(64);
  step.prepare(64);
  step(batch.images, batch.labels);
  for (int i = 0; i < 20; ++i) {
    mock::clear_calls();
    step(batch.images, batch.labels);
    INFO("step " << i);
    const names expected = forward_and_backward + names{"parallel::reduce_in_rank_order"} + names{"adam_formula"};
    CHECK(launched_on(0) == expected + names{"reduced_loss_functor"});  // the first place computes the batch's loss
    CHECK(launched_on(1) == expected);
    CHECK(only_launches(8));  // each place records 2 events and waits for the other's, before and after the reduction
    CHECK(all_on_their_streams());
  }
}

TEST_CASE("places that update shards on CUDA exchange sums, then parameters, by copies on their streams", "[train]") {
  using where = dp::replicated<0, 1>;
  using policy = dp::collective::sharded_all_reduce<>;
  using plan = dp::memory_plan<dp::model<net, where>, dp::batch<64>, dp::optim::adam, policy>;
  const std::size_t before = dp::memory_statistics<dp::cuda<1>>().of(dp::memory_purpose::optimizer_state);
  dp::model<net, where> model{dp::seed{1}};
  dp::trainer step{model, nn::cross_entropy{}, dp::optim::adam{}, policy{}};
  const batch_of<where> batch(64);
  step.prepare(64);
  step(batch.images, batch.labels);
  CHECK(dp::memory_statistics<dp::cuda<1>>().of(dp::memory_purpose::optimizer_state) - before <= plan::optimizer_state);
  CHECK(plan::optimizer_state < plan::parameters + 1024);  // half of two arenas
  for (const bool clips : {false, true}) {
    if (clips) step.clip(dp::optim::clip_norm{});
    const names reduction{"parallel::reduce_in_rank_order"}, squares{"square_source"};
    // The first place reduces the norm's integers; then the places compute the factor.
    const auto expected = [&](const names& of_integers) {
      const names norm = names{"magnitude_reducer"} + of_integers + squares + of_integers + squares;
      return forward_and_backward + reduction + (clips ? norm : names{}) + names{"adam_formula"};
    };
    for (int i = 0; i < 5; ++i) {
      mock::clear_calls();
      step(batch.images, batch.labels);
      INFO("step " << i);
      CHECK(launched_on(0) == expected(reduction) + names{"reduced_loss_functor"});
      CHECK(launched_on(1) == expected({}));
      // Two shares of parameters, and the sums of weights from the second place to the first.
      CHECK(calls_of("cudaMemcpyPeerAsync ") == 3);
      CHECK(calls_of("cudaMalloc") == 0);
      CHECK(mock::violations().empty());
      CHECK(all_on_their_streams());
    }
  }
}

TEST_CASE("the memory plan equals a CUDA device's peak to the byte, for each purpose", "[train]") {
  take_gpu_workspace(0);
  using model_type = dp::model<net, dp::on<dp::cuda<0>>>;
  const batch_of<dp::on<dp::cuda<0>>> batch(33);
  dp::reset_peak_memory<dp::cuda<0>>();
  const dp::memory_usage before = dp::memory_statistics<dp::cuda<0>>();
  {
    using plan = dp::memory_plan<model_type, dp::batch<33>, dp::optim::adam>;
    model_type model{dp::seed{1}};
    dp::trainer step{model, nn::cross_entropy{}, dp::optim::adam{}};
    for (int i = 0; i < 2; ++i) step(batch.images, batch.labels);
    check_plan<plan, dp::cuda<0>>(before);
    step.clip(dp::optim::clip_norm{});
    step(batch.images, batch.labels);
    check_plan<plan, dp::cuda<0>>(before, plan::clipping);
  }
  {
    using plan = dp::memory_plan<model_type, dp::batch<64>, dp::optim::sgd>;
    dp::reset_peak_memory<dp::cuda<0>>();
    model_type model{dp::seed{1}};
    dp::trainer step{model, nn::cross_entropy{}, dp::optim::sgd{}, dp::accumulate<2>{}};
    step(batch.images, batch.labels);
    step.prepare(64);  // larger: frees the smaller workspace first
    step(batch.images, batch.labels);
    check_plan<plan, dp::cuda<0>>(before);
  }
  CHECK(dp::memory_statistics<dp::cuda<0>>().allocated == before.allocated);
}

TEST_CASE("the memory plan equals the peak for replicas too, even if the first has one more sample", "[train]") {
  take_gpu_workspace(0);
  take_gpu_workspace(1);
  using model_type = dp::model<net, dp::replicated<0, 1>>;
  const batch_of<dp::replicated<0, 1>> batch(65);
  dp::reset_peak_memory<dp::cuda<0>>();
  dp::reset_peak_memory<dp::cuda<1>>();
  const dp::memory_usage first = dp::memory_statistics<dp::cuda<0>>(), second = dp::memory_statistics<dp::cuda<1>>();
  model_type model{dp::seed{1}};
  dp::trainer step{model, nn::cross_entropy{}, dp::optim::adam{}};
  for (int i = 0; i < 2; ++i) step(batch.images, batch.labels);
  using plan = dp::memory_plan<model_type, dp::batch<65>, dp::optim::adam>;
  using smaller = dp::memory_plan<model_type, dp::batch<64>, dp::optim::adam>;
  check_plan<plan, dp::cuda<0>>(first);
  check_plan<smaller, dp::cuda<1>>(second);
}

TEST_CASE("memory that exists once per place on a GPU matches the plan", "[train]") {
  using plan = dp::memory_plan<dp::model<net, dp::on<dp::cuda<1>>>, dp::batch<8>, dp::optim::sgd>;
  STATIC_REQUIRE(plan::gpu_workspace ==
                 dp::detail::cuda_product_workspace::bytes + dp::detail::cuda_reduction_workspace::bytes);
  const batch_of<dp::on<dp::cuda<0>>> batch(8);
  const std::size_t before = dp::memory_statistics<dp::cuda<0>>().of(dp::memory_purpose::workspace);
  {
    dp::model<net, dp::on<dp::cuda<0>>> model{dp::seed{1}};
    dp::trainer step{model, nn::cross_entropy{}, dp::optim::adam{}};
    step(batch.images, batch.labels);
  }
  const std::size_t left = dp::memory_statistics<dp::cuda<0>>().of(dp::memory_purpose::workspace);
  CHECK((before == 0 ? left == plan::gpu_workspace : left == before));  // none before a process's first case
}

namespace {

/// The compute types passed to cuBLASLt for the products of two steps.
template <class Precision> std::vector<cublasComputeType_t> products_of_training() {
  dp::model<net, dp::on<dp::cuda<0>>, Precision> model{dp::seed{1}};
  dp::trainer step{model, nn::cross_entropy{}, dp::optim::adam{}};
  const batch_of<dp::on<dp::cuda<0>>> batch(64);
  const std::size_t before = lt::products().size();
  for (int i = 0; i < 2; ++i) step(batch.images, batch.labels);
  std::vector<cublasComputeType_t> all;
  for (std::size_t i = before; i < lt::products().size(); ++i) all.push_back(lt::products()[i].compute);
  return all;
}

}  // namespace

TEST_CASE("every product of a model in tf32 is computed in TF32 on CUDA, and none of a model in float", "[train]") {
  CHECK(products_of_training<float>() == std::vector<cublasComputeType_t>(10, CUBLAS_COMPUTE_32F));
  CHECK(products_of_training<dp::tf32>() == std::vector<cublasComputeType_t>(10, CUBLAS_COMPUTE_32F_FAST_TF32));
}

TEST_CASE("cuBLASLt's heuristics are queried only in the first step with a batch size", "[train]") {
  dp::model<net, dp::on<dp::cuda<0>>> model{dp::seed{1}};
  dp::trainer step{model, nn::cross_entropy{}, dp::optim::adam{}};
  const batch_of<dp::on<dp::cuda<0>>> batch(64);
  step(batch.images, batch.labels);
  const auto queries = std::count(lt::calls().begin(), lt::calls().end(), "cublasLtMatmulAlgoGetHeuristic");
  CHECK(queries == 5);
  lt::clear_calls();
  for (int i = 0; i < 5; ++i) step(batch.images, batch.labels);
  CHECK(lt::calls() == std::vector<std::string>(10, "cublasLtMatmul"));  // in the second step, and captured
}

TEST_CASE("a step in mixed<bf16> converts samples, outputs and their gradient, and the update writes both copies",
          "[train]") {
  dp::model<net, dp::on<dp::cuda<0>>, dp::mixed<dp::bf16>> model{dp::seed{1}};
  dp::trainer step{model, nn::cross_entropy{}, dp::optim::adam{}};
  const batch_of<dp::on<dp::cuda<0>>> batch(64);
  step(batch.images, batch.labels);
  names expected = forward_and_backward + names{"adam_formula"};
  expected.insert(expected.begin(), "convert<bf16>");
  const auto loss = std::find(expected.begin(), expected.end(), "cross_entropy_row");
  expected.insert(expected.insert(loss, "convert<float>") + 2, "convert<bf16>");  // the loss computes in float
  for (int i = 0; i < 5; ++i) {
    mock::clear_calls();
    const std::size_t first = lt::products().size();
    step(batch.images, batch.labels);
    INFO("step " << i);
    CHECK(launched_on(0) == expected);
    CHECK(only_launches());
    CHECK(all_on_their_streams());
    CHECK_THAT(mock::launches().back().name, Catch::Matchers::EndsWith("bf16> >"));  // the update also writes bf16
    std::vector<cudaDataType_t> results;
    for (std::size_t p = first; p < lt::products().size(); ++p) {
      CHECK(lt::products()[p].operand_type == CUDA_R_16BF);
      CHECK(lt::products()[p].compute == CUBLAS_COMPUTE_32F);
      results.push_back(lt::products()[p].type);
    }
    // Activations in bf16, gradients of weights in float.
    const std::vector<cudaDataType_t> expected_types{CUDA_R_16BF, CUDA_R_16BF, CUDA_R_32F, CUDA_R_16BF, CUDA_R_32F};
    CHECK(results == (i < 2 ? expected_types : std::vector<cudaDataType_t>{}));  // then a graph
  }
}
