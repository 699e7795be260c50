// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Training over processes, for which threads stand in: every step must be bitwise equal to `replicated` on the same
// number of places of one process, with the same program text.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <ratio>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <devplace/nn/cross_entropy.hpp>
#include <devplace/nn/dropout.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/mse.hpp>
#include <devplace/nn/relu.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/nn/tanh.hpp>
#include <devplace/ops/creation.hpp>
#include <devplace/optim/adam.hpp>
#include <devplace/optim/sgd.hpp>
#include <devplace/parallel.hpp>
#include <devplace/train/accuracy.hpp>
#include <devplace/train/trainer.hpp>

#include "parallel/nine_devices.hpp"
#include "support/catch.hpp"
#include "support/labelled_samples.hpp"
#include "support/replicas.hpp"
#include "support/thread_processes.hpp"
#include "support/training_data.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;
namespace collective = devplace::collective;
using Catch::Matchers::ContainsSubstring;
using dp::test::in_processes;
using namespace devplace::literals;

namespace {

using net = nn::sequential<nn::linear<6, 8>, nn::relu, nn::dropout<std::ratio<1, 5>>, nn::linear<8, 3>>;

using digits = nn::sequential<nn::linear<6, 24>, nn::relu, nn::linear<24, 10>>;

/// The parameters after each step, on batches that do not divide evenly or have fewer rows than participants. The last
/// steps clip gradients.
template <class Where, class Policy> std::vector<std::vector<float>> train(const Policy& policy) {
  dp::model<net, Where> model{dp::seed{9}};
  dp::trainer step{model, nn::cross_entropy{.ignore_index = 1, .label_smoothing = 0.1},
                   dp::optim::adam{.learning_rate = 0.01f}, policy};
  std::vector<std::vector<float>> after;
  for (const std::size_t rows : std::vector<std::size_t>{7, 1, 2, 64, 3, 13}) {
    if (rows == 64) step.clip({.max_norm = 0.5});
    step(dp::to_batch<Where>(dp::test::integer_samples<float, 6>(rows)),
         dp::to_batch<Where>(dp::test::square_labels(rows, 3)));
    after.push_back(dp::test::parameters_of(model, dp::local_place_count<Where> - 1));
  }
  return after;
}

/// The same parameters, computed by the separate parts of a trainer's step.
template <class Where, class Policy = collective::all_reduce<>>
std::vector<float> train_by_hand(const Policy& policy = {}) {
  dp::model<net, Where> model{dp::seed{9}};
  dp::optimizer opt{model, dp::optim::sgd{.learning_rate = 0.1f}};
  for (const std::size_t rows : std::vector<std::size_t>{5, 16}) {
    auto [output, saved] = model.forward(dp::to_batch<Where>(dp::test::integer_samples<float, 6>(rows)));
    auto [loss, gradient] = nn::cross_entropy{}(output, dp::to_batch<Where>(dp::test::square_labels(rows, 3)));
    opt.step(model, dp::synchronize(model.backward(std::move(saved), gradient), policy));
  }
  return dp::test::parameters_of(model);
}

/// The bits depend on the engine and its buckets, not on which place updates.
template <class Policy>
using same_bits_of_one_process = collective::all_reduce<typename Policy::engine_type, typename Policy::bucket_sizes>;

/// Runs `f()` as each of several processes and requires that all return the expected value.
template <class Expected, class F> void require_of_all(int processes, const Expected& expected, const F& f) {
  in_processes(processes, [&](const dp::process_group& group) {
    const dp::process_scope scope{group};
    if (f() != expected) throw std::logic_error("rank " + std::to_string(group.rank()) + " has other bits.");
  });
}

}  // namespace

// With one or two places in each process, each policy, engine and size of buckets occurs, but not all combinations.
TEMPLATE_TEST_CASE("training over processes is bitwise equal to one process with as many places", "[parallel]",
                   collective::all_reduce<>, (collective::all_reduce<collective::direct, collective::buckets<1, 1>>),
                   collective::sharded_all_reduce<>,
                   (collective::reduce_and_broadcast<collective::ring, collective::buckets<1, 1>>)) {
  const auto four = train<dp::replicated<0, 1, 2, 3>>(same_bits_of_one_process<TestType>{});
  CHECK_NOTHROW(require_of_all(2, four, [] { return train<dp::across<dp::replicated<2, 0>>>(TestType{}); }));
}

