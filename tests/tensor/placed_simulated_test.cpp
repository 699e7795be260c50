// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cstddef>
#include <vector>

#include <devplace/tensor/placed.hpp>

#include "support/catch.hpp"
#include "support/training_data.hpp"

namespace dp = devplace;

namespace {

/// Rows of place k's part, read back.
template <class Tensor>
std::vector<float> part_of(const Tensor& x, std::size_t k) {
  const auto part = x.local(k);
  std::vector<float> values(part.size());
  dp::detail::copy_out<dp::backend::cuda>(part.ordinal(), values.data(), part.data(), values.size() * sizeof(float));
  return values;
}

}  // namespace

TEST_CASE("an even split covers all rows, in order, with sizes that differ by at most one", "[tensor]") {
  for (std::size_t places = 1; places <= 9; ++places)
    for (std::size_t size = 0; size <= 64; ++size) {
      CHECK(dp::detail::even_begin(size, places, 0) == 0);
      CHECK(dp::detail::even_begin(size, places, places) == size);
      for (std::size_t k = 0; k < places; ++k) {
        const std::size_t rows = dp::detail::even_begin(size, places, k + 1) - dp::detail::even_begin(size, places, k);
        CHECK((rows == size / places || rows == size / places + 1));
      }
    }
}

TEST_CASE("scatter gives every place its rows, and gather brings them back", "[tensor]") {
  for (const std::size_t rows : std::vector<std::size_t>{0, 1, 2, 3, 7, 100}) {
    const auto x = dp::test::integer_samples<float, 5>(rows);
    const auto shards = dp::scatter<dp::sharded<0, 2, 0, 1>>(x);
    CHECK(shards.extent(0) == rows);
    std::vector<float> all;
    for (std::size_t k = 0; k < 3; ++k) {
      const auto part = part_of(shards, k);
      CHECK(part.size() == 5 * shards.local(k).extent(0));
      CHECK(all.size() == 5 * shards.first_row(k));
      all.insert(all.end(), part.begin(), part.end());
    }
    CHECK(all == std::vector<float>(x.data(), x.data() + x.size()));
    const auto back = dp::gather<dp::on<dp::cpu>>(shards);
    CHECK(std::vector<float>(back.data(), back.data() + back.size()) == all);
    CHECK(shards.local(0).ordinal() == 2);
  }
}

TEST_CASE("scatter from a device copies between devices", "[tensor]") {
  const auto x = dp::test::integer_samples<float, 3>(4);
  const auto there = dp::to<dp::on<dp::cuda<1>>>(x);
  const auto back = dp::gather<dp::on<dp::cuda<0>>>(dp::scatter<dp::sharded<0, 0, 1>>(there));
  const auto here = dp::to<dp::on<dp::cpu>>(back);
  CHECK(std::vector<float>(here.data(), here.data() + 12) == std::vector<float>(x.data(), x.data() + 12));
}
