// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A training resumed from a checkpoint is bitwise equal to an uninterrupted one; damaged files and checkpoints of other
// trainings are rejected.

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <ratio>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include <devplace/nn/batch_norm.hpp>
#include <devplace/nn/cross_entropy.hpp>
#include <devplace/nn/dropout.hpp>
#include <devplace/nn/frozen.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/relu.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/optim/adam.hpp>
#include <devplace/optim/plain_sgd.hpp>
#include <devplace/optim/sgd.hpp>
#include <devplace/parallel/check_replicas.hpp>
#include <devplace/parallel/to_batch.hpp>
#include <devplace/train/checkpoints.hpp>
#include <devplace/train/early_stopping.hpp>
#include <devplace/train/moving_average.hpp>
#include <devplace/train/trainer.hpp>

#include "support/catch.hpp"
#include "support/in_child.hpp"
#include "support/replicas.hpp"
#include "support/temporary_folder.hpp"
#include "support/thread_processes.hpp"
#include "support/training_data.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;
using dp::test::parameters_of;
using support::temporary_folder;

namespace {

/// Has buffers, random numbers, and parameters without optimizer state.
using resumed_net = nn::sequential<nn::frozen<nn::linear<6, 8>>, nn::batch_norm<8>, nn::relu,
                                   nn::dropout<std::ratio<1, 5>>, nn::linear<8, 3>>;
using resumed_cpu = dp::on<dp::cpu>;
using resumed_replicas = dp::replicated<2, 0, 1>;
using in_half = dp::mixed<dp::half>;

constexpr dp::optim::adam resumed_adam{.learning_rate = 0.02, .weight_decay = 0.01};
constexpr int all_steps = 9, steps_before = 4;

/// A model and its trainer; the seed does not matter if the training is resumed from a checkpoint.
template <class Where, class P, class Policy = dp::collective::all_reduce<>> struct resumed_training {
  dp::model<resumed_net, Where, P> model;
  dp::trainer<dp::model<resumed_net, Where, P>, nn::cross_entropy, dp::optim::adam, Policy> step;

  explicit resumed_training(std::uint64_t seed, const dp::optim::adam& rule = resumed_adam)
      : model(dp::seed{seed}), step(model, nn::cross_entropy{}, rule) {
    if constexpr (std::is_same_v<P, in_half>) step.scale_losses({.initial_scale = 1 << 21, .growth_interval = 3});
  }
  /// Steps on batches of several sizes with a changing learning rate; in mixed<half> the first gradients are infinite.
  void run(int first, int last) {
    for (int i = first; i < last; ++i) {
      const auto x = dp::test::integer_samples<float, 6>(7 + 5 * static_cast<std::size_t>(i % 3));
      step(dp::to_batch<Where>(x), dp::to_batch<Where>(dp::test::square_labels(x.extent(0), 3)));
      if (i == 1) step.optimizer().rule().learning_rate *= 0.3;
    }
  }
  /// All state on which later steps depend, and the mean loss.
  std::vector<double> result() {
    const auto state = step.state();
    std::vector<double> all(state.parameters.begin(), state.parameters.end());
    all.insert(all.end(), state.buffers.begin(), state.buffers.end());
    for (const auto& arena : state.optimizer.arenas) all.insert(all.end(), arena.begin(), arena.end());
    const double mean_loss = step.mean_loss();
    all.insert(all.end(), {std::isnan(mean_loss) ? -1 : mean_loss, state.optimizer.rule.learning_rate,
                           state.scaler.scale, static_cast<double>(state.scaler.growth_tracker),
                           static_cast<double>(state.scaler.skipped_steps), static_cast<double>(state.passes)});
    if constexpr (!dp::spans_processes<Where>) dp::check_replicas(model);
    return all;
  }
};

template <class Where, class P, class To = Where, class Policy = dp::collective::all_reduce<>> void check_resumed() {
  const temporary_folder folder;
  const std::string path = folder.file("x.safetensors");
  resumed_training<Where, P, Policy> whole(1);
  whole.run(0, steps_before);
  dp::save_checkpoint(whole.step, {3, 4}, path);
  const auto before = whole.result();
  whole.run(steps_before, all_steps);
  const auto expected = whole.result();
  CHECK_FALSE(before == expected);
  if (std::is_same_v<P, in_half>) CHECK(whole.step.state().scaler.skipped_steps > 0);

  resumed_training<To, P> resumed(2);
  resumed.run(0, 1);
  CHECK(dp::load_checkpoint(resumed.step, path) == dp::training_position{3, 4});
  CHECK(resumed.model.state().seed == 1);
  if constexpr (std::is_same_v<Where, To>) {
    CHECK((resumed.result() == before));
    resumed.run(steps_before, all_steps);
    CHECK((resumed.result() == expected));
  } else {
    // A resume on one place adds up the loss sums of all places.
    auto all = resumed.result();
    const std::size_t mean = all.size() - 6;
    CHECK(all.at(mean) == Catch::Approx(before.at(mean)));
    all[mean] = before[mean];
    CHECK((all == before));
  }
}

using observed_model = dp::model<nn::sequential<nn::linear<6, 8>>, resumed_cpu>;

/// A user's object that is saved with a training: two models, or none, and a number.
template <std::size_t Models> struct kept_beside {
  std::vector<observed_model> models;
  int number;

  explicit kept_beside(int first) : number(first) {
    for (std::size_t i = 0; i < Models; ++i) models.emplace_back(dp::seed{static_cast<std::uint64_t>(first) + i});
  }
  void for_checkpoint(auto&& of_model, auto&& of_number) {
    for (observed_model& model : models) of_model(model);
    of_number("number", number);
  }
};

/// The message that load_checkpoint throws. Checks that the training does not change.
template <class Training> std::string failure_of_load(Training& training, const std::string& path) {
  const auto before = training.result();
  try {
    dp::load_checkpoint(training.step, path);
  } catch (const dp::file_error& error) {
    CHECK((training.result() == before));
    return error.what();
  }
  return "loaded without an error";
}

}  // namespace

