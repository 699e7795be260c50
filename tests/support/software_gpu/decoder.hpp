// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "support/software_gpu/program.hpp"

// Reads the text of PTX.

namespace devplace::test::software_gpu {

std::string_view trimmed(std::string_view text);
/// Splits at a separator that is in no brackets.
std::vector<std::string_view> split(std::string_view text, char separator);
/// Reads an integer, or the bits of a float (0f3F800000, 0d...).
std::optional<u64> number(std::string_view text);
/// Returns the opcode of an instruction, without its guard.
std::string_view opcode_of(std::string_view instruction);
/// Returns the size of a type, "f32"; 0 for predicates and unknown names.
u8 size_of_type(std::string_view type);

/// A declaration of variables: ".shared .align 16 .b8 name[32]".
struct declaration {
  std::string_view name;
  u64 alignment = 1, bytes = 0;
  bool any_size = false;  ///< name[]
};
declaration declared(std::string_view text);

/// Finds the next statement of a body: a label ends with ':', an instruction or declaration with ';', and braces are
/// statements. Skips comments.
class statements {
 public:
  explicit statements(std::string_view body) : rest_(body) {}
  /// Returns an empty text at the end.
  std::string_view next();

 private:
  void skip_comments();
  std::string_view rest_;
};

/// Decodes the body of a function.
class decoder {
 public:
  decoder(module& from, function& into) : module_(from), function_(into) {}
  void decode();

  // For the operations that read their operands themselves.
  std::vector<std::string_view> words;  ///< of the opcode: ld, global, f32
  std::vector<std::string_view> arguments;
  bool has(std::string_view word) const;
  std::string_view type() const { return words.back(); }
  /// Adds an operand; the bytes are those of an immediate.
  void to(std::string_view text);
  void from(std::string_view text, u8 bytes);
  /// Adds each register of "{a, b}", or the one.
  void to_each(std::string_view text);
  void from_each(std::string_view text, u8 bytes);
  /// Adds the address "[base+displacement]".
  void address(instruction& i, std::string_view text);
  [[noreturn]] void refuse(const std::string& why) const;

 private:
  struct registers {
    operand first;
    u32 count = 0;  ///< of numbered ones
  };
  struct symbol {
    space where;
    u32 offset, bytes;
    operand holder;  ///< register with the address, if a register has it
  };
  struct scope {
    std::unordered_map<std::string_view, registers> named;
    std::unordered_map<std::string_view, symbol> symbols;
    u32 area = 0;
  };

  void declare_header();
  std::vector<parameter> declare_parameters(std::string_view list);
  void declare(std::string_view text);
  symbol& declare_in_frame(std::string_view text, space where);
  void decode_instruction(std::string_view text);
  bool decode_control(instruction& i);
  bool decode_operation(instruction& i);
  void decode_call(instruction& i);
  void finish_branches();

  operand new_register(u8 bytes);
  operand constant(u64 bits, u8 bytes);
  std::optional<operand> register_named(std::string_view name) const;
  symbol* symbol_named(std::string_view name);
  operand holder_of(symbol& s);
  operand resolve(std::string_view text, u8 bytes);

  module& module_;
  function& function_;
  std::vector<scope> scopes_;
  std::vector<operand> to_, from_;
  std::map<std::pair<u64, u8>, operand> constants_;
  std::unordered_map<std::string_view, u32> labels_;
  std::unordered_map<std::string_view, std::vector<std::string_view>> tables_;
  std::vector<std::pair<std::size_t, std::string_view>> branches_, table_branches_;
  std::unordered_map<const variable*, symbol> shared_;
  u32 area_ = 0;
};

}  // namespace devplace::test::software_gpu
