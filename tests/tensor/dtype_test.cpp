// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cstdint>
#include <string>

#include <devplace/tensor/dtype.hpp>

#include "support/catch.hpp"

namespace dp = devplace;

namespace {

constexpr int overload(dp::element auto) { return 0; }
constexpr int overload(dp::half_precision_element auto) { return 1; }
constexpr int overload(dp::floating_element auto) { return 2; }

}  // namespace

TEST_CASE("concepts of element types subsume `element` in overloads", "[tensor]") {
  STATIC_REQUIRE(overload(1) == 0);
  STATIC_REQUIRE(overload(dp::half{}) == 1);
  STATIC_REQUIRE(overload(1.0) == 2);
}

TEST_CASE("there are seven element types, two of them for parameters", "[tensor]") {
  STATIC_REQUIRE(dp::element<float>);
  STATIC_REQUIRE(dp::element<double>);
  STATIC_REQUIRE(dp::element<std::int32_t>);
  STATIC_REQUIRE(dp::element<std::int64_t>);
  STATIC_REQUIRE(dp::element<std::uint8_t>);
  STATIC_REQUIRE(dp::element<dp::bf16>);
  STATIC_REQUIRE(dp::element<dp::half>);
  STATIC_REQUIRE(dp::half_precision_element<dp::half>);
  STATIC_REQUIRE(!dp::half_precision_element<float>);
  STATIC_REQUIRE(!dp::element<bool>);
  STATIC_REQUIRE(!dp::element<const float>);
  STATIC_REQUIRE(dp::floating_element<double>);
  STATIC_REQUIRE(!dp::floating_element<std::int32_t>);
  STATIC_REQUIRE(!dp::floating_element<dp::bf16>);
  CHECK(std::string(dp::dtype_name<float>()) == "float");
  CHECK(std::string(dp::dtype_name<std::int64_t>()) == "int64");
  CHECK(std::string(dp::dtype_name<std::uint8_t>()) == "uint8");
  CHECK(std::string(dp::dtype_name<dp::bf16>()) == "bf16");
  CHECK(std::string(dp::dtype_name<dp::half>()) == "half");
}

TEST_CASE("the table of element types has their sizes and their names in files", "[tensor]") {
  using dp::detail::dtype_of;
  [&]<class... T>(const dp::detail::dtype_table<T...>&) {
    STATIC_REQUIRE(((dtype_of<T>->bytes == sizeof(T)) && ...));
  }(dp::detail::dtypes);
  CHECK(dtype_of<std::int32_t>->npy == "<i4");
  CHECK(dtype_of<std::uint8_t>->npy == "|u1");
  CHECK(dtype_of<dp::bf16>->npy.empty());
  CHECK(dtype_of<dp::half>->safetensors == "F16");
  CHECK(dtype_of<std::uint8_t>->idx == 0x08);
  CHECK(dtype_of<bool> == nullptr);
}
