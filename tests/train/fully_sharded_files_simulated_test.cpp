// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Files of a model in shares are those of a replicated model, and a checkpoint of any placement continues on any other
// with equal bits.

#include <cstddef>
#include <cstdint>
#include <ratio>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <devplace/fully_sharded.hpp>
#include <devplace/io/parameters.hpp>
#include <devplace/nn/batch_norm.hpp>
#include <devplace/nn/cross_entropy.hpp>
#include <devplace/nn/dropout.hpp>
#include <devplace/nn/frozen.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/relu.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/optim/adam.hpp>
#include <devplace/parallel.hpp>
#include <devplace/train/checkpoint.hpp>
#include <devplace/train/early_stopping.hpp>
#include <devplace/train/moving_average.hpp>
#include <devplace/train/trainer.hpp>

#include "parallel/nine_devices.hpp"
#include "support/catch.hpp"
#include "support/replicas.hpp"
#include "support/sanitizers.hpp"
#include "support/temporary_folder.hpp"
#include "support/thread_processes.hpp"
#include "support/training_data.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;
using support::contents;
using support::temporary_folder;

namespace {

using net = nn::sequential<nn::linear<6, 33>, nn::batch_norm<33>, nn::relu, nn::dropout<std::ratio<1, 5>>,
                           nn::frozen<nn::linear<33, 20>>, nn::linear<20, 3>>;
template <int... I> using shares = dp::spread<dp::mesh<dp::shares<sizeof...(I), 500>>, I...>;
using replicas = dp::replicated<0, 1, 2>;
using in_processes_of_three = dp::across<dp::cpu, dp::mesh<dp::shares<dp::dyn, 300>>>;
using in_pairs = dp::spread<dp::mesh<dp::replicas<2>, dp::shares<2, 500>>, 3, 1, 2, 0>;
using in_pairs_of_processes = dp::across<dp::cpu, dp::mesh<dp::replicas<dp::dyn>, dp::shares<2, 300>>>;

/// A training with a moving average and early stopping.
template <class Where, class P> struct training {
  using model_type = dp::model<net, Where, P>;
  model_type model;
  dp::trainer<model_type, nn::cross_entropy, dp::optim::adam, dp::collective::default_policy_t<Where>> step;
  dp::moving_average<model_type> average;
  dp::early_stopping<model_type> stopping;

  explicit training(std::uint64_t seed)
      : model(dp::seed{seed}),
        step(model, nn::cross_entropy{}, dp::optim::adam{.learning_rate = 0.02}),
        average(model, {.decay = 0.75}),
        stopping(model) {
    if constexpr (dp::scales_losses<P>) step.scale_losses({.initial_scale = 1 << 21, .growth_interval = 3});
  }

  /// In mixed<half> the first gradients are infinite.
  void run(int first, int last) {
    for (int i = first; i != last; ++i) {
      const auto x = dp::test::integer_samples<float, 6>(7 + 5 * static_cast<std::size_t>(i % 3));
      step(dp::to_batch<Where>(x), dp::to_batch<Where>(dp::test::square_labels(x.extent(0), 3)));
      average.update(model);
      if (i == 2) stopping(1, model);
    }
  }
  /// All state on which later steps depend.
  std::vector<double> state() {
    const auto whole = step.state();
    std::vector<double> all(whole.parameters.begin(), whole.parameters.end());
    all.insert(all.end(), whole.buffers.begin(), whole.buffers.end());
    for (const auto& arena : whole.optimizer.arenas) all.insert(all.end(), arena.begin(), arena.end());
    all.insert(all.end(), {static_cast<double>(whole.seed), static_cast<double>(whole.passes),
                           static_cast<double>(whole.optimizer.steps), whole.scaler.scale,
                           static_cast<double>(whole.scaler.skipped_steps), static_cast<double>(average.updates()),
                           stopping.state().best});
    for (const auto& copy : {dp::to<dp::cpu>(average.model()), dp::to<dp::cpu>(stopping.best())})
      for (const float value : dp::test::parameters_of(copy)) all.push_back(value);
    return all;
  }
};

/// The states of a training at its checkpoint, and at the end.
struct states {
  std::vector<double> at, end;
};
template <class Where, class P> states saved(const std::string& path) {
  training<Where, P> one(1);
  one.run(0, 4);
  dp::save_checkpoint(one.step, {3, 4}, path, one.average, one.stopping);
  states found{one.state(), {}};
  one.run(4, 8);
  found.end = one.state();
  return found;
}
template <class Where, class P> states resumed(const std::string& path) {
  training<Where, P> one(2);
  one.run(0, 1);
  if (dp::load_checkpoint(one.step, path, one.average, one.stopping) != dp::training_position{3, 4})
    throw std::logic_error("another position.");
  states found{one.state(), {}};
  one.run(4, 8);
  found.end = one.state();
  return found;
}
/// As above, by several processes, all of which must have the same states.
template <class F> states by_processes(int count, const F& f) {
  std::vector<states> found(static_cast<std::size_t>(count));
  dp::test::in_processes(count, [&](const dp::process_group& group) {
    const dp::process_scope scope{group};
    found[static_cast<std::size_t>(group.rank())] = f();
  });
  for (const states& each : found)
    if (each.at != found[0].at || each.end != found[0].end) throw std::logic_error("the processes differ.");
  return found[0];
}

/// A placement, and the index of the placement of whose steps it has the bits: one place, replicas on as many places,
/// or the same mesh in one process.
struct placement_case {
  const char* name;
  std::size_t with_bits_of;
  states (*save)(const std::string&);
  states (*resume)(const std::string&);
};
template <class Where, class P> constexpr placement_case on(const char* name, std::size_t with_bits_of) {
  return {name, with_bits_of, &saved<Where, P>, &resumed<Where, P>};
}
template <class Where, class P, int Count> constexpr placement_case in(const char* name, std::size_t with_bits_of) {
  return {name, with_bits_of,
          [](const std::string& path) { return by_processes(Count, [&] { return saved<Where, P>(path); }); },
          [](const std::string& path) { return by_processes(Count, [&] { return resumed<Where, P>(path); }); }};
}
template <class P> void check_all_placements() {
  const placement_case all[] = {
      on<dp::cpu, P>("one place", 0),
      on<dp::replicated<0, 1>, P>("two replicas", 1),
      on<replicas, P>("three replicas", 2),
      on<dp::replicated<0, 1, 2, 3, 4, 5, 6, 7, 8>, P>("nine replicas", 3),
      on<in_pairs, P>("two pairs", 4),
      on<shares<3>, P>("one share", 0),
      on<shares<0, 1>, P>("two shares", 1),
      on<dp::fully_sharded<2, 1, 0>, P>("three shares", 2),
      on<shares<0, 1, 2, 3, 4, 5, 6, 7, 8>, P>("nine shares", 3),
      in<in_processes_of_three, P, 3>("three processes", 2),
      in<in_pairs_of_processes, P, 4>("two pairs of processes", 4),
  };
  for (const placement_case& from : all) {
    const temporary_folder folder;
    const std::string path = folder.file("checkpoint");
    const states before = from.save(path);
    CHECK(before.at != before.end);
    // The threads that resume a training are the same, whoever has saved it.
    if (support::sanitized && (&from - all) % 4 != 2) continue;
    std::vector<states> expected;
    for (const placement_case& to : all) {
      INFO("from " << from.name << " to " << to.name);
      const states after = to.resume(path);
      CHECK((after.at == before.at));
      if (to.with_bits_of == from.with_bits_of) CHECK((after.end == before.end));
      if (expected.size() < 5)
        expected.push_back(after);
      else
        CHECK((after.end == expected[to.with_bits_of].end));
    }
  }
}

}  // namespace

