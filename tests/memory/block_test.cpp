// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <sys/resource.h>

#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include <devplace/memory/block.hpp>

#include "support/catch.hpp"
#include "support/sanitizers.hpp"

namespace dp = devplace;
using block = dp::detail::memory_block;

namespace {

int released = 0;
dp::memory_purpose released_as = dp::memory_purpose::tensors;
std::vector<std::size_t> streams_in_use;  // the pointers, as numbers
void count_release(const dp::detail::block_record& given_back) noexcept {
  ++released;
  released_as = given_back.purpose;
  streams_in_use = {reinterpret_cast<std::size_t>(given_back.stream)};
  for (const auto* use = given_back.uses.get(); use != nullptr; use = use->next.get())
    streams_in_use.push_back(reinterpret_cast<std::size_t>(use->stream));
}

}  // namespace

TEST_CASE("a CPU block is aligned, counted and freed once", "[memory]") {
  const auto before = dp::memory_statistics<dp::cpu>();
  {
    block a = dp::detail::allocate<dp::backend::cpu>(0, 100);
    CHECK(a.bytes() == 100);
    CHECK(reinterpret_cast<std::uintptr_t>(a.data()) % dp::detail::alignment == 0);
    CHECK(dp::memory_statistics<dp::cpu>().allocated == before.allocated + 100);
    block b = std::move(a);
    CHECK(a.data() == nullptr);
    CHECK(a.bytes() == 0);
    CHECK(b.bytes() == 100);
    b = dp::detail::allocate<dp::backend::cpu>(0, 10);
    CHECK(dp::memory_statistics<dp::cpu>().allocated == before.allocated + 10);
  }
  CHECK(dp::memory_statistics<dp::cpu>().allocated == before.allocated);
  CHECK(dp::memory_statistics<dp::cpu>().allocations == before.allocations + 2);
}

TEST_CASE("large CPU blocks start near the begin of a huge page, and are written and freed as a whole", "[memory]") {
  constexpr std::size_t huge_page = std::size_t{2} << 20U;
  const auto before = dp::memory_statistics<dp::cpu>();
  for (const std::size_t bytes : {2 * huge_page, 3 * huge_page + 5}) {
    block large = dp::detail::allocate<dp::backend::cpu>(0, bytes);
    const std::size_t offset = reinterpret_cast<std::uintptr_t>(large.data()) % huge_page;
    CHECK(offset < 16384);
    CHECK(offset % dp::detail::alignment == 0);
    const block next = dp::detail::allocate<dp::backend::cpu>(0, bytes);
    CHECK(reinterpret_cast<std::uintptr_t>(next.data()) % huge_page != offset);
    auto* const data = static_cast<unsigned char*>(large.data());
    std::memset(data, 7, bytes);
    CHECK(data[bytes - 1] == 7);
    CHECK(dp::memory_statistics<dp::cpu>().allocated == before.allocated + 2 * bytes);
  }
  CHECK(dp::memory_statistics<dp::cpu>().allocated == before.allocated);
}

// Sanitizers delay the reuse of memory, and other C libraries keep less.
#if defined(__GLIBC__) && !DEVPLACE_TEST_SANITIZED
TEST_CASE("a large CPU block gets the pages of a freed one", "[memory]") {
  constexpr std::size_t bytes = (std::size_t{6} << 20U) + 400'000;
  const auto faults_of_new_block = [] {
    rusage before{}, after{};
    getrusage(RUSAGE_SELF, &before);
    const block large = dp::detail::allocate<dp::backend::cpu>(0, bytes);
    std::memset(large.data(), 1, bytes);
    getrusage(RUSAGE_SELF, &after);
    return after.ru_minflt - before.ru_minflt;
  };
  for (int i = 0; i < 3; ++i) faults_of_new_block();
  CHECK(faults_of_new_block() <= 1);
}
#endif

TEST_CASE("a block larger than the address space is an error", "[memory]") {
  const auto before = dp::memory_statistics<dp::cpu>().allocations;
  for (const std::size_t bytes : {std::size_t{PTRDIFF_MAX}, SIZE_MAX - 63, SIZE_MAX})
    CHECK_THROWS_AS(dp::detail::allocate<dp::backend::cpu>(0, bytes), dp::out_of_memory);
  CHECK(dp::memory_statistics<dp::cpu>().allocations == before);
}

