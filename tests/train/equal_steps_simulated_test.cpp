// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Threads stand in for processes. One process changes something in the middle of a training; all processes must throw
// in that step, before a parameter changes.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include <devplace/data/loader.hpp>
#include <devplace/data/transforms.hpp>
#include <devplace/nn/cross_entropy.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/relu.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/optim/adam.hpp>
#include <devplace/optim/scheduled.hpp>
#include <devplace/optim/schedules.hpp>
#include <devplace/optim/sgd.hpp>
#include <devplace/parallel.hpp>
#include <devplace/train/accuracy.hpp>
#include <devplace/train/trainer.hpp>

#include "parallel/nine_devices.hpp"
#include "support/catch.hpp"
#include "support/element_types.hpp"
#include "support/labelled_samples.hpp"
#include "support/replicas.hpp"
#include "support/thread_processes.hpp"
#include "support/training_data.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;
namespace collective = devplace::collective;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;
using dp::test::in_processes;

namespace {

using on_host = dp::across<dp::on<dp::cpu>>;
using net = nn::sequential<nn::linear<6, 24>, nn::relu, nn::linear<24, 10>>;
/// Two buckets, of which one is reduced during backward.
using two_buckets = collective::buckets<300, 300>;

/// Delegates to `direct`, but like NCCL on GPUs does not give the host the result.
template <class Backend>
struct unattended_communicator : dp::parallel::across_processes<Backend, dp::parallel::summation::by_rank> {
  using dp::parallel::across_processes<Backend, dp::parallel::summation::by_rank>::across_processes;
  static constexpr bool is_nonblocking = true;
};
struct unattended : collective::direct {
  template <class Backend> using communicator_across = unattended_communicator<Backend>;
  template <class Backend>
  communicator_across<Backend> connect_across(std::span<const int> ordinals, const dp::process_group& processes) const {
    return communicator_across<Backend>(ordinals, processes);
  }
};

/// Runs f(rank) as each of several processes and returns the message of rank 0; throws if messages differ.
std::string message_of_all(int processes, const std::function<void(int)>& f) {
  std::string of_first;
  in_processes(processes, [&](const dp::process_group& group) {
    const dp::process_scope scope{group};
    std::string text = "no error";
    try {
      f(group.rank());
    } catch (const dp::communication_error& e) {
      text = e.what();
    }
    std::string first = text;
    first.resize(group.broadcast(text.size()));
    group.broadcast(std::span(first));
    if (first != text) throw std::logic_error("the messages differ: " + first + "\n" + text);
    if (group.is_main()) of_first = text;
  });
  return of_first;
}

/// Runs ten steps; before step `at`, counted from 1, rank 1 calls `change(step, model)`. Returns the message; throws
/// unless the error comes in that step, before a parameter changes.
template <class Where, class Policy, class Rule, class Model = dp::model<net, Where>,
          class Trainer = dp::trainer<Model, nn::cross_entropy, Rule, Policy>>
std::string message_of_change(int processes, std::size_t at, const Rule& rule,
                              const std::type_identity_t<std::function<void(Trainer&, Model&)>>& change) {
  return message_of_all(processes, [&](int rank) {
    Model model{dp::seed{1}};
    Trainer step{model, nn::cross_entropy{}, rule, Policy{}};
    std::vector<float> before;
    std::size_t number = 0;
    try {
      while (number != 10) {
        ++number;
        if (rank == 1 && number == at) change(step, model);
        before = dp::test::parameters_of(model);
        step(dp::to_batch<Where>(dp::test::integer_samples<float, 6>(8)),
             dp::to_batch<Where>(dp::test::square_labels(8, 10)));
      }
    } catch (const dp::communication_error&) {
      if (number != at) throw std::logic_error("the error is that of step " + std::to_string(number));
      if (dp::test::parameters_of(model) != before) throw std::logic_error("the step has changed parameters.");
      throw;
    }
  });
}

const auto halve_rate = [](auto& step, auto&) { step.optimizer().rule().learning_rate = 0.25; };

template <class Where, class Policy> void check_change_of_rate(int processes) {
  INFO(processes << " processes, " << dp::placement_name<Where>());
  CHECK_THAT((message_of_change<Where, Policy>(processes, 5, dp::optim::sgd{.learning_rate = 0.5}, halve_rate)),
             StartsWith("devplace: trainer, in step 5: rank 1 has \"optimizer's learning_rate: 0.25\" "
                        "where rank 0 has \"optimizer's learning_rate: 0.5\"."));
}

/// Adds a number to every `stride`-th element of the first weight of a model on the CPU.
template <class Model> void modify(Model& model, std::size_t stride) {
  float* const parameters = model.state().replicas[0].parameter_data();
  for (std::size_t i = 0; i < 144; i += stride) parameters[i] += 0.5f;
}

}  // namespace

