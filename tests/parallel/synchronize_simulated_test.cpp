// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cstddef>
#include <utility>
#include <vector>

#include <devplace/nn/cross_entropy.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/model.hpp>
#include <devplace/parallel/scatter.hpp>
#include <devplace/parallel/synchronize.hpp>

#include "support/catch.hpp"
#include "support/training_data.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;

namespace {

using net = nn::linear<6, 3>;

template <class Lease> std::vector<double> weights_of(const Lease& lease, std::size_t k) {
  const auto view = lease.template only_on<0>(k);
  std::vector<double> values(view.size());
  dp::detail::copy_out<typename decltype(view)::backend_type>(view.ordinal(), values.data(), view.data(),
                                                              values.size() * sizeof(double));
  return values;
}

}  // namespace

TEST_CASE("synchronize is the identity on one place", "[parallel]") {
  dp::model<net, dp::on<dp::cpu>, double> model{dp::seed{1}};
  const auto x = dp::test::integer_samples<double, 6>(5);
  auto [output, saved] = model.forward(x);
  auto lease = model.backward(std::move(saved), nn::cross_entropy{}(output, dp::test::square_labels(5, 3)).gradient);
  const auto before = weights_of(lease, 0);
  const auto whole = dp::synchronize(std::move(lease));
  CHECK(weights_of(whole, 0) == before);
}

TEST_CASE("synchronize gives every place the sum over all, in the order of the places", "[parallel]") {
  using where = dp::replicated<1, 0, 2>;
  dp::model<net, where, double> model{dp::seed{1}};
  const auto x = dp::scatter<dp::batch_placement_t<where>>(dp::test::integer_samples<double, 6>(8));
  const auto y = dp::scatter<dp::batch_placement_t<where>>(dp::test::square_labels(8, 3));
  auto [output, saved] = model.forward(x);
  auto partial = model.backward(std::move(saved), nn::cross_entropy{}(output, y).gradient);
  const auto a = weights_of(partial, 0), b = weights_of(partial, 1), c = weights_of(partial, 2);
  CHECK(a != b);
  const auto whole = dp::synchronize(std::move(partial));
  for (std::size_t k = 0; k < 3; ++k) {
    const auto sum = weights_of(whole, k);
    for (std::size_t i = 0; i < sum.size(); ++i) CHECK(sum[i] == (a[i] + b[i]) + c[i]);
  }
}