TEMPLATE_TEST_CASE("training over processes with one place each is bitwise equal to one process with as many places",
                   "[parallel]", collective::all_reduce<>,
                   (collective::sharded_all_reduce<collective::ring, collective::buckets<1, 1>>),
                   collective::scatter_gather) {
  const auto four = train<dp::replicated<0, 1, 2, 3>>(same_bits_of_one_process<TestType>{});
  CHECK_NOTHROW(require_of_all(4, four, [] { return train<dp::across<dp::on<dp::cuda<2>>>>(TestType{}); }));
  if constexpr (std::is_same_v<TestType, collective::all_reduce<>>) {
    const auto two = train<dp::replicated<0, 1>>(TestType{});
    CHECK(two != four);
    CHECK_NOTHROW(require_of_all(2, two, [] { return train<dp::across<dp::on<dp::cuda<2>>>>(TestType{}); }));
  }
}

TEST_CASE("a group of one process is bitwise equal to its places alone", "[parallel]") {
  const collective::all_reduce<> policy{};
  const auto expected = train<dp::replicated<0, 1>>(policy);
  CHECK_NOTHROW(require_of_all(1, expected, [&] { return train<dp::across<dp::replicated<2, 0>>>(policy); }));
}

TEST_CASE("training with the hierarchical engine has the same bits for each policy", "[parallel]") {
  using collective::hierarchical;
  CHECK_NOTHROW(in_processes(2, [](const dp::process_group& group) {
    const dp::process_scope scope{group};
    using places = dp::across<dp::replicated<2, 0>>;
    const auto whole = train<places>(collective::all_reduce<hierarchical>{});
    const auto shares = train<places>(collective::sharded_all_reduce<hierarchical, collective::buckets<1, 1>>{});
    const auto first = train<places>(collective::reduce_and_broadcast<hierarchical, collective::buckets<1, 1>>{});
    if (shares != whole || first != whole) throw std::logic_error("a policy has other bits than all_reduce.");
    if (train_by_hand<places>(collective::all_reduce<hierarchical>{}) == train_by_hand<places>())
      throw std::logic_error("the sums have the order of direct.");
    if (train_by_hand<dp::across<dp::on<dp::cuda<2>>>>(collective::all_reduce<hierarchical>{}) !=
        train_by_hand<dp::across<dp::on<dp::cuda<2>>>>())
      throw std::logic_error("with one place in each process the order is not that of direct.");
  }));
  CHECK(train_by_hand<dp::replicated<0, 1>>(collective::all_reduce<hierarchical>{}) ==
        train_by_hand<dp::replicated<0, 1>>());
}

TEST_CASE("training over processes on the CPU is bitwise equal to one process with as many places", "[parallel]") {
  const auto expected = train<dp::replicated<2, 0, 1>>(collective::all_reduce<>{});
  CHECK_NOTHROW(
      require_of_all(3, expected, [] { return train<dp::across<dp::on<dp::cpu>>>(collective::all_reduce<>{}); }));
  CHECK_NOTHROW(require_of_all(1, train<dp::on<dp::cpu>>(collective::all_reduce<>{}),
                               [] { return train<dp::across<dp::on<dp::cpu>>>(collective::all_reduce<>{}); }));
}

TEST_CASE("each process has its share of the optimizer's state", "[parallel]") {
  using where = dp::across<dp::on<dp::cpu>>;
  constexpr std::size_t whole =
      dp::memory_plan<dp::model<net, dp::on<dp::cpu>>, dp::batch<1>, dp::optim::adam>::optimizer_state;
  const auto state = [] { return dp::memory_statistics<dp::cpu>().of(dp::memory_purpose::optimizer_state); };
  const std::size_t before = state();
  in_processes(3, [&](const dp::process_group& group) {
    const dp::process_scope scope{group};
    dp::model<net, where> model{dp::seed{9}};
    group.barrier();
    dp::trainer step{model, nn::cross_entropy{}, dp::optim::adam{}, collective::sharded_all_reduce<>{}};
    group.barrier();
    // Threads stand in for the processes, so this counts all of them: one state and three records of the steps.
    if (state() - before != whole + 2 * dp::optim::step_memory_bytes)
      throw std::logic_error("the state is not shared.");
    group.barrier();
  });
}

