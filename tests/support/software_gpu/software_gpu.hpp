// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "support/software_gpu/program.hpp"

// A GPU in software: executes the PTX that nvcc generates, warp by warp, and reports what a correct kernel never does.
// Not covered: ptxas's code, caches, the hardware's order of memory, and time.

namespace devplace::test::software_gpu {

/// What has been written to a byte of memory; 0: nothing. Programs may copy undefined values, as padding.
inline constexpr u8 has_value = 1, has_undefined_value = 2;

/// A live block of global or pinned memory.
struct memory_block {
  u64 begin = 0, bytes = 0;  ///< no bytes: none
  u8* written = nullptr;     ///< optionally, for each byte, what has been written: kernels then report its use
};

/// Returns the live block that contains an address, or none.
using block_finder = std::function<memory_block(u64 address)>;

/// The order in which blocks of a grid begin, and warps of a block and lanes of a warp execute.
enum class execution_order : u8 { forward, reverse, random };

struct settings {
  execution_order order = execution_order::forward;
  u32 seed = 1;                         ///< of execution_order::random
  u64 instruction_limit = 200'000'000;  ///< of the warps of a launch
};

/// Grids and blocks have one dimension.
struct launch_configuration {
  u32 blocks = 1, threads = 1;  ///< threads: of a block
  u32 shared_bytes = 0;         ///< dynamic
};

/// Global memory that a launch accessed.
struct touched_range {
  u64 begin, bytes;
  bool writes;
};

/// Counts of what one launch executed, or all launches together. An instruction of a warp counts once for each thread.
struct counters {
  u64 instructions = 0, global_read_bytes = 0, global_writes = 0, global_write_bytes = 0;
};

class gpu {
 public:
  explicit gpu(block_finder block_of) : block_of_(std::move(block_of)) {}

  settings options;

  /// Loads a module of PTX.
  ptx_module& load(std::string ptx);
  /// Executes a kernel, and returns its violations; throws ptx_error for one that cannot be executed at all. Each of
  /// `arguments` points to a value.
  std::vector<std::string> launch(ptx_module& from, function& kernel, const launch_configuration& configuration,
                                  const void* const* arguments);

  const counters& last_launch() const { return last_; }
  /// Returns the memory that the last launch accessed. A range may have gaps of less than 256 bytes.
  const std::vector<touched_range>& touched_memory() const { return touched_; }
  const counters& all_launches() const { return all_; }

 private:
  block_finder block_of_;
  std::vector<std::unique_ptr<ptx_module>> modules_;
  counters last_, all_;
  std::vector<touched_range> touched_;
};

/// Returns the PTX in a fat binary that nvcc registers: of several, the one for the newest architecture. Throws
/// ptx_error where there is none, or a compressed one. `wrapper` is the argument of __cudaRegisterFatBinary.
std::string ptx_of_fat_binary(const void* wrapper);

}  // namespace devplace::test::software_gpu
