// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <sstream>
#include <string>

#include <devplace/memory/block.hpp>
#include <devplace/memory/report.hpp>

#include "support/catch.hpp"

namespace dp = devplace;
using Catch::Matchers::ContainsSubstring;
using dp::detail::byte_text;

namespace {

dp::memory_usage full() {
  dp::memory_usage usage;
  usage.allocated = 3 << 20;
  usage.reserved = 4 << 20;
  usage.peak = (3 << 20) + (1 << 19);
  usage.allocations = 7;
  usage.by_purpose = {0, 1 << 20, 0, 2 << 20, 0, 0};
  return usage;
}

}  // namespace

TEST_CASE("bytes are written in the unit that fits", "[memory]") {
  CHECK(byte_text(0) == "0 B");
  CHECK(byte_text(1023) == "1023 B");
  CHECK(byte_text(1024) == "1.0 KiB");
  CHECK(byte_text(1536) == "1.5 KiB");
  CHECK(byte_text(1024 * 1023) == "1023.0 KiB");
  CHECK(byte_text(1024 * 1024 - 1) == "1.0 MiB");
  CHECK(byte_text((std::size_t{5} << 30) / 2) == "2.5 GiB");
  CHECK(byte_text(std::size_t{1} << 60) == "1.0 EiB");
  CHECK(byte_text(~std::size_t{0}) == "16.0 EiB");
}

TEST_CASE("usage lists the purposes in use", "[memory]") {
  std::ostringstream out;
  out << full() << '\n' << dp::memory_usage{};
  CHECK(out.str() ==
        "allocated 3.0 MiB (parameters 1.0 MiB, optimizer state 2.0 MiB), reserved 4.0 MiB, peak 3.5 MiB, 7 "
        "allocations\nallocated 0 B, reserved 0 B, peak 0 B, 0 allocations");
}

TEST_CASE("the table has aligned columns and leaves out unused ones", "[memory]") {
  const dp::memory_usage usages[] = {{}, full()};
  CHECK(dp::detail::memory_table_of({"cpu", "cuda:10"}, usages) ==
        "place    allocated  reserved     peak  parameters  optimizer state\n"
        "cpu            0 B       0 B      0 B         0 B              0 B\n"
        "cuda:10    3.0 MiB   4.0 MiB  3.5 MiB     1.0 MiB          2.0 MiB\n");
}

TEST_CASE("the table of the process lists places with allocations", "[memory]") {
  CHECK_THAT(dp::memory_table(), ContainsSubstring("cpu "));
  CHECK_THAT(dp::memory_table(), !ContainsSubstring("cuda:9"));
  dp::detail::count_allocation(dp::detail::counters(dp::backend::cuda{}, 9), 2048, dp::memory_purpose::workspace);
  CHECK_THAT(dp::memory_table(),
             ContainsSubstring("workspace") && ContainsSubstring("cuda:9") && ContainsSubstring("2.0 KiB"));
  dp::detail::count_release(dp::detail::counters(dp::backend::cuda{}, 9), 2048, dp::memory_purpose::workspace);
}

TEST_CASE("out_of_memory states the request, the memory in use by purpose, the limit and a remedy", "[memory]") {
  const std::string text =
      dp::detail::out_of_memory_text({"cuda:1 (simulated)", 5000, full(), "the limit is 4 MiB", "see elsewhere"});
  CHECK(text ==
        "cuda:1 (simulated): 5000 bytes (4.9 KiB) could not be allocated while 3145728 bytes are in use by devplace "
        "there (parameters 1.0 MiB, optimizer state 2.0 MiB) and 1.0 MiB are cached; the limit is 4 MiB. Use a smaller "
        "batch, gradient accumulation (accumulate<k>), or a replicated placement, which gives each of several devices "
        "a part of the batch; free tensors that are not needed, and give caches back by trim_memory<place>(); see "
        "elsewhere.");
}
