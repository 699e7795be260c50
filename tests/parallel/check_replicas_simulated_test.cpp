// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <array>
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include <devplace/nn/cross_entropy.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/relu.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/nn/to.hpp>
#include <devplace/optim/adam.hpp>
#include <devplace/parallel/check_replicas.hpp>
#include <devplace/parallel/scatter.hpp>
#include <devplace/train/trainer.hpp>

#include "support/catch.hpp"
#include "support/replicas.hpp"
#include "support/training_data.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;

namespace {

/// An identity layer with a buffer to which each place adds its number of samples.
struct with_buffer {
  template <class In> using output = In;
  static constexpr std::array buffers{nn::parameter{"mean", {2, 2}, nn::init::constant(3)}};
  static void forward(const auto& c) {
    c.output = c.input + 0.0F;
    if (c.mode == nn::mode::train) c.template buffer<0>() += static_cast<float>(c.batch());
  }
  static void backward(const auto& c) {
    if (c.needs_input_gradient) c.input_gradient = c.output_gradient + 0.0F;
  }
};

using net = nn::sequential<nn::linear<6, 8>, nn::relu, nn::linear<8, 3>, with_buffer>;
using where = dp::replicated<0, 2, 1>;

/// Writes one element of one replica.
template <class Element, class View> void write(const View& view, std::size_t at, Element value) {
  dp::detail::copy_in<dp::backend::cuda>(view.ordinal(), view.data() + at, &value, sizeof value);
}

/// A kernel that throws.
struct fail {
  DEVPLACE_HD void operator()(std::size_t) const { throw dp::argument_error("a test fails."); }
};

template <class Model> std::string difference(const Model& model) {
  try {
    dp::check_replicas(model);
  } catch (const dp::error& e) {
    return e.what();
  }
  return "";
}

const std::string advice =
    ". All places must change their copies equally: look for writes to a single replica, or continue from the first "
    "place's copy with to<Where>(to<on<cpu>>(model)).";

}  // namespace

TEST_CASE("replicas that trained together are equal", "[parallel]") {
  dp::model<net, where> model{dp::seed{3}};
  CHECK_NOTHROW(dp::check_replicas(model));
  dp::trainer step{model, nn::cross_entropy{}, dp::optim::adam{}};
  const auto x = dp::scatter<dp::batch_placement_t<where>>(dp::test::integer_samples<float, 6>(7));
  const auto y = dp::scatter<dp::batch_placement_t<where>>(dp::test::square_labels(7, 3));
  for (int i = 0; i < 12; ++i) step(x, y);
  CHECK_NOTHROW(dp::check_replicas(model));
  write(model.parameter_only_on<0>(1), 8, 0.25F);
  write(model.parameter_only_on<0>(0), 8, 0.5F);
  write(model.parameter_only_on<0>(2), 8, 0.5F);
  CHECK(difference(model) ==
        "devplace: replicas differ after 12 updates: parameter '0.weight', replica 0 (cuda:0) against replica 1 "
        "(cuda:2): element [1, 2] is 0.5 (0x3f000000) and 0.25 (0x3e800000)" +
            advice);
  const auto equal = dp::to<where>(dp::to<dp::on<dp::cpu>>(model));
  CHECK_NOTHROW(dp::check_replicas(equal));
}

TEST_CASE("the first parameter that differs on any replica is named", "[parallel]") {
  dp::model<net, where, double> model{dp::seed{3}};
  write(model.parameter_only_on<3>(0), 1, 1.0);
  write(model.parameter_only_on<3>(1), 1, -2.0);
  write(model.parameter_only_on<3>(2), 1, 1.0);
  CHECK(difference(model).find("'2.bias', replica 0 (cuda:0) against replica 1 (cuda:2): element [1] is "
                               "1 (0x3ff0000000000000) and -2 (0xc000000000000000)") != std::string::npos);
  write(model.parameter_only_on<1>(0), 7, 0.1);
  write(model.parameter_only_on<1>(1), 7, 0.1);
  CHECK(difference(model).find("'0.bias', replica 0 (cuda:0) against replica 2 (cuda:1): element [7] is "
                               "0.1 (0x3fb999999999999a)") != std::string::npos);
}

TEST_CASE("a different sign of zero or different bits of NaN count as a difference, equal NaN do not", "[parallel]") {
  dp::model<net, where> model{dp::seed{3}};
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (std::size_t k = 0; k < 3; ++k) {
    write(model.parameter_only_on<2>(k), 0, nan);
    write(model.parameter_only_on<2>(k), 1, 0.0F);
  }
  CHECK_NOTHROW(dp::check_replicas(model));
  write(model.parameter_only_on<2>(2), 1, -0.0F);
  CHECK(difference(model).find("element [0, 1] is 0 (0x00000000) and -0 (0x80000000)") != std::string::npos);
  write(model.parameter_only_on<2>(1), 0, -nan);
  CHECK(difference(model).find("element [0, 0] is nan (0x7fc00000) and -nan (0xffc00000)") != std::string::npos);
}

TEST_CASE("buffers are compared after the parameters", "[parallel]") {
  dp::model<net, where> model{dp::seed{3}};
  const auto& r = model.state().replicas[2];
  const float value = 4;
  dp::detail::copy_in<dp::backend::cuda>(r.ordinal, r.buffer_data() + 3, &value, sizeof value);
  CHECK(
      difference(model).find("buffer '3.mean', replica 0 (cuda:0) against replica 2 (cuda:1): element [1, 1] is 3 (") !=
      std::string::npos);
}

TEST_CASE("on one place check_replicas compares nothing, but waits for failures", "[parallel]") {
  const dp::model<net, dp::on<dp::cpu>> on_cpu{dp::seed{3}};
  CHECK_NOTHROW(dp::check_replicas(on_cpu));
  dp::model<nn::linear<6, 3>, dp::on<dp::cuda<0>>> model{dp::seed{3}};
  CHECK_NOTHROW(dp::check_replicas(model));
  dp::detail::for_each_index<dp::backend::cuda>(0, 1, 1, fail{});
  CHECK_THROWS_AS(dp::check_replicas(model), dp::error);
  CHECK_THROWS_WITH(dp::check_replicas(model), Catch::Matchers::ContainsSubstring("cannot be used any more"));
}

TEST_CASE("a failure found by waiting names its replica", "[parallel]") {
  dp::model<nn::linear<6, 3>, where> model{dp::seed{3}};
  dp::detail::for_each_index<dp::backend::cuda>(1, 1, 1, fail{});
  CHECK_THROWS_WITH(dp::check_replicas(model),
                    Catch::Matchers::StartsWith("devplace: replica 2 of 3 (cuda:1): a test fails"));
  CHECK_THROWS_WITH(dp::check_replicas(model), Catch::Matchers::ContainsSubstring("cannot be used any more"));
}
