// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "support/software_gpu/decoder.hpp"

#include <algorithm>
#include <cstring>

#include "support/software_gpu/warp.hpp"

namespace devplace::test::software_gpu {

namespace {

const operation_table& operations() {
  static const operation_table table = [] {
    operation_table all;
    add_integer_operations(all), add_floating_operations(all), add_comparisons(all), add_conversions(all);
    return all;
  }();
  return table;
}

constexpr u32 aligned(u32 x, u64 alignment) { return static_cast<u32>((x + alignment - 1) / alignment * alignment); }

}  // namespace

void decode(module& from, function& f) {
  if (f.decoded) return;
  f.decoded = true;
  decoder(from, f).decode();
  for (const call_site& call : f.calls)
    if (call.callee != nullptr) decode(from, *call.callee);
}

void decoder::refuse(const std::string& why) const {
  const std::string text(function_.code.empty() ? function_.header.substr(0, 80) : function_.code.back().text);
  throw ptx_error("software GPU: " + why + " in '" + text + "' of " + function_.name);
}

bool decoder::has(std::string_view word) const { return std::find(words.begin(), words.end(), word) != words.end(); }

operand decoder::new_register(u8 bytes) {
  operand o;
  o.offset = function_.register_bytes, o.index = function_.register_count++, o.bytes = bytes;
  function_.register_bytes += bytes == 0 ? 8 : warp_size * bytes;
  return o;
}

/// Immediates are planes with the same number in each lane, so that operations need not tell them from registers.
operand decoder::constant(u64 bits, u8 bytes) {
  const auto [at, added] = constants_.try_emplace({bits, bytes});
  operand& o = at->second;
  if (!added) return o;
  o.base = plane::constants, o.bytes = bytes, o.offset = static_cast<u32>(function_.constants.size() * 8);
  function_.constants.resize(function_.constants.size() + (bytes == 0 ? 1 : warp_size * bytes / 8U));
  auto* const to = reinterpret_cast<u8*>(function_.constants.data()) + o.offset;
  const u32 mask = bits != 0 ? all_lanes : 0;
  if (bytes == 0) std::memcpy(to, &mask, sizeof mask);
  for (std::size_t lane = 0; lane < warp_size; ++lane) std::memcpy(to + lane * bytes, &bits, bytes);
  return o;
}

std::optional<operand> decoder::register_named(std::string_view name) const {
  const std::size_t digits = name.find_last_not_of("0123456789") + 1;
  for (auto at = scopes_.rbegin(); at != scopes_.rend(); ++at) {
    if (const auto one = at->named.find(name); one != at->named.end() && one->second.count == 0)
      return one->second.first;
    const auto many = at->named.find(name.substr(0, digits));
    if (many == at->named.end() || digits == name.size()) continue;
    const u64 k = number(name.substr(digits)).value_or(~u64{0});
    if (k >= many->second.count) continue;
    operand o = many->second.first;
    o.index += static_cast<u32>(k);
    o.offset += static_cast<u32>(k) * (o.bytes == 0 ? 8 : warp_size * o.bytes);
    return o;
  }
  return std::nullopt;
}

decoder::symbol* decoder::symbol_named(std::string_view name) {
  for (auto at = scopes_.rbegin(); at != scopes_.rend(); ++at)
    if (const auto s = at->symbols.find(name); s != at->symbols.end()) return &s->second;
  return nullptr;
}

operand decoder::holder_of(symbol& s) {
  if (s.holder.index == 0) {
    s.holder = new_register(8);
    function_.addresses.push_back({s.holder, s.where, s.offset, nullptr});
  }
  return s.holder;
}

operand decoder::resolve(std::string_view text, u8 bytes) {
  if (text[0] == '!') {
    operand o = resolve(trimmed(text.substr(1)), bytes);
    o.negated = true;
    return o;
  }
  if (const auto found = register_named(text)) return *found;
  if (const auto bits = number(text)) return constant(*bits, bytes);
  if (const auto at = std::find(special_registers.begin(), special_registers.end(), text);
      at != special_registers.end()) {
    operand o;
    o.base = plane::special, o.bytes = 4;
    o.offset = static_cast<u32>(at - special_registers.begin()) * warp_size * 4;
    return o;
  }
  // An address, perhaps with a displacement, whose sum is a register of its own.
  if (symbol* const s = symbol_named(text)) return holder_of(*s);
  if (const auto v = module_.variables.find(text); v != module_.variables.end()) {
    if (v->second->where != space::shared) return constant(v->second->address, 8);
    symbol& s = shared_[v->second.get()];
    if (s.holder.index == 0) {
      s.holder = new_register(8);
      function_.addresses.push_back({s.holder, space::shared, 0, v->second.get()});
      function_.shared.push_back(v->second.get());
    }
    return s.holder;
  }
  if (const std::size_t plus = text.find('+', 1); plus != std::string_view::npos) {
    const std::string_view name = trimmed(text.substr(0, plus));
    const auto displacement = number(trimmed(text.substr(plus + 1)));
    if (const auto v = module_.variables.find(name); v != module_.variables.end() && displacement)
      if (v->second->where != space::shared) return constant(v->second->address + *displacement, 8);
  }
  refuse("unknown operand '" + std::string(text) + "'");
}

void decoder::to(std::string_view text) {
  if (text == "_") {
    to_.push_back(new_register(8));
  } else {
    const auto found = register_named(text);
    if (!found) refuse("unknown register '" + std::string(text) + "'");
    to_.push_back(*found);
  }
}
void decoder::from(std::string_view text, u8 bytes) { from_.push_back(resolve(text, bytes)); }
void decoder::to_each(std::string_view text) {
  if (text[0] != '{') return to(text);
  for (const auto part : split(text.substr(1, text.size() - 2), ',')) to(part);
}
void decoder::from_each(std::string_view text, u8 bytes) {
  if (text[0] != '{') return from(text, bytes);
  for (const auto part : split(text.substr(1, text.size() - 2), ',')) from(part, bytes);
}

void decoder::address(instruction& i, std::string_view text) {
  if (text.size() < 3 || text[0] != '[') refuse("no address");
  text = trimmed(text.substr(1, text.size() - 2));
  std::size_t sign = text.find('+', 1);
  if (sign == std::string_view::npos && text[0] == '%') sign = text.find('-', 1);
  if (sign != std::string_view::npos) {
    const auto displacement = number(trimmed(text.substr(text[sign] == '+' ? sign + 1 : sign)));
    if (!displacement) refuse("the displacement is no number");
    i.displacement = static_cast<s64>(*displacement);
    text = trimmed(text.substr(0, sign));
  }
  if (symbol* const s = symbol_named(text); s != nullptr && s->where != space::local) {
    i.where = s->where;
    i.displacement += s->offset;
  } else {
    from(text, 8);
  }
}

decoder::symbol& decoder::declare_in_frame(std::string_view text, space where) {
  const declaration d = declared(text);
  area_ = aligned(area_, d.alignment);
  symbol& s = scopes_.back().symbols[d.name];
  s = {where, area_, static_cast<u32>(d.bytes), {}};
  area_ += s.bytes;
  function_.memory_bytes = std::max(function_.memory_bytes, area_);
  return s;
}

std::vector<parameter> decoder::declare_parameters(std::string_view list) {
  std::vector<parameter> result;
  for (const std::string_view text : split(list, ',')) {
    if (text.find(".reg") != std::string_view::npos) refuse("parameters in registers are not supported");
    const symbol& s = declare_in_frame(text, function_.kernel ? space::constant : space::param);
    result.push_back({s.offset, s.bytes});
  }
  return result;
}

void decoder::declare_header() {
  std::string_view rest = function_.header;
  if (!function_.kernel) {
    rest = trimmed(rest.substr(rest.find(".func") + 5));
    if (rest[0] == '(') {
      const std::size_t end = rest.find(')');
      function_.results = declare_parameters(rest.substr(1, end - 1));
      rest = rest.substr(end + 1);
    }
  }
  const std::size_t open = rest.find('(');
  if (open == std::string_view::npos) return;
  function_.parameters = declare_parameters(rest.substr(open + 1, rest.rfind(')') - open - 1));
}

void decoder::declare(std::string_view text) {
  const std::string_view kind = text.substr(0, text.find_first_of(" \t\r\n"));
  if (kind == ".reg") {
    const std::string_view rest = trimmed(text.substr(kind.size()));
    const std::size_t end = rest.find_first_of(" \t");
    const u8 bytes = size_of_type(rest.substr(1, end - 1));
    for (std::string_view name : split(rest.substr(end), ',')) {
      registers r;
      if (const std::size_t angle = name.find('<'); angle != std::string_view::npos) {
        r.count = static_cast<u32>(number(name.substr(angle + 1, name.size() - angle - 2)).value_or(0));
        name = name.substr(0, angle);
      }
      r.first = new_register(bytes);
      for (u32 k = 1; k < r.count; ++k) new_register(bytes);
      scopes_.back().named[name] = r;
    }
  } else if (kind == ".local" || kind == ".param") {
    declare_in_frame(text, kind == ".local" ? space::local : space::param);
  } else if (kind == ".shared") {
    const declaration d = declared(text);
    auto& v = module_.variables[d.name];
    v = std::make_unique<variable>();
    v->where = space::shared, v->bytes = d.bytes, v->alignment = d.alignment;
  }
}

void decoder::decode() {
  scopes_.emplace_back();
  declare_header();
  statements body(function_.body);
  for (std::string_view text = body.next(); !text.empty(); text = body.next()) {
    if (text == "{") {
      scopes_.emplace_back().area = area_;
    } else if (text == "}") {
      area_ = scopes_.back().area;
      scopes_.pop_back();
    } else if (text.back() == ':') {
      const std::string_view label = trimmed(text.substr(0, text.size() - 1));
      labels_[label] = static_cast<u32>(function_.code.size());
      tables_[label];
      if (const auto next = statements(body).next(); next.substr(0, 14) == ".branchtargets")
        tables_[label] = split(body.next().substr(14, next.size() - 15), ',');
    } else {
      text = trimmed(text.substr(0, text.size() - 1));
      if (text.empty()) continue;
      if (text[0] == '.')
        declare(text);
      else
        decode_instruction(text);
    }
  }
  instruction& end = function_.code.emplace_back();
  end.what = action::ret, end.text = "the end of the function";
  finish_branches();
  function_.memory_bytes = aligned(function_.memory_bytes, 16);
  function_.executed.resize(function_.code.size());
  const operand* next = function_.operands.data();
  for (instruction& i : function_.code) i.to = next, i.from = next + i.to_count, next += i.to_count + i.from_count;
}

void decoder::finish_branches() {
  const auto target = [&](std::string_view label) {
    const auto at = labels_.find(label);
    if (at == labels_.end()) refuse("unknown label '" + std::string(label) + "'");
    return at->second;
  };
  for (const auto& [at, label] : branches_) function_.code[at].target = target(label);
  for (const auto& [at, label] : table_branches_) {
    function_.code[at].target = static_cast<u32>(function_.tables.size());
    auto& table = function_.tables.emplace_back();
    for (const std::string_view one : tables_[label]) table.push_back(target(one));
  }
}

void decoder::decode_instruction(std::string_view text) {
  instruction& i = function_.code.emplace_back();
  i.text = text;
  std::string_view rest = text;
  if (rest[0] == '@') {
    const std::size_t end = rest.find_first_of(" \t\r\n");
    i.guard = resolve(rest.substr(1, end - 1), 0), i.guarded = true;
    rest = trimmed(rest.substr(end));
  }
  const std::size_t end = std::min(rest.find_first_of(" \t\r\n"), rest.size());
  words = split(rest.substr(0, end), '.');
  arguments = split(rest.substr(end), ',');
  to_.clear(), from_.clear();
  i.ftz = has("ftz"), i.sat = has("sat");
  i.round = has("rz") || has("rzi")   ? rounding::zero
            : has("rm") || has("rmi") ? rounding::down
            : has("rp") || has("rpi") ? rounding::up
            : has("rna")              ? rounding::away
                                      : rounding::nearest;
  if (!decode_control(i) && !decode_memory_operation(*this, i) && !decode_warp_operation(*this, i) &&
      !decode_operation(i))
    i.what = action::unsupported, to_.clear(), from_.clear();
  i.to_count = static_cast<u8>(to_.size()), i.from_count = static_cast<u8>(from_.size());
  function_.operands.insert(function_.operands.end(), to_.begin(), to_.end());
  function_.operands.insert(function_.operands.end(), from_.begin(), from_.end());
}

bool decoder::decode_control(instruction& i) {
  const std::string_view name = words[0];
  const std::size_t here = function_.code.size() - 1;
  if (name == "bra") {
    i.what = action::branch;
    branches_.emplace_back(here, arguments.at(0));
  } else if (name == "brx") {
    i.what = action::table_branch;
    from(arguments.at(0), 4);
    table_branches_.emplace_back(here, arguments.at(1));
  } else if (name == "ret" || name == "exit") {
    i.what = name == "ret" ? action::ret : action::exit;
  } else if (name == "trap" || name == "brkpt") {
    i.what = action::trap;
  } else if (name == "call") {
    decode_call(i);
  } else {
    return false;
  }
  return true;
}

void decoder::decode_call(instruction& i) {
  call_site call;
  const auto offsets = [&](std::string_view list) {
    std::vector<u32> result;
    for (const std::string_view name : split(list.substr(1, list.size() - 2), ',')) {
      const symbol* const s = symbol_named(name);
      if (s == nullptr) refuse("unknown parameter '" + std::string(name) + "'");
      result.push_back(s->offset);
    }
    return result;
  };
  std::size_t k = 0;
  if (!arguments.empty() && arguments[0][0] == '(') call.results = offsets(arguments[k++]);
  call.name = arguments.at(k++);
  if (k < arguments.size() && arguments[k][0] == '(') call.arguments = offsets(arguments[k]);
  call.callee = module_.find(call.name);
  i.what = call.callee != nullptr ? action::call : action::unsupported;
  i.target = static_cast<u32>(function_.calls.size());
  function_.calls.push_back(std::move(call));
}

/// Builds the name of an operation, without the words that modify all operations alike, and with types of bits as
/// integers.
bool decoder::decode_operation(instruction& i) {
  const std::string_view name = words[0];
  std::string key(name);
  const bool moves = name == "mov" || name == "selp", compares = name == "setp" || name == "set";
  if (has("cc") || name == "addc" || name == "subc" || name == "madc") {
    i.mode = static_cast<u8>((name.back() == 'c' ? 1 : 0) | (has("cc") ? 2 : 0));
    if (name.back() != 'c') key += 'c';
  }
  for (std::size_t k = 1; k < words.size(); ++k) {
    const std::string_view word = words[k];
    const bool integral = word == "rni" || word == "rzi" || word == "rmi" || word == "rpi";
    if (integral) i.mode = 1;
    if (integral || word == "rn" || word == "rz" || word == "rm" || word == "rp" || word == "rna" || word == "ftz" ||
        word == "cc" || word.empty())
      continue;
    if (word == "approx" && !(name == "rcp" && type() == "f64")) continue;
    if (word == "sat" && !((name == "add" || name == "sub") && type() == "s32")) continue;
    if (compares && (word == "and" || word == "or" || word == "xor")) {
      i.mode = word == "and" ? 1 : (word == "or" ? 2 : 3);
      continue;
    }
    key += '.';
    if (compares && k == 1 && (word == "lo" || word == "ls"))
      key += word == "lo" ? "lt" : "le";
    else if (compares && k == 1 && (word == "hi" || word == "hs"))
      key += word == "hi" ? "gt" : "ge";
    else if ((word[0] == 'b' && word[1] >= '0' && word[1] <= '9') || (moves && size_of_type(word) != 0))
      key += "u" + std::to_string(8 * size_of_type(word));
    else
      key += word;
  }
  if (i.sat && key.find("sat.s32") != std::string::npos) i.sat = false;
  const bool joins = name == "mov" && arguments.size() == 2 && arguments[1][0] == '{';
  const bool splits = name == "mov" && arguments.size() == 2 && arguments[0][0] == '{';
  if (joins || splits) {
    const std::size_t parts = split(arguments[joins ? 1 : 0].substr(1), ',').size();
    key = (joins ? "join." : "take_apart.") + std::to_string(size_of_type(type()) / parts) + "." +
          std::to_string(size_of_type(type()));
  }
  const auto found = operations().find(key);
  if (found == operations().end() || arguments.empty()) return false;
  i.run = found->second.run, i.defines = found->second.defines;
  for (const std::string_view result : split(arguments[0], '|')) to_each(result);
  for (std::size_t k = 1; k < arguments.size(); ++k)
    from_each(arguments[k], found->second.from_bytes[std::min<std::size_t>(k - 1, 3)]);
  return true;
}

}  // namespace devplace::test::software_gpu
