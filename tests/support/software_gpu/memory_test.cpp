// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/software_gpu/kernel_runner.hpp"

using namespace devplace::test::software_gpu;
using Catch::Matchers::ContainsSubstring;

namespace {

/// Runs one block of 32 threads or more on an array of u32, and returns the array.
std::vector<u32> run(const std::string& body, const std::string& declarations = "", u32 threads = 32,
                     std::size_t n = 256) {
  kernel_runner runner;
  runner.declarations = declarations;
  runner.shape.threads = threads;
  u32* const x = runner.memory.allocate<u32>(n);
  std::iota(x, x + n, 100U);
  REQUIRE(runner.run("mul.wide.u32 %rd1, %tid, 4; add.u64 %rd1, %rd1, %x;" + body, x) == "");
  return std::vector<u32>(x, x + n);
}

}  // namespace

TEST_CASE("the software GPU reads and writes vectors of each size", "[software_gpu]") {
  const auto x = run(R"(setp.ne.u32 %p1, %tid, 0; @%p1 ret;
    ld.global.nc.v4.u32 {%r1, %r2, %r3, %r4}, [%x]; st.global.v4.u32 [%x+512], {%r4, %r3, %r2, %r1};
    ld.global.v2.b64 {%rd2, %rd3}, [%x+16]; st.global.v2.b64 [%x+528], {%rd3, %rd2};
    ld.v4.u8 {%h1, %h2, %h3, %h4}, [%x]; st.v4.u8 [%x+544], {%h1, %h1, %h1, %h1};
    ld.global.v2.u16 {%h1, %h2}, [%x+4]; st.global.v2.b16 [%x+548], {%h2, %h1};
    ld.global.s8 %r1, [%x+160]; st.global.u32 [%x+552], %r1; ld.global.u8 %r1, [%x+160]; st.global.u32 [%x+556], %r1;)");
  CHECK(std::vector<u32>(x.begin() + 128, x.begin() + 136) == std::vector<u32>{103, 102, 101, 100, 106, 107, 104, 105});
  CHECK(x[136] == 0x64646464);
  CHECK(x[137] == 101 << 16);
  CHECK(x[138] == 0xffffff8c);
  CHECK(x[139] == 0x8c);
}

TEST_CASE("the software GPU has static, dynamic and generic shared memory", "[software_gpu]") {
  kernel_runner runner;
  runner.declarations = ".shared .align 4 .b8 tile[128];\n.extern .shared .align 16 .b8 more[];\n";
  runner.shape.threads = 32, runner.shape.shared_bytes = 128;
  u32* const x = runner.memory.allocate<u32>(64);
  REQUIRE(runner.run(R"(
    mul.lo.u32 %r1, %tid, 4; mov.u32 %r2, tile; add.u32 %r2, %r2, %r1; st.shared.u32 [%r2], %tid;
    mov.u64 %rd1, more; cvta.shared.u64 %rd1, %rd1; mul.wide.u32 %rd2, %tid, 4; add.u64 %rd3, %rd1, %rd2; st.u32 [%rd3], %r1;
    bar.sync 0;
    mov.u32 %r3, tile; sub.u32 %r4, 124, %r1; add.u32 %r3, %r3, %r4; ld.shared.u32 %r5, [%r3];
    sub.u64 %rd4, %rd1, %rd2; ld.u32 %r6, [%rd4+124]; add.u64 %rd5, %x, %rd2;
    st.global.u32 [%rd5], %r5; st.global.u32 [%rd5+128], %r6;)",
                     x) == "");
  CHECK((x[0] == 31 && x[31] == 0 && x[32] == 124 && x[63] == 0));
}

TEST_CASE("the software GPU gives each thread local memory, also by generic addresses", "[software_gpu]") {
  const auto x =
      run(R"(.local .align 8 .b8 depot[16]; .reg .b64 %SP, %SPL; mov.u64 %SPL, depot; cvta.local.u64 %SP, %SPL;
    st.local.u32 [%SPL+4], %tid; add.u64 %rd2, %SP, 4;
    ld.u32 %r1, [%rd2]; st.u32 [%SP+8], %r1; ld.local.u32 %r2, [%SPL+8]; st.global.u32 [%rd1], %r2;)");
  CHECK((x[0] == 0 && x[31] == 31));
}

