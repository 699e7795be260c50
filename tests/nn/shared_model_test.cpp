// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <devplace/nn/shared_model.hpp>

#include <unistd.h>

#include <optional>
#include <string>

#include <devplace/nn/dropout.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/mse.hpp>
#include <devplace/nn/relu.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/nn/tanh.hpp>
#include <devplace/ops/creation.hpp>
#include <devplace/ops/random.hpp>
#include <devplace/optim/optimizer.hpp>
#include <devplace/optim/sgd.hpp>

#include "support/catch.hpp"
#include "support/forked_processes.hpp"
#include "support/segment_file.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;

namespace {

using shared = dp::on<dp::shared_memory>;
using cpu = dp::on<dp::cpu>;
using net = nn::sequential<nn::linear<6, 5>, nn::relu, nn::linear<5, 3>>;
using model = dp::model<net, shared>;

std::string name_of(const std::string& what) { return "test." + std::to_string(::getpid()) + "." + what; }

template <class Model, class Other> bool equal_parameters(const Model& a, const Other& b) {
  std::vector<float> first, second;
  const auto collect = [](std::vector<float>& to) {
    return [&to](const std::string&, const auto& view) { to.insert(to.end(), view.data(), view.data() + view.size()); };
  };
  a.for_each_parameter(collect(first));
  b.for_each_parameter(collect(second));
  return first == second;
}

auto batch() { return dp::uniform<float, cpu>(dp::extents<dp::dyn, 6>(7), dp::seed{3}, -1, 1); }

template <class Opened> std::string difference(const std::string& name) {
  try {
    static_cast<void>(dp::open_shared<Opened>(name));
  } catch (const dp::argument_error& failure) {
    return failure.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("a model in shared memory has the parameters and outputs of a cpu model") {
  const dp::model<net, cpu> own{dp::seed{1}};
  const model m{dp::seed{1}};
  CHECK(equal_parameters(own, m));
  const auto x = batch();
  const auto expected = own.predict(x), there = m.predict(x);
  for (std::size_t i = 0; i < 7; ++i)
    for (std::size_t k = 0; k < 3; ++k) CHECK(expected(i, k) == there(i, k));
  CHECK(equal_parameters(own, dp::to<cpu>(m)));
  CHECK(equal_parameters(own, dp::to<shared>(own)));
  CHECK(equal_parameters(own, dp::to<cpu, float>(dp::to<cpu, double>(m))));
}

TEST_CASE("forward, backward and an optimizer work on a model in shared memory") {
  const auto trained = []<class Where>(Where) {
    dp::model<net, Where> m{dp::seed{2}};
    dp::optimizer by{m, dp::optim::sgd{.learning_rate = 0.1}};
    const auto x = batch();
    const auto y = dp::full<float, cpu>(dp::extents<dp::dyn, 3>(7), 0.5f);
    for (int i = 0; i < 3; ++i) {
      auto [output, saved] = m.forward(x);
      auto [loss, gradient] = nn::mse{}(output, y);
      by.step(m, m.backward(std::move(saved), gradient));
    }
    return m;
  };
  CHECK(equal_parameters(trained(cpu{}), trained(shared{})));
}

TEST_CASE("only parameters and buffers lie in shared memory") {
  const std::size_t bytes = dp::runtime::network_plan<net>::parameter_elements * sizeof(float);
  model m{dp::seed{2}};
  dp::optimizer by{m, dp::optim::sgd{}};
  auto [output, saved] = m.forward(batch());
  static_assert(std::is_same_v<decltype(output)::placement_type, cpu>);
  auto [loss, gradient] = nn::mse{}(output, dp::full<float, cpu>(dp::extents<dp::dyn, 3>(7), 0.5f));
  const auto gradients = m.backward(std::move(saved), gradient);
  CHECK(dp::memory_statistics<dp::shared_memory>().allocated == bytes);
  CHECK(dp::memory_statistics<dp::shared_memory>().of(dp::memory_purpose::parameters) == bytes);
}

TEST_CASE("another process opens a model by name and changes it") {
  const std::string name = name_of("opened");
  const model m = dp::create_shared<model>(name, dp::seed{4});
  CHECK(equal_parameters(m, dp::model<net, cpu>{dp::seed{4}}));
  const auto children = support::in_forked_processes(1, [&](int) {
    auto there = dp::open_shared<model>(name);
    there.assign(dp::model<net, cpu>{dp::seed{5}});
  });
  CHECK(support::failures(children).empty());
  CHECK(equal_parameters(m, dp::model<net, cpu>{dp::seed{5}}));
}

TEST_CASE("a named model needs its memory only once while it is created and while it is opened") {
  const std::size_t bytes = dp::runtime::network_plan<net>::parameter_elements * sizeof(float);
  const std::string name = name_of("once");
  dp::reset_peak_memory<dp::shared_memory>();
  const model m = dp::create_shared<model>(name, dp::seed{4});
  CHECK(dp::memory_statistics<dp::shared_memory>().peak == bytes);
  dp::reset_peak_memory<dp::cpu>();
  const std::size_t own = dp::memory_statistics<dp::cpu>().allocated;
  const model opened = dp::open_shared<model>(name);
  CHECK(dp::memory_statistics<dp::shared_memory>().peak == 2 * bytes);  // both objects count it
  CHECK(dp::memory_statistics<dp::cpu>().peak < own + bytes);           // only sums of losses
  const model copied = dp::create_shared<model>(name_of("once.copied"), dp::model<net, cpu>{dp::seed{4}});
  CHECK(dp::memory_statistics<dp::shared_memory>().peak == 3 * bytes);
  CHECK(equal_parameters(m, copied));
}

TEST_CASE("a model of another placement can be copied into named shared memory") {
  dp::model<net, cpu> own{dp::seed{6}};
  own.parameter<0>()(0, 0) = 42;
  static_cast<void>(own.forward(batch()));
  const std::string name = name_of("copied");
  std::optional<model> m(dp::create_shared<model>(name, own));
  const auto opened = dp::open_shared<model>(name);
  CHECK(equal_parameters(own, opened));
  CHECK(opened.state().seed == 6);
  CHECK(opened.state().step == 1);
  m.reset();
  CHECK(opened.parameter<0>()(0, 0) == 42);
}

TEST_CASE("opening another network or precision throws, naming the first difference") {
  const std::string name = name_of("typed");
  const model m = dp::create_shared<model>(name, dp::seed{4});
  using wider = nn::sequential<nn::linear<6, 5>, nn::relu, nn::linear<5, 4>>;
  CHECK_THAT(
      (difference<dp::model<wider, shared>>(name)),
      Catch::Matchers::ContainsSubstring("\"parameter 2.weight: float 4x5\" and \"parameter 2.weight: float 3x5\""));
  using other = nn::sequential<nn::linear<6, 5>, nn::tanh, nn::linear<5, 3>>;
  CHECK_THAT((difference<dp::model<other, shared>>(name)), Catch::Matchers::ContainsSubstring("\"network: "));
  CHECK_THAT(
      (difference<dp::model<net, shared, double>>(name)),
      Catch::Matchers::ContainsSubstring("\"parameter 0.weight: double 5x6\" and \"parameter 0.weight: float 5x6\""));
  CHECK_THAT((difference<dp::model<net, shared, dp::tf32>>(name)), Catch::Matchers::ContainsSubstring("\"precision: "));
  CHECK_THAT((difference<dp::tensor<float, dp::extents<3>, shared>>(name)),
             Catch::Matchers::ContainsSubstring("\"kind: tensor\" and \"kind: model\""));
}

TEST_CASE("opening a model throws if its shared-memory file was shortened or changed") {
  const std::string name = name_of("damaged");
  const model m = dp::create_shared<model>(name, dp::seed{4});
  const support::segment_file file(name);
  const support::segment_head valid = file.head();
  const std::size_t bytes = file.bytes();
  const auto misfit = Catch::Matchers::ContainsSubstring("has a header that does not fit its file");
  // The header matches the file size, but the network does not.
  for (const std::size_t size : {bytes - 4, bytes - 64, std::size_t{4096}, bytes + 64}) {
    file.resize(size);
    support::segment_head head = valid;
    head.total_bytes = size;
    file.set_head(head);
    INFO(size);
    CHECK_THAT(difference<model>(name), misfit);
  }
  file.resize(bytes);
  for (std::size_t at = 0; at != 4 * sizeof(std::uint64_t); ++at)
    for (int bit = 0; bit != 8; ++bit) {
      support::segment_head head = valid;
      reinterpret_cast<unsigned char*>(&head)[at] ^= static_cast<unsigned char>(1 << bit);
      file.set_head(head);
      INFO("bit " << bit << " of byte " << at);
      CHECK_THAT(difference<model>(name),
                 misfit || Catch::Matchers::ContainsSubstring("differs from the type that is opened"));
    }
  file.set_head(valid);
  CHECK(difference<model>(name) == "no error");
}