TEST_CASE("a training resumed from a checkpoint is bitwise equal to an uninterrupted one", "[train]") {
  SECTION("on the CPU") { check_resumed<resumed_cpu, float>(); }
  SECTION("on several devices") { check_resumed<resumed_replicas, float>(); }
  SECTION("in mixed<half> on several devices") { check_resumed<resumed_replicas, in_half>(); }
  SECTION("from several devices to the CPU") { check_resumed<resumed_replicas, float, resumed_cpu>(); }
  SECTION("from sharded state to whole state") {
    using shares = dp::collective::sharded_all_reduce<>;
    check_resumed<resumed_replicas, float, resumed_cpu, shares>();
    const temporary_folder folder;
    resumed_training<resumed_replicas, float> whole(1);
    whole.run(0, steps_before);
    dp::save_checkpoint(whole.step, {}, folder.file("x"));
    resumed_training<resumed_replicas, float, shares> shared(2);
    static_cast<void>(dp::load_checkpoint(shared.step, folder.file("x")));
    CHECK((shared.result() == whole.result()));
    whole.run(steps_before, all_steps);
    shared.run(steps_before, all_steps);
    CHECK((shared.result() == whole.result()));
  }
}

TEST_CASE("processes with sharded optimizer state write one whole checkpoint", "[train]") {
  const temporary_folder folder;
  const dp::checkpoints saved{folder.path()};
  std::vector<double> before;
  dp::test::in_processes(2, [&](const dp::process_group& group) {
    const dp::process_scope scope{group};
    using training = resumed_training<dp::across<resumed_cpu>, float, dp::collective::sharded_all_reduce<>>;
    training whole(1);
    whole.run(0, steps_before);
    saved.save(whole.step, {3, 4});
    const auto state = whole.result();  // waits for the process that writes
    if (group.is_main()) before = state;
    training resumed(2);
    if (!(saved.resume(resumed.step) == dp::training_position{3, 4})) throw std::logic_error("another position");
    if (resumed.result() != state) throw std::logic_error("another state");
    whole.run(steps_before, all_steps);
    resumed.run(steps_before, all_steps);
    if (resumed.result() != whole.result()) throw std::logic_error("other bits later");
  });
  resumed_training<resumed_cpu, float> alone(2);
  static_cast<void>(saved.resume(alone.step));
  CHECK((alone.result() == before));
  CHECK(saved.paths().size() == 1);
}

