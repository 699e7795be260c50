// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/software_gpu/kernel_runner.hpp"
#include "support/software_gpu/lanes.hpp"

using namespace devplace::test::software_gpu;

namespace {

constexpr execution_order orders[] = {execution_order::forward, execution_order::reverse, execution_order::random};

/// Runs threads that write %r9, and returns their numbers.
std::vector<u32> run(const std::string& body, u32 threads = 32, execution_order order = execution_order::forward,
                     const std::string& declarations = "", u32 blocks = 1) {
  kernel_runner runner;
  runner.declarations = declarations;
  runner.shape.threads = threads, runner.shape.blocks = blocks;
  runner.device.options.order = order;
  u32* const x = runner.memory.allocate<u32>(std::size_t{threads} * blocks);
  u32* const y = runner.memory.allocate<u32>(4096);
  REQUIRE(runner.run(body + "mul.wide.u32 %rd9, %i, 4; add.u64 %rd9, %rd9, %x; st.global.u32 [%rd9], %r9;", x, y) ==
          "");
  return std::vector<u32>(x, x + std::size_t{threads} * blocks);
}

std::vector<u32> by_lane(const std::function<u32(u32)>& f, u32 n = 32) {
  std::vector<u32> all(n);
  for (u32 k = 0; k < n; ++k) all[k] = f(k);
  return all;
}

}  // namespace

TEST_CASE("shuffles move values between lanes, within segments", "[software_gpu]") {
  const std::string value = "add.u32 %r1, %tid, 50; ",
                    in = ", 0xffffffff; selp.u32 %r3, 1000, 0, %p1; add.u32 %r9, %r2, %r3;";
  CHECK(run(value + "shfl.sync.bfly.b32 %r2|%p1, %r1, 5, 31" + in) == by_lane([](u32 k) { return 1050 + (k ^ 5); }));
  CHECK(run(value + "shfl.sync.up.b32 %r2|%p1, %r1, 3, 0" + in) ==
        by_lane([](u32 k) { return k >= 3 ? 1050 + k - 3 : 50 + k; }));
  // Segments of 8 lanes: 31 - 7 in the upper byte.
  CHECK(run(value + "shfl.sync.down.b32 %r2|%p1, %r1, 2, 0x181f" + in) ==
        by_lane([](u32 k) { return k % 8 < 6 ? 1050 + k + 2 : 50 + k; }));
  CHECK(run(value + "shfl.sync.idx.b32 %r2|%p1, %r1, 3, 0x181f" + in) ==
        by_lane([](u32 k) { return 1050 + k / 8 * 8 + 3; }));
  // Groups of 16 lanes that name only each other.
  CHECK(run(value + "and.b32 %r4, %tid, 16; shl.b32 %r5, 0xffff, %r4; shfl.sync.bfly.b32 %r9, %r1, 1, 31, %r5;", 64) ==
        by_lane([](u32 k) { return 50 + (k ^ 1); }, 64));
}

TEST_CASE("votes see the lanes of their mask", "[software_gpu]") {
  const std::string odd = "and.b32 %r1, %tid, 1; setp.eq.u32 %p1, %r1, 1; ";
  CHECK(run(odd + "vote.sync.ballot.b32 %r9, %p1, 0xffffffff;") == by_lane([](u32) { return 0xaaaaaaaaU; }));
  CHECK(
      run(odd +
          "vote.sync.all.pred %p2, %p1, 0xffffffff; vote.sync.any.pred %p3, %p1, 0xffffffff; selp.u32 %r1, 2, 0, %p2; "
          "selp.u32 %r2, 1, 0, %p3; or.b32 %r9, %r1, %r2;") == by_lane([](u32) { return 1U; }));
  // Only the odd lanes execute the vote.
  CHECK(run(odd + "mov.b32 %r9, 0; @!%p1 bra $done; vote.sync.all.pred %p2, %p1, 0xaaaaaaaa; selp.u32 %r9, 5, 6, %p2; "
                  "$done:") == by_lane([](u32 k) { return k % 2 == 1 ? 5U : 0U; }));
  CHECK(run("mov.u32 %r1, %lanemask_le; mov.u32 %r2, %laneid; popc.b32 %r1, %r1; mad.lo.u32 %r9, %r2, 100, %r1;", 64) ==
        by_lane([](u32 k) { return k % 32 * 101 + 1; }, 64));
  CHECK(run("mov.u32 %r1, %lanemask_ge; popc.b32 %r9, %r1;") == by_lane([](u32 k) { return 32 - k; }));
}

