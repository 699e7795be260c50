// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/catch.hpp"
#include "support/element_types.hpp"

#include <devplace/optim/clip_norm.hpp>

#include <cmath>
#include <cstdint>
#include <limits>

#include "optim/optimizer_case.hpp"

namespace dp = devplace;
using Catch::Matchers::ContainsSubstring;
using dp::optim::clip_norm;

namespace {

template <class T> struct clipped {
  T factor, norm;
};

template <class T> clipped<T> clip(const std::vector<T>& gradients, const T* divisor, double max_norm) {
  clipped<T> result{-1, -1};
  std::vector<std::int64_t> workspace(dp::optim::clip_workspace_size, -1);
  dp::optim::clip_norm_into<dp::backend::cpu>(
      clip_norm{max_norm}, dp::optim::clip_arguments<T>{0, gradients.size(), gradients.data(), divisor, &result.factor,
                                                        &result.norm, workspace.data()});
  return result;
}

}  // namespace

TEMPLATE_TEST_CASE("clip_norm gives the factor of torch.nn.utils.clip_grad_norm_", "[optim]", FLOATING_TYPES) {
  const double tolerance = sizeof(TestType) == sizeof(float) ? 1e-6 : 1e-14;
  for (const std::string name : {"clip_grad_norm_reached", "clip_grad_norm_not_reached"}) {
    const std::string folder = "optimizers/" + name + (sizeof(TestType) == sizeof(float) ? "/f32/" : "/f64/");
    const auto read = [&folder]<class Extents>(const char* file, Extents) {
      return dp::test::read_fixture<TestType, Extents>(folder + file);
    };
    const auto gradient0 = read("gradient0", dp::extents<4, 5>{}), clipped0 = read("clipped0", dp::extents<4, 5>{});
    const auto gradient1 = read("gradient1", dp::extents<7>{}), clipped1 = read("clipped1", dp::extents<7>{});
    std::vector<TestType> gradients(gradient0.data(), gradient0.data() + 20),
        expected(clipped0.data(), clipped0.data() + 20);
    gradients.insert(gradients.end(), gradient1.data(), gradient1.data() + 7);
    expected.insert(expected.end(), clipped1.data(), clipped1.data() + 7);
    for (TestType& g : gradients) g *= 4;
    const TestType divisor = 4;
    const auto result = clip(gradients, &divisor, static_cast<double>(read("max_norm", dp::extents<1>{})(0)));
    CHECK(static_cast<double>(result.norm) ==
          Catch::Approx(static_cast<double>(read("total_norm", dp::extents<1>{})(0))).epsilon(tolerance));
    for (std::size_t i = 0; i < gradients.size(); ++i)
      REQUIRE(static_cast<double>(gradients[i] / divisor * result.factor) ==
              Catch::Approx(static_cast<double>(expected[i])).epsilon(tolerance).margin(1e-30));
  }
}

TEMPLATE_TEST_CASE("clip_norm sums every element once, for any size and team", "[optim]", FLOATING_TYPES) {
  for (const std::size_t n : std::initializer_list<std::size_t>{0, 1, 63, 4095, 4096, 4097, 100003, 300001}) {
    const dp::test::optimizer_case<TestType> c(n);
    long double sum = 0;
    for (const TestType g : c.gradients) sum += static_cast<long double>(g) * static_cast<long double>(g);
    const auto serial = [&] {
      const dp::thread_team_scope scope(dp::detail::serial_team_instance);
      return clip<TestType>(c.gradients, nullptr, 1e30);
    }();
    CHECK(static_cast<double>(serial.norm) ==
          Catch::Approx(static_cast<double>(std::sqrt(sum))).epsilon(sizeof(TestType) == sizeof(float) ? 1e-7 : 1e-14));
    CHECK(serial.factor == 1);
    for (const int members : {2, 3, 7}) {
      dp::builtin_thread_team team(members);
      const dp::thread_team_scope scope(team);
      CHECK(clip<TestType>(c.gradients, nullptr, 1e30).norm == serial.norm);
    }
  }
}

TEMPLATE_TEST_CASE("clip_norm of zero, infinite and NaN gradients", "[optim]", FLOATING_TYPES) {
  const TestType zero = 0, infinity = std::numeric_limits<TestType>::infinity();
  CHECK(clip<TestType>({0, 0}, nullptr, 1).factor == 1);
  CHECK(clip<TestType>({3, 4}, nullptr, 0).factor == 0);
  CHECK(clip<TestType>({3, 4}, &zero, 1).norm == 0);  // the sum of weights is 0
  CHECK(clip<TestType>({3, 4}, &zero, 1).factor == 1);
  CHECK(clip<TestType>({3, infinity}, nullptr, 1).factor == 0);
  CHECK(std::isnan(clip<TestType>({3, std::numeric_limits<TestType>::quiet_NaN()}, nullptr, 1).factor));
}

TEST_CASE("clip_norm checks its argument", "[optim]") {
  CHECK(dp::test::validation_error(clip_norm{1}).empty());
  CHECK_THAT(dp::test::validation_error(clip_norm{-1}), ContainsSubstring("devplace: clip_norm: max_norm is -1"));
}
