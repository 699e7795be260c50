// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Randomised training: sizes, splits, policies, failures and other operations are drawn from seeds. Each model on
// several places must agree with a model on one device that goes through the same operations.

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
#include <utility>
#include <vector>

#include <devplace/nn/cross_entropy.hpp>
#include <devplace/nn/dropout.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/relu.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/nn/to.hpp>
#include <devplace/optim/sgd.hpp>
#include <devplace/parallel/check_replicas.hpp>
#include <devplace/parallel/gather.hpp>
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
      static_cast<void>(dp::detail::drain<dp::backend::cuda>(ordinal));
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
