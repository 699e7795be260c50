// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <cstring>
#include <string>

#include "support/software_gpu/decoder.hpp"

// Finds the functions and variables of a module, without a look into the functions.

namespace devplace::test::software_gpu {

namespace {

/// Returns the position after the brace that closes the one at `open`.
std::size_t after_braces(std::string_view text, std::size_t open) {
  int depth = 0;
  for (std::size_t at = open;;) {
    at = text.find_first_of("{}/\"", at);
    if (at == std::string_view::npos) throw ptx_error("software GPU: a brace of the module is not closed");
    if (text[at] == '/' && text.substr(at, 2) == "//") at = std::min(text.find('\n', at), text.size() - 1);
    if (text[at] == '"') at = std::min(text.find('"', at + 1), text.size() - 1);
    depth += text[at] == '{' ? 1 : (text[at] == '}' ? -1 : 0);
    ++at;
    if (depth == 0) return at;
  }
}

bool contains(std::string_view text, std::string_view word) { return text.find(word) != std::string_view::npos; }

void add_function(module& into, std::string_view header, std::string_view body) {
  auto f = std::make_unique<function>();
  f->kernel = contains(header, ".entry");
  const std::string_view keyword = f->kernel ? ".entry" : ".func";
  std::string_view rest = trimmed(header.substr(header.find(keyword) + keyword.size()));
  if (rest[0] == '(') rest = trimmed(rest.substr(rest.find(')') + 1));
  const std::string_view name = rest.substr(0, rest.find_first_of("( \t\r\n{"));
  f->name = name, f->header = header, f->body = body;
  into.functions.emplace(name, std::move(f));
}

void add_variable(module& into, std::string_view text) {
  const std::size_t equals = text.find('=');
  const declaration d = declared(text.substr(0, equals));
  auto v = std::make_unique<variable>();
  v->where = contains(text, ".shared") ? space::shared : (contains(text, ".const") ? space::constant : space::global);
  v->bytes = d.bytes, v->alignment = d.alignment, v->dynamic = d.any_size && v->where == space::shared;
  if (v->where != space::shared) {
    v->storage = std::make_unique<u8[]>(d.bytes + d.alignment);
    v->address = (reinterpret_cast<u64>(v->storage.get()) + d.alignment - 1) / d.alignment * d.alignment;
  }
  if (equals != std::string_view::npos) {
    std::string_view values = trimmed(text.substr(equals + 1));
    if (values[0] == '{') values = values.substr(1, values.rfind('}') - 1);
    std::size_t element = 1;
    for (const std::string_view word : split(text.substr(0, equals), ' '))
      if (word.size() > 1 && word[0] == '.' && size_of_type(word.substr(1)) != 0)
        element = size_of_type(word.substr(1));
    std::size_t at = 0;
    for (const std::string_view value : split(values, ',')) {
      const auto bits = number(value);
      if (!bits)
        throw ptx_error("software GPU: the initial value of a variable is no number: '" + std::string(text) + "'");
      if (at + element <= d.bytes) std::memcpy(reinterpret_cast<u8*>(v->address) + at, &*bits, element);
      at += element;
    }
  }
  into.variables.emplace(d.name, std::move(v));
}

}  // namespace

std::unique_ptr<module> load_module(std::string text) {
  auto result = std::make_unique<module>();
  if (const std::size_t zero = text.find('\0'); zero != std::string::npos) text.resize(zero);
  result->text = std::move(text);
  const std::string_view all = result->text;
  const auto line_end = [&](std::size_t from) { return std::min(all.find('\n', from), all.size()); };
  for (std::size_t at = 0;;) {
    at = all.find_first_not_of(" \t\r\n;", at);
    if (at == std::string_view::npos) break;
    const std::string_view rest = all.substr(at);
    const auto is = [&](std::string_view word) { return rest.substr(0, word.size()) == word; };
    if (is("//") || is(".version") || is(".target") || is(".address_size") || is(".file") || is(".pragma")) {
      at = line_end(at);
    } else if (is("/*")) {
      at = std::min(all.find("*/", at), all.size() - 2) + 2;
    } else if (is(".section")) {
      at = after_braces(all, all.find('{', at));
    } else {
      std::size_t end = all.find_first_of(";{", at);
      if (end == std::string_view::npos)
        throw ptx_error("software GPU: no end of '" + std::string(rest.substr(0, 80)) + "'");
      std::string_view head = all.substr(at, end - at);
      const bool is_function = contains(head, ".entry ") || contains(head, ".func ");
      if (all[end] == '{' && is_function) {
        const std::size_t after = after_braces(all, end);
        add_function(*result, head, all.substr(end + 1, after - end - 2));
        at = after;
        continue;
      }
      if (all[end] == '{') end = all.find(';', after_braces(all, end));
      head = all.substr(at, end - at);
      if (!is_function && (contains(head, ".global") || contains(head, ".const") || contains(head, ".shared")))
        add_variable(*result, head);
      at = end + 1;
    }
  }
  return result;
}

}  // namespace devplace::test::software_gpu
