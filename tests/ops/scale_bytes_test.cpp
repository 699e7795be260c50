// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <devplace/ops/scale_bytes.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "support/catch.hpp"

namespace dp = devplace;

namespace {

using on_cpu = dp::on<dp::cpu>;

/// Returns all byte values, in more elements than a thread's share, in an order without the period of any vector width.
dp::tensor<std::uint8_t, dp::extents<dp::dyn>, on_cpu> all_bytes(std::size_t count) {
  dp::tensor<std::uint8_t, dp::extents<dp::dyn>, on_cpu> x(dp::extents<dp::dyn>{count});
  for (std::size_t i = 0; i < count; ++i) x(i) = static_cast<std::uint8_t>(i * 37 + i / 256);
  return x;
}

template <class T>
void check_against_double(const dp::byte_scale<T>& scale, double factor, double mean, double deviation) {
  const auto x = all_bytes(100003);
  dp::tensor<T, dp::extents<dp::dyn>, on_cpu> y(x.extents());
  dp::scale_bytes_into(y, x, scale);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < x.size(); ++i)
    wrong += y(i) != static_cast<T>((static_cast<double>(x(i)) * factor - mean) / deviation);
  CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("bytes are scaled with scale, mean and standard deviation, rounded once", "[ops]") {
  check_against_double(dp::byte_scale<float>(0.5, 3, 7), 0.5, 3, 7);
  check_against_double(dp::byte_scale<double>(0.5, 3, 7), 0.5, 3, 7);
}

TEST_CASE("without a scale a byte becomes x / 255, correctly rounded", "[ops]") {
  const dp::byte_scale<float> scale;
  for (int x = 0; x < 256; ++x) {
    INFO(x);
    CHECK(scale.values[x] == static_cast<float>(x) / 255.0F);
  }
}

TEST_CASE("scaled bytes keep their extents", "[ops]") {
  dp::tensor<std::uint8_t, dp::extents<dp::dyn, 2>, on_cpu> x(dp::extents<dp::dyn, 2>{3});
  for (std::size_t i = 0; i < x.size(); ++i) x.data()[i] = static_cast<std::uint8_t>(51 * i);
  dp::tensor<float, dp::extents<dp::dyn, 2>, on_cpu> y(dp::extents<dp::dyn, 2>{3});
  dp::scale_bytes_into(y, x, dp::byte_scale<float>());
  CHECK(y(2, 1) == 1.0F);
  CHECK(y(0, 1) == 0.2F);
  dp::tensor<float, dp::extents<dp::dyn, 2>, on_cpu> shorter(dp::extents<dp::dyn, 2>{2});
  CHECK_THROWS_AS(dp::scale_bytes_into(shorter, x, dp::byte_scale<float>()), dp::shape_error);
  dp::tensor<float, dp::extents<dp::dyn, 2>, on_cpu> none(dp::extents<dp::dyn, 2>{0});
  const dp::tensor<std::uint8_t, dp::extents<dp::dyn, 2>, on_cpu> of_none(dp::extents<dp::dyn, 2>{0});
  CHECK_NOTHROW(dp::scale_bytes_into(none, of_none, dp::byte_scale<float>()));
}
