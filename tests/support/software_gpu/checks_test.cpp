// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/software_gpu/kernel_runner.hpp"

using namespace devplace::test::software_gpu;
using Catch::Matchers::ContainsSubstring;

namespace {

/// A faulty kernel, the sentence that is expected, and the kernel without the fault.
struct planted_fault {
  std::string sentence, faulty, correct;
  u32 threads = 64, blocks = 1;
};

std::string violations(const planted_fault& fault, const std::string& body, execution_order order) {
  kernel_runner runner;
  runner.declarations = ".shared .align 16 .b8 s[1024];\n.global .align 4 .u32 ticket;\n";
  runner.shape.threads = fault.threads, runner.shape.blocks = fault.blocks;
  runner.device.options.order = order;
  runner.device.options.instruction_limit = 20'000;
  u32* const x = runner.memory.allocate<u32>(256);
  u32* const y = runner.memory.allocate<u32>(258);
  // %rd1 and %rd2: the thread's elements of x and y; %r1 and %r2: its places in shared memory, and the next thread's.
  return runner.run(
      "mul.wide.u32 %rd3, %i, 4; add.u64 %rd1, %x, %rd3; add.u64 %rd2, %y, %rd3; shl.b32 %r1, %tid, 2;"
      "add.u32 %r2, %r1, 4; and.b32 %r2, %r2, 255; mov.u32 %r3, s; add.u32 %r1, %r1, %r3; "
      "add.u32 %r2, %r2, %r3; ld.global.u32 %r4, [%rd1]; setp.eq.u32 %p1, %tid, 0; setp.lt.u32 %p2, %tid, 16;" +
          body,
      x, y);
}

void check(const std::vector<planted_fault>& faults) {
  for (const auto& fault : faults)
    for (const auto order : {execution_order::forward, execution_order::reverse, execution_order::random}) {
      CAPTURE(fault.sentence, fault.faulty, static_cast<int>(order));
      CHECK_THAT(violations(fault, fault.faulty, order), ContainsSubstring(fault.sentence));
      if (!fault.correct.empty()) CHECK(violations(fault, fault.correct, order) == "");
    }
}

const std::string publish = "st.shared.u32 [%r1], %r4; ",
                  next_one = "ld.shared.u32 %r5, [%r2]; st.global.u32 [%rd2], %r5;";

/// Each block writes its sum; who draws the last ticket reads all.
std::string last_block(const std::string& before, const std::string& after) {
  return "@!%p1 bra $wait; mul.wide.u32 %rd4, %t0, 4; add.u64 %rd4, %rd4, %y; st.global.u32 [%rd4], %r4; " + before +
         " mov.u64 %rd5, ticket; atom.global.add.u32 %r6, [%rd5], 1; " + after +
         " st.shared.u32 [s], %r6; $wait: bar.sync 0; ld.shared.u32 %r6, [s]; setp.ne.u32 %p3, %r6, 3; @%p3 ret;"
         "setp.gt.u32 %p3, %tid, 3; @%p3 ret; mul.wide.u32 %rd4, %tid, 4; add.u64 %rd4, %rd4, %y;"
         "ld.global.u32 %r7, [%rd4];";
}

}  // namespace

TEST_CASE("the software GPU finds accesses out of bounds, misaligned, and after the end of a block's life",
          "[software_gpu]") {
  check(
      {{"an access beyond the end of shared memory: 4 bytes at 1024 of 1024, at 'st.shared.u32 [s+1024], %r4'",
        "st.shared.u32 [s+1024], %r4;", "st.shared.u32 [%r1], %r4;"},
       {"kernel test_kernel, block 3, thread 63: an access to memory of no live block: address ",
        "setp.eq.u32 %p3, %i, 255; @!%p3 ret; ld.global.u32 %r5, [%rd1+4];",
        "setp.eq.u32 %p3, %i, 255; @!%p3 ret; ld.global.u32 %r5, [%rd1];", 64, 4},
       {"a misaligned access: address", "ld.global.v2.u32 {%r5, %r6}, [%x+4];", "ld.global.v2.u32 {%r5, %r6}, [%x+8];"},
       {"an access beyond the end of a block of memory: 16 bytes at 1024 of 1032",
        "ld.global.v4.u32 {%r5, %r6, %r7, %r8}, [%y+1024];", "ld.global.v4.u32 {%r5, %r6, %r7, %r8}, [%y+1008];"},
       {"an access beyond the thread's local memory",
        ".local .align 4 .b8 own[16]; mov.u64 %rd4, own; ld.local.u32 %r5, [%rd4+16];",
        ".local .align 4 .b8 own[16]; mov.u64 %rd4, own; ld.local.u32 %r5, [%rd4+12];"},
       {"a trap", "@%p1 trap;", ""}});
  kernel_runner runner;
  runner.shape.threads = 32;
  u32* const x = runner.memory.allocate<u32>(32);
  CHECK(runner.run("ld.global.u32 %r1, [%x];", x).empty());
  runner.memory.free(x);
  CHECK_THAT(runner.run("ld.global.u32 %r1, [%x];", x), ContainsSubstring("memory of no live block"));
}