TEST_CASE("a learning rate changed in one process ends all processes in that step, with every policy and engine",
          "[train]") {
  using namespace devplace::collective;
  // All combinations would take minutes to compile; the message does not depend on them.
  using one_device = dp::across<dp::on<dp::cuda<2>>>;
  using two_devices = dp::across<dp::replicated<2, 0>>;
  check_change_of_rate<on_host, all_reduce<>>(2);
  check_change_of_rate<on_host, all_reduce<>>(5);
  check_change_of_rate<on_host, all_reduce<ring, two_buckets>>(2);
  check_change_of_rate<on_host, scatter_gather>(3);
  check_change_of_rate<on_host, sharded_all_reduce<>>(3);
  check_change_of_rate<on_host, sharded_all_reduce<wire<dp::bf16>, two_buckets>>(2);
  check_change_of_rate<one_device, all_reduce<direct, two_buckets>>(2);
  check_change_of_rate<two_devices, all_reduce<>>(2);
  check_change_of_rate<two_devices, all_reduce<collective::hierarchical>>(3);
}

TEST_CASE("other step options changed in one process are named", "[train]") {
  const auto message = [](const auto& rule, const auto& change) {
    return message_of_change<on_host, collective::all_reduce<>>(3, 7, rule, change);
  };
  const dp::optim::sgd sgd{.learning_rate = 0.5, .momentum = 0.5};
  CHECK(message(sgd, [](auto&, auto&) {}) == "no error");
  CHECK_THAT(message(sgd, [](auto& step, auto&) { step.optimizer().rule().momentum = 0.25; }),
             ContainsSubstring("step 7: rank 1 has \"optimizer's momentum: 0.25"));
  CHECK_THAT(message(sgd, [](auto& step, auto&) { step.optimizer().rule().nesterov = true; }),
             ContainsSubstring("step 7: rank 1 has \"optimizer's nesterov: 1\" where rank 0 has"));
  CHECK_THAT(message(dp::optim::adam{}, [](auto& step, auto&) { step.optimizer().rule().beta2 = 0.5; }),
             ContainsSubstring("step 7: rank 1 has \"optimizer's beta2: 0.5"));
  CHECK_THAT(message(sgd, [](auto& step, auto&) { step.clip({.max_norm = 2}); }),
             ContainsSubstring("step 7: rank 1 has \"largest norm of gradients: 2"));
  const dp::optim::scheduled scheduled{sgd, dp::optim::linear{.steps = 20}.then(dp::optim::cosine{.steps = 9})};
  CHECK(message(scheduled, [](auto&, auto&) {}) == "no error");
  CHECK_THAT(message(scheduled, [](auto& step, auto&) { step.optimizer().rule().schedule.first.steps = 10; }),
             ContainsSubstring("step 7: rank 1 has \"optimizer's first linear's steps: 10\" where rank 0 has"));
  // A schedule that differs from a certain step on.
  CHECK_THAT(message_of_all(2,
                            [](int rank) {
                              dp::model<net, on_host> model{dp::seed{1}};
                              const dp::optim::scheduled halved{
                                  dp::optim::sgd{.learning_rate = 0.5},
                                  [rank](std::int64_t step) { return rank == 1 && step >= 3 ? 0.5 : 1; }};
                              dp::trainer step{model, nn::cross_entropy{}, halved};
                              for (int i = 0; i != 8; ++i)
                                step(dp::to_batch<on_host>(dp::test::integer_samples<float, 6>(8)),
                                     dp::to_batch<on_host>(dp::test::square_labels(8, 10)));
                            }),
             ContainsSubstring("step 4: rank 1 has \"learning_rate: 0.25"));
}