TEST_CASE("the software GPU passes each launch its parameters, also by address", "[software_gpu]") {
  kernel_runner runner;
  ptx_module& m = runner.device.load(R"(.version 8.0
    .target sm_80
    .visible .entry k(.param .u64 out, .param .align 8 .b8 p[16]) {
      .reg .b64 %rd<3>; .reg .b32 %r<5>; ld.param.u64 %rd1, [out]; mov.b64 %rd2, p;
      ld.param.v2.u32 {%r1, %r2}, [p+8]; ld.param.s8 %r3, [p+1]; ld.param.u8 %r4, [%rd2+1];
      st.global.v4.u32 [%rd1], {%r1, %r2, %r3, %r4}; ret; })");
  u32* const x = runner.memory.allocate<u32>(4);
  for (const u32 k : {1U, 2U}) {
    const u32 values[] = {0xfe00 - 256 * k, 0, 10 * k, 20 * k};
    const void* const arguments[] = {&x, values};
    CHECK(runner.device.launch(m, *m.find("k"), runner.shape, arguments).empty());
    CHECK(std::vector<u32>(x, x + 4) == std::vector<u32>{10 * k, 20 * k, ~1U - k, 254 - k});
  }
}

TEST_CASE("the software GPU calls functions, also in divergent code and recursively", "[software_gpu]") {
  const std::string declarations = R"(
    .global .align 4 .u32 table[3] = {7, 8, 0x10};
    .func (.param .b32 result) sum_to(.param .b32 n, .param .align 8 .b8 pair[8])
    { .reg .pred %p<2>; .reg .b32 %r<6>; .reg .b64 %rd<2>;
      ld.param.u32 %r1, [n]; ld.param.u32 %r2, [pair+4]; setp.eq.u32 %p1, %r1, 0; @%p1 bra $end;
      sub.u32 %r3, %r1, 1;
      { .param .b32 p0; st.param.b32 [p0], %r3; .param .align 8 .b8 p1[8]; st.param.v2.b32 [p1], {%r2, %r2}; .param .b32 q;
        call.uni (q), sum_to, (p0, p1); ld.param.b32 %r4, [q]; }
      add.u32 %r5, %r4, %r2; st.param.b32 [result], %r5; ret;
      $end: mov.b32 %r5, 0; st.param.b32 [result], %r5; ret; })";
  const auto x = run(R"(and.b32 %r1, %tid, 7;
    { .param .b32 p0; st.param.b32 [p0], %r1; .param .align 8 .b8 p1[8]; st.param.v2.b32 [p1], {%r1, %tid}; .param .b32 q;
      call (q), sum_to, (p0, p1); ld.param.b32 %r2, [q]; }
    mov.u64 %rd2, table; ld.global.u32 %r3, [%rd2+8]; ld.global.u32 %r4, [table+4]; add.u32 %r2, %r2, %r3;
    add.u32 %r2, %r2, %r4; st.global.u32 [%rd1], %r2;)",
                     declarations);
  for (u32 k = 0; k < 32; ++k) CHECK(x[k] == k % 8 * k + 24);
}

TEST_CASE("the software GPU updates memory atomically", "[software_gpu]") {
  CHECK(run("atom.global.add.u32 %r1, [%x], %tid;")[0] == 100 + 496);
  CHECK(run("atom.inc.u32 %r1, [%x], 140;")[0] == 132);
  CHECK(run("atom.global.inc.u32 %r1, [%x], 120;")[0] == 11);
  const auto wide =
      run("st.global.u64 [%x+512], 0; bar.sync 0; cvt.u64.u32 %rd2, %tid; atom.global.add.u64 %rd3, [%x+512], %rd2;",
          "", 1);
  CHECK(wide[128] == 0);
  const auto old = run(
      "st.global.u32 [%rd1], 0; bar.sync 0; atom.global.add.u32 %r1, [%x], 1; bar.sync 0; st.global.u32 [%rd1], %r1;");
  std::vector<u32> tickets(old.begin(), old.begin() + 32), all(32);
  std::sort(tickets.begin(), tickets.end());
  std::iota(all.begin(), all.end(), 0U);
  CHECK(tickets == all);
}

