// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Randomised training: sizes, splits, policies, failures and other operations are drawn from seeds. Each model on
// several places must agree with a model on one device that goes through the same operations, and a model in shares
// must have the bits of replicas.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <optional>
#include <random>
#include <ratio>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include <devplace/fully_sharded.hpp>
#include <devplace/nn/batch_norm.hpp>
#include <devplace/nn/cross_entropy.hpp>
#include <devplace/nn/dropout.hpp>
#include <devplace/nn/frozen.hpp>
#include <devplace/nn/layer_norm.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/recomputed.hpp>
#include <devplace/nn/relu.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/nn/to.hpp>
#include <devplace/optim/adam.hpp>
#include <devplace/optim/sgd.hpp>
#include <devplace/parallel/check_replicas.hpp>
#include <devplace/parallel/gather.hpp>
#include <devplace/parallel/wire.hpp>
#include <devplace/tensor/split.hpp>
#include <devplace/train/trainer.hpp>

#include "parallel/nine_devices.hpp"
#include "support/catch.hpp"
#include "support/failing_parts.hpp"
#include "support/replicas.hpp"
#include "support/training_data.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;
namespace collective = devplace::collective;
using dp::test::distribute;
using dp::test::parameters_of;
using dp::test::refusing;

namespace {

using net = nn::sequential<nn::linear<6, 8>, refusing, nn::relu, nn::dropout<std::ratio<1, 5>>, nn::linear<8, 3>>;
/// Every parameter in its own bucket, so that there are many consecutive collectives.
using small_buckets = collective::buckets<1, 1>;
const dp::test::throwing_cross_entropy loss{{.ignore_index = 1, .class_weights = {1, 2, 0.5}}};
const dp::optim::sgd rule{.learning_rate = 0.05, .momentum = 0.9};

bool close(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) || std::abs(a - b) <= 1e-9 * std::max({std::abs(a), std::abs(b), 1.0});
}
bool close(const std::vector<double>& a, const std::vector<double>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](double x, double y) { return close(x, y); });
}

/// Thrown instead of Catch2's assertions, which are not thread-safe.
struct disagreement : std::exception {
  std::string text;
  explicit disagreement(std::string what) : text(std::move(what)) {}
  const char* what() const noexcept override { return text.c_str(); }
};
void require(bool holds, const std::string& what) {
  if (!holds) throw disagreement(what);
}

template <class F> std::string message_of(const F& f) {
  try {
    f();
  } catch (const disagreement&) {
    throw;
  } catch (const std::exception& e) {
    return e.what();
  }
  return "";
}