TEST_CASE("a checkpoint of any placement continues on any other with the same bits", "[train]") {
  check_all_placements<float>();
}

TEST_CASE("a checkpoint in mixed<half> continues on any placement with the same bits", "[train]") {
  check_all_placements<dp::mixed<dp::half>>();
}

TEST_CASE("a thread writes a state of a model in shares while the training continues", "[train]") {
  const auto check = []<class Where>(Where, bool writes) {
    const temporary_folder folder;
    const std::string at_once = folder.file("at_once"), later = folder.file("later");
    training<Where, dp::mixed<dp::half>> one(1);
    one.run(0, 4);
    dp::save_checkpoint(one.step, {3, 4}, at_once);
    const auto state = one.step.state();  // all processes take it
    one.run(4, 5);
    std::thread writer([&] {
      if (writes) dp::save_checkpoint(one.step, state, {3, 4}, later);
    });
    one.run(5, 8);
    writer.join();
    if (writes && contents(later) != contents(at_once)) throw std::logic_error("the thread wrote another state.");
  };
  CHECK_NOTHROW(check(shares<0, 1, 2>{}, true));
  dp::test::in_processes(3, [&](const dp::process_group& group) {
    const dp::process_scope scope{group};
    check(in_processes_of_three{}, dp::is_main_process());
  });
}

