// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <devplace/io/dlpack.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <devplace/tensor/copy.hpp>
#include <devplace/tensor/wrap.hpp>

#include "support/catch.hpp"
#include "support/host_values.hpp"

namespace dp = devplace;
using Catch::Matchers::ContainsSubstring;
using dp::dyn;
using here = dp::on<dp::cpu>;

namespace {

// The layout of dlpack.h 1.x with 64-bit pointers.
static_assert(sizeof(dp::dlpack::tensor) == 48 && offsetof(dp::dlpack::tensor, rank) == 16);
static_assert(offsetof(dp::dlpack::tensor, type) == 20 && offsetof(dp::dlpack::tensor, byte_offset) == 40);
static_assert(sizeof(dp::dlpack::managed_tensor) == 64 && offsetof(dp::dlpack::managed_tensor, deleter) == 56);
static_assert(sizeof(dp::dlpack::managed_tensor_versioned) == 80);
static_assert(offsetof(dp::dlpack::managed_tensor_versioned, deleter) == 16);
static_assert(offsetof(dp::dlpack::managed_tensor_versioned, tensor) == 32);

/// Another library's tensor: 2x3 floats, and the number of calls of its deleter.
struct producer {
  std::array<float, 12> memory{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  std::array<std::int64_t, 2> shape{2, 3}, strides{3, 1};
  int given_back = 0;
  dp::dlpack::managed_tensor_versioned managed{};

  producer() {
    managed.version = {1, 7};
    managed.context = this;
    managed.deleter = [](auto* self) { ++static_cast<producer*>(self->context)->given_back; };
    managed.tensor = {memory.data(),
                      {dp::dlpack::device_type::cpu, 0},
                      2,
                      {dp::dlpack::type_code::floating, 32, 1},
                      shape.data(),
                      strides.data(),
                      0};
  }
  dp::dlpack_handle handle() { return dp::dlpack_handle(&managed); }
};

/// The message for importing the changed tensor; checks that its deleter was called exactly once.
template <class Change> std::string refused(Change change) {
  producer source;
  change(source);
  try {
    static_cast<void>(dp::from_dlpack<float, dp::extents<dyn, 3>>(source.handle()));
  } catch (const dp::error& refusal) {
    CHECK(source.given_back == 1);
    const std::string text = refusal.what();
    CHECK(text.starts_with("devplace: from_dlpack: the tensor "));
    CHECK(text.ends_with("."));
    return text;
  }
  return "not refused";
}

struct counted {
  int* destroyed;
  explicit counted(int& number) : destroyed(&number) {}
  counted(counted&& other) noexcept : destroyed(std::exchange(other.destroyed, nullptr)) {}
  ~counted() {
    if (destroyed != nullptr) ++*destroyed;
  }
};

// Constructed before all library state and so destroyed after it, as by an interpreter that ends last.
std::vector<dp::dlpack_handle> given_back_at_exit;

}  // namespace

TEST_CASE("tensors may be released after all library state is destroyed", "[io]") {
  given_back_at_exit.push_back(dp::to_dlpack(dp::tensor<float, dp::extents<2>, here>{1, 2}));
  given_back_at_exit.push_back(dp::to_dlpack(dp::tensor<float, dp::extents<2>, dp::on<dp::cuda<0>>>{1, 2}));
  CHECK(given_back_at_exit.size() == 2);
}

TEST_CASE("a tensor exported by DLPack can be freed on another thread", "[io]") {
  const std::size_t before = dp::memory_statistics<dp::cpu>().allocated;
  dp::tensor<float, dp::extents<dyn, 3>, here> x{{1, 2, 3}, {4, 5, 6}};
  const float* const elements = x.data();
  dp::dlpack_handle handle = dp::to_dlpack(std::move(x));
  CHECK(handle->version.major == 1);
  CHECK(handle->flags == 0);
  const dp::dlpack::tensor& given = handle->tensor;
  CHECK(given.data == elements);
  CHECK(given.device.type == dp::dlpack::device_type::cpu);
  CHECK(given.type.code == dp::dlpack::type_code::floating);
  CHECK(given.type.bits == 32);
  CHECK(given.type.lanes == 1);
  REQUIRE(given.rank == 2);
  CHECK(std::vector(given.shape, given.shape + 2) == std::vector<std::int64_t>{2, 3});
  CHECK(std::vector(given.strides, given.strides + 2) == std::vector<std::int64_t>{3, 1});
  CHECK(given.byte_offset == 0);
  CHECK(dp::memory_statistics<dp::cpu>().allocated > before);
  std::thread([&] { handle.reset(); }).join();
  CHECK(dp::memory_statistics<dp::cpu>().allocated == before);
}

TEST_CASE("a view is exported with the owner of its memory", "[io]") {
  int destroyed = 0;
  const std::vector<std::int64_t> values{1, 2, 3, 4, 5, 6};
  dp::dlpack_handle handle =
      dp::to_dlpack(dp::wrap(values, dp::extents<2, 3>{}).permute(dp::axis<1>{}, dp::axis<0>{}), counted(destroyed));
  CHECK(handle->flags == dp::dlpack::read_only);
  CHECK(handle->tensor.type.code == dp::dlpack::type_code::integer);
  CHECK(handle->tensor.strides[0] == 1);
  CHECK(handle->tensor.strides[1] == 3);
  const auto back = dp::view_dlpack<const std::int64_t, dp::extents<3, dyn>>(handle);
  CHECK(back(2, 1) == 6);
  CHECK_THROWS_WITH((dp::view_dlpack<std::int64_t, dp::extents<3, dyn>>(handle)),
                    ContainsSubstring("may only be read"));
  CHECK(destroyed == 0);
  handle.reset();
  CHECK(destroyed == 1);
  const auto shared = std::make_shared<dp::tensor<float, dp::extents<>, here>>(dp::extents<>{});
  const dp::dlpack_unversioned_handle old = dp::to_dlpack_unversioned(shared->view(), shared);
  CHECK(old->tensor.rank == 0);
  CHECK(shared.use_count() == 2);
  (*shared)() = 7;
  CHECK(dp::view_dlpack<float, dp::extents<>>(old)() == 7);
}

TEST_CASE("a tensor of another library is used without a copy", "[io]") {
  producer source;
  {
    auto x = dp::from_dlpack<float, dp::extents<dyn, 3>>(source.handle());
    CHECK(x.data() == source.memory.data());
    CHECK(x.extent(0) == 2);
    x(1, 2) = 50;
    const auto moved = std::move(x);
    CHECK(source.given_back == 0);
  }
  CHECK(source.given_back == 1);
  CHECK(source.memory[5] == 50);

  source.managed.tensor.strides = nullptr;
  source.managed.tensor.byte_offset = 4;
  CHECK(dp::from_dlpack<float, dp::extents<2, 3>>(source.handle())(0, 0) == 1);
  source.managed.tensor.strides = source.strides.data();
  source.strides = {-5, 1};  // the stride of a single row has no meaning
  source.shape = {1, 3};
  CHECK(dp::from_dlpack<float, dp::extents<dyn, 3>>(source.handle())(0, 2) == 3);
  source.managed.tensor.data = nullptr;
  source.shape = {0, 3};
  CHECK(dp::from_dlpack<float, dp::extents<dyn, 3>>(source.handle()).size() == 0);
  CHECK(source.given_back == 4);
}

TEST_CASE("views of another library's memory keep the strides", "[io]") {
  producer source;
  source.shape = {3, 2};
  source.strides = {1, 6};
  source.managed.flags = dp::dlpack::read_only;
  const dp::dlpack_handle handle = source.handle();
  const auto x = dp::view_dlpack<const float, dp::extents<3, 2>>(handle);
  CHECK(x(2, 1) == 8);
  CHECK(x.stride(1) == 6);
  CHECK_THROWS_AS((dp::view_dlpack<const float, dp::extents<3, 2>, here, dp::row_major>(handle)), dp::shape_error);
}

TEST_CASE("views of another library's memory may have negative strides", "[io]") {
  producer source;
  source.strides = {-3, -1};
  source.managed.tensor.byte_offset = 5 * sizeof(float);
  const dp::dlpack_handle handle = source.handle();
  const auto x = dp::view_dlpack<float, dp::extents<2, 3>>(handle);
  CHECK(support::values_of(dp::to<here>(x)) == std::vector<float>{5, 4, 3, 2, 1, 0});
  const dp::dlpack_handle given = dp::to_dlpack(x, 0);
  CHECK(given->tensor.data == &source.memory[5]);
  CHECK(given->tensor.strides[0] == -3);
}

TEST_CASE("mismatched tensors are rejected with a remedy, and released", "[io]") {
  using dp::dlpack::device_type;
  using dp::dlpack::type_code;
  const auto typed = [](type_code code, unsigned bits, unsigned lanes = 1) {
    return refused([=](producer& x) {
      x.managed.tensor.type = {code, static_cast<std::uint8_t>(bits), static_cast<std::uint16_t>(lanes)};
    });
  };
  CHECK_THAT(typed(type_code::floating, 64),
             ContainsSubstring("of type float64, but float (float32) was asked for; ask for double."));
  CHECK_THAT(typed(type_code::bfloat, 16), ContainsSubstring("bfloat16") && ContainsSubstring("ask for bf16"));
  CHECK_THAT(typed(type_code::boolean, 8), ContainsSubstring("type bool, but") && ContainsSubstring("ask for uint8"));
  CHECK_THAT(typed(type_code::complex, 64), ContainsSubstring("complex64") && ContainsSubstring("no such elements"));
  CHECK_THAT(typed(type_code::floating, 32, 4), ContainsSubstring("float32 in vectors of 4"));
  CHECK_THAT(typed(static_cast<type_code>(9), 8), ContainsSubstring("type code 9"));

  CHECK_THAT(refused([](producer& x) { x.managed.tensor.device = {device_type::cuda, 1}; }),
             ContainsSubstring("is on CUDA device 1, but cpu was asked for") && ContainsSubstring("x.cpu()"));
  CHECK_THAT(refused([](producer& x) { x.managed.tensor.device = {static_cast<device_type>(14), 0}; }),
             ContainsSubstring("DLPack's type 14"));
  CHECK(refused([](producer& x) { x.managed.tensor.device.type = device_type::cuda_host; }) == "not refused");
  CHECK_THAT(refused([](producer& x) { x.managed.tensor.rank = 1; }),
             ContainsSubstring("has the shape 2, which does not fit extents<dyn, 3>"));
  CHECK_THAT(refused([](producer& x) { x.shape = {3, 2}; }), ContainsSubstring("has the shape 3x2"));
  CHECK_THAT(refused([](producer& x) { x.shape = {-1, 3}; }), ContainsSubstring("negative extent, -1"));
  CHECK_THAT(refused([](producer& x) { x.shape = {INT64_MAX, 3}; }), ContainsSubstring("no machine can address"));
  CHECK_THAT(refused([](producer& x) { x.strides = {1, 2}; }),
             ContainsSubstring("is not row-major: its strides are 1x2") && ContainsSubstring("view_dlpack"));
  CHECK_THAT(refused([](producer& x) { x.strides = {-3, 1}; }), ContainsSubstring("its strides are -3x1"));
  for (const std::int64_t furthest : {INT64_MAX, INT64_MIN})
    CHECK_THAT(refused([=](producer& x) { x.strides = {furthest, 1}; }), ContainsSubstring("beyond any memory"));
  CHECK_THAT(refused([](producer& x) { x.managed.tensor.byte_offset = 2; }),
             ContainsSubstring("not a multiple of 4 bytes") && ContainsSubstring("x.copy()"));
  CHECK_THAT(refused([](producer& x) { x.managed.flags = dp::dlpack::read_only; }),
             ContainsSubstring("may only be read") && ContainsSubstring("view_dlpack<const float"));
  CHECK_THAT(refused([](producer& x) { x.managed.tensor.data = nullptr; }), ContainsSubstring("has no memory"));
  CHECK_THAT(refused([](producer& x) { x.managed.version = {2, 0}; }), ContainsSubstring("version 2.0"));
  CHECK_THROWS_WITH((dp::from_dlpack<float, dp::extents<dyn, 3>>(dp::dlpack_handle())), ContainsSubstring("is empty"));

  producer source;
  source.strides = {0, 1};
  const dp::dlpack_handle repeated = source.handle();
  CHECK_THROWS_WITH((dp::view_dlpack<float, dp::extents<2, 3>>(repeated)), ContainsSubstring("repeats its elements"));
  for (const std::array<std::int64_t, 2> strides : {std::array<std::int64_t, 2>{1, 1}, {2, 1}, {3, 2}, {-2, 1}}) {
    producer windows;
    windows.strides = strides;
    const dp::dlpack_handle overlapping = windows.handle();
    CHECK_THROWS_WITH((dp::view_dlpack<float, dp::extents<2, 3>>(overlapping)),
                      ContainsSubstring("has overlapping rows: its strides are ") &&
                          ContainsSubstring("Take a view of const elements"));
    CHECK(dp::view_dlpack<const float, dp::extents<2, 3>>(overlapping).size() == 6);
  }
  producer columns;
  columns.strides = {1, 2};
  const dp::dlpack_handle by_columns = columns.handle();
  CHECK(dp::view_dlpack<float, dp::extents<2, 3>>(by_columns).stride(1) == 2);
}

TEST_CASE("device tensors carry the device's number", "[io]") {
  using second = dp::on<dp::cuda<1>>;
  const dp::tensor<dp::half, dp::extents<2>, here> values{1, 2};
  dp::dlpack_handle handle = dp::to_dlpack(dp::to<second>(values));
  CHECK(handle->tensor.device.type == dp::dlpack::device_type::extension);
  CHECK(handle->tensor.device.id == 1);
  CHECK_THROWS_WITH(
      (dp::view_dlpack<const dp::half, dp::extents<2>, dp::on<dp::cuda<0>>>(handle)),
      ContainsSubstring("is on extension device 1, but cuda:0 was asked for, which is on extension device 0"));
  const auto back = dp::to<here>(dp::from_dlpack<dp::half, dp::extents<2>, second>(std::move(handle)));
  CHECK(static_cast<float>(back(1)) == 2);

  dp::tensor<std::uint8_t, dp::extents<4>, dp::on<dp::pinned>> staged(dp::extents<4>{});
  const dp::dlpack_handle host = dp::to_dlpack(std::move(staged));
  CHECK(host->tensor.device.type == dp::dlpack::device_type::cuda_host);
}