/// A model on `Where` and one on device `Beside`, in lockstep.
template <class Where, int Beside, class Policy, std::size_t Batches> class experiment {
  static constexpr std::size_t places = dp::local_place_count<Where>;
  using one_place = dp::on<dp::cuda<Beside>>;
  template <class W> using model_of = dp::model<net, W, double>;
  template <class W, class P>
  using trainer_of =
      dp::trainer<model_of<W>, dp::test::throwing_cross_entropy, dp::optim::sgd, P, dp::accumulate<Batches>>;
  template <class W> using samples = dp::tensor<double, dp::extents<dp::dyn, 6>, dp::batch_placement_t<W>>;
  template <class W> using labels = dp::tensor<std::int64_t, dp::extents<dp::dyn>, dp::batch_placement_t<W>>;

 public:
  explicit experiment(unsigned seed) : random_(seed), several_(dp::seed{seed}), one_(dp::seed{seed}) {
    make_trainers();
  }

  /// Returns an empty string, or the error and the operation that caused it.
  std::string run(int operations, bool host_failures) {
    int i = 0;
    try {
      for (; i < operations; ++i) {
        const std::size_t choice = below(16);
        if (choice < 9)
          step();
        else if (choice < 11)
          fail_on_a_device();
        else if (choice == 11)
          host_failures ? fail_on_the_host() : step();
        else if (choice == 12)
          predict();
        else if (choice == 13)
          require(step_several_->flush() == step_one_->flush(), "only one had gradients to flush");
        else if (choice == 14)
          compare();
        else
          reset_mean_losses();
      }
      compare();
    } catch (const std::exception& e) {
      return "operation " + std::to_string(i) + ": " + e.what();
    }
    return "";
  }

 private:
  std::size_t below(std::size_t n) { return random_() % n; }

  /// Also chooses the split that is used until the next call.
  std::size_t draw_rows() {
    const std::size_t rows = below(3) == 0 ? below(places + 1) : below(24);
    split_kind_ = below(3);
    std::array<std::size_t, places> sizes{};
    for (std::size_t i = 0; i < rows; ++i) ++sizes[below(4) == 0 ? below(places) : rows % places];
    sizes_ = sizes;
    return rows;
  }
  template <class X> auto split(const X& x) const {
    if (split_kind_ == 2) return distribute<Where>(x, dp::split::sizes<places>(sizes_));
    return distribute<Where>(x, split_kind_ == 0 ? dp::split::even : dp::split::torch);
  }

  void step() {
    const std::size_t rows = draw_rows();
    const auto x = dp::test::integer_samples<double, 6>(rows);
    const auto y = dp::test::square_labels(rows, 3);
    const auto of_several = (*step_several_)(split(x), split(y));
    const auto of_one = (*step_one_)(distribute<one_place>(x), distribute<one_place>(y));
    if (below(2) == 0) require(close(of_several.item(), of_one.item()), "the losses differ");
    require(step_several_->optimizer().steps() == step_one_->optimizer().steps(), "the numbers of steps differ");
  }

  /// Puts a bad label in one row. The failure is thrown immediately, after other steps, or to another caller. Then the
  /// model is unusable, and both models continue from a saved copy.
  void fail_on_a_device() {
    const std::size_t rows = draw_rows();
    if (rows == 0) return;
    compare();
    const auto saved = dp::to<dp::on<dp::cpu>>(several_);
    const std::size_t row = below(rows);
    const auto x = dp::test::integer_samples<double, 6>(rows);
    auto y = dp::test::square_labels(rows, 3);
    const auto good = split(y);
    y(row) = 17;
    const auto parts = split(x);
    const auto bad = split(y);
    std::size_t replica = 0;
    while (bad.part_begin(replica + 1) <= row) ++replica;
    const std::string expected = "replica " + std::to_string(replica) + " of " + std::to_string(places) + " (";
    const std::size_t more = below(4);
    const bool hidden = below(2) == 0;
    auto& step = *step_several_;
    const std::string text = message_of([&] {
      step(parts, bad);
      for (std::size_t i = 0; i < more; ++i) step(parts, good);
      if (!hidden) step.mean_loss();
    });
    const bool named = text.find(expected) != std::string::npos && text.find("has the label 17") != std::string::npos;
    require(named || (hidden && text.empty()),
            "a label in row " + std::to_string(row) + " gave '" + text + "', not " + expected);
    for (const int ordinal : dp::detail::mesh_traits<typename dp::placement_traits<Where>::mesh>::ordinals)
      static_cast<void>(dp::detail::events_of<dp::backend::cuda>().drain(ordinal));
    require_refused([&] { step(parts, good).item(); });
    require_refused([&] { step.flush(); });
    require_refused([&] { step.mean_loss(); });
    require_refused([&] { step.reset_mean_loss(); });
    require_refused([&] { static_cast<void>(several_.predict(parts)); });
    require_refused([&] { parameters_of(several_); });
    require_refused([&] { dp::check_replicas(several_); });
    require_refused([&] { static_cast<void>(dp::to<dp::on<dp::cpu>>(several_)); });
    several_ = dp::to<Where>(saved);
    one_ = dp::to<one_place>(saved);
    make_trainers();
  }
  template <class F> void require_refused(const F& f) {
    const std::string text = message_of(f);
    require(text.find("this model cannot be used any more") != std::string::npos,
            "after a failure the model gave numbers, or said '" + text + "'");
  }

  void fail_on_the_host() {
    const std::size_t rows = draw_rows();
    if (rows == 0) return;
    const auto x = dp::test::integer_samples<double, 6>(rows);
    const auto y = dp::test::square_labels(rows, 3);
    const auto parts = split(x);
    std::size_t replica = below(places);
    while (parts.part_begin(replica) == parts.part_begin(replica + 1)) replica = (replica + 1) % places;
    refusing::refused = parts.first_row(replica);
    const std::string text = message_of([&] { (*step_several_)(parts, split(y)); });
    refusing::refused = 0;
    const std::string of_one = message_of([&] { (*step_one_)(distribute<one_place>(x), distribute<one_place>(y)); });
    refusing::refused = refusing::nowhere;
    require(text.find("replica " + std::to_string(replica) + " of ") != std::string::npos, "it said '" + text + "'");
    require(!of_one.empty(), "the device beside did not fail");
  }

  void make_trainers() {
    step_several_.emplace(several_, loss, rule, Policy{}, dp::accumulate<Batches>{});
    step_one_.emplace(one_, loss, rule, dp::accumulate<Batches>{});
  }

  void reset_mean_losses() {
    step_several_->reset_mean_loss();
    step_one_->reset_mean_loss();
  }

  void predict() {
    const auto x = dp::test::integer_samples<double, 6>(draw_rows());
    const auto outputs = dp::gather<one_place>(several_.predict(split(x)));
    require(close(dp::test::values_of(dp::detail::local_part(outputs, 0)),
                  dp::test::values_of(dp::detail::local_part(one_.predict(distribute<one_place>(x)), 0))),
            "the predictions differ");
  }

  void compare() {
    dp::check_replicas(several_);
    require(close(parameters_of(several_), parameters_of(one_)), "the parameters differ");
    require(close(step_several_->mean_loss(), step_one_->mean_loss()), "the mean losses differ");
  }

  std::mt19937 random_;
  std::size_t split_kind_ = 0;
  std::array<std::size_t, places> sizes_{};
  model_of<Where> several_;
  model_of<one_place> one_;
  std::optional<trainer_of<Where, Policy>> step_several_;
  std::optional<trainer_of<one_place, collective::all_reduce<>>> step_one_;
};