TEMPLATE_TEST_CASE("the memory of one of several processes is planned to the byte", "[parallel]",
                   collective::all_reduce<>, collective::sharded_all_reduce<>,
                   (collective::sharded_all_reduce<collective::hierarchical, collective::buckets<1, 1>>),
                   collective::scatter_gather) {
  using model_type = dp::model<net, dp::across<dp::on<dp::cpu>>>;
  using four = dp::memory_plan<model_type, dp::batch<66>, dp::optim::adam, TestType, dp::processes<4>>;
  STATIC_REQUIRE(dp::memory_plan<model_type, dp::batch<17>, dp::optim::sgd, TestType, dp::processes<1>>::bytes ==
                 dp::memory_plan<dp::model<net, dp::on<dp::cpu>>, dp::batch<17>, dp::optim::sgd>::bytes);
  CHECK_NOTHROW(in_processes(4, [](const dp::process_group& group) {
    const dp::process_scope scope{group};
    dp::detail::gemm_prepare();  // the threads' packing buffers are not part of the plan
    std::optional<model_type> model;
    std::optional<dp::trainer<model_type, nn::cross_entropy, dp::optim::adam, TestType>> step;
    // One after the other, because the processes are threads here.
    for (int rank = 0; rank != group.size(); ++rank) {
      group.barrier();
      if (rank != group.rank()) continue;
      const std::size_t before = dp::memory_statistics<dp::cpu>().allocated;
      model.emplace(dp::seed{9});
      step.emplace(*model, nn::cross_entropy{}, dp::optim::adam{}, TestType{});
      step->prepare(66);
      const std::size_t allocated = dp::memory_statistics<dp::cpu>().allocated - before;
      if (group.is_main() ? allocated != four::bytes : allocated > four::bytes)
        throw std::logic_error("rank " + std::to_string(rank) + " has " + std::to_string(allocated) + " bytes, not " +
                               std::to_string(four::bytes) + ".");
    }
    group.barrier();
  }));
}

TEST_CASE("a plan for several processes can be asserted", "[parallel]") {
  // clang-format off
  using plan = dp::memory_plan<dp::model<net, dp::across<dp::cpu>>, dp::batch<64>, dp::optim::adam,
                               collective::sharded_all_reduce<>, dp::processes<4>>;
  static_assert(plan::bytes < 16_KiB, "in each process");
  // clang-format on
  STATIC_REQUIRE(4 * (plan::optimizer_state - dp::optim::step_memory_bytes) <= 2 * plan::parameters + 4 * 2 * 64);
}

TEST_CASE("over processes the first place of the first process updates for all", "[parallel]") {
  using where = dp::across<dp::on<dp::cpu>>;
  const auto state = [] { return dp::memory_statistics<dp::cpu>().of(dp::memory_purpose::optimizer_state); };
  const auto workspace = [] { return dp::memory_statistics<dp::cpu>().of(dp::memory_purpose::workspace); };
  constexpr std::size_t of_one =
      dp::memory_plan<dp::model<net, dp::on<dp::cpu>>, dp::batch<1>, dp::optim::adam>::optimizer_state;
  const std::size_t before = state();
  in_processes(3, [&](const dp::process_group& group) {
    const dp::process_scope scope{group};
    dp::model<net, where> model{dp::seed{9}};
    group.barrier();
    dp::trainer step{model, nn::cross_entropy{}, dp::optim::adam{}, collective::scatter_gather{}};
    group.barrier();
    if (state() - before != of_one) throw std::logic_error("the state is not the first process's alone.");
    const std::size_t without = workspace();
    group.barrier();
    if (!group.is_main()) step.clip({.max_norm = 1});
    group.barrier();
    if (workspace() != without) throw std::logic_error("a process that does not update has memory for clipping.");
    group.barrier();
    if (group.is_main()) step.clip({.max_norm = 1});
    group.barrier();
    if (workspace() == without) throw std::logic_error("the first process has no memory for clipping.");
    group.barrier();
  });
}

TEST_CASE("all processes get the losses of whole batches, whichever place updates", "[parallel]") {
  const auto losses = [](auto where, auto accumulated, const auto& policy) {
    using place = decltype(where);
    dp::model<digits, place> model{dp::seed{9}};
    dp::trainer step{model, nn::cross_entropy{}, dp::optim::sgd{.learning_rate = 0.1f}, policy, accumulated};
    std::vector<double> found;
    for (const std::size_t rows : std::vector<std::size_t>{7, 1, 5}) {
      const auto loss = step(dp::to_batch<place>(dp::test::integer_samples<float, 6>(rows)),
                             dp::to_batch<place>(dp::test::square_labels(rows, 3)));
      if (std::is_same_v<decltype(accumulated), dp::accumulate<1>>) found.push_back(loss.item());
    }
    step.flush();
    found.push_back(step.mean_loss());
    return found;
  };
  const auto compare = [&](auto accumulated) {
    in_processes(4, [&](const dp::process_group& group) {
      const dp::process_scope scope{group};
      const dp::across<dp::on<dp::cpu>> where{};
      const auto expected = losses(where, accumulated, collective::all_reduce<>{});
      if (losses(where, accumulated, collective::scatter_gather{}) != expected)
        throw std::logic_error("rank " + std::to_string(group.rank()) + " has other losses.");
    });
  };
  CHECK_NOTHROW(compare(dp::accumulate<1>{}));
  CHECK_NOTHROW(compare(dp::accumulate<3>{}));
}

