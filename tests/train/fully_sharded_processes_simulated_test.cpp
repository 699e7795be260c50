// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Training of a model in shares over processes, for which threads stand in: every step is bitwise equal to `replicated`
// on as many places of one process. Processes that differ or fail end the training of all.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <ratio>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <devplace/fully_sharded.hpp>
#include <devplace/io/parameters.hpp>
#include <devplace/nn/batch_norm.hpp>
#include <devplace/nn/cross_entropy.hpp>
#include <devplace/nn/dropout.hpp>
#include <devplace/nn/frozen.hpp>
#include <devplace/nn/layer_norm.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/relu.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/optim/adam.hpp>
#include <devplace/optim/sgd.hpp>
#include <devplace/parallel.hpp>
#include <devplace/train/accuracy.hpp>
#include <devplace/train/checkpoint.hpp>
#include <devplace/train/moving_average.hpp>
#include <devplace/train/trainer.hpp>

#include "parallel/nine_devices.hpp"
#include "support/catch.hpp"
#include "support/exact_training.hpp"
#include "support/failing_parts.hpp"
#include "support/labelled_samples.hpp"
#include "support/replicas.hpp"
#include "support/temporary_folder.hpp"
#include "support/thread_processes.hpp"
#include "support/training_data.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;
namespace collective = devplace::collective;
using Catch::Matchers::ContainsSubstring;
using dp::test::in_processes;

namespace {

using net =
    nn::sequential<nn::linear<6, 33>, nn::batch_norm<33, nn::over_all_places>, nn::relu, nn::dropout<std::ratio<1, 5>>,
                   nn::frozen<nn::linear<33, 20>>, nn::layer_norm<20>, nn::linear<20, 3>>;

template <class Place, std::size_t UnitBytes = 500>
using shares_across = dp::across<Place, dp::mesh<dp::shares<dp::dyn, UnitBytes>>>;

/// Pairs of processes with all shares, and the same mesh in one process.
template <class Place> using pairs_across = dp::across<Place, dp::mesh<dp::replicas<dp::dyn>, dp::shares<2, 500>>>;
using two_pairs = dp::spread<dp::mesh<dp::replicas<2>, dp::shares<2, 500>>, 0, 1, 2, 3>;

/// Losses, the mean loss, norms, and all state of the training, after steps on batches that do not divide evenly or
/// have fewer rows than participants.
template <class Where, class P, class Engine> std::vector<double> train() {
  using input = typename dp::model<net, Where, P>::input_type;
  dp::model<net, Where, P> model{dp::seed{9}};
  dp::trainer step{model, nn::cross_entropy{.ignore_index = 1, .label_smoothing = 0.1},
                   dp::optim::adam{.learning_rate = 0.01}, dp::test::policy_for<Where, Engine>{}};
  std::vector<double> found;
  const auto start = step.state().parameters;
  step.measure_gradients();
  for (const std::size_t rows : std::vector<std::size_t>{7, 1, 2, 64, 3, 13}) {
    if (rows == 64) step.clip({.max_norm = 0.5});
    step(dp::to_batch<Where>(dp::test::integer_samples<input, 6>(rows)),
         dp::to_batch<Where>(dp::test::square_labels(rows, 3)));
    found.push_back(step.mean_loss());
  }
  if (found[0] == found[3]) throw std::logic_error("the loss does not move.");
  const dp::gradient_norms norms = step.gradient_norms().item();
  found.insert(found.end(), {norms.last, norms.mean, norms.largest});
  const auto state = step.state();
  if (state.parameters == start) throw std::logic_error("the parameters do not change.");
  found.insert(found.end(), state.parameters.begin(), state.parameters.end());
  found.insert(found.end(), state.buffers.begin(), state.buffers.end());
  for (const auto& arena : state.optimizer.arenas) found.insert(found.end(), arena.begin(), arena.end());
  return found;
}

/// Runs `f()` as each of several processes and requires that all return the expected value.
template <class Expected, class F> void require_of_all(int processes, const Expected& expected, const F& f) {
  in_processes(processes, [&](const dp::process_group& group) {
    const dp::process_scope scope{group};
    if (f() != expected) throw std::logic_error("rank " + std::to_string(group.rank()) + " has other bits.");
  });
}
template <class Place, class Replicas, class P = float, class Engine = collective::direct> void check_equal() {
  constexpr int processes = static_cast<int>(dp::local_place_count<Replicas>);
  INFO(processes << " processes, engine " << Engine::name);
  const auto expected = train<Replicas, P, Engine>();
  CHECK_NOTHROW(require_of_all(processes, expected, [] { return train<shares_across<Place>, P, Engine>(); }));
}

}  // namespace