TEST_CASE("the files of a model in shares are those of a replicated model", "[train]") {
  const temporary_folder folder;
  const auto parameters_on = [&]<class Where, class P>(Where, P, const std::string& name) {
    training<Where, P> one(1);
    one.run(0, 4);
    dp::save_parameters(one.model, folder.file(name));
    dp::save_parameters(one.average.model(), folder.file(name + ".average"));
    return contents(folder.file(name)) + contents(folder.file(name + ".average"));
  };
  const auto expected = parameters_on(replicas{}, 0.0f, "replicas");
  CHECK(expected.size() > 8 * 1000);
  CHECK(contents(folder.file("replicas")) != contents(folder.file("replicas.average")));
  CHECK((parameters_on(shares<0, 1, 2>{}, 0.0f, "shares") == expected));
  CHECK((parameters_on(shares<2, 0, 1>{}, dp::mixed<dp::bf16>{}, "rounded") ==
         parameters_on(replicas{}, dp::mixed<dp::bf16>{}, "rounded_replicas")));
}

TEST_CASE("a model in shares loads files of other models, also of other element types", "[train]") {
  const temporary_folder folder;
  const std::string path = folder.file("parameters"), wide = folder.file("double");
  dp::model<net, dp::cpu> one{dp::seed{3}};
  dp::save_parameters(one, path);
  dp::save_parameters(dp::to<dp::cpu, double>(one), wide);
  dp::model<net, shares<1, 0>> model{dp::seed{4}};
  using where = shares<1, 0>;
  const auto x = dp::scatter<dp::batch_placement_t<where>>(dp::test::integer_samples<float, 6>(9));
  const auto y = dp::scatter<dp::batch_placement_t<where>>(dp::test::square_labels(9, 3));
  const auto outputs = [&] { return dp::test::values_of(dp::gather<dp::cpu>(model.predict(x))); };
  const auto own = outputs();
  dp::load_parameters(model, path);
  const auto expected = dp::test::values_of(dp::gather<dp::cpu>(dp::to<dp::replicated<1, 0>>(one).predict(x)));
  CHECK(outputs() == expected);
  CHECK(own != expected);
  dp::trainer step{model, nn::cross_entropy{}, dp::optim::adam{}};
  step(x, y);
  CHECK(outputs() != expected);
  CHECK_THROWS_AS(dp::load_parameters(model, wide), dp::error);
  CHECK(outputs() != expected);
  dp::load_parameters(model, wide, {.convert = true});
  CHECK(dp::test::parameters_of(dp::to<dp::cpu>(model)) == dp::test::parameters_of(one));
  CHECK(outputs() == expected);
  dp::save_parameters(model, folder.file("again"));
  CHECK((contents(folder.file("again")) == contents(path)));

  dp::model<net, shares<2, 0, 1>, dp::mixed<dp::bf16>> rounded{dp::seed{4}};
  dp::load_parameters(rounded, path);
  dp::model<net, replicas, dp::mixed<dp::bf16>> of_replicas{dp::seed{5}};
  dp::load_parameters(of_replicas, path);
  const auto x3 = dp::scatter<dp::batch_placement_t<replicas>>(dp::test::integer_samples<float, 6>(9));
  const auto x_shares = dp::scatter<dp::batch_placement_t<shares<2, 0, 1>>>(dp::test::integer_samples<float, 6>(9));
  CHECK((dp::test::values_of(dp::gather<dp::cpu>(rounded.predict(x_shares))) ==
         dp::test::values_of(dp::gather<dp::cpu>(of_replicas.predict(x3)))));
}

TEST_CASE("a checkpoint of another network is rejected and leaves the shares unchanged", "[train]") {
  const temporary_folder folder;
  const std::string path = folder.file("checkpoint");
  dp::model<nn::sequential<nn::linear<6, 3>>, shares<0, 1>> other{dp::seed{1}};
  dp::trainer step_of_other{other, nn::cross_entropy{}, dp::optim::adam{}};
  dp::save_checkpoint(step_of_other, {1, 2}, path);
  training<shares<0, 1, 2>, float> one(1);
  one.run(0, 2);
  const auto before = one.state();
  CHECK_THROWS_AS(dp::load_checkpoint(one.step, path), dp::error);
  CHECK((one.state() == before));
}