TEST_CASE("an option changed in one process between accumulated batches or before flush() is found at the update",
          "[train]") {
  for (const bool flushes : {false, true}) {
    const auto text = message_of_all(2, [&](int rank) {
      dp::model<net, on_host> model{dp::seed{1}};
      dp::trainer step{model, nn::cross_entropy{}, dp::optim::sgd{.learning_rate = 0.5}, dp::accumulate<3>{}};
      const auto batch = [&] {
        step(dp::to_batch<on_host>(dp::test::integer_samples<float, 6>(8)),
             dp::to_batch<on_host>(dp::test::square_labels(8, 10)));
      };
      for (int i = 0; i != 5; ++i) batch();
      if (rank == 1) step.optimizer().rule().learning_rate = 0.25;
      flushes ? static_cast<void>(step.flush()) : batch();
    });
    CHECK_THAT(text, ContainsSubstring("in step 2: rank 1 has \"optimizer's learning_rate: 0.25"));
  }
  // The same number of updates, but one update with another number of batches.
  CHECK_THAT(message_of_all(2,
                            [](int rank) {
                              dp::model<net, on_host> model{dp::seed{1}};
                              dp::trainer step{model, nn::cross_entropy{}, dp::optim::sgd{}, dp::accumulate<3>{}};
                              for (int i = 0; i != 3 - rank; ++i)
                                step(dp::to_batch<on_host>(dp::test::integer_samples<float, 6>(8)),
                                     dp::to_batch<on_host>(dp::test::square_labels(8, 10)));
                              step.flush();
                            }),
             ContainsSubstring("the processes took different steps with the same options"));
}

TEST_CASE("a different loss scale in one process ends all processes in that step", "[train]") {
  using policy = collective::all_reduce<>;
  for (const bool scale : {false, true}) {
    const auto text = message_of_all(2, [&](int rank) {
      dp::model<net, on_host, dp::mixed<dp::half>> model{dp::seed{1}};
      dp::trainer step{model, nn::cross_entropy{}, dp::optim::sgd{.learning_rate = 0.5}, policy{}};
      for (int i = 0; i != 6; ++i) {
        if (rank == 1 && i == 3 && scale) step.set_scaler({.scale = 8, .growth_tracker = 0, .skipped_steps = 0});
        if (rank == 1 && i == 3 && !scale) step.scale_losses({.growth_interval = 7});
        step(dp::to_batch<on_host>(dp::test::integer_samples<float, 6>(8)),
             dp::to_batch<on_host>(dp::test::square_labels(8, 10)));
      }
    });
    CHECK_THAT(text, ContainsSubstring(scale ? "in step 4: rank 1 has \"loss scaler's scale: 8"
                                             : "in step 4: rank 1 has \"growth_interval: 7\""));
  }
}

TEST_CASE("a process that leaves out a batch of a loader is found in that step", "[train][data]") {
  const dp::image_set data = support::numbered_images(41);
  CHECK_THAT(
      message_of_all(3,
                     [&](int rank) {
                       dp::model<net, on_host> model{dp::seed{1}};
                       dp::trainer step{model, nn::cross_entropy{}, dp::optim::adam{}};
                       dp::loader<on_host> batches{data, {.batch = 4, .shuffle = dp::seed{2}}};
                       int number = 0;
                       for (const auto& [images, labels] : batches.epoch(3)) {
                         if (number++ == 6 && rank == 2) continue;
                         step(images, labels);
                       }
                     }),
      StartsWith("devplace: trainer, in step 7: rank 2 has \"batch of the epoch: 7\" where rank 0 has \"batch of "
                 "the epoch: 6\"."));
  CHECK_THAT(message_of_all(2,
                            [&](int rank) {
                              dp::model<net, on_host> model{dp::seed{1}};
                              dp::trainer step{model, nn::cross_entropy{}, dp::optim::adam{}};
                              dp::loader<on_host> batches{data, {.batch = 4}};
                              for (int epoch = 0; epoch != 3; ++epoch)
                                for (const auto& [images, labels] : batches.epoch(rank == 1 && epoch == 1 ? 7 : epoch))
                                  step(images, labels);
                            }),
             ContainsSubstring("in step 12: rank 1 has \"epoch: 7\" where rank 0 has \"epoch: 1\""));
}