TEST_CASE("shares over processes are bitwise equal to replicas of one process", "[parallel]") {
  check_equal<dp::cpu, dp::replicated<0>>();
  check_equal<dp::cpu, dp::replicated<0, 1>, double>();
  check_equal<dp::cpu, dp::replicated<0, 1, 2>>();
  check_equal<dp::cuda<1>, dp::replicated<0, 1, 2, 3, 4>>();
}

TEST_CASE("shares over processes have the bits of replicas in mixed precision and by every engine", "[parallel]") {
  check_equal<dp::cpu, dp::replicated<0, 1, 2>, dp::mixed<dp::bf16>>();
  check_equal<dp::cuda<2>, dp::replicated<0, 1, 2>, dp::mixed<dp::half>, collective::wire<dp::bf16>>();
  check_equal<dp::cuda<0>, dp::replicated<0, 1>, double, collective::ring>();
}

TEST_CASE("predictions, accuracy and copies of shares over processes are those of replicas", "[parallel]") {
  const auto numbers = [](auto where) {
    using place = decltype(where);
    using digits = nn::sequential<nn::linear<6, 24>, nn::batch_norm<24>, nn::relu, nn::linear<24, 10>>;
    const dp::image_set data = support::numbered_images(41);  // the last batch of an epoch has one sample
    dp::model<digits, place> model{dp::seed{1}};
    dp::trainer step{model, nn::cross_entropy{.ignore_index = 3}, dp::optim::sgd{.learning_rate = 0.1}};
    dp::moving_average average{model, {.decay = 0.9}};
    dp::loader<place> batches{data, {.batch = 8, .shuffle = dp::seed{2}}};
    std::vector<double> found;
    for (int epoch = 0; epoch != 3; ++epoch) {
      for (const auto& [images, labels] : batches.epoch(epoch)) {
        step(images, labels);
        average.update(model);
      }
      found.push_back(dp::accuracy(model, data, {.top = 3, .ignore_index = 3}));
      found.push_back(dp::accuracy(average.model(), data, {.top = 3, .ignore_index = 3}));
    }
    for (const float value : dp::test::parameters_of(dp::to<dp::cpu>(average.model()))) found.push_back(value);
    return found;
  };
  const std::vector<double> three = numbers(dp::replicated<0, 1, 2>{});
  CHECK(three[0] != three[4]);
  CHECK_NOTHROW(require_of_all(3, three, [&] { return numbers(shares_across<dp::cpu>{}); }));
  const std::vector<double> pairs = numbers(two_pairs{});
  CHECK_NOTHROW(require_of_all(4, pairs, [&] { return numbers(pairs_across<dp::cpu>{}); }));
}

TEST_CASE("a model in shares over processes is made in a process_scope", "[parallel]") {
  CHECK_THROWS_WITH((dp::model<net, shares_across<dp::cpu>>{dp::seed{1}}), ContainsSubstring("no process_scope"));
  CHECK_THROWS_WITH((dp::model<net, pairs_across<dp::cpu>>{dp::seed{1}}), ContainsSubstring("no process_scope"));
}

