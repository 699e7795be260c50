// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Programs with several threads: threads with one model each, threads that predict with one model, and threads that
// train one model at the same time, which throws. The suite tsan runs these tests under ThreadSanitizer.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include <devplace/nn/cross_entropy.hpp>
#include <devplace/nn/input.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/relu.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/optim/adam.hpp>
#include <devplace/train/trainer.hpp>

#include "support/catch.hpp"
#include "support/failing_parts.hpp"
#include "support/replicas.hpp"
#include "support/training_data.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;
using Catch::Matchers::ContainsSubstring;
using dp::test::distribute;
using dp::test::parameters_of;

namespace {

using cpu = dp::on<dp::cpu>;
using two = dp::replicated<0, 1>;
using net = nn::sequential<nn::linear<6, 8>, nn::relu, nn::linear<8, 3>>;

/// A layer in which a training pass on the host waits until the test releases it.
struct meeting {
  inline static std::atomic<int> inside = 0;
  inline static std::atomic<bool> open = true;

  template <class In> using output = In;
  static void forward(const auto& c) {
    ++inside;
    while (!open) std::this_thread::yield();
    c.output = c.input * 1;
  }
  static void backward(const auto& c) { c.input_gradient = c.output_gradient * 1; }
};

/// The message of the exception that a call throws, or an empty string.
template <class F> std::string thrown(const F& f) {
  try {
    f();
  } catch (const dp::error& e) {
    return e.what();
  }
  return "";
}

/// Calls `f(i)` in `count` threads concurrently.
template <class F> void in_threads(int count, const F& f) {
  std::atomic<int> ready = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i)
    threads.emplace_back([&, i] {
      ++ready;
      while (ready != count) std::this_thread::yield();
      f(i);
    });
  for (std::thread& thread : threads) thread.join();
}

/// The parameters after some steps on Where.
template <class Where> std::vector<float> trained(int seed) {
  dp::model<net, Where> model{dp::seed{static_cast<std::uint64_t>(seed)}};
  dp::trainer step{model, nn::cross_entropy{}, dp::optim::adam{.learning_rate = 0.01}};
  const auto x = distribute<Where>(dp::test::integer_samples<float, 6>(12));
  const auto y = distribute<Where>(dp::test::square_labels(12, 3));
  for (int i = 0; i < 5; ++i) step(x, y);
  step.mean_loss();
  return parameters_of(model, 0);
}

template <class Where> void check_that_one_thread_trains() {
  using waiting_net = nn::sequential<nn::linear<6, 8>, meeting, nn::linear<8, 3>>;
  dp::model<waiting_net, Where> model{dp::seed{1}};
  const dp::model<waiting_net, Where> source{dp::seed{2}};
  dp::trainer step{model, nn::cross_entropy{}, dp::optim::adam{}};
  dp::trainer another{model, nn::cross_entropy{}, dp::optim::adam{}};
  const auto x = distribute<Where>(dp::test::integer_samples<float, 6>(12));
  const auto y = distribute<Where>(dp::test::square_labels(12, 3));
  step(x, y).item();
  meeting::inside = 0;
  meeting::open = false;
  std::thread first([&] { step(x, y); });
  while (meeting::inside == 0) std::this_thread::yield();
  const std::string sentence = "two threads train one model at the same time";
  CHECK_THAT(thrown([&] { step(x, y); }), ContainsSubstring(sentence));
  CHECK_THAT(thrown([&] { another(x, y); }), ContainsSubstring(sentence));
  CHECK_THAT(thrown([&] { step.flush(); }), ContainsSubstring(sentence));
  CHECK_THAT(thrown([&] { static_cast<void>(model.forward(x)); }), ContainsSubstring(sentence));
  CHECK_THAT(thrown([&] { model.assign(source); }), ContainsSubstring(sentence));
  meeting::open = true;
  first.join();
  CHECK(thrown([&] { step(x, y).item(); }) == "");
  CHECK(step.optimizer().steps() == 3);
}

}  // namespace

TEST_CASE("a second thread that trains a model throws, and the first continues", "[train]") {
  check_that_one_thread_trains<cpu>();
  check_that_one_thread_trains<two>();
}

TEST_CASE("threads that each train a model get the same results as one thread", "[train]") {
  std::vector<std::vector<float>> alone, together(6);
  for (int i = 0; i < 2; ++i) {
    alone.push_back(trained<cpu>(i));
    alone.push_back(trained<two>(i));
    alone.push_back(trained<dp::on<dp::cuda<2>>>(i));
  }
  in_threads(6, [&](int i) {
    auto& mine = together[static_cast<std::size_t>(i)];
    mine = i % 3 == 0 ? trained<cpu>(i / 3) : i % 3 == 1 ? trained<two>(i / 3) : trained<dp::on<dp::cuda<2>>>(i / 3);
  });
  CHECK(together == alone);
}

TEST_CASE("every thread that predicts with a model gets the failure of its device", "[train]") {
  using exploding_net = nn::sequential<nn::input<6>, dp::test::explosive, nn::linear<6, 3>>;
  auto exploding = dp::test::integer_samples<float, 6>(12);
  exploding(1, 3) = static_cast<float>(dp::test::dynamite);
  const auto bad = distribute<two>(exploding);
  const auto good = distribute<two>(dp::test::integer_samples<float, 6>(12));
  for (int repetition = 0; repetition < 10; ++repetition) {
    const dp::model<exploding_net, two> model{dp::seed{1}};
    static_cast<void>(model.predict(bad));
    dp::test::let_three_devices_finish();
    std::vector<std::string> messages(4);
    in_threads(4, [&](int i) {
      messages[static_cast<std::size_t>(i)] = thrown([&] { static_cast<void>(model.predict(good)); });
    });
    for (const std::string& message : messages)
      CHECK_THAT(message, ContainsSubstring("a functor threw") || ContainsSubstring("cannot be used any more"));
  }
}