TEST_CASE("the software GPU finds races in shared memory", "[software_gpu]") {
  const std::string warp_reads =
                        "@%p1 st.shared.u32 [s], %r4; bar.sync 0; setp.lt.u32 %p3, %tid, 32;"
                        "@%p3 ld.shared.u32 %r5, [s]; setp.eq.u32 %p4, %tid, 40;",
                    thread_reads = "@%p4 ld.shared.u32 %r5, [s];", thread_writes = "@%p4 st.shared.u32 [s], 7;";
  check(
      {{"a read that races with the write of thread", "@!%p2 ret;" + publish + next_one,
        publish + "bar.sync 0;" + next_one},
       {"in shared memory", publish + "bar.warp.sync 0xffffffff;" + next_one, publish + "bar.sync 0;" + next_one},
       {"in shared memory",
        "@!%p2 ret;" + publish + "bar.warp.sync 0x0000ffff;" + "ld.shared.u32 %r5, [%r2]; st.shared.u32 [%r1], %r5;",
        "@!%p2 ret;" + publish +
            "bar.warp.sync 0xffff; ld.shared.u32 %r5, [s]; bar.warp.sync 0xffff; st.shared.u32 [%r1], %r5;"},
       {"a write that races with the write", "st.shared.u32 [s], %tid;", "@%p1 st.shared.u32 [s], %tid;"},
       {"a write that races with the read", publish + "bar.sync 0; ld.shared.u32 %r5, [%r2]; st.shared.u32 [%r1], %r5;",
        publish + "bar.sync 0; ld.shared.u32 %r5, [%r2]; bar.sync 0; st.shared.u32 [%r1], %r5;"},
       {"in shared memory", "atom.shared.add.u32 %r5, [s], 1; st.shared.u32 [s], %r5;",
        "@%p1 st.shared.u32 [s], 0; bar.sync 0; atom.shared.add.u32 %r5, [s], 1; bar.sync 0; ld.shared.u32 %r5, [s];"},
       {"in shared memory", "@%p1 st.shared.v4.u32 [s], {%r4, %r4, %r4, %r4}; ld.shared.u32 %r5, [s+12];",
        "@%p1 st.shared.v4.u32 [s], {%r4, %r4, %r4, %r4}; bar.sync 0; ld.shared.u32 %r5, [s+12];"},
       {"in shared memory", publish + "@%p1 ld.shared.v4.u32 {%r5, %r6, %r7, %r8}, [s];",
        publish + "bar.sync 0; @%p1 ld.shared.v4.u32 {%r5, %r6, %r7, %r8}, [s];"},
       // The readers are a warp, or also the thread that writes.
       {"in shared memory", warp_reads + thread_writes, warp_reads + "bar.sync 0;" + thread_writes},
       {"in shared memory", warp_reads + thread_reads + thread_writes,
        warp_reads + thread_reads + "bar.sync 0;" + thread_writes},
       {"in shared memory", "shr.u32 %r5, %tid, 1; add.u32 %r5, %r5, %r3; st.shared.u8 [%r5], %r4;",
        "add.u32 %r5, %tid, %r3; st.shared.u8 [%r5], %r4;"}});
}

TEST_CASE("the software GPU checks a warp's loads of matrices as other loads", "[software_gpu]") {
  // 64 threads write 16 rows of 8 numbers of 16 bits, each of which two lanes name.
  const auto load = [](const std::string& displacement) {
    return "shl.b32 %r5, %tid, 4; and.b32 %r5, %r5, 255; add.u32 %r5, %r5, %r3; "
           "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r6, %r7, %r8, %r10}, [%r5" +
           displacement + "];";
  };
  const std::string synchronised = publish + "bar.sync 0;", correct = synchronised + load("");
  check({{"a read that races with the write of thread", publish + load(""), correct},
         {"an access beyond the end of shared memory: 16 bytes at", synchronised + load("+1024"), correct},
         {"a misaligned access", synchronised + load("+8"), correct},
         {"a read of shared memory that nothing was written to", synchronised + load("+128"), correct},
         {"an undefined value decides an address",
          "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r5, %r6, %r7, %r8}, [%r9];", correct},
         {"an undefined value decides what is written to global memory",
          "st.shared.u32 [%r1], %r9; bar.sync 0;" + load("") + "st.global.u32 [%rd2], %r7;",
          correct + "st.global.u32 [%rd2], %r7;"}});
}