TEST_CASE("processes with other options or seeds than the first throw before the first step", "[parallel]") {
  const auto message = [](const auto& train_as) {
    std::string of_first;
    in_processes(3, [&](const dp::process_group& group) {
      const dp::process_scope scope{group};
      std::string text = "no error";
      try {
        train_as(group.rank());
      } catch (const dp::communication_error& e) {
        text = e.what();
      }
      const auto sizes = group.all_gather(text.size());
      if (sizes[0] != sizes[1] || sizes[0] != sizes[2]) throw std::logic_error("the messages differ: " + text);
      if (group.is_main()) of_first = text;
    });
    return of_first;
  };
  const auto step_on = [](auto place, std::uint64_t seed, const nn::cross_entropy& loss, const dp::optim::sgd& rule) {
    using where = decltype(place);
    dp::model<net, where> model{dp::seed{seed}};
    dp::trainer step{model, loss, rule};
    step(dp::to_batch<where>(dp::test::integer_samples<float, 6>(6)),
         dp::to_batch<where>(dp::test::square_labels(6, 3)));
  };
  const auto step_with = [&](std::uint64_t seed, const nn::cross_entropy& loss, const dp::optim::sgd& rule) {
    step_on(shares_across<dp::cpu>{}, seed, loss, rule);
  };
  const std::string begin = "devplace: trainer, in step 1: rank 1 has ";
  CHECK(message([&](int) { step_with(1, {}, {}); }) == "no error");
  CHECK_THAT(message([&](int rank) { step_with(1, {.label_smoothing = rank == 1 ? 0.5 : 0.25}, {}); }),
             ContainsSubstring(begin + "\"loss's label_smoothing: 0.5\" where rank 0 has"));
  CHECK_THAT(message([&](int rank) { step_with(1, {}, {.learning_rate = rank == 1 ? 0.5 : 0.25}); }),
             ContainsSubstring(begin + "\"optimizer's learning_rate: 0.5"));
  CHECK_THAT(message([&](int rank) { step_with(rank == 1 ? 2 : 1, {}, {}); }),
             ContainsSubstring(begin + "\"seed of the model: 2\" where rank 0 has \"seed of the model: 1\""));
  CHECK_THAT(message([&](int rank) {
               if (rank != 1) return step_with(1, {}, {});
               step_on(shares_across<dp::cpu, 1000>{}, 1, {}, {});
             }),
             ContainsSubstring(begin + "\"least bytes of a unit of layers: 1000\""));
}

namespace {

/// Runs steps as each of several processes, of which rank 2 then has another learning rate.
template <class Where> void take_other_steps(const dp::process_group& group) {
  const dp::process_scope scope{group};
  dp::model<net, Where> model{dp::seed{1}};
  dp::trainer step{model, nn::cross_entropy{}, dp::optim::sgd{.learning_rate = 0.1}};
  const auto x = dp::to_batch<Where>(dp::test::integer_samples<float, 6>(9));
  const auto y = dp::to_batch<Where>(dp::test::square_labels(9, 3));
  for (int i = 0; i != 3; ++i) step(x, y);
  const auto state = model.shared_state();
  const auto share = [&] {
    const float* const first = state->replicas[0].parameter_data();
    return std::vector<float>(first, first + state->replicas[0].trained);
  };
  const std::vector<float> before = share();
  if (group.rank() == 2) step.optimizer().rule().learning_rate = 0.2;
  std::string text = "no error";
  try {
    step(x, y);
  } catch (const dp::communication_error& e) {
    text = e.what();
  }
  if (text.find("in step 4: rank 2 has \"optimizer's learning_rate: 0.2") == std::string::npos)
    throw std::logic_error("not reported: " + text);
  if (share() != before) throw std::logic_error("the parameters have changed.");
}

/// The messages of processes of which rank 2 throws in the second step, if `fails`.
template <class Where> std::vector<std::string> texts_of_step(int processes, bool fails) {
  using failing = nn::sequential<nn::linear<6, 33>, dp::test::refusing, nn::relu, nn::linear<33, 3>>;
  std::vector<std::string> texts(static_cast<std::size_t>(processes));
  const auto work = [&](const dp::process_group& group) {
    const dp::process_scope scope{group};
    dp::model<failing, Where> model{dp::seed{1}};
    dp::trainer step{model, nn::cross_entropy{}, dp::optim::sgd{}};
    const auto rows = static_cast<std::size_t>(3 * processes);
    const auto x = dp::to_batch<Where>(dp::test::integer_samples<float, 6>(rows));
    const auto y = dp::to_batch<Where>(dp::test::square_labels(rows, 3));
    step(x, y);
    group.barrier();
    if (group.rank() == 2 && fails) dp::test::refusing::refused = 6;  // where its part of the batch begins
    group.barrier();
    try {
      step(x, y);
    } catch (const std::exception& e) {
      texts[static_cast<std::size_t>(group.rank())] = e.what();
      throw;
    }
  };
  if (fails)
    CHECK_THROWS(in_processes(processes, work));
  else
    CHECK_NOTHROW(in_processes(processes, work));
  dp::test::refusing::refused = dp::test::refusing::nowhere;
  return texts;
}

}  // namespace