template <class Where, int Beside, class Policy, std::size_t Batches>
std::string run(unsigned seed, int operations, bool host_failures) {
  return experiment<Where, Beside, Policy, Batches>(seed).run(operations, host_failures);
}

using all_reduce = collective::all_reduce<collective::direct, small_buckets>;
using scatter_gather = collective::scatter_gather;
using sharded = collective::sharded_all_reduce<collective::direct, small_buckets>;
using ring = collective::all_reduce<collective::ring, small_buckets>;

/// Two trainings that go through the same operations: of a model in shares, and of replicas on as many other places.
template <class Net, class P, class Shares, class Replicas, class Engine> class lockstep {
  static constexpr std::size_t places = dp::local_place_count<Replicas>;
  template <class W>
  using policy_for =
      std::conditional_t<dp::stores_shares<W>, collective::gather_units<Engine>, collective::all_reduce<Engine>>;
  template <class W> struct side {
    dp::model<Net, W, P> model;
    dp::trainer<dp::model<Net, W, P>, dp::test::throwing_cross_entropy, dp::optim::adam, policy_for<W>> step;

    explicit side(std::uint64_t seed)
        : model(dp::seed{seed}), step(model, loss, dp::optim::adam{.learning_rate = 0.02}) {}
  };
  using input = typename dp::model<Net, Shares, P>::input_type;

 public:
  explicit lockstep(unsigned seed) : random_(seed) {
    shares_.emplace(seed);
    replicas_.emplace(seed);
  }
  /// Returns an empty string, or the error and the operation that caused it.
  std::string run(int operations) {
    int i = 0;
    try {
      for (; i < operations; ++i) {
        const std::size_t choice = below(12);
        if (choice < 6)
          step();
        else if (choice == 6)
          on_both(
              [](auto& of) {
                of.step.clip({.max_norm = 0.1});
                return std::vector<double>{};
              },
              "clipping");
        else if (choice == 7)
          on_both(
              [rate = 0.005 * static_cast<double>(1 + below(4))](auto& of) {
                of.step.optimizer().rule().learning_rate = rate;
                return std::vector<double>{};
              },
              "the rate");
        else if (choice == 8)
          predict();
        else if (choice == 9)
          resume();
        else if (choice == 10)
          fail();
        else
          compare();
      }
      compare();
    } catch (const std::exception& e) {
      return "operation " + std::to_string(i) + ": " + e.what();
    }
    return "";
  }

 private:
  std::size_t below(std::size_t n) { return random_() % n; }
  template <class F> void on_both(const F& f, const std::string& what) {
    require(f(*shares_) == f(*replicas_), what + " differs");
  }
  /// Calls f(side, samples, labels) with the same random batch, whose split is random, too.
  template <class F> void on_batches(const F& f, const std::string& what, std::size_t bad_row = 99) {
    const std::size_t rows = bad_row != 99 ? bad_row + 1 + below(9) : below(3) == 0 ? below(places + 1) : below(30);
    std::array<std::size_t, places> sizes{};
    for (std::size_t i = 0; i < rows; ++i) ++sizes[below(2) == 0 ? below(places) : i % places];
    const bool even = below(2) == 0;
    const auto x = dp::test::integer_samples<input, 6>(rows);
    auto y = dp::test::square_labels(rows, 3);
    if (bad_row != 99) y(bad_row) = 17;
    on_both(
        [&]<class W>(side<W>& of) {
          if (even) return f(of, distribute<W>(x), distribute<W>(y));
          return f(of, distribute<W>(x, dp::split::sizes<places>(sizes)),
                   distribute<W>(y, dp::split::sizes<places>(sizes)));
        },
        what);
  }
  void step() {
    const bool reads = below(2) == 0;
    on_batches(
        [&](auto& of, const auto& x, const auto& y) {
          const auto of_step = of.step(x, y);
          const double value = reads ? static_cast<double>(of_step.item()) : 0;
          return std::vector<double>{std::isnan(value) ? -1 : value};
        },
        "the loss");
  }
  void predict() {
    on_batches(
        [](auto& of, const auto& x, const auto&) {
          const auto outputs = dp::test::values_of(dp::gather<dp::cpu>(of.model.predict(x)));
          return std::vector<double>(outputs.begin(), outputs.end());
        },
        "a prediction");
  }
  /// Continues with new models and trainers from a state, at times of the other side.
  void resume() {
    auto state = below(2) == 0 ? shares_->step.state() : replicas_->step.state();
    const std::uint64_t seed = below(100);
    shares_.emplace(seed);
    replicas_.emplace(seed);
    shares_->step.restore(state);
    replicas_->step.restore(state);
  }
  /// A label that is no class throws on a device; then the models cannot be used any more, and both continue from
  /// before.
  void fail() {
    const auto state = shares_->step.state();
    on_batches(
        [](auto& of, const auto& x, const auto& y) {
          const std::string text = message_of([&] {
            of.step(x, y);
            static_cast<void>(of.step.mean_loss());
          });
          require(text.find("has the label 17") != std::string::npos, "a wrong label gave '" + text + "'");
          const std::string later = message_of([&] { static_cast<void>(of.model.predict(x)); });
          require(later.find("this model cannot be used any more") != std::string::npos,
                  "then it said '" + later + "'");
          return std::vector<double>{};
        },
        "a failure", below(8));
    shares_.emplace(1u);
    replicas_.emplace(1u);
    shares_->step.restore(state);
    replicas_->step.restore(state);
  }
  void compare() {
    on_both(
        [](auto& of) {
          const auto state = of.step.state();
          std::vector<double> all(state.parameters.begin(), state.parameters.end());
          all.insert(all.end(), state.buffers.begin(), state.buffers.end());
          for (const auto& arena : state.optimizer.arenas) all.insert(all.end(), arena.begin(), arena.end());
          const double mean = of.step.mean_loss();
          all.insert(all.end(), {std::isnan(mean) ? -1 : mean, state.scaler.scale});
          return all;
        },
        "the state");
  }

  std::mt19937 random_;
  std::optional<side<Shares>> shares_;
  std::optional<side<Replicas>> replicas_;
};