TEST_CASE("only the last owner of a moved block releases it", "[memory]") {
  released = 0;
  int storage = 0;
  {
    block a({&storage, sizeof storage, 0, dp::memory_purpose::gradients, &count_release});
    block b(std::move(a));
    block c;
    c = std::move(b);
    CHECK(released == 0);
    block& same = c;
    c = std::move(same);
    CHECK(c.data() == &storage);
    CHECK(released == 0);
  }
  CHECK(released == 1);
  CHECK(released_as == dp::memory_purpose::gradients);
}

TEST_CASE("a block is counted under its purpose until it is released", "[memory]") {
  using dp::memory_purpose;
  const auto before = dp::memory_statistics<dp::cpu>();
  {
    block a = dp::detail::allocate<dp::backend::cpu>(0, 100, memory_purpose::activations);
    const block b = dp::detail::allocate<dp::backend::cpu>(0, 7, memory_purpose::gradients);
    auto now = dp::memory_statistics<dp::cpu>();
    CHECK(now.of(memory_purpose::activations) == before.of(memory_purpose::activations) + 100);
    CHECK(now.of(memory_purpose::gradients) == before.of(memory_purpose::gradients) + 7);
    CHECK(now.of(memory_purpose::tensors) == before.of(memory_purpose::tensors));
    a = dp::detail::allocate<dp::backend::cpu>(0, 5);
    now = dp::memory_statistics<dp::cpu>();
    CHECK(now.of(memory_purpose::activations) == before.of(memory_purpose::activations));
    CHECK(now.of(memory_purpose::tensors) == before.of(memory_purpose::tensors) + 5);
    CHECK(now.reserved == now.allocated);
  }
  CHECK(dp::memory_statistics<dp::cpu>().by_purpose == before.by_purpose);
  CHECK(dp::trim_memory<dp::cpu>() == 0);
}

TEST_CASE("a block records each stream that uses it once, and keeps the record when moved", "[memory]") {
  int storage = 0, stream[3] = {};
  const auto number = [&](int i) { return reinterpret_cast<std::size_t>(&stream[i]); };
  {
    block a({&storage, sizeof storage, 0, dp::memory_purpose::tensors, &count_release, nullptr, &stream[0]});
    for (const int i : {1, 0, 2, 1}) a.record_stream(&stream[i]);
    block b;
    b.record_stream(&stream[2]);  // recorded on an empty block: no effect
    b = std::move(a);
  }
  CHECK(streams_in_use == std::vector<std::size_t>{number(0), number(2), number(1)});
}

TEST_CASE("a purpose does not make a block object larger", "[memory]") {
  STATIC_REQUIRE(sizeof(block) == 5 * sizeof(void*) + sizeof(std::size_t) + 8);
}

TEST_CASE("an allocation of 0 bytes does nothing", "[memory]") {
  const auto before = dp::memory_statistics<dp::cpu>();
  const block empty = dp::detail::allocate<dp::backend::cpu>(0, 0);
  CHECK(empty.data() == nullptr);
  CHECK(dp::memory_statistics<dp::cpu>().allocations == before.allocations);
  CHECK_NOTHROW(dp::detail::copy_in<dp::backend::cpu>(0, nullptr, nullptr, 0));
  CHECK_NOTHROW(dp::detail::copy_within<dp::backend::cpu>(0, nullptr, nullptr, 0));
}

TEST_CASE("copies inside the CPU may overlap", "[memory]") {
  unsigned char bytes[] = {1, 2, 3, 4, 5};
  dp::detail::copy_within<dp::backend::cpu>(0, bytes + 1, bytes, 4);
  CHECK(bytes[1] == 1);
  CHECK(bytes[4] == 4);
  CHECK_NOTHROW(dp::synchronize<dp::cpu>());
}

TEST_CASE("an impossible request is an out_of_memory error that lists the memory in use", "[memory]") {
  if constexpr (!support::sanitized) {
    CHECK_THROWS_AS(dp::detail::allocate<dp::backend::cpu>(0, std::size_t{1} << 60), dp::out_of_memory);
    CHECK_THROWS_WITH(dp::detail::allocate<dp::backend::cpu>(0, std::size_t{1} << 60),
                      Catch::Matchers::ContainsSubstring("cpu: 1152921504606846976 bytes") &&
                          Catch::Matchers::ContainsSubstring("in use by devplace"));
  }
}

TEST_CASE("sizes inside an arena are rounded to the alignment", "[memory]") {
  STATIC_REQUIRE(dp::detail::aligned(0) == 0);
  STATIC_REQUIRE(dp::detail::aligned(1) == 64);
  STATIC_REQUIRE(dp::detail::aligned(64) == 64);
  STATIC_REQUIRE(dp::detail::aligned(65) == 128);
}
