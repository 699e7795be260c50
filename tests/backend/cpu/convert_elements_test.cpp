// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <devplace/backend/cpu/convert_elements.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "support/catch.hpp"

namespace dp = devplace;
using dp::detail::cpu_isa;

namespace {

/// Floats on both sides of every border between two numbers of 16 bits, the borders themselves, and others of all
/// kinds.
std::vector<float> floats_near_borders(std::uint32_t step, std::uint32_t border) {
  std::vector<float> result;
  for (std::uint32_t bits = border; bits < 0x80000000u; bits += step)
    for (const std::uint32_t near : {bits - 1, bits, bits + 1})
      for (const std::uint32_t sign : {0u, 0x80000000u}) result.push_back(std::bit_cast<float>(near | sign));
  for (std::uint64_t bits = 0; bits < 0x100000000u; bits += 104729)
    result.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
  return result;
}

template <class T> void check_against_scalar_conversions(std::uint32_t step, std::uint32_t border) {
  std::vector<T> all;
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) all.push_back(T::from_bits(static_cast<std::uint16_t>(bits)));
  const std::vector<float> floats = floats_near_borders(step, border);
  for (const cpu_isa isa : {cpu_isa::generic, cpu_isa::avx2, cpu_isa::avx512}) {
    if (isa > dp::detail::supported_isa()) continue;
    INFO(dp::detail::name_of(isa));
    std::vector<float> widened(all.size());
    std::vector<T> rounded(floats.size());
    dp::detail::convert_elements(widened.data(), all.data(), all.size(), isa);
    dp::detail::convert_elements(rounded.data(), floats.data(), floats.size(), isa);
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < all.size(); ++i)
      wrong += std::bit_cast<std::uint32_t>(widened[i]) != std::bit_cast<std::uint32_t>(static_cast<float>(all[i]));
    for (std::size_t i = 0; i < floats.size(); ++i) wrong += rounded[i].bits() != T(floats[i]).bits();
    CHECK(wrong == 0);
  }
}

}  // namespace

TEST_CASE("conversions of arrays give the bits of scalar conversions: every half, and floats around every border",
          "[backend]") {
  check_against_scalar_conversions<dp::half>(0x1000, 0x33000000);  // from 2^-25, which rounds to 0, to every NaN
}

TEST_CASE("conversions of arrays give the bits of scalar conversions: every bf16, and floats around every border",
          "[backend]") {
  check_against_scalar_conversions<dp::bf16>(0x8000, 0x8000);
}
