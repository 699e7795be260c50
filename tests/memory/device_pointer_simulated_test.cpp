// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

#include <devplace/core.hpp>
#include <support/catch.hpp>

namespace dp = devplace;

using device = dp::on<dp::cuda<1>>;
using pointer = dp::device_pointer<float>;
using to_const = dp::device_pointer<const float>;
using on_device = dp::tensor<float, dp::extents<4>, device>;

TEST_CASE("data() is a device_pointer where the host cannot access the memory", "[memory][simulated]") {
  STATIC_REQUIRE(std::is_same_v<decltype(std::declval<on_device&>().data()), pointer>);
  STATIC_REQUIRE(std::is_same_v<decltype(std::declval<const on_device&>().data()), to_const>);
  STATIC_REQUIRE(std::is_same_v<decltype(std::declval<on_device&>().view().data()), pointer>);
  STATIC_REQUIRE(std::is_same_v<decltype(std::declval<const on_device&>()[1].data()), to_const>);
  using on_host = dp::tensor<float, dp::extents<4>, dp::on<dp::cpu>>;
  using in_pinned = dp::tensor<float, dp::extents<4>, dp::on<dp::pinned>>;
  STATIC_REQUIRE(std::is_same_v<decltype(std::declval<on_host&>().data()), float*>);
  STATIC_REQUIRE(std::is_same_v<decltype(std::declval<const in_pinned&>().data()), const float*>);
  STATIC_REQUIRE(std::is_same_v<decltype(std::declval<on_device&>().view().erased().data()), float*>);
}

TEST_CASE("a device_pointer converts to pointers to const and to nothing else", "[memory][simulated]") {
  STATIC_REQUIRE(std::is_trivially_copyable_v<pointer>);
  STATIC_REQUIRE(sizeof(pointer) == sizeof(float*));
  STATIC_REQUIRE(std::is_convertible_v<pointer, to_const>);
  STATIC_REQUIRE_FALSE(std::is_convertible_v<to_const, pointer>);
  STATIC_REQUIRE_FALSE(std::is_convertible_v<pointer, dp::device_pointer<double>>);
  STATIC_REQUIRE_FALSE(std::is_convertible_v<pointer, float*>);
  STATIC_REQUIRE_FALSE(std::is_convertible_v<pointer, const void*>);
  STATIC_REQUIRE_FALSE(std::is_convertible_v<pointer, bool>);
  STATIC_REQUIRE_FALSE(std::is_convertible_v<float*, pointer>);
}

TEST_CASE("a device_pointer has a pointer's arithmetic and comparisons", "[memory][simulated]") {
  float values[4] = {};
  const pointer p(values), end = p + 4;
  CHECK(end.get() == values + 4);
  CHECK((2 + p).get() == values + 2);
  CHECK((end - 3).get() == values + 1);
  CHECK(end - p == 4);
  CHECK(to_const(end) - p == 4);
  CHECK((p < end && p <= p && end > p && p != end));
  CHECK((p == to_const(p) && p != nullptr));
  pointer moving = p;
  CHECK(moving++ == p);
  CHECK(++moving == p + 2);
  CHECK(moving-- == p + 2);
  CHECK(--moving == p);
  moving += 3;
  moving -= 1;
  CHECK(moving - p == 2);
  CHECK(static_cast<bool>(p));
  CHECK_FALSE(static_cast<bool>(pointer()));
  CHECK(pointer(nullptr) == pointer());
  CHECK(std::to_address(p) == values);
}

TEST_CASE("wrap of a device_pointer gives a view on the device", "[memory][simulated]") {
  on_device x{1, 2, 3, 4};
  auto last = dp::wrap<device>(x.data() + 2, dp::extents<2>{});
  STATIC_REQUIRE(std::is_same_v<decltype(last), dp::view<float, dp::extents<2>, device>>);
  last = 7;
  const auto even = dp::wrap<device>(std::as_const(x).data(), dp::extents<2>{}, {2});
  const auto host = dp::to<dp::cpu>(x);
  const auto host_even = dp::to<dp::cpu>(even);
  CHECK((host(0) == 1 && host(1) == 2 && host(2) == 7 && host(3) == 7));
  CHECK((host_even(0) == 1 && host_even(1) == 7));
}

TEST_CASE("get() is the address for kernels and libraries", "[memory][simulated]") {
  on_device x{1, 2, 3, 4};
  auto raw = dp::wrap<device>(x.data().get(), dp::extents<4>{});
  raw = raw * 2.0f;
  CHECK(dp::item(dp::sum(x)) == 20);
  CHECK(reinterpret_cast<std::uintptr_t>(std::to_address(x.data())) % 64 == 0);
}

TEST_CASE("a container with a custom allocator can hold device memory", "[memory][simulated]") {
  struct elements {
    using allocator_type = elements;
    using value_type = float;
    float* begin_;
    float* data() const { return begin_; }
    std::size_t size() const { return 4; }
    float* begin() const { return begin_; }
    float* end() const { return begin_ + 4; }
  };
  on_device x{1, 2, 3, 4};
  elements managed{x.data().get()};
  CHECK(dp::item(dp::sum(dp::wrap<device>(managed, dp::extents<4>{}))) == 10);
}