TEST_CASE("gradients are partial over processes until synchronize", "[parallel]") {
  using where = dp::across<dp::on<dp::cpu>>;
  static_assert(
      std::is_same_v<dp::gradient_placement_t<where>, dp::across<dp::partial_on<dp::reduction::sum, dp::cpu>>>);
  CHECK_NOTHROW(require_of_all(3, train_by_hand<dp::replicated<2, 0, 1>>(), [] { return train_by_hand<where>(); }));
}

TEMPLATE_TEST_CASE("all reported numbers are bitwise equal to one process with as many places", "[parallel]",
                   collective::all_reduce<>, collective::scatter_gather) {
  const auto reported = [](auto where, auto accumulated) {
    using place = decltype(where);
    const dp::image_set data = support::numbered_images(41);  // the last batch of an epoch has one sample
    dp::model<digits, place> model{dp::seed{1}};
    dp::trainer step{model, nn::cross_entropy{.ignore_index = 3}, dp::optim::sgd{.learning_rate = 0.1f}, TestType{},
                     accumulated};
    const bool updates = TestType::every_place_updates || dp::is_main_process();
    step.measure_gradients();
    dp::loader<place> batches{data, {.batch = 8, .shuffle = dp::seed{2}}};
    std::vector<double> results;
    for (int epoch = 0; epoch < 3; ++epoch) {
      for (const auto& [images, labels] : batches.epoch(epoch)) {
        const auto loss = step(images, labels);
        if (std::is_same_v<decltype(accumulated), dp::accumulate<1>>) results.push_back(loss.item());
      }
      step.flush();
      results.push_back(step.mean_loss());
      step.reset_mean_loss();
      const dp::gradient_norms norms = updates ? step.gradient_norms().item() : dp::gradient_norms{-1, -1, -1};
      results.insert(results.end(), {norms.last, norms.mean, norms.largest});
      results.push_back(dp::accuracy(model, data, {.top = 3, .ignore_index = 3}));
    }
    return results;
  };
  const auto compare = [&](int processes, auto where, auto accumulated, const std::vector<double>& expected) {
    in_processes(processes, [&](const dp::process_group& group) {
      const dp::process_scope scope{group};
      const std::vector<double> found = reported(where, accumulated);
      if (found.size() != expected.size()) throw std::logic_error("other numbers of results.");
      for (std::size_t i = 0; i != expected.size(); ++i) {
        if (found[i] == -1) continue;  // norms on a place that does not update
        if (found[i] != expected[i])
          throw std::logic_error("number " + std::to_string(i) + " of rank " + std::to_string(group.rank()) + " is " +
                                 std::to_string(found[i]) + " instead of " + std::to_string(expected[i]));
      }
    });
  };
  const auto with = [&](auto accumulated) {
    const std::vector<double> four = reported(dp::replicated<0, 1, 2, 3>{}, accumulated);
    CHECK_NOTHROW(compare(4, dp::across<dp::on<dp::cpu>>{}, accumulated, four));
    if constexpr (accumulated.batches == 1)
      CHECK_NOTHROW(compare(2, dp::across<dp::replicated<2, 0>>{}, accumulated, four));
    else
      CHECK_NOTHROW(compare(1, dp::across<dp::on<dp::cpu>>{}, accumulated, reported(dp::on<dp::cpu>{}, accumulated)));
  };
  with(dp::accumulate<1>{});
  if constexpr (std::is_same_v<TestType, collective::all_reduce<>>) with(dp::accumulate<3>{});
}