TEST_CASE("loaders that differ between processes are named before the first update", "[train][data]") {
  const dp::image_set data = support::numbered_images(41), less = support::numbered_images(40);
  using loader = dp::loader<on_host>;
  using options = dp::loader_options;
  const auto message = [&](const std::function<loader(int)>& loader_of) {
    return message_of_all(2, [&](int rank) {
      dp::model<net, on_host> model{dp::seed{1}};
      dp::trainer step{model, nn::cross_entropy{}, dp::optim::adam{}};
      loader batches = loader_of(rank);
      for (const auto& [images, labels] : batches.epoch(0)) {
        const auto before = dp::test::parameters_of(model);
        try {
          step(images, labels);
        } catch (...) {
          if (dp::test::parameters_of(model) != before) throw std::logic_error("the step has changed parameters.");
          throw;
        }
      }
    });
  };
  const options usual{.batch = 8, .shuffle = dp::seed{2}};
  const auto with = [](const dp::image_set& from, const options& o, const auto& step) {
    return loader{from, o, dp::transforms{dp::extents<2, 3>{}, dp::seed{3}, step}};
  };
  const auto changed = [&](const std::function<void(options&)>& change) {
    options other = usual;
    change(other);
    return message([&](int rank) { return with(data, rank == 1 ? other : usual, dp::horizontal_flip{}); });
  };
  CHECK(changed([](options&) {}) == "no error");
  CHECK(changed([](auto& o) { o.workers = 2; }) == "no error");
  CHECK(changed([](auto& o) { o.batch = 10; }) ==
        "devplace: trainer, in step 1: rank 1 has \"loader's batch: 10\" where rank 0 has \"loader's batch: 8\". Start "
        "the same program with the same options in all processes, and make each change in all of them before the same "
        "step.");
  CHECK_THAT(
      changed([](auto& o) { o.shuffle = dp::seed{1}; }),
      ContainsSubstring("rank 1 has \"loader's shuffle: seed 1\" where rank 0 has \"loader's shuffle: seed 2\""));
  CHECK_THAT(changed([](auto& o) { o.shuffle = {}; }), ContainsSubstring("rank 1 has \"loader's shuffle: none\""));
  CHECK_THAT(changed([](auto& o) { o.drop_last = true; }), ContainsSubstring("\"loader's drop_last: 1\" where rank 0"));
  CHECK_THAT(changed([](auto& o) { o.scale = 0.5; }),
             ContainsSubstring("\"loader's scale: 0.5\" where rank 0 has \"loader's scale: "
                               "default\""));
  CHECK_THAT(changed([](auto& o) { o.mean = 0.5; }), ContainsSubstring("rank 1 has \"loader's mean: 0.5"));
  CHECK_THAT(changed([](auto& o) { o.standard_deviation = 0.5; }),
             ContainsSubstring("rank 1 has \"loader's standard_deviation: 0.5"));
  CHECK_THAT(changed([](auto& o) { o.split = dp::split::torch; }), ContainsSubstring("rank 1 has \"loader's split: 1"));
  CHECK_THAT(
      message([&](int rank) { return with(rank == 1 ? less : data, usual, dp::horizontal_flip{}); }),
      ContainsSubstring("rank 1 has \"loader's features: 40x2x3\" where rank 0 has \"loader's features: 41x2x3\""));
  const auto steps = [&](const auto& first, const auto& second) {
    return message([&](int rank) { return with(data, usual, rank == 1 ? second : first); });
  };
  CHECK_THAT(steps(dp::horizontal_flip{.probability = 0.5}, dp::horizontal_flip{.probability = 0.25}),
             ContainsSubstring("rank 1 has \"loader's transform's probability: 0.25"));
  CHECK_THAT(steps(dp::random_crop{.padding = 1}, dp::random_crop{.padding = 2}),
             ContainsSubstring("rank 1 has \"loader's transform's padding: 2\" where rank 0"));
  CHECK_THAT(steps(dp::random_crop{.padding = 1, .fill = 0}, dp::random_crop{.padding = 1, .fill = 7}),
             ContainsSubstring("rank 1 has \"loader's transform's fill: 7"));
  CHECK_THAT(steps(dp::random_rotation{.degrees = 5}, dp::random_rotation{.degrees = 6}),
             ContainsSubstring("rank 1 has \"loader's transform's degrees: 6"));
  CHECK_THAT(steps(dp::cutout{.size = 1}, dp::cutout{.size = 2}),
             ContainsSubstring("rank 1 has \"loader's transform's size: 2\""));
  CHECK_THAT(steps(dp::cutout{.size = 1, .value = 0}, dp::cutout{.size = 1, .value = 0.5}),
             ContainsSubstring("rank 1 has \"loader's transform's value: 0.5"));
  CHECK_THAT(steps(dp::normalize_channels<1>{.mean = {0}, .standard_deviation = {1}},
                   dp::normalize_channels<1>{.mean = {0.5}, .standard_deviation = {1}}),
             ContainsSubstring("rank 1 has \"loader's transform's mean: 0.5"));
}

