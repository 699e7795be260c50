// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

// A module of PTX as the executor needs it: functions are indexed when the module is loaded, and decoded when a kernel
// that calls them is launched first.

namespace devplace::test::software_gpu {

using s8 = std::int8_t;
using s16 = std::int16_t;
using s32 = std::int32_t;
using s64 = std::int64_t;
using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

inline constexpr unsigned warp_size = 32;
inline constexpr u32 all_lanes = 0xffffffffU;

constexpr u64 aligned(u64 x, u64 alignment) { return (x + alignment - 1) / alignment * alignment; }
inline unsigned first_lane(u32 lanes) { return static_cast<unsigned>(std::countr_zero(lanes)); }
/// Calls f(lane) for each lane of a mask.
template <class F> void each_lane(u32 lanes, F f) {
  for (; lanes != 0; lanes &= lanes - 1) f(first_lane(lanes));
}

struct execution;
struct frame;
struct function;
struct instruction;
struct variable;
using run_function = void (*)(execution&, const instruction&);

/// A mistake in the text of a module, or an instruction that this machine lacks.
struct ptx_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Where the lanes of an operand lie: in the frame, or among the function's constants.
enum class plane : u8 { registers, constants };

/// A value of each lane of a warp: 32 numbers of `bytes` one after the other; a predicate is a mask of 32 bits.
struct operand {
  u32 offset = 0;
  u32 index = 0;  ///< number of the register; 0: no register, always defined
  plane base = plane::registers;
  u8 bytes = 0;  ///< 0: predicate
};

enum class space : u8 { generic, global, shared, local, param };
inline constexpr std::array<std::string_view, 5> spaces{"generic", "global", "shared", "local", "param"};

/// How the executor handles an instruction.
enum class action : u8 { run, branch, call, ret, exit, trap, barrier, collective, unsupported };

struct call_site {
  function* callee = nullptr;
  std::vector<u32> arguments, results;  ///< offsets in the caller's parameter area
};

struct instruction {
  run_function run = nullptr;
  const operand* to = nullptr;
  const operand* from = nullptr;
  u8 to_count = 0, from_count = 0;
  action what = action::run;
  bool guarded = false, guard_negated = false;
  bool defines = false;     ///< `run` itself says which lanes of its results are defined
  bool whole_warp = false;  ///< of collectives and barriers: all lanes take part at the same instruction
  bool strong = false;      ///< of memory accesses: relaxed or volatile, not weak
  u8 count = 1;             ///< of memory accesses: elements
  space where = space::generic;
  u32 target = 0;  ///< of branches: instruction; of calls: index in the function
  u64 displacement = 0;
  operand guard;
  std::string_view text;
};

/// A register whose value is known when a function is called: a special register of PTX, or an address.
struct preset_register {
  /// Returns the value, to which `offset` is added, of a lane of a frame.
  using value_of_lane = u64 (*)(const execution&, frame&, const variable* of, unsigned lane);
  operand holder;
  value_of_lane value;
  u32 offset = 0;
  const variable* of = nullptr;  ///< whose address it is
};

struct parameter {
  u32 offset = 0, bytes = 0;
};

/// A declaration of a variable: ".shared .align 16 .b8 name[32]".
struct declaration {
  std::string_view name;
  u8 element = 1;  ///< bytes
  u64 alignment = 1, bytes = 0;
  bool any_size = false;  ///< name[]: extern shared memory, whose size the launch gives
};

/// A variable of a module in global or shared memory.
struct variable {
  declaration declared;
  space where = space::global;
  std::unique_ptr<u8[]> storage;  ///< of global memory
  u64 address = 0;
  std::size_t number = 0;  ///< in the module
};
/// Puts memory whose size the launch gives last.
struct dynamic_last {
  bool operator()(const variable* a, const variable* b) const {
    return std::pair(a->declared.any_size, a->number) < std::pair(b->declared.any_size, b->number);
  }
};

struct function {
  std::string name;
  std::string_view results_text, parameters_text, body;
  bool kernel = false, decoded = false;
  std::vector<instruction> code;
  std::vector<operand> operands;
  std::vector<u64> constants;  ///< planes of immediate operands and of a kernel's parameters
  std::vector<std::pair<operand, parameter>> launch_constants;  ///< those of parameters
  std::vector<call_site> calls;
  std::vector<preset_register> presets;
  std::vector<parameter> parameters, results;
  u32 register_bytes = 0, register_count = 1;
  u32 memory_bytes = 0;  ///< of a lane: parameters of the function and of its calls, and local variables
  std::map<const variable*, u32, dynamic_last> shared;  ///< offsets of the shared memory, also of functions called
  u32 shared_bytes = 0;                                 ///< without memory whose size the launch gives

  /// Writes a constant's lanes, or the mask of a predicate.
  void set_constant(const operand& o, u64 bits);
};

struct ptx_module {
  std::string text;
  std::unordered_map<std::string_view, std::unique_ptr<function>> functions;
  std::unordered_map<std::string_view, std::unique_ptr<variable>> variables;

  /// Returns a function, or nullptr.
  function* find(std::string_view name) {
    const auto at = functions.find(name);
    return at == functions.end() ? nullptr : at->second.get();
  }
};

std::string_view trimmed(std::string_view text);
/// Splits at a separator that is in no brackets; leaves out empty parts.
std::vector<std::string_view> split(std::string_view text, char separator);
/// Reads an integer, or the bits of a float (0f3F800000, 0d...).
std::optional<u64> number(std::string_view text);
/// Returns the size of a type, "f32"; 0 for predicates and unknown names.
u8 size_of_type(std::string_view type);

declaration declared(std::string_view text);

/// Indexes the functions and variables of a text of PTX.
std::unique_ptr<ptx_module> load_module(std::string text);
/// Adds a variable by its declaration.
void add_variable(ptx_module& into, std::string_view text);

/// Decodes a function and the ones that it calls. Instructions that this machine lacks stop only those who execute
/// them.
void decode(ptx_module& from, function& f);

/// How to decode and execute the instructions of one name, an entry of operation_table.
struct operation {
  run_function run = nullptr;
  std::vector<u8> from_bytes;  ///< sizes of the sources, for immediates; of vectors, the element's
  bool defines = false;
  u8 results = 1;
  action what = action::run;
  bool whole_warp = false;
};
/// By the opcode with types of bits as integers and without words that are fields of `instruction`, or .rn:
/// "add.rz.f32", "setp.lt.u64", "and.u32", "ld.u32", "atom.add.u32".
using operation_table = std::unordered_map<std::string, operation>;

void add_integer_operations(operation_table& table);
void add_floating_operations(operation_table& table);
void add_comparisons(operation_table& table);
void add_conversions(operation_table& table);
void add_memory_operations(operation_table& table);
void add_warp_operations(operation_table& table);

}  // namespace devplace::test::software_gpu