TEST_CASE("a checkpoint of another training lists all differences and changes nothing", "[train]") {
  const temporary_folder folder;
  const std::string path = folder.file("x");
  observed_model other{dp::seed{1}};
  dp::trainer step{other, nn::cross_entropy{}, dp::optim::sgd{.learning_rate = 0.1, .nesterov = false},
                   dp::accumulate<2>{}};
  dp::save_checkpoint(step, {}, path);
  CHECK_NOTHROW(dp::load_parameters(other, path));  // reads the parameters alone
  resumed_training<resumed_replicas, in_half> training(1);
  const std::string failure = failure_of_load(training, path);
  INFO(failure);
  const auto has = [&](std::string_view text) { return failure.find(text) != std::string::npos; };
  CHECK(has("load_checkpoint: '" + path + "' does not fit the training, which was left unchanged: precision is "));
  CHECK(has("optimizer is devplace::optim::sgd instead of devplace::optim::adam;"));
  CHECK(has("\"4.weight\" is missing; "));
  CHECK(has("\"optimizer/0/0.weight\" is not in the training"));
  CHECK(has("\"1.running_mean\" is missing"));

  auto state = training.step.state();
  const auto unchanged = training.result();
  state.parameters[0] += 1;
  state.optimizer.sent.resize(2 * state.optimizer.sent.size());  // as if the network had more parameter groups
  CHECK_THROWS_WITH(training.step.restore(state),
                    Catch::Matchers::ContainsSubstring("an optimizer of another network"));
  CHECK((training.result() == unchanged));

  dp::save_parameters(training.model, path);
  CHECK(failure_of_load(training, path).find("is no checkpoint of a training; read parameters") != std::string::npos);
}

TEST_CASE("the error for a damaged checkpoint names the file, and the checkpoint before it loads", "[train]") {
  const temporary_folder folder;
  const dp::checkpoints saved{folder.file("run/checkpoints"), {.keep = 2}};
  resumed_training<resumed_cpu, float> training(1);
  CHECK(saved.resume(training.step) == dp::training_position{});
  for (int i = 0; i < 4; ++i) {
    training.run(i, i + 1);
    saved.save(training.step, {i, 0});
  }
  REQUIRE(saved.paths().size() == 2);
  const std::string newest = saved.paths()[0], before = saved.paths()[1];
  CHECK(newest == folder.file("run/checkpoints/checkpoint-00000004.safetensors"));
  const std::string bytes = support::contents(newest);
  resumed_training<resumed_cpu, float> resumed(2);
  const auto unchanged = resumed.result();
  const auto refused = [&](const std::string& damaged) {
    folder.write("run/checkpoints/checkpoint-00000004.safetensors", damaged);
    std::string failure;
    try {
      static_cast<void>(saved.resume(resumed.step));
    } catch (const dp::file_error& error) {
      failure = error.what();
    }
    return failure.find(newest) != std::string::npos &&
           failure.find("The previous checkpoint is '" + before) != std::string::npos &&
           failure.starts_with("devplace: ") && failure.find("devplace: ", 1) == std::string::npos;
  };
  for (std::size_t length = 0; length < bytes.size(); length += 97) CHECK(refused(bytes.substr(0, length)));
  for (std::size_t at = 0; at < bytes.size(); at += 13) {
    std::string flipped = bytes;
    flipped[at] = static_cast<char>(flipped[at] ^ 4);
    if (!refused(flipped)) FAIL_CHECK("accepted with another byte " << at << " of " << bytes.size());
  }
  CHECK((resumed.result() == unchanged));
  CHECK(dp::load_checkpoint(resumed.step, before) == dp::training_position{2, 0});
  folder.write("run/checkpoints/checkpoint-00000004.safetensors", bytes);
  CHECK(saved.resume(resumed.step) == dp::training_position{3, 0});
  CHECK((resumed.result() == training.result()));
  CHECK_THROWS_AS((dp::checkpoints{folder.path(), {.keep = 0}}), dp::argument_error);
  CHECK_THROWS_WITH(
      dp::checkpoints{folder.write("file", std::string("x"))},
      Catch::Matchers::ContainsSubstring("cannot be made one: Not a directory. Give the path of a folder"));
}

