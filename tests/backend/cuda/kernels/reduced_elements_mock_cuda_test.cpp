// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <devplace/backend/cuda/kernels/reduce.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <devplace/backend/cuda/channel_sums.cuh>
#include <devplace/backend/cuda/kernels/convolution.hpp>
#include <devplace/ops/batch_norm.hpp>
#include <devplace/ops/detail/reducers.hpp>
#include <devplace/ops/detail/reduction_plan.hpp>
#include <devplace/ops/group_norm.hpp>
#include <devplace/tensor/bf16.hpp>

#include "support/catch.hpp"
#include "support/mock_cuda/kernel_launch.hpp"

namespace dp = devplace;
namespace mock = devplace::test::mock_cuda;
using dp::bf16;

namespace {

using shape = std::array<std::size_t, 3>;

template <class Reducer> void reduce(const shape& s, const bf16* data, const Reducer& reducer) {
  using source = dp::detail::element_source<bf16>;
  mock::run_reduction(dp::detail::reduction_plan<source, Reducer>{s[0], s[1], s[2], {data}, reducer});
}

/// Elements from one of the first addresses of aligned memory to its end.
class shifted {
 public:
  static constexpr std::size_t shifts = 8;

  explicit shifted(const mock::device_vector<bf16>& x) : x_(x) {}
  const bf16* at(std::size_t shift) {
    room_ = mock::device_vector<bf16>(shift + x_.size());
    std::copy(x_.begin(), x_.end(), room_.data() + shift);
    return room_.data() + shift;
  }

 private:
  mock::device_vector<bf16> x_, room_;
};

mock::device_vector<bf16> small_integers(std::size_t n) {
  mock::device_vector<bf16> x(n);
  for (std::size_t k = 0; k < n; ++k) x[k] = bf16(static_cast<float>(k * 7919 % 23) - 11);
  return x;
}

mock::device_vector<bf16> fractions(std::size_t n) {
  mock::device_vector<bf16> x(n);
  for (std::size_t k = 0; k < n; ++k)
    x[k] = bf16(1 / static_cast<float>(k * 7919 % 1009 + 1) * (k % 3 == 0 ? -1e4F : 1e-20F));
  return x;
}

/// A sum in float, whose bits reveal the order of summation.
struct float_sums {
  using accumulator = float;
  float* result;

  DEVPLACE_HD static float identity() { return 0; }
  DEVPLACE_HD static void add(float& a, float x, std::size_t) { a += x; }
  DEVPLACE_HD static void merge(float& a, float b) { a += b; }
  DEVPLACE_HD void store(std::size_t i, float a) const { result[i] = a; }
};

}  // namespace

