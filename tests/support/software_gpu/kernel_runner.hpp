// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstring>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "support/software_gpu/software_gpu.hpp"

// Runs kernels that tests write as PTX.

namespace devplace::test::software_gpu {

/// Memory of tests: each block has a red zone, for which no block is live.
class test_memory {
 public:
  memory_block block_of(u64 address) const {
    const auto after = blocks_.upper_bound(address);
    const memory_block found = after == blocks_.begin() ? memory_block{} : std::prev(after)->second;
    return address - found.begin < found.bytes ? found : memory_block{};
  }
  /// Returns zeros.
  template <class T> T* allocate(std::size_t n, u8* written = nullptr) {
    storage_.push_back(std::make_unique<u64[]>(n * sizeof(T) / 8 + 64));
    const u64 begin = aligned(reinterpret_cast<u64>(storage_.back().get()), 256);
    blocks_[begin] = {begin, n * sizeof(T), written};
    return reinterpret_cast<T*>(begin);
  }
  void free(const void* block) { blocks_.erase(reinterpret_cast<u64>(block)); }

 private:
  std::map<u64, memory_block> blocks_;
  std::vector<std::unique_ptr<u64[]>> storage_;
};

/// Runs the body of a kernel with two addresses as parameters, in %x and %y. The registers %r, %f, %d, %rd, %h and %p
/// are declared, %tid is the thread in the block, and %i its number in the grid.
class kernel_runner {
 public:
  test_memory memory;
  gpu device{[this](u64 address) { return memory.block_of(address); }};
  launch_configuration shape;
  std::string declarations;  ///< of variables and functions, before the kernel

  /// Returns the violations, one per line.
  std::string run(const std::string& body, const void* x = nullptr, const void* y = nullptr) {
    const std::string text =
        ".version 8.0\n.target sm_80\n.address_size 64\n" + declarations +
        ".visible .entry test_kernel(.param .u64 px, .param .u64 py)\n{\n"
        ".reg .pred %p<8>; .reg .b16 %h<32>; .reg .b32 %r<64>; .reg .f32 %f<64>; .reg .b64 %rd<64>;\n"
        ".reg .f64 %d<16>; .reg .b64 %x, %y; .reg .b32 %tid, %i, %t0, %t1;\n"
        "ld.param.u64 %x, [px]; ld.param.u64 %y, [py];\n"
        "mov.u32 %tid, %tid.x; mov.u32 %t0, %ctaid.x; mov.u32 %t1, %ntid.x;\n"
        "mad.lo.s32 %i, %t0, %t1, %tid;\n" +
        body + "\nret;\n}\n";
    ptx_module& m = device.load(text);
    const u64 addresses[] = {reinterpret_cast<u64>(x), reinterpret_cast<u64>(y)};
    const void* const arguments[] = {&addresses[0], &addresses[1]};
    std::string violations;
    for (const std::string& one : device.launch(m, *m.find("test_kernel"), shape, arguments)) violations += one + '\n';
    return violations;
  }
};

/// Returns the bits of a value, and the value of bits.
template <class T> u64 bits_of_value(T x) {
  u64 bits = 0;
  std::memcpy(&bits, &x, sizeof x);
  return bits;
}
template <class T> T value_of_bits(u64 bits) {
  T x;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}

}  // namespace devplace::test::software_gpu
