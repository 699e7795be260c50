// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "support/software_gpu/values.hpp"

// A module of PTX as the executor needs it: functions are indexed when the module is loaded, and decoded when a kernel
// that calls them is launched first.

namespace devplace::test::software_gpu {

inline constexpr unsigned warp_size = 32;
inline constexpr u32 all_lanes = 0xffffffffU;

struct execution;
struct function;
struct instruction;
using run_function = void (*)(execution&, const instruction&);

/// A mistake in the text of a module, or an instruction that this machine lacks.
struct ptx_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Where the lanes of an operand lie: in the frame, among the function's constants, or among the warp's special
/// registers.
enum class plane : u8 { registers, constants, special };

/// A value of each lane of a warp: 32 numbers of `bytes` one after the other; a predicate is a mask of 32 bits.
struct operand {
  u32 offset = 0;
  u32 index = 0;  ///< number of the register; 0: no register, always defined
  plane base = plane::registers;
  u8 bytes = 0;  ///< 0: predicate
  bool negated = false;
};

enum class space : u8 { generic, global, shared, local, param, constant };

/// How an access to memory takes part in the order between threads.
enum class ordering : u8 { weak, relaxed, acquire, release, acquire_release };

/// How the executor handles an instruction.
enum class action : u8 { run, branch, table_branch, call, ret, exit, trap, barrier, collective, unsupported };

struct call_site {
  function* callee = nullptr;
  std::string name;
  std::vector<u32> arguments, results;  ///< offsets in the caller's parameter area
};

struct instruction {
  run_function run = nullptr;
  const operand* to = nullptr;
  const operand* from = nullptr;
  u8 to_count = 0, from_count = 0;
  action what = action::run;
  bool guarded = false;
  bool defines = false;     ///< `run` itself says which lanes of its results are defined
  bool whole_warp = false;  ///< of collectives and barriers: all lanes take part at the same instruction
  bool ftz = false, sat = false, is_signed = false;
  rounding round = rounding::nearest;
  u8 mode = 0;              ///< variant of the operation, which its file defines
  u8 bytes = 0, count = 1;  ///< of memory accesses: size of an element, elements
  space where = space::generic;
  ordering order = ordering::weak;
  u32 target = 0;  ///< of branches: instruction; of calls and tables: index in the function
  s64 displacement = 0;
  operand guard;
  std::string_view text;
};

/// A variable whose address depends on the launch, the frame, or the lane: a hidden register holds it.
struct addressed {
  operand holder;
  space where = space::local;
  u32 offset = 0;                  ///< in the lane's memory of the frame
  const void* variable = nullptr;  ///< of shared memory: the module's variable
};

struct parameter {
  u32 offset = 0, bytes = 0;
};

/// A variable of a module in global, constant or shared memory.
struct variable {
  space where = space::global;
  u64 bytes = 0, alignment = 1;
  std::unique_ptr<u8[]> storage;  ///< of global and constant memory
  u64 address = 0;
  std::string_view initial;
  bool dynamic = false;  ///< extern shared memory, whose size the launch gives
};

struct function {
  std::string name;
  std::string_view header, body;
  bool kernel = false, decoded = false;
  std::vector<instruction> code;
  std::vector<operand> operands;
  std::vector<u64> constants;            ///< planes of immediate operands
  std::vector<std::vector<u32>> tables;  ///< targets of brx
  std::vector<call_site> calls;
  std::vector<addressed> addresses;
  std::vector<parameter> parameters, results;
  u32 register_bytes = 0, register_count = 1;
  u32 area_bytes = 0;    ///< parameters of the function and of its calls
  u32 memory_bytes = 0;  ///< of a lane: area and local variables
  std::vector<const variable*> shared;
  std::vector<u64> executed;  ///< executions of each instruction, counted by threads
};

struct module {
  std::string text;
  std::unordered_map<std::string_view, std::unique_ptr<function>> functions;
  std::unordered_map<std::string_view, std::unique_ptr<variable>> variables;

  /// Returns a function, or nullptr.
  function* find(std::string_view name) {
    const auto at = functions.find(name);
    return at == functions.end() ? nullptr : at->second.get();
  }
};

/// Indexes the functions and variables of a text of PTX.
std::unique_ptr<module> load_module(std::string text);

/// Decodes a function and the ones that it calls. Instructions that this machine lacks stop only those who execute
/// them.
void decode(module& from, function& f);

/// An operation that works on the lanes of its operands: how to run it, and the sizes of its operands.
struct operation {
  run_function run = nullptr;
  u8 to_bytes = 0;
  std::array<u8, 4> from_bytes{};
  bool defines = false;
};
/// By name and types, without modifiers of rounding: "add.f32", "setp.lt.u64", "cvt.f32.f16".
using operation_table = std::unordered_map<std::string, operation>;

void add_integer_operations(operation_table& table);
void add_floating_operations(operation_table& table);
void add_comparisons(operation_table& table);
void add_conversions(operation_table& table);

}  // namespace devplace::test::software_gpu