TEST_CASE("with accumulated gradients a step's loss covers only its own samples, also after the update", "[parallel]") {
  using where = dp::across<dp::on<dp::cpu>>;
  in_processes(2, [](const dp::process_group& group) {
    const dp::process_scope scope{group};
    using without_dropout = nn::sequential<nn::linear<6, 3>>;
    dp::model<without_dropout, where> model{dp::seed{1}};
    dp::model<without_dropout, dp::cpu> alone{dp::seed{1}};
    dp::trainer step{model, nn::mse{}, dp::optim::sgd{.learning_rate = 0}, dp::accumulate<2>{}};
    dp::trainer step_alone{alone, nn::mse{}, dp::optim::sgd{.learning_rate = 0}};
    dp::tensor<float, dp::extents<4, 6>, dp::cpu> x{};
    dp::tensor<float, dp::extents<4, 3>, dp::cpu> y{};
    y(0, 0) = y(1, 1) = 1;
    y(2, 0) = y(3, 1) = 3;
    const auto own = dp::to<dp::cpu>(
        y.slice(2 * static_cast<std::size_t>(group.rank()), 2 * static_cast<std::size_t>(group.rank()) + 2));
    const double expected = step_alone(dp::zeros<float, dp::cpu>(2, 6), own).item();
    for (int batch = 0; batch < 4; ++batch)
      if (step(dp::to_batch<where>(x), dp::to_batch<where>(y)).item() != expected)
        throw std::logic_error("the loss is not that of this process's samples.");
    const auto last = step(dp::to_batch<where>(x), dp::to_batch<where>(y));
    step.flush();
    if (last.item() != expected) throw std::logic_error("flush() has changed a loss.");
    if (const auto of_all = group.all_gather(expected); of_all[0] == of_all[1]) throw std::logic_error("no test.");
  });
}

TEST_CASE("accuracy rejects the batches of another scope", "[parallel]") {
  using where = dp::across<dp::on<dp::cpu>>;
  const dp::image_set data = support::numbered_images(8);
  in_processes(2, [&](const dp::process_group& group) {
    const dp::process_scope scope{group};
    dp::model<digits, where> model{dp::seed{1}};
    const dp::process_group alone = group.split(group.rank());
    const auto make = [&] {
      const dp::process_scope inner{alone};
      return std::make_unique<dp::loader<where>>(data, dp::loader_options{.batch = 8});
    };
    const auto batches = make();
    std::string text;
    try {
      static_cast<void>(dp::accuracy(model, batches->epoch(0)));
    } catch (const dp::argument_error& e) {
      text = e.what();
    }
    if (text.find("accuracy: the batches are divided among 1 participants") == std::string::npos)
      throw std::logic_error("not refused: " + text);
  });
}

TEST_CASE("a trainer uses the group of the scope in which it was made", "[parallel]") {
  using where = dp::across<dp::on<dp::cpu>>;
  in_processes(4, [](const dp::process_group& group) {
    const dp::process_group pair = group.split(group.rank() / 2);
    const dp::process_scope all{group};
    dp::model<net, where> model{dp::seed{static_cast<std::uint64_t>(group.rank() / 2)}};
    const auto make = [&] {
      const dp::process_scope inner{pair};
      return dp::trainer{model, nn::cross_entropy{}, dp::optim::sgd{.learning_rate = 0.1f}};
    };
    auto step = make();
    const auto batch = [&](const auto& whole) {
      const dp::process_scope inner{pair};
      return dp::to_batch<where>(whole);
    };
    step(batch(dp::test::integer_samples<float, 6>(9)), batch(dp::test::square_labels(9, 3)));
    const auto own = dp::test::parameters_of(model);
    for (std::size_t i = 0; i < own.size(); i += 10) {
      const auto by_rank = group.all_gather(own[i]);
      if (by_rank[0] != by_rank[1] || by_rank[2] != by_rank[3]) throw std::logic_error("the pair differs.");
    }
    const auto first = group.all_gather(own[0]);
    if (first[0] == first[2]) throw std::logic_error("the pairs do not differ.");
  });
}

TEST_CASE("without a process_scope a trainer over processes throws an error that names the scope", "[parallel]") {
  dp::model<net, dp::across<dp::on<dp::cpu>>> model{dp::seed{1}};
  CHECK_THROWS_WITH(
      (dp::trainer{model, nn::cross_entropy{}, dp::optim::sgd{}}),
      ContainsSubstring("trainer: its placement lies across processes, and this thread has no process_scope."));
  CHECK_THROWS_WITH(dp::to_batch<dp::across<dp::on<dp::cpu>>>(dp::test::square_labels(4, 3)),
                    ContainsSubstring("to_batch: its placement lies across processes"));
}