TEST_CASE("divergent lanes of loops and branches meet again", "[software_gpu]") {
  // A loop of as many rounds as the lane's number, then a shuffle of all lanes.
  for (const auto order : orders)
    CHECK(run(R"(mov.b32 %r1, 0; mov.b32 %r2, 0;
      $loop: setp.ge.u32 %p1, %r1, %tid; @%p1 bra $end; add.u32 %r1, %r1, 1; and.b32 %r3, %r1, 1; setp.eq.u32 %p2, %r3, 0;
      @%p2 bra $even; add.u32 %r2, %r2, 100; bra $loop; $even: add.u32 %r2, %r2, 1; bra.uni $loop;
      $end: shfl.sync.bfly.b32 %r9, %r2, 1, 31, 0xffffffff;)",
              32, order) == by_lane([](u32 k) { return ((k ^ 1) + 1) / 2 * 100 + (k ^ 1) / 2; }));
}

TEST_CASE("lanes, warps and blocks may wait for each other by memory", "[software_gpu]") {
  // Thread or block k waits until k - 1 has published, in each order of execution.
  const std::string body =
      R"(mov.b32 %r9, 1; setp.eq.u32 %p1, WHO, 0; @%p1 bra $publish; mul.wide.u32 %rd1, WHO, 4; add.u64 %rd1, %rd1, %y;
      $wait: ld.relaxed.gpu.global.u32 %r1, [%rd1+-4]; setp.eq.u32 %p2, %r1, 0; @%p2 bra $wait; add.u32 %r9, %r1, 1;
      $publish: mul.wide.u32 %rd1, WHO, 4; add.u64 %rd1, %rd1, %y; st.relaxed.gpu.global.u32 [%rd1], %r9;)";
  const auto of = [&](const std::string& who) {
    std::string text = body;
    for (std::size_t at = text.find("WHO"); at != std::string::npos; at = text.find("WHO")) text.replace(at, 3, who);
    return text;
  };
  for (const auto order : orders) {
    CHECK(run(of("%tid"), 96, order) == by_lane([](u32 k) { return k + 1; }, 96));
    CHECK(run(of("%t0"), 1, order, "", 40) == by_lane([](u32 k) { return k + 1; }, 40));
  }
  // Tickets for a lock, which lanes of a warp take one after the other.
  for (const auto order : orders)
    CHECK(run(R"(atom.global.add.u32 %r3, [%y], 1; membar.gl;
        $lock: ld.relaxed.gpu.global.u32 %r1, [%y+4]; setp.ne.u32 %p1, %r1, %r3; @%p1 bra $lock; membar.gl;
        ld.global.u32 %r9, [%y+8]; add.u32 %r2, %r9, 1; st.global.u32 [%y+8], %r2; membar.gl;
        st.relaxed.gpu.global.u32 [%y+4], %r2; sub.u32 %r9, %r9, %r3;)",
              64, order) == by_lane([](u32) { return 0U; }, 64));
}

TEST_CASE("barriers of a block pass values between warps, and tell whether any thread votes", "[software_gpu]") {
  for (const auto order : orders) {
    CHECK(run(R"(mul.lo.u32 %r1, %tid, 4; mov.u32 %r2, s; add.u32 %r3, %r2, %r1; st.shared.u32 [%r3], %tid; bar.sync 0;
        sub.u32 %r4, 508, %r1; add.u32 %r4, %r4, %r2; ld.shared.u32 %r9, [%r4]; bar.sync 1; st.shared.u32 [%r3], 0;)",
              128, order, ".shared .align 4 .b8 s[512];") == by_lane([](u32 k) { return 127 - k; }, 128));
    CHECK(run("setp.eq.u32 %p1, %tid, 70; bar.red.or.pred %p2, 0, %p1; setp.eq.u32 %p1, %tid, 128; "
              "bar.red.or.pred %p3, 0, %p1; selp.u32 %r1, 1, 0, %p2; selp.u32 %r9, 5, %r1, %p3;",
              128, order) == by_lane([](u32) { return 1U; }, 128));
  }
}