TEST_CASE("transforms that differ in type or seed are named", "[train][data]") {
  const dp::image_set data = support::numbered_images(24);
  const auto train = [&](const auto& transform) {
    dp::model<net, on_host> model{dp::seed{1}};
    dp::trainer step{model, nn::cross_entropy{}, dp::optim::adam{}};
    dp::loader<on_host> batches{data, {.batch = 8}, transform};
    for (const auto& [images, labels] : batches.epoch(0)) step(images, labels);
  };
  using shape = dp::extents<2, 3>;
  CHECK_THAT(message_of_all(2,
                            [&](int rank) {
                              if (rank == 1) return train([](std::span<float> x, std::size_t, int) { x[0] = 0; });
                              train(dp::transforms{shape{}, dp::seed{3}, dp::horizontal_flip{}});
                            }),
             ContainsSubstring("where rank 0 has \"loader's transform: devplace::transforms<"));
  CHECK_THAT(
      message_of_all(
          2, [&](int rank) { train(dp::transforms{shape{}, dp::seed{rank == 1 ? 4U : 3U}, dp::horizontal_flip{}}); }),
      ContainsSubstring("rank 1 has \"loader's transform's seed: 4\" where rank 0"));
}

TEST_CASE("a loader used later in a training is compared at its first use", "[train][data]") {
  const dp::image_set data = support::numbered_images(24);
  CHECK_THAT(message_of_all(2,
                            [&](int rank) {
                              dp::model<net, on_host> model{dp::seed{1}};
                              dp::trainer step{model, nn::cross_entropy{}, dp::optim::adam{}};
                              dp::loader<on_host> first{data, {.batch = 8}},
                                  second{data, {.batch = 8, .shuffle = dp::seed{rank == 1 ? 9U : 2U}}};
                              for (auto* const batches : {&first, &second})
                                for (const auto& [images, labels] : batches->epoch(0)) step(images, labels);
                            }),
             ContainsSubstring("in step 4: rank 1 has \"loader's shuffle: seed 9\""));
}

TEST_CASE("loaders that feed no trainer may differ and be constructed in any order", "[train][data]") {
  const dp::image_set data = support::numbered_images(24);
  CHECK(message_of_all(3, [&](int rank) {
          using loader = dp::loader<on_host>;
          dp::model<net, on_host> model{dp::seed{1}};
          dp::trainer step{model, nn::cross_entropy{}, dp::optim::adam{}};
          std::unique_ptr<loader> unused, of_one_rank;
          if (rank == 1) unused = std::make_unique<loader>(data, dp::loader_options{.batch = 5});
          if (rank == 0) of_one_rank = std::make_unique<loader>(data, dp::loader_options{.batch = 12});
          loader batches{data, {.batch = 8}};
          for (const auto& [images, labels] : batches.epoch(0)) {
            for (int i = 0; rank == 0 && i != 2; ++i)
              for (const auto& own : of_one_rank->epoch(i)) static_cast<void>(model.predict(own.images));
            step(images, labels);
          }
          // Clones of a batch and hand-made batches belong to no loader.
          for (const auto& [images, labels] : batches.epoch(1)) step(images.clone(), labels.clone());
        }) == "no error");
}