TEST_CASE("sums of 16-bit elements equal a loop's, wherever rows begin and whatever their length", "[cuda]") {
  for (const shape& s : {shape{5, 1, 1},
                         {5, 7, 1},
                         {3, 8, 1},
                         {4, 9, 1},
                         {1, 61, 1},
                         {3, 49, 1},
                         {2, 1030, 1},
                         {1, 20'001, 1},
                         {3, 20'001, 1},
                         {2, 0, 1},
                         {2, 5, 8},
                         {1, 700, 24},
                         {3, 64, 40},
                         {1, 40, 300},
                         {2, 33, 10}}) {
    const auto [outer, count, inner] = s;
    INFO(outer << " x " << count << " x " << inner);
    const mock::device_vector<bf16> x = small_integers(outer * count * inner);
    mock::device_vector<float> expected(outer * inner);
    for (std::size_t k = 0; k < x.size(); ++k)
      expected[k / (count * inner) * inner + k % inner] += static_cast<float>(x[k]);
    shifted memory(x), of_fractions(fractions(x.size()));
    mock::device_vector<float> first(outer * inner), other(outer * inner);
    reduce(s, of_fractions.at(0), float_sums{first.data()});
    for (std::size_t shift = 0; shift < shifted::shifts; ++shift) {
      INFO("from element " << shift << " on");
      mock::device_vector<float> sums(outer * inner, -1);
      reduce(s, memory.at(shift), dp::detail::sum_reducer<bf16, float>{sums.data(), 0});
      CHECK(sums == expected);
      reduce(s, of_fractions.at(shift), float_sums{other.data()});
      CHECK(other == first);
    }
  }
}

TEST_CASE("positions of 16-bit extrema are the first of equal elements, in rows and in columns", "[cuda]") {
  for (const shape& s : {shape{3, 61, 1}, {1, 9001, 1}, {2, 300, 16}}) {
    const auto [outer, count, inner] = s;
    mock::device_vector<bf16> x = small_integers(outer * count * inner);
    mock::device_vector<std::int64_t> expected, found(outer * inner);
    for (std::size_t result = 0; result < outer * inner; ++result) {
      const std::size_t k = (result * 13 + 5) % (count - 1);
      for (const std::size_t at : {k, count - 1})
        x[(result / inner * count + at) * inner + result % inner] = bf16(50.0F);
      expected.push_back(static_cast<std::int64_t>(k));
    }
    shifted memory(x);
    for (const std::size_t shift : {0u, 3u}) {
      reduce(s, memory.at(shift), dp::detail::extremum_position_reducer<bf16, true>{found.data()});
      CHECK(found == expected);
    }
  }
}

TEST_CASE("sums over channels of 16-bit elements equal a loop's, wherever arrays begin", "[cuda]") {
  for (const auto& s : {dp::detail::channel_shape{3, 2, 5},
                        {2, 3, 8},
                        {4, 3, 49},
                        {1, 1, 1100},
                        {70, 2, 36},
                        {40, 16, 1},
                        {300, 10, 1}}) {
    INFO(s.samples << " samples, " << s.channels << " channels, " << s.extent << " positions");
    const mock::device_vector<bf16> x = small_integers(s.size());
    const mock::device_vector<bf16> dy(x.rbegin(), x.rend());
    const mock::device_vector<float> terms(x.begin(), x.end());
    mock::device_vector<float> of_dy(s.channels), of_products(s.channels), statistics(3 * s.channels),
        means(2 * s.channels);
    for (std::size_t c = 0; c < s.channels; ++c)
      statistics[2 * s.channels + c] = static_cast<float>(c + 1);  // multiplies normalised x
    for (std::size_t i = 0; i < s.size(); ++i) {
      const std::size_t c = i / s.extent % s.channels;
      of_dy[c] += dy[i];
      of_products[c] += dy[i] * x[i] * static_cast<float>(c + 1);
    }
    mock::device_vector<float> dw(s.channels), db(s.channels), expected_terms(s.channels);
    for (std::size_t i = 0; i < s.size(); ++i) expected_terms[i / s.extent % s.channels] += x[i];
    shifted of_x(x), gradients(dy);
    const auto run = [&](const auto& sums) {
      if (s.extent == 1)
        mock::run_reduction<false>(dp::detail::channel_reduction(s, sums));
      else
        mock::run_reduction<true>(dp::detail::channel_reduction(s, sums));
    };
    for (const auto& [first, second] : {std::array<std::size_t, 2>{0, 0}, {0, 3}, {5, 0}, {7, 7}}) {
      INFO("from elements " << first << " and " << second << " on");
      const dp::detail::gradients_of_batch<float, float> result{dw.data(),    db.data(),  false,
                                                                means.data(), s.channels, 1};
      run(dp::detail::batch_norm_gradient_terms<bf16, float, float>{
          of_x.at(first), gradients.at(second), dp::detail::channel_scales<float>::in(statistics.data(), s.channels),
          result});
      CHECK(db == of_dy);
      CHECK(dw == of_products);
      run(dp::detail::group_norm_gradient_terms<float, float, bf16>{terms.data(), gradients.at(second), dw.data(),
                                                                    db.data(), false});
      CHECK(db == of_dy);
      CHECK(dw == expected_terms);
      using reducer = dp::detail::sum_reducer<bf16, float>;
      mock::run_reduction<true>(dp::detail::reduction_plan<dp::detail::convolution_bias_source<bf16>, reducer>{
          s.channels, s.count(), 1, {s.extent, {gradients.at(first)}}, reducer{db.data(), 0}});
      CHECK(db == of_dy);
    }
  }
}