using many_layers = nn::sequential<nn::linear<6, 20>, nn::batch_norm<20, nn::over_all_places>, nn::relu,
                                   nn::dropout<std::ratio<1, 5>>, nn::frozen<nn::linear<20, 24>>,
                                   nn::recomputed<nn::sequential<nn::linear<24, 20>, nn::layer_norm<20>>>,
                                   nn::linear<20, 20>, nn::batch_norm<20>, nn::relu, nn::linear<20, 3>>;
using few_layers = nn::sequential<nn::linear<6, 30>, nn::relu, nn::linear<30, 3>>;
template <std::size_t UnitBytes, int... I>
using shares_on = dp::spread<dp::mesh<dp::shares<sizeof...(I), UnitBytes>>, I...>;

}  // namespace

TEST_CASE("replicas agree with one device in randomised training", "[parallel]") {
  const char* const longer = std::getenv("DEVPLACE_TEST_SEEDS");
  const unsigned seeds = longer == nullptr ? 6 : static_cast<unsigned>(std::atoi(longer));
  for (unsigned seed = 1; seed <= seeds; ++seed) {
    INFO("seed " << seed);
    CHECK(run<dp::replicated<2, 0, 1>, 4, all_reduce, 1>(seed, 30, true) == "");
    CHECK(run<dp::replicated<5, 3>, 6, scatter_gather, 2>(seed, 30, true) == "");
    CHECK(run<dp::replicated<3, 1, 0, 2>, 4, ring, 1>(seed, 30, true) == "");
    CHECK(run<dp::replicated<3, 1, 0, 2>, 4, sharded, 1>(seed, 30, true) == "");
  }
}