TEST_CASE("a process that takes other steps than the others is reported before parameters change", "[parallel]") {
  CHECK_NOTHROW(in_processes(3, &take_other_steps<shares_across<dp::cpu>>));
  CHECK_NOTHROW(in_processes(4, &take_other_steps<pairs_across<dp::cpu>>));
}

TEST_CASE("a process that throws ends the steps of all", "[parallel]") {
  for (const auto& texts :
       {texts_of_step<shares_across<dp::cpu>>(3, false), texts_of_step<pairs_across<dp::cpu>>(4, false)})
    for (const std::string& text : texts) CHECK(text.empty());
  for (const auto& texts :
       {texts_of_step<shares_across<dp::cpu>>(3, true), texts_of_step<pairs_across<dp::cpu>>(4, true)})
    for (std::size_t rank = 0; rank != texts.size(); ++rank)
      CHECK_THAT(texts[rank], ContainsSubstring(rank == 2 ? "a layer threw." : "in step 2: rank 2 has"));
}

TEST_CASE("all processes save one file of parameters and one checkpoint", "[parallel]") {
  using where = shares_across<dp::cpu>;
  const support::temporary_folder folder;
  const std::string parameters = folder.file("parameters"), checkpoint = folder.file("checkpoint");
  std::vector<std::vector<float>> ends(3), continued(3);
  const auto go_on = [](auto& step, int first, int last, auto place) {
    using W = decltype(place);
    for (int i = first; i != last; ++i) {
      const std::size_t rows = 5 + static_cast<std::size_t>(i);
      step(dp::to_batch<W>(dp::test::integer_samples<float, 6>(rows)),
           dp::to_batch<W>(dp::test::square_labels(rows, 3)));
    }
  };
  const dp::optim::adam rule{.learning_rate = 0.01};
  in_processes(3, [&](const dp::process_group& group) {
    const dp::process_scope scope{group};
    const auto rank = static_cast<std::size_t>(group.rank());
    dp::model<net, where> model{dp::seed{1}};
    dp::trainer step{model, nn::cross_entropy{}, rule};
    dp::moving_average average{model, {.decay = 0.5}};
    go_on(step, 0, 4, where{});
    average.update(model);
    dp::save_parameters(model, parameters);
    dp::save_checkpoint(step, {1, 2}, checkpoint, average);
    go_on(step, 4, 8, where{});
    ends[rank] = step.state().parameters;

    dp::model<net, where> other{dp::seed{2}};
    dp::trainer resumed{other, nn::cross_entropy{}, rule};
    dp::moving_average average_of_other{other, {.decay = 0.5}};
    group.barrier();
    if (dp::load_checkpoint(resumed, checkpoint, average_of_other) != dp::training_position{1, 2})
      throw std::logic_error("another position.");
    if (dp::test::parameters_of(dp::to<dp::cpu>(average_of_other.model())) !=
        dp::test::parameters_of(dp::to<dp::cpu>(average.model())))
      throw std::logic_error("another average.");
    go_on(resumed, 4, 8, where{});
    continued[rank] = resumed.state().parameters;
    dp::load_parameters(other, parameters);
    dp::save_parameters(other, folder.file("again"));
    if (group.is_main() && support::contents(parameters) != support::contents(folder.file("again")))
      throw std::logic_error("another file.");
  });
  dp::model<net, dp::replicated<0, 1, 2>> model{dp::seed{1}};
  dp::trainer step{model, nn::cross_entropy{}, rule};
  go_on(step, 0, 4, dp::replicated<0, 1, 2>{});
  dp::save_parameters(model, folder.file("of_replicas"));
  CHECK(support::contents(parameters).size() > 1000);
  CHECK((support::contents(parameters) == support::contents(folder.file("of_replicas"))));
  go_on(step, 4, 8, dp::replicated<0, 1, 2>{});
  const auto expected = step.state().parameters;
  for (const auto& found : {ends, continued})
    for (const std::vector<float>& end : found) CHECK((end == expected));
  CHECK(folder.names().size() == 4);
}