TEST_CASE("the software GPU finds races in global memory, and understands what the last block reads",
          "[software_gpu]") {
  const std::string without_ticket =
      "st.global.u32 [%rd2], %r4; xor.b32 %r5, %i, 64; mul.wide.u32 %rd4, %r5, 4; add.u64 %rd4, %rd4, %y;"
      "ld.global.u32 %r6, [%rd4];";
  check({{"in global memory", without_ticket, "st.global.u32 [%rd2], %r4; ld.global.u32 %r6, [%rd2];", 64, 2},
         {"a read that races with the write of thread 0 of block", last_block("", "membar.gl;"),
          last_block("membar.gl;", "membar.gl;"), 64, 4},
         {"a read that races with the write of thread 0 of block", last_block("membar.gl;", ""),
          last_block("membar.cta; membar.gl;", "membar.gl;"), 64, 4},
         {"a write that races with the write", "st.global.u32 [%y], %r4;", "atom.global.add.u32 %r5, [%y], %r4;", 1, 2},
         {"in global memory", "st.volatile.global.u32 [%y], 1; ld.global.u32 %r5, [%y];",
          "st.volatile.global.u32 [%y], 1; ld.volatile.global.u32 %r5, [%y];"},
         // A chain: each block reads what the one before has released.
         {"in global memory",
          "setp.eq.u32 %p3, %t0, 0; @%p3 bra $out; $wait: ld.relaxed.gpu.global.u32 %r5, [%rd2+124]; setp.eq.u32 %p4, "
          "%r5, 0; @%p4 bra $wait;"
          "ld.global.u32 %r6, [%y]; $out: @%p3 st.global.u32 [%y], 5; membar.gl; st.relaxed.gpu.global.u32 [%rd2+128], "
          "1;",
          "setp.eq.u32 %p3, %t0, 0; @%p3 bra $out; $wait: ld.relaxed.gpu.global.u32 %r5, [%rd2+124]; setp.eq.u32 %p4, "
          "%r5, 0; @%p4 bra $wait;"
          "membar.gl; ld.global.u32 %r6, [%y]; $out: @%p3 st.global.u32 [%y], 5; membar.gl; st.relaxed.gpu.global.u32 "
          "[%rd2+128], 1;",
          1, 5}});
}

TEST_CASE("the software GPU finds undefined values that decide something", "[software_gpu]") {
  check(
      {{"a read of shared memory that nothing was written to",
        "@%p1 st.shared.u32 [s], %r4; bar.sync 0; ld.shared.u32 %r5, [%r1];",
        "@%p1 st.shared.u32 [s], %r4; bar.sync 0; ld.shared.u32 %r5, [s];"},
       {"an undefined value decides a branch or guard, at '@%p3 bra $end'",
        "add.u32 %r6, %r5, 1; setp.eq.u32 %p3, %r6, 3; @%p3 bra $end; mov.b32 %r5, 2; $end:",
        "add.u32 %r6, %r5, 1; mov.b32 %r6, 2; setp.eq.u32 %p3, %r6, 3; @%p3 bra $end; mov.b32 %r5, 2; $end:"},
       {"an undefined value decides an address", "add.u64 %rd4, %x, %rd5; ld.global.u32 %r5, [%rd4];",
        "mov.u64 %rd4, %rd5;"},
       {"an undefined value decides what is written to global memory",
        ".local .align 4 .b8 own[8]; mov.u64 %rd4, own; ld.local.u32 %r5, [%rd4]; st.global.u32 [%rd2], %r5;",
        ".local .align 4 .b8 own[8]; mov.u64 %rd4, own; st.local.u8 [%rd4], %r4; ld.local.u32 %r5, [%rd4]; "
        "st.global.u32 [%rd2], %r5;"},
       {"an undefined value decides a branch or guard",
        "prmt.b32 %r6, %r5, %r7, 0x5410; setp.eq.u32 %p3, %r6, 3; @%p3 trap;",
        "prmt.b32 %r6, %r5, %r4, 0x5410; setp.eq.u32 %p3, %r6, 3; @%p3 trap;"},  // with padding
       {"an undefined value decides a branch or guard", "mov.b32 %r6, {%h1, %h2}; setp.eq.u32 %p3, %r6, 3; @%p3 trap;",
        "cvt.u16.u32 %h2, %r4; mov.b32 %r6, {%h1, %h2}; setp.eq.u32 %p3, %r6, 3; @%p3 trap;"},
       {"an undefined value decides a branch or guard", "@%p2 mov.b32 %r5, 1; setp.eq.u32 %p3, %r5, 3; @%p3 trap;",
        "@%p2 mov.b32 %r5, 1; setp.eq.u32 %p3, %r5, 3; and.pred %p4, %p3, %p2; selp.u32 %r6, %r5, 2, %p2; "
        "setp.eq.u32 %p3, %r6, 3; @%p3 trap;"}});
  // Global memory whose owner knows which bytes have values.
  kernel_runner runner;
  runner.shape.threads = 1;
  std::vector<u8> written(8);
  u32* const x = runner.memory.allocate<u32>(2, written.data());
  const std::string decide = "ld.global.u32 %r1, [%x]; setp.eq.u32 %p1, %r1, 1; @%p1 trap;";
  CHECK_THAT(runner.run(decide, x), ContainsSubstring("an undefined value decides a branch"));
  CHECK(runner.run("ld.global.u32 %r1, [%x]; st.global.u32 [%x+4], %r1; st.global.u32 [%x], 2;" + decide, x).empty());
  CHECK((written[0] == has_value && written[4] == has_undefined_value));
}