TEST_CASE("a program that is killed while it saves leaves a checkpoint that loads", "[train]") {
  // Only children train, because fork() does not copy the parent's threads.
  const temporary_folder folder;
  const dp::checkpoints saved{folder.file("run"), {.keep = 2}};
  const auto train_for_ever = [&] {
    resumed_training<resumed_cpu, float> training(1);
    for (dp::training_position at = saved.resume(training.step);;) {
      training.run(at.epoch, at.epoch + 1);
      ++at.epoch;
      saved.save(training.step, at);
    }
    return false;
  };
  const auto newest = [&] {
    const auto paths = saved.paths();
    return paths.empty() ? std::string() : paths[0];
  };
  std::string before;
  for (int round = 0; round < 10; ++round) {
    const pid_t child = ::fork();
    if (child == 0) {
      ::alarm(60);
      try {
        std::_Exit(train_for_ever() ? 0 : 1);
      } catch (...) {
        std::_Exit(2);
      }
    }
    REQUIRE(child > 0);
    while (newest() == before && ::kill(child, 0) == 0 && ::waitpid(child, nullptr, WNOHANG) == 0) ::usleep(500);
    ::usleep(static_cast<useconds_t>(round * 700));
    ::kill(child, SIGKILL);
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    REQUIRE((WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL));
    CHECK(newest() > before);
    before = newest();
    CHECK(saved.paths().size() <= 3);  // the child may be killed before it removes the oldest file
  }
  CHECK(support::in_child([&] {
          resumed_training<resumed_cpu, float> training(2), undisturbed(1);
          const dp::training_position at = saved.resume(training.step);
          undisturbed.run(0, at.epoch);
          const bool equal = at.epoch >= 10 && training.result() == undisturbed.result();
          saved.save(training.step, at);  // removes unfinished files
          return equal;
        }).empty());
  std::size_t files = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder.file("run"))) ++files;
  CHECK(files == 2);
}

TEST_CASE("averages and early stopping are resumed from a checkpoint, too", "[train]") {
  const temporary_folder folder;
  const std::string path = folder.file("x");
  struct observed {
    using model_type = observed_model;
    model_type model{dp::seed{1}};
    dp::trainer<model_type, nn::cross_entropy, dp::optim::sgd, dp::collective::all_reduce<>, dp::accumulate<2>> step{
        model, nn::cross_entropy{}, dp::optim::sgd{.learning_rate = 0.1, .momentum = 0.9}};
    dp::moving_average<model_type> average{model, {.decay = 0.75}};
    dp::early_stopping<model_type> stopping{model};

    void run(std::size_t first, std::size_t last) {
      constexpr double metrics[] = {3, 2, 2.5, 1.5, 4, 1};
      for (std::size_t i = first; i < last; ++i) {
        for (std::size_t rows = 5; rows < 7; ++rows) {
          step(dp::test::integer_samples<float, 6>(rows), dp::test::square_labels(rows, 3));
          average.update(model);
        }
        stopping(metrics[i], model);
      }
    }
    auto result() const {
      return std::tuple(parameters_of(model), parameters_of(average.model()), average.updates(),
                        parameters_of(stopping.best()), stopping.state().best, stopping.state().metrics);
    }
  };
  observed whole, resumed;
  whole.run(0, 3);
  dp::save_checkpoint(whole.step, {}, path, whole.average, whole.stopping);
  const auto before = whole.result(), unchanged = resumed.result();
  CHECK_THROWS_WITH(dp::load_checkpoint(resumed.step, path),
                    Catch::Matchers::ContainsSubstring("\"extra/1/0.weight\" is not in the training"));
  CHECK_THROWS_WITH(dp::load_checkpoint(resumed.step, path, resumed.stopping, resumed.average),
                    Catch::Matchers::ContainsSubstring("has no extra.0.best in its metadata"));
  CHECK((resumed.result() == unchanged));
  static_cast<void>(dp::load_checkpoint(resumed.step, path, resumed.average, resumed.stopping));
  CHECK((resumed.result() == before));
  whole.run(3, 6);
  resumed.run(3, 6);
  CHECK((resumed.result() == whole.result()));
  CHECK_FALSE((resumed.result() == before));
}

