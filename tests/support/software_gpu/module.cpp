// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <algorithm>
#include <charconv>
#include <cstring>
#include <string>

#include "support/software_gpu/software_gpu.hpp"

// Finds the PTX of a program, the functions and variables of a module, without a look into the functions, and the parts
// of a statement.

namespace devplace::test::software_gpu {

namespace {

constexpr u32 magic = 0xba55ed50;
constexpr u16 ptx_kind = 1;
constexpr std::size_t smallest_entry = 64;

template <class T> T read(const unsigned char* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

/// Returns the text as one line, without comments and the lines that do not end with a semicolon.
std::string statements_of(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const auto begins = [&](std::string_view word) { return line.starts_with(word); };
    if (begins(".version") || begins(".target") || begins(".address_size")) continue;
    result.append(line.substr(0, line.find("//"))) += ' ';
  }
  std::replace(result.begin(), result.end(), '\t', ' ');
  return result;
}

/// Returns the position after the brace that closes the one at `open`.
std::size_t after_braces(std::string_view text, std::size_t open) {
  int depth = 0;
  for (std::size_t at = open; at < text.size(); ++at) {
    depth += text[at] == '{' ? 1 : (text[at] == '}' ? -1 : 0);
    if (depth == 0) return at + 1;
  }
  throw ptx_error("software GPU: a brace of the module is not closed");
}

bool contains(std::string_view text, std::string_view word) { return text.find(word) != std::string_view::npos; }

/// Takes "(...)" from the front of a text, and returns what is in the brackets.
std::string_view take_list(std::string_view& text) {
  if (!text.starts_with('(')) return {};
  const std::size_t end = text.find(')');
  const std::string_view list = text.substr(1, end - 1);
  text = trimmed(text.substr(end + 1));
  return list;
}

void add_function(ptx_module& into, std::string_view header, std::string_view body) {
  auto f = std::make_unique<function>();
  f->kernel = contains(header, ".entry ");
  header = trimmed(header.substr(header.find(f->kernel ? ".entry " : ".func ") + 6));
  f->results_text = take_list(header);
  const std::string_view name = header.substr(0, header.find_first_of("( "));
  header = trimmed(header.substr(name.size()));
  f->name = name, f->parameters_text = take_list(header), f->body = body;
  into.functions.emplace(name, std::move(f));
}

}  // namespace

std::string_view trimmed(std::string_view text) {
  const std::size_t first = std::min(text.find_first_not_of(' '), text.size());
  return text.substr(first, text.find_last_not_of(' ') + 1 - first);
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  std::size_t begin = 0;
  int depth = 0;
  for (std::size_t k = 0; k <= text.size(); ++k) {
    const char c = k < text.size() ? text[k] : separator;
    depth += c == '{' || c == '[' || c == '(' ? 1 : (c == '}' || c == ']' || c == ')' ? -1 : 0);
    if (c != separator || (depth != 0 && k < text.size())) continue;
    if (const auto part = trimmed(text.substr(begin, k - begin)); !part.empty()) parts.push_back(part);
    begin = k + 1;
  }
  return parts;
}

std::optional<u64> number(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  int base = 10;
  if (text.starts_with("0x") || text.starts_with("0f") || text.starts_with("0d")) text.remove_prefix(2), base = 16;
  u64 value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return negative ? 0 - value : value;
}

u8 size_of_type(std::string_view type) {
  const std::size_t digits = std::min(type.find_first_of("0123456789"), type.size());
  const std::string_view kind = type.substr(0, digits);
  const bool known = kind == "b" || kind == "u" || kind == "s" || kind == "f";
  return known ? static_cast<u8>(number(type.substr(digits)).value_or(0) / 8) : u8{0};
}

declaration declared(std::string_view text) {
  declaration result;
  const auto words = split(text, ' ');
  for (std::size_t k = 0; k + 1 < words.size(); ++k) {
    if (words[k] == ".align") result.alignment = number(words[k + 1]).value_or(1);
    result.element = std::max(result.element, size_of_type(words[k].substr(1)));
  }
  const std::string_view name = words.back();
  const std::size_t bracket = std::min(name.find('['), name.size());
  const auto extent = bracket == name.size() ? 1 : number(name.substr(bracket + 1, name.size() - bracket - 2));
  result.name = name.substr(0, bracket), result.any_size = !extent;
  result.alignment = std::max<u64>(result.alignment, result.element);
  result.bytes = result.element * extent.value_or(0);
  return result;
}

std::string ptx_of_fat_binary(const void* wrapper) {
  // The wrapper holds a magic number and a version, then the address of the binary.
  const auto* const data = read<const unsigned char*>(static_cast<const unsigned char*>(wrapper) + 8);
  if (read<u32>(data) != magic) throw ptx_error("software GPU: a fat binary begins with an unknown number");
  const unsigned char* entry = data + read<u16>(data + 6);
  const unsigned char* const end = entry + read<u64>(data + 8);
  std::string text;
  u32 newest = 0;
  while (entry + smallest_entry <= end) {
    const u32 header = read<u32>(entry + 4), architecture = read<u32>(entry + 28);
    const u64 bytes = read<u64>(entry + 8);
    if (read<u16>(entry) == ptx_kind && architecture >= newest) {
      const std::string found(reinterpret_cast<const char*>(entry + header), bytes);
      if (found.find(".version") == std::string::npos)
        throw ptx_error("software GPU: the PTX of a fat binary is compressed; compile it with nvcc --no-compress");
      text = found.substr(0, found.find('\0')), newest = architecture;
    }
    entry += header + bytes;
  }
  if (text.empty())
    throw ptx_error(
        "software GPU: a fat binary holds no PTX; compile it with -gencode arch=compute_80,code=compute_80");
  return text;
}

void add_variable(ptx_module& into, std::string_view text) {
  const std::size_t equals = std::min(text.find('='), text.size());
  auto v = std::make_unique<variable>();
  v->declared = declared(text.substr(0, equals)), v->number = into.variables.size();
  v->where = contains(text, ".shared") ? space::shared : space::global;
  const declaration& d = v->declared;
  if (v->where == space::global) {
    v->storage = std::make_unique<u8[]>(d.bytes + d.alignment);
    v->address = aligned(reinterpret_cast<u64>(v->storage.get()), d.alignment);
  }
  const std::size_t values = text.find_first_not_of("={ ", equals);
  if (values < text.size()) {
    const auto all = split(text.substr(values, text.find('}') - values), ',');
    for (std::size_t k = 0; k < std::min<u64>(all.size(), d.bytes / d.element); ++k) {
      const auto bits = number(all[k]);
      if (!bits)
        throw ptx_error("software GPU: the initial value of a variable is no number: '" + std::string(text) + "'");
      std::memcpy(reinterpret_cast<u8*>(v->address) + k * d.element, &*bits, d.element);
    }
  }
  into.variables.emplace(d.name, std::move(v));
}

void function::set_constant(const operand& o, u64 bits) {
  auto* const to = reinterpret_cast<u8*>(constants.data()) + o.offset;
  if (o.bytes == 0) std::memcpy(to, &bits, 4);
  for (std::size_t lane = 0; lane < warp_size; ++lane) std::memcpy(to + lane * o.bytes, &bits, o.bytes);
}

std::unique_ptr<ptx_module> load_module(std::string text) {
  auto result = std::make_unique<ptx_module>();
  result->text = statements_of(text);
  std::string_view rest = result->text;
  for (std::size_t at; (at = rest.find_first_not_of(' ')) != std::string_view::npos;) {
    rest.remove_prefix(at);
    std::size_t end = rest.find_first_of(";{");
    if (end == std::string_view::npos)
      throw ptx_error("software GPU: no end of '" + std::string(rest.substr(0, 80)) + "'");
    const std::string_view head = rest.substr(0, end);
    const bool is_function = contains(head, ".entry ") || contains(head, ".func ");
    if (is_function && rest[end] == '{') {
      const std::size_t after = after_braces(rest, end);
      add_function(*result, head, rest.substr(end + 1, after - end - 2));
      end = after - 1;
    } else {
      end = std::min(rest.find(';', end), rest.size() - 1);
      if (!is_function) add_variable(*result, rest.substr(0, end));
    }
    rest.remove_prefix(end + 1);
  }
  return result;
}

}  // namespace devplace::test::software_gpu