TEST_CASE("the software GPU finds barriers and shuffles that diverge, and kernels that do not end", "[software_gpu]") {
  const std::string shuffle = "shfl.sync.bfly.b32 %r5, %r4, 1, 31, ";
  check({{"a barrier in divergent code", "@%p1 bra $other; bar.sync 0; bra $end; $other: bar.sync 0; $end:",
          "@%p1 bra $other; mov.b32 %r5, 1; bra $end; $other: mov.b32 %r5, 2; $end: bar.sync 0;"},
         {"a barrier that threads that have ended do not reach", "@%p1 ret; bar.sync 0;", "bar.sync 0; @%p1 ret;"},
         {"threads of the block wait at different barriers",
          "setp.lt.u32 %p3, %tid, 32; @%p3 bra $other; bar.sync 1; bra $end; $other: bar.sync 2; $end:",
          "setp.lt.u32 %p3, %tid, 32; @%p3 bra $other; bar.sync 1; bra $end; $other: bar.sync 1; $end:"},
         {"lanes wait for lanes of their mask that do not come",
          "@%p2 bra $end; " + shuffle + "0xffffffff; $end: bar.sync 0;",
          "@%p2 bra $end; and.b32 %r6, %tid, 32; setp.eq.u32 %p3, %r6, 0; selp.u32 %r6, 0xffff0000, 0xffffffff, %p3; " +
              shuffle + "%r6; $end: bar.sync 0;"},
         {"a mask that names lanes that have ended", "@%p2 ret; " + shuffle + "0xffffffff;",
          shuffle + "0xffffffff; @%p2 ret;"},
         {"a lane that its own mask does not name", shuffle + "0x0000ffff;", "@!%p2 ret; " + shuffle + "0x0000ffff;"},
         {"a shuffle from a lane that does not take part", "@!%p2 ret; shfl.sync.down.b32 %r5, %r4, 1, 31, 0xffff;",
          "@!%p2 ret; shfl.sync.down.b32 %r5, %r4, 1, 0x100f, 0xffff;"},
         {"a kernel that does not end after", "$loop: bra $loop;",
          "mov.b32 %r5, 0; $loop: add.u32 %r5, %r5, 1; setp.lt.u32 %p3, %r5, 1000; @%p3 bra $loop;", 1},
         {"a kernel that does not end",
          "$loop: ld.volatile.global.u32 %r5, [%x]; setp.eq.u32 %p3, %r5, 0; @%p3 bra $loop;", "", 64, 3}});
}

TEST_CASE("a violation names the order of execution, by which it is found again", "[software_gpu]") {
  for (const u32 seed : {1U, 2U}) {
    kernel_runner runner;
    runner.device.options.order = execution_order::random, runner.device.options.seed = seed;
    CHECK_THAT(runner.run("trap;"), ContainsSubstring("(random order, seed " + std::to_string(seed) + ")"));
  }
  kernel_runner runner;
  runner.device.options.order = execution_order::reverse;
  CHECK_THAT(runner.run("trap;"), ContainsSubstring("(reverse order)"));
}