namespace {

/// The parameters after steps from a checkpoint, if any, and another one afterwards.
template <class Where, class P, class Rule>
std::vector<float> steps_of_sgd(const Rule& rule, const std::string& from, const std::string& to) {
  dp::model<resumed_net, Where, P> model{dp::seed{1}};
  dp::trainer step{model, nn::cross_entropy{}, rule};
  dp::moving_average average{model, {.decay = 0.5}};
  if (!from.empty()) dp::load_checkpoint(step, from, average);
  for (std::size_t rows = 4; rows != 10; ++rows) {
    const auto x = dp::test::integer_samples<float, 6>(rows);
    step(dp::to_batch<Where>(x), dp::to_batch<Where>(dp::test::square_labels(rows, 3)));
    average.update(model);
  }
  if (!to.empty()) dp::save_checkpoint(step, {1, 2}, to, average);
  auto all = parameters_of(model);
  const auto more = parameters_of(average.model());
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

}  // namespace

TEMPLATE_TEST_CASE("plain_sgd continues from a checkpoint of sgd without momentum, with equal bits", "[train]", float,
                   in_half) {
  const temporary_folder folder;
  const std::string path = folder.file("sgd.safetensors"), again = folder.file("plain.safetensors");
  constexpr dp::optim::sgd rule{.learning_rate = 0.05, .weight_decay = 0.1};
  constexpr dp::optim::plain_sgd other{.learning_rate = 3};  // the checkpoint has the options
  const auto before = steps_of_sgd<resumed_cpu, TestType>(rule, "", path);
  CHECK(steps_of_sgd<resumed_cpu, TestType>(dp::optim::plain_sgd{0.05, 0.1}, "", "") == before);
  const auto expected = steps_of_sgd<resumed_cpu, TestType>(rule, path, "");
  CHECK(expected != before);
  CHECK(steps_of_sgd<resumed_cpu, TestType>(other, path, again) == expected);
  CHECK(steps_of_sgd<resumed_cpu, TestType>(other, again, "") != expected);
  CHECK(steps_of_sgd<resumed_replicas, TestType>(other, path, "").size() == expected.size());
  // With momentum, the state is needed.
  steps_of_sgd<resumed_cpu, TestType>(dp::optim::sgd{.momentum = 0.5}, "", path);
  CHECK_THROWS_WITH((steps_of_sgd<resumed_cpu, TestType>(other, path, "")),
                    Catch::Matchers::ContainsSubstring("is of an optimizer with momentum"));
}

TEST_CASE("user objects with any number of models are saved in a checkpoint", "[train]") {
  const temporary_folder folder;
  observed_model model{dp::seed{1}};
  dp::trainer step{model, nn::cross_entropy{}, dp::optim::sgd{.learning_rate = 0.1, .momentum = 0.9},
                   dp::accumulate<2>{}};
  kept_beside<0> count(2), other_count(3), read_count(0), read_other(0);
  kept_beside<2> best(4), read_best(8);
  dp::save_checkpoint(step, {}, folder.file("x"), count, best, other_count);
  static_cast<void>(dp::load_checkpoint(step, folder.file("x"), read_count, read_best, read_other));
  CHECK((read_count.number == 2 && read_best.number == 4 && read_other.number == 3));
  CHECK(parameters_of(read_best.models[0]) == parameters_of(best.models[0]));
  CHECK(parameters_of(read_best.models[1]) == parameters_of(best.models[1]));
}

TEST_CASE("save_checkpoint rejects the state of another network", "[train]") {
  observed_model model{dp::seed{1}};
  dp::model<resumed_net, resumed_cpu> other{dp::seed{1}};
  dp::trainer step{model, nn::cross_entropy{}, dp::optim::adam{}};
  dp::trainer other_step{other, nn::cross_entropy{}, dp::optim::adam{}};
  const temporary_folder folder;
  const std::string why = ": the state belongs to another network; give the state of a trainer of this network.";
  CHECK_THROWS_WITH(dp::save_checkpoint(step, other_step.state(), {}, folder.file("file")),
                    "devplace: save_checkpoint" + why);
  CHECK_THROWS_WITH(step.restore(other_step.state()), "devplace: trainer" + why);
  CHECK(folder.names().empty());
}

TEST_CASE("state() throws between the batches of one accumulation", "[train]") {
  const temporary_folder folder;
  observed_model model{dp::seed{1}};
  dp::trainer step{model, nn::cross_entropy{}, dp::optim::sgd{.learning_rate = 0.1}, dp::accumulate<2>{}};
  const auto batch = [&] { step(dp::test::integer_samples<float, 6>(5), dp::test::square_labels(5, 3)); };
  batch();
  CHECK_THROWS_WITH(dp::save_checkpoint(step, {}, folder.file("x")),
                    Catch::Matchers::ContainsSubstring("call flush() first"));
  batch();
  CHECK_NOTHROW(dp::save_checkpoint(step, {}, folder.file("x")));
}
