// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <atomic>
#include <chrono>
#include <cstddef>
#include <initializer_list>
#include <stdexcept>
#include <thread>
#include <tuple>
#include <type_traits>

#include <devplace/nn/linear.hpp>
#include <devplace/nn/relu.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/parallel/gather.hpp>
#include <devplace/parallel/parallel_apply.hpp>
#include <devplace/parallel/replicate.hpp>
#include <devplace/parallel/scatter.hpp>

#include "support/catch.hpp"
#include "support/replicas.hpp"
#include "support/training_data.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;
using dp::test::values_of;

namespace {

using net = nn::sequential<nn::linear<6, 8>, nn::relu, nn::linear<8, 3>>;
using host = dp::on<dp::cpu>;
template <int I> using device = dp::on<dp::cuda<I>>;

auto samples(std::size_t rows) { return dp::test::integer_samples<float, 6>(rows); }

/// Number of devices currently in a `meeting` layer.
std::atomic<int> arrived{0};

struct wait_for_the_other {
  float* data;
  DEVPLACE_HD void operator()(std::size_t) const {
    ++arrived;
    for (int i = 0; arrived.load() < 2 && i < 20000; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    *data = arrived.load() == 2 ? 1.0F : 0.0F;
  }
};

/// A layer that succeeds only if two devices run it concurrently.
struct meeting {
  template <class In> using output = In;
  static void forward(const auto& c) {
    using call = std::remove_cvref_t<decltype(c)>;
    dp::detail::for_each_index<typename call::backend_type>(c.ordinal(), 1, 1, wait_for_the_other{c.output.data()});
  }
  static void backward(const auto&) {}
};

/// A layer that throws on the host.
struct failing {
  template <class In> using output = In;
  static void forward(const auto& c) {
    if (c.ordinal() == 1) throw std::domain_error("a layer of the user's");
    c.output = c.input + 0.0F;
  }
  static void backward(const auto&) {}
};

}  // namespace

TEST_CASE("parallel_apply gives each model its input and returns the outputs on their places", "[parallel]") {
  const dp::model<net, host> source{dp::seed{5}};
  const auto replicas = dp::replicate<dp::replicated<1, 0, 2>>(source);
  const auto outputs = dp::parallel_apply(
      replicas,
      std::tuple{dp::to<device<1>>(samples(4)), dp::to<device<0>>(samples(0)), dp::to<device<2>>(samples(9))});
  STATIC_REQUIRE(std::is_same_v<std::tuple_element_t<2, std::remove_const_t<decltype(outputs)>>,
                                dp::tensor<float, dp::extents<dp::dyn, 3>, device<2>>>);
  CHECK(values_of(std::get<0>(outputs)) == values_of(source.predict(samples(4))));
  CHECK(std::get<1>(outputs).extent(0) == 0);
  CHECK(values_of(std::get<2>(outputs)) == values_of(source.predict(samples(9))));
}

TEST_CASE("gather accepts parallel_apply's outputs for the parts of a tensor", "[parallel]") {
  const dp::model<net, host> source{dp::seed{5}};
  const auto replicas = dp::replicate<dp::replicated<1, 0, 2>>(source);
  using parts = dp::sharded<dp::axis<0>, 1, 0, 2>;
  for (const std::size_t rows : std::initializer_list<std::size_t>{0, 1, 4, 13}) {
    const auto x = samples(rows);
    const auto check = [&](const auto& how) {
      const auto outputs = dp::parallel_apply(replicas, dp::scatter<parts>(x, how));
      STATIC_REQUIRE(
          std::is_same_v<std::remove_const_t<decltype(outputs)>, dp::tensor<float, dp::extents<dp::dyn, 3>, parts>>);
      CHECK(values_of(dp::gather<host>(outputs)) == values_of(source.predict(x)));
    };
    check(dp::split::even);
    check(dp::split::torch);
    check(dp::split::sizes{rows, std::size_t{0}, std::size_t{0}});
  }
  const dp::tensor<float, dp::dextents<2>, parts> wrong(dp::dextents<2>{3, 5});
  CHECK_THROWS_WITH(dp::parallel_apply(replicas, wrong),
                    Catch::Matchers::StartsWith("devplace: replica 0 of 3 (cuda:1): the batch is"));
}

TEST_CASE("parallel_apply accepts references, and models on different kinds of places", "[parallel]") {
  const dp::model<net, host> on_cpu{dp::seed{5}};
  const dp::model<net, device<0>> on_device{dp::seed{5}};
  const auto x = samples(3);
  const auto there = dp::to<device<0>>(x);
  const auto [a, b] = dp::parallel_apply(std::tie(on_cpu, on_device), std::tie(x, there));
  CHECK(values_of(a) == values_of(b));
  CHECK(std::tuple_size_v<decltype(dp::parallel_apply(std::tie(on_cpu), std::tie(x)))> == 1);
}

TEST_CASE("parallel_apply enqueues work on all devices before it waits for any device", "[parallel]") {
  using one = nn::sequential<nn::linear<6, 1>, meeting>;
  arrived = 0;
  const dp::model<one, device<0>> a{dp::seed{1}};
  const dp::model<one, device<1>> b{dp::seed{1}};
  const auto x = dp::to<device<0>>(samples(1));
  const auto y = dp::to<device<1>>(samples(1));
  const auto [first, second] = dp::parallel_apply(std::tie(a, b), std::tie(x, y));
  CHECK(values_of(first)[0] == 1);
  CHECK(values_of(second)[0] == 1);
}

TEST_CASE("an exception in parallel_apply names the replica and keeps its type", "[parallel]") {
  const dp::model<net, host> source{dp::seed{5}};
  const auto replicas = dp::replicate<dp::replicated<0, 1, 2>>(source);
  using any_matrix = dp::tensor<float, dp::dextents<2>, device<1>>;
  const auto wrong =
      std::tuple{dp::to<device<0>>(samples(2)), any_matrix(dp::dextents<2>{2, 5}), dp::to<device<2>>(samples(2))};
  CHECK_THROWS_AS(dp::parallel_apply(replicas, wrong), dp::shape_error);
  CHECK_THROWS_WITH(dp::parallel_apply(replicas, wrong),
                    Catch::Matchers::StartsWith("devplace: replica 1 of 3 (cuda:1): the batch is"));

  const dp::model<nn::sequential<nn::linear<6, 3>, failing>, host> fails{dp::seed{5}};
  const auto two = dp::replicate<dp::replicated<0, 1>>(fails);
  try {
    static_cast<void>(
        dp::parallel_apply(two, std::tuple{dp::to<device<0>>(samples(2)), dp::to<device<1>>(samples(2))}));
    FAIL("nothing was thrown");
  } catch (const dp::error& e) {
    CHECK(std::string(e.what()) == "devplace: replica 1 of 2 (cuda:1): a layer of the user's");
    CHECK_THROWS_AS(std::rethrow_if_nested(e), std::domain_error);
  }
}