TEST_CASE("accuracy compares loaders and parameters between processes", "[train][data]") {
  const dp::image_set data = support::numbered_images(24);
  const auto message = [&](bool modifies, std::size_t batch_of_rank_1) {
    return message_of_all(2, [&](int rank) {
      dp::model<net, on_host> model{dp::seed{1}};
      if (rank == 1 && modifies) modify(model, 144);
      static_cast<void>(dp::accuracy(model, data, {.batch = rank == 1 ? batch_of_rank_1 : 8}));
    });
  };
  CHECK(message(false, 8) == "no error");
  CHECK_THAT(message(true, 8), StartsWith("devplace: accuracy: rank 1 has \"checksum of parameter 0.weight: "));
  CHECK_THAT(
      message(false, 6),
      StartsWith("devplace: accuracy: rank 1 has \"loader's batch: 6\" where rank 0 has \"loader's batch: 8\"."));
}

TEST_CASE("parameters modified in one process are found in the next step", "[train]") {
  const auto message = [](auto policy) {
    return message_of_change<on_host, decltype(policy)>(3, 4, dp::optim::sgd{.learning_rate = 0.5},
                                                        [](auto&, auto& model) { modify(model, 1); });
  };
  const std::string found = "devplace: trainer, in step 4: rank 1 has \"checksum of parameter 0.weight: ";
  CHECK_THAT(message(collective::all_reduce<>{}), StartsWith(found));
  CHECK_THAT(message(collective::sharded_all_reduce<>{}), StartsWith(found));
}

TEST_CASE("an element modified in one process is found within 64 steps, and wherever a training waits", "[train]") {
  const dp::image_set data = support::numbered_images(24);
  const auto message = [&](std::size_t element, const auto& at_end) {
    return message_of_all(2, [&](int rank) {
      dp::model<net, on_host> model{dp::seed{1}};
      dp::trainer step{model, nn::cross_entropy{}, dp::optim::sgd{.learning_rate = 0.5}};
      dp::loader<on_host> batches{data, {.batch = 8}};
      int number = 0;
      for (const auto& [images, labels] : batches.epoch(0)) {
        if (++number == 3 && rank == 1) model.state().replicas[0].parameter_data()[element] += 1;
        if (number == 3) return at_end(model, step, batches, images, labels);
        step(images, labels);
      }
    });
  };
  for (const std::size_t element : {0U, 100U, 143U, 160U, 300U}) {
    CHECK_THAT(message(element,
                       [](auto&, auto& step, auto&, const auto& images, const auto& labels) {
                         for (int i = 0; i != 64; ++i) step(images, labels);
                       }),
               ContainsSubstring("rank 1 has \"checksum of parameter "));
    CHECK_THAT(message(element, [](auto&, auto& step, auto&...) { static_cast<void>(step.state()); }),
               StartsWith("devplace: trainer, in step 3: rank 1 has \"checksum of parameter "));
    CHECK_THAT(message(element, [&](auto& model, auto&...) { static_cast<void>(dp::accuracy(model, data)); }),
               StartsWith("devplace: accuracy: rank 1 has \"checksum of parameter "));
  }
  // The first step of an epoch compares all elements.
  CHECK_THAT(message_of_all(2,
                            [&](int rank) {
                              dp::model<net, on_host> model{dp::seed{1}};
                              dp::trainer step{model, nn::cross_entropy{}, dp::optim::sgd{.learning_rate = 0.5}};
                              dp::loader<on_host> batches{data, {.batch = 8}};
                              for (int epoch = 0; epoch != 2; ++epoch) {
                                for (const auto& [images, labels] : batches.epoch(epoch)) step(images, labels);
                                if (rank == 1) model.state().replicas[0].parameter_data()[300] += 1;
                              }
                            }),
             StartsWith("devplace: trainer, in step 4: rank 1 has \"checksum of parameter 2.weight: "));
}

TEST_CASE("the comparison of parameters covers every place of every process", "[train]") {
  using where = dp::across<dp::replicated<2, 0>>;
  std::mutex mutex;
  int told = 0, differing = 0;
  CHECK_NOTHROW(in_processes(2, [&](const dp::process_group& group) {
    const dp::process_scope scope{group};
    dp::model<net, where> model{dp::seed{1}};
    dp::trainer step{model, nn::cross_entropy{}, dp::optim::sgd{.learning_rate = 0.5}};
    try {
      for (int i = 0; i != 70; ++i) {
        if (i == 5 && group.rank() == 1)
          support::set_values(model.parameter_only_on<0>(1), std::vector<float>(6 * 24, 0.5f));
        step(dp::to_batch<where>(dp::test::integer_samples<float, 6>(8)),
             dp::to_batch<where>(dp::test::square_labels(8, 10)));
      }
    } catch (const dp::error& e) {
      const std::lock_guard lock(mutex);
      ++told;
      const std::string text = e.what();
      differing += text.find("parameter '0.weight', replica 0 (cuda:2) against replica 1 (cuda:0)") != text.npos;
    }
  }));
  CHECK(told == 2);
  CHECK(differing == 1);
}