TEST_CASE("the software GPU numbers threads and blocks, and counts what they execute", "[software_gpu]") {
  for (const auto order : {execution_order::forward, execution_order::reverse, execution_order::random}) {
    kernel_runner runner;
    runner.device.options.order = order;
    runner.shape.threads = 60, runner.shape.blocks = 24;
    u32* const x = runner.memory.allocate<u32>(60 * 24);
    REQUIRE(runner.run(R"(
      mov.u32 %r1, %ctaid.x; mov.u32 %r2, %tid.x; mad.lo.u32 %r3, %r1, 60, %r2; mul.wide.u32 %rd1, %r3, 4;
      add.u64 %rd1, %rd1, %x; mov.u32 %r4, %nctaid.x; mov.u32 %r5, %ntid.x; mad.lo.u32 %r4, %r4, 100, %r5;
      mad.lo.u32 %r4, %r4, 10000, %r3; st.global.u32 [%rd1], %r4;)",
                       x) == "");
    for (u32 k = 0; k < 60 * 24; ++k) REQUIRE(x[k] == 24600000 + k);
    CHECK(runner.device.last_launch().global_writes == 60 * 24);
    CHECK(runner.device.last_launch().global_write_bytes == 60 * 24 * 4);
    CHECK(runner.device.all_launches().global_writes == 60 * 24);
  }
}

TEST_CASE("errors in PTX name the line", "[software_gpu]") {
  kernel_runner runner;
  CHECK_THROWS_WITH(runner.run("add.s32 %r1, %q1, 2;"),
                    ContainsSubstring("unknown operand '%q1' in 'add.s32 %r1, %q1, 2' of test_kernel"));
  CHECK_THROWS_WITH(runner.run("bra $nowhere;"), ContainsSubstring("unknown label '$nowhere'"));
  CHECK_THROWS_WITH(runner.run("ld.global.u32 %r1, [%x+y];"), ContainsSubstring("the displacement is no number"));
  runner.shape.threads = 2000;
  CHECK_THROWS_WITH(runner.run(""), ContainsSubstring("test_kernel cannot be launched with 1 blocks of 2000 threads"));
  runner.shape.threads = 1;
  // Also a modifier that changes the meaning, and an operand that is too much.
  for (const std::string lacks : {"vabsdiff4.u32.u32.u32.add %r1, %tid, %tid, %tid", "add.sat.s32 %r1, %tid, %tid",
                                  "ld.acquire.gpu.global.u32 %r1, [%x]", "bar.sync 0, 64", "add.f32 %f1, %f2"})
    CHECK_THAT(runner.run(lacks + ";"), ContainsSubstring("an instruction that the software GPU lacks, at '" + lacks));
}

TEST_CASE("the newest PTX of a fat binary is found, and compressed PTX is refused", "[software_gpu]") {
  const auto entry = [](u16 kind, u32 architecture, const std::string& text) {
    std::string header(64, '\0');
    const u32 header_bytes = 64;
    const u64 bytes = text.size();
    std::memcpy(header.data(), &kind, 2), std::memcpy(header.data() + 4, &header_bytes, 4);
    std::memcpy(header.data() + 8, &bytes, 8), std::memcpy(header.data() + 28, &architecture, 4);
    return header + text;
  };
  const auto ptx = [](const std::string& entries) {
    std::string binary(16, '\0');
    const u32 magic = 0xba55ed50;
    const u16 header_bytes = 16;
    const u64 bytes = entries.size();
    std::memcpy(binary.data(), &magic, 4), std::memcpy(binary.data() + 6, &header_bytes, 2);
    std::memcpy(binary.data() + 8, &bytes, 8);
    binary += entries;
    const struct {
      int magic, version;
      const char* data;
      const void* more;
    } wrapper{0x466243b1, 1, binary.data(), nullptr};
    return ptx_of_fat_binary(&wrapper);
  };
  CHECK(ptx(entry(1, 80, ".version 8.0 old") + entry(2, 90, "machine code") + entry(1, 90, ".version 9.0 new") +
            entry(1, 75, ".version 7")) == ".version 9.0 new");
  CHECK_THROWS_WITH(ptx(entry(1, 80, "\x04\x05 not a text")), ContainsSubstring("compile it with nvcc --no-compress"));
  CHECK_THROWS_WITH(ptx(entry(2, 80, "machine code")), ContainsSubstring("holds no PTX"));
}