TEST_CASE("two host threads train on separate devices without interference", "[parallel]") {
  for (unsigned seed = 1; seed <= 3; ++seed) {
    INFO("seed " << seed);
    std::string first, second;
    std::thread other([&] { first = run<dp::replicated<2, 0, 1>, 4, all_reduce, 1>(seed, 30, false); });
    second = run<dp::replicated<5, 3>, 6, scatter_gather, 2>(seed, 30, false);
    other.join();
    CHECK(first == "");
    CHECK(second == "");
  }
}

TEST_CASE("models in shares have the bits of replicas in randomised training", "[parallel]") {
  const char* const longer = std::getenv("DEVPLACE_TEST_SEEDS");
  const unsigned seeds = longer == nullptr ? 4 : static_cast<unsigned>(std::atoi(longer));
  const auto check = []<class Net, class P, class Shares, class Replicas, class Engine>(
                         unsigned seed, std::type_identity<lockstep<Net, P, Shares, Replicas, Engine>>) {
    INFO("seed " << seed << ", " << dp::placement_name<Shares>());
    CHECK(lockstep<Net, P, Shares, Replicas, Engine>(seed).run(30) == "");
  };
  using collective::direct, collective::wire;
  for (unsigned seed = 1; seed <= seeds; ++seed) {
    check(seed,
          std::type_identity<lockstep<many_layers, float, shares_on<1, 2, 0, 1>, dp::replicated<5, 3, 4>, direct>>{});
    check(
        seed,
        std::type_identity<
            lockstep<many_layers, dp::mixed<dp::bf16>, shares_on<3000, 5, 3>, dp::replicated<0, 1>, wire<dp::bf16>>>{});
    check(
        seed,
        std::type_identity<
            lockstep<few_layers, dp::mixed<dp::half>, shares_on<1, 3, 1, 0, 2>, dp::replicated<4, 5, 6, 7>, direct>>{});
    check(seed, std::type_identity<
                    lockstep<few_layers, double, shares_on<100000, 5, 6, 7, 8>, dp::replicated<0, 1, 2, 3>, direct>>{});
  }
}