TEST_CASE("where the host does not wait for a step, reading a loss throws the difference", "[train]") {
  using where = dp::across<dp::on<dp::cuda<2>>>;
  const auto message = [](bool mean) {
    return message_of_all(2, [&](int rank) {
      dp::model<net, where> model{dp::seed{1}};
      dp::trainer step{model, nn::cross_entropy{}, dp::optim::sgd{.learning_rate = 0.5},
                       collective::all_reduce<unattended>{}};
      for (int i = 0; i != 6; ++i) {
        if (rank == 1 && i == 3) step.optimizer().rule().learning_rate = 0.25;
        const auto loss = step(dp::to_batch<where>(dp::test::integer_samples<float, 6>(8)),
                               dp::to_batch<where>(dp::test::square_labels(8, 10)));
        if (i == 2 || i == 5) static_cast<void>(mean ? step.mean_loss() : static_cast<double>(loss.item()));
        if (i == 3 && rank == 1) step.optimizer().rule().learning_rate = 0.5;
      }
    });
  };
  CHECK_THAT(message(false), StartsWith("devplace: trainer: in an earlier step a process had other "
                                        "options"));
  CHECK_THAT(message(true), StartsWith("devplace: trainer: in an earlier step a process had other "
                                       "options"));
}

TEST_CASE("a difference recorded on a device is cleared when the training resumes from a state", "[train]") {
  using where = dp::across<dp::on<dp::cuda<2>>>;
  const std::string message = message_of_all(2, [&](int rank) {
    dp::model<net, where> model{dp::seed{1}};
    dp::trainer step{model, nn::cross_entropy{}, dp::optim::sgd{.learning_rate = 0.5},
                     collective::all_reduce<unattended>{}};
    const auto images = dp::to_batch<where>(dp::test::integer_samples<float, 6>(8));
    const auto labels = dp::to_batch<where>(dp::test::square_labels(8, 10));
    step(images, labels).item();
    const auto before = step.state();
    if (rank == 1) step.optimizer().rule().learning_rate = 0.25;
    auto failed = step(images, labels);
    try {
      failed.item();
    } catch (const dp::communication_error&) {
      step.restore(before);
      step(images, labels).item();
      step.mean_loss();
      throw dp::communication_error("the training went on");
    }
  });
  CHECK_THAT(message, StartsWith("devplace: the training went on"));
}

TEMPLATE_TEST_CASE("step marks sum to zero for equal steps of any number of participants, in any order", "[train]",
                   FLOATING_TYPES) {
  using mark = dp::train::detail::step_mark<TestType>;
  const auto sums = [](std::size_t participants, std::size_t other, bool backwards) {
    std::vector<TestType> total(16);
    for (std::size_t i = 0; i != participants; ++i) {
      const std::size_t rank = backwards ? participants - 1 - i : i;
      std::vector<TestType> tail(16);
      const std::uint64_t hash = rank == other ? 6 : 5;
      mark{tail.data(), &hash, nullptr, nullptr, rank, participants}(0);
      for (std::size_t k = 0; k != 16; ++k) total[k] += tail[k];
    }
    return total;
  };
  for (const std::size_t participants : {2U, 3U, 16U, 255U, 256U, 257U, 1000U, 5000U})
    for (const bool backwards : {false, true}) {
      INFO(participants << " participants");
      const auto equal = sums(participants, participants, backwards);
      CHECK(equal == std::vector<TestType>(16));
      CHECK_FALSE(dp::train::detail::marks_differ(equal.data()));
      for (const std::size_t other : {std::size_t{0}, std::size_t{1}, participants - 1})
        CHECK(dp::train::detail::marks_differ(sums(participants, other, backwards).data()));
    }
}