TEST_CASE("matrices are loaded and multiplied by a warp", "[software_gpu]") {
  // Numbers that bfloat16 and half hold exactly: A is 16 x 16, B is given as its transpose, 8 x 16. Some rows and
  // columns have infinities, NaN or zeros with a sign.
  std::mt19937 random(2);
  const float infinity = std::numeric_limits<float>::infinity();
  const float special[] = {infinity, -infinity, std::nanf(""), 0, -0.0F};
  std::vector<float> a(256), b(128);
  for (auto* const all : {&a, &b})
    for (float& x : *all)
      x = random() % 50 == 0 ? special[random() % 5]
                             : std::ldexp(static_cast<float>(random() % 129) - 64, static_cast<int>(random() % 9) - 6);
  for (const std::string type : {"bf16", "f16"}) {
    kernel_runner runner;
    runner.declarations = ".shared .align 16 .b8 sa[512];\n.shared .align 16 .b8 sb[256];\n";
    runner.shape.threads = 32;
    u16* const in = runner.memory.allocate<u16>(384);
    float* const out = runner.memory.allocate<float>(128);
    const auto bits = [&](float value) {
      return type == "f16" ? std::bit_cast<u16>(static_cast<half>(value))
                           : static_cast<u16>(bits_of_value(value) >> 16);
    };
    std::transform(a.begin(), a.end(), in, bits);
    std::transform(b.begin(), b.end(), in + 256, bits);
    // Copies both to shared memory, 24 bytes a thread; rows of A and B have 32 bytes.
    std::string body =
        "mul.lo.u32 %r1, %tid, 16; cvt.u64.u32 %rd1, %r1; add.u64 %rd1, %rd1, %x; mov.u32 %r2, sa; add.u32 %r2, %r2, "
        "%r1;"
        "ld.global.v4.b32 {%r3, %r4, %r5, %r6}, [%rd1]; st.shared.v4.b32 [%r2], {%r3, %r4, %r5, %r6};"
        "mul.lo.u32 %r1, %tid, 8; cvt.u64.u32 %rd1, %r1; add.u64 %rd1, %rd1, %x; mov.u32 %r2, sb; add.u32 %r2, %r2, "
        "%r1;"
        "ld.global.v2.b32 {%r3, %r4}, [%rd1+512]; st.shared.v2.b32 [%r2], {%r3, %r4}; bar.warp.sync 0xffffffff;";
    // Matrices 0 and 1: rows 0 to 15, columns 0 to 7; 2 and 3: columns 8 to 15. Of B: columns 0 to 7 and 8 to 15,
    // twice.
    body +=
        "and.b32 %r1, %tid, 15; shr.u32 %r2, %tid, 4; mul.lo.u32 %r1, %r1, 32; mad.lo.u32 %r1, %r2, 16, %r1; mov.u32 "
        "%r2, sa;"
        "add.u32 %r1, %r1, %r2; ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r10, %r11, %r12, %r13}, [%r1];"
        "and.b32 %r1, %tid, 7; shr.u32 %r2, %tid, 3; and.b32 %r2, %r2, 1; mul.lo.u32 %r1, %r1, 32; mad.lo.u32 %r1, "
        "%r2, 16, %r1; mov.u32 "
        "%r2, sb;"
        "add.u32 %r1, %r1, %r2; ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r14, %r15, %r16, %r17}, [%r1];"
        "mov.f32 %f1, 0f3F800000; mma.sync.aligned.m16n8k16.row.col.f32." +
        type + "." + type +
        ".f32 "
        "{%f4, %f5, %f6, %f7}, {%r10, %r11, %r12, %r13}, {%r14, %r15}, {%f1, %f1, %f1, %f1};"
        "shr.u32 %r1, %tid, 2; and.b32 %r2, %tid, 3; mul.lo.u32 %r1, %r1, 32; mad.lo.u32 %r1, %r2, 8, %r1; cvt.u64.u32 "
        "%rd1, %r1;"
        "add.u64 %rd1, %rd1, %y; st.global.v2.f32 [%rd1], {%f4, %f5}; st.global.v2.f32 [%rd1+256], {%f6, %f7};";
    REQUIRE(runner.run(body, in, out) == "");
    for (std::size_t row = 0; row < 16; ++row)
      for (std::size_t column = 0; column < 8; ++column) {
        double sum = 1;
        for (std::size_t k = 0; k < 16; ++k)
          sum += static_cast<double>(a[row * 16 + k]) * static_cast<double>(b[column * 16 + k]);
        const float found = out[row * 8 + column];
        CHECK((std::isnan(sum) ? std::isnan(found) : found == static_cast<float>(sum)));
      }
  }
  // .trans: lane k has the elements (2 * (k % 4), k / 4) and (2 * (k % 4) + 1, k / 4) of each of four matrices, which
  // together count 0, 1, ...
  for (const u32 j : {0U, 1U, 2U, 3U})
    CHECK(run(R"(mov.u32 %r1, s; shl.b32 %r2, %tid, 4; add.u32 %r1, %r1, %r2; mul.lo.u32 %r3, %tid, 0x80008;
      add.u32 %r3, %r3, 0x10000; add.u32 %r4, %r3, 0x20002; add.u32 %r5, %r3, 0x40004; add.u32 %r6, %r3, 0x60006;
      st.shared.v4.b32 [%r1], {%r3, %r4, %r5, %r6}; bar.sync 0;
      ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%r10, %r11, %r12, %r13}, [%r1]; mov.b32 %r9, %r1)" +
                  std::to_string(j) + ";",
              32, execution_order::forward, ".shared .align 16 .b8 s[512];") == by_lane([j](u32 k) {
            const u32 low = 64 * j + k % 4 * 16 + k / 4;
            return (low + 8) << 16 | low;
          }));
}