TEST_CASE("processes with different trainings throw before the first step, and the error names the first difference",
          "[parallel]") {
  using where = dp::across<dp::on<dp::cpu>>;
  /// The message of one process; checks that all processes have the same message.
  const auto message = [](const auto& train) {
    std::string of_first;
    in_processes(3, [&](const dp::process_group& group) {
      const dp::process_scope scope{group};
      std::string text = "no error";
      try {
        train(group.rank());
      } catch (const dp::communication_error& e) {
        text = e.what();
      }
      const auto sizes = group.all_gather(text.size());
      if (sizes[0] != sizes[1] || sizes[0] != sizes[2]) throw std::logic_error("the messages differ.");
      if (group.is_main()) of_first = text;
    });
    return of_first;
  };
  const auto step_of = [](auto&& step) {
    step(dp::to_batch<where>(dp::test::integer_samples<float, 6>(6)),
         dp::to_batch<where>(dp::test::square_labels(6, 3)));
  };
  const auto step_with = [&](std::uint64_t seed, const nn::cross_entropy& loss, const auto& rule) {
    dp::model<net, where> model{dp::seed{seed}};
    step_of(dp::trainer{model, loss, rule});
  };
  const std::string begin = "devplace: trainer, in step 1: rank 1 has ";
  const std::string end =
      " Start the same program with the same options in all processes, and make each change in all of them before the "
      "same step.";
  CHECK(message([&](int) { step_with(1, {}, dp::optim::sgd{}); }) == "no error");
  CHECK_THAT(message([&](int rank) {
               dp::model<net, where> model{dp::seed{1}};
               dp::trainer step{model, nn::cross_entropy{}, dp::optim::sgd{}};
               if (rank == 1) step.optimizer().rule().learning_rate = 0.5;  // after the trainer was made
               step_of(step);
             }),
             ContainsSubstring("\"optimizer's learning_rate: 0.5"));
  CHECK_THAT(
      message([&](int rank) { step_with(rank == 1 ? 2 : 1, {}, dp::optim::sgd{}); }),
      Catch::Matchers::StartsWith(begin + "\"checksum of parameter 0.weight: ") && Catch::Matchers::EndsWith(end));
  CHECK(message([&](int rank) { step_with(1, {.label_smoothing = rank >= 1 ? 0.5 : 0.25}, dp::optim::sgd{}); }) ==
        begin + "\"loss's label_smoothing: 0.5\" where rank 0 has \"loss's label_smoothing: 0.25\"." + end);
  CHECK(message([&](int rank) {
          const std::vector<double> weights{1, 2, 3}, none;
          step_with(1, {.class_weights = rank == 1 ? none : weights}, dp::optim::sgd{});
        }) == begin + "\"loss's reduce: 1\" where rank 0 has \"loss's class_weights[0]: 1\"." + end);
  CHECK(message([&](int rank) { step_with(1, {}, dp::optim::sgd{.momentum = 0.5, .nesterov = rank != 1}); }) ==
        begin + "\"optimizer's nesterov: 0\" where rank 0 has \"optimizer's nesterov: 1\"." + end);
  CHECK_THAT(
      message([&](int rank) {
        if (rank == 1)
          step_with(1, {}, dp::optim::adam{});
        else
          step_with(1, {}, dp::optim::sgd{});
      }),
      ContainsSubstring("\"optimizer: devplace::optim::adam\" where rank 0 has \"optimizer: devplace::optim::sgd\""));
  CHECK_THAT(
      message([&](int rank) {
        if (rank != 1) return step_with(1, {}, dp::optim::sgd{});
        dp::model<digits, where> model{dp::seed{1}};
        step_of(dp::trainer{model, nn::cross_entropy{}, dp::optim::sgd{}});
      }),
      ContainsSubstring("\"parameter 0.weight: float 24x6\" where rank 0 has \"parameter 0.weight: float 8x6\""));
  CHECK_THAT(message([&](int rank) {
               if (rank != 1) return step_with(1, {}, dp::optim::sgd{});
               using smooth =
                   nn::sequential<nn::linear<6, 8>, nn::tanh, nn::dropout<std::ratio<1, 5>>, nn::linear<8, 3>>;
               dp::model<smooth, where> model{dp::seed{1}};
               step_of(dp::trainer{model, nn::cross_entropy{}, dp::optim::sgd{}});
             }),
             ContainsSubstring("\"network: devplace::nn::sequential<"));
}
