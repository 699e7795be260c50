// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <algorithm>
#include <functional>
#include <map>

#include "support/software_gpu/warp.hpp"

// Makes the executor's form of a function from its text.

namespace devplace::test::software_gpu {

namespace {

const operation_table& operations() {
  static const operation_table table = [] {
    operation_table all;
    add_integer_operations(all), add_floating_operations(all), add_comparisons(all), add_conversions(all);
    add_memory_operations(all), add_warp_operations(all);
    all["ret"].what = action::ret, all["exit"].what = action::exit, all["trap"].what = action::trap;
    return all;
  }();
  return table;
}

u64 address_in_frame(const execution&, frame& f, const variable*, unsigned lane) {
  return reinterpret_cast<u64>(f.lane_memory(lane));
}
u64 address_of_parameters(const execution& e, frame&, const variable*, unsigned) {
  return reinterpret_cast<u64>(e.launch->parameters.data());
}
u64 address_in_shared(const execution& e, frame&, const variable* of, unsigned) {
  return e.launch->kernel.shared.at(of);
}

class decoder {
 public:
  decoder(ptx_module& from, function& into) : module_(from), function_(into) {}
  void decode() {
    scopes_.push_back({special_registers()});
    function_.results = declare_parameters(function_.results_text);
    function_.parameters = declare_parameters(function_.parameters_text);
    if (function_.kernel) area_ = function_.memory_bytes = 0;
    std::string_view rest = function_.body;
    for (std::size_t at; (at = rest.find_first_not_of(' ')) != std::string_view::npos;) {
      rest.remove_prefix(at);
      std::size_t end = 0;
      if (rest[0] == '{') {
        scopes_.emplace_back().area = area_;
      } else if (rest[0] == '}') {
        area_ = scopes_.back().area;
        scopes_.pop_back();
      } else {
        end = std::min(rest.find_first_of(";:"), rest.size() - 1);
        const std::string_view text = trimmed(rest.substr(0, end));
        if (rest[end] == ':')
          labels_[text] = static_cast<u32>(function_.code.size());
        else if (text.starts_with('.'))
          declare(text);
        else if (!text.empty())
          decode_instruction(text);
      }
      rest.remove_prefix(end + 1);
    }
    instruction& end = function_.code.emplace_back();
    end.what = action::ret, end.text = "the end of the function";
    for (const auto& [at, label] : branches_) {
      const auto target = labels_.find(label);
      if (target == labels_.end()) refuse("unknown label '" + std::string(label) + "'");
      function_.code[at].target = target->second;
    }
    function_.memory_bytes = static_cast<u32>(aligned(function_.memory_bytes, 16));
    const operand* next = function_.operands.data();
    for (instruction& i : function_.code) i.to = next, i.from = next + i.to_count, next += i.to_count + i.from_count;
  }

 private:
  /// A register named in PTX. If `known` is set, calls of the function first store its value plus `offset` there.
  struct meaning {
    operand of_register;
    preset_register::value_of_lane known = nullptr;
    u32 offset = 0;
  };
  struct scope {
    std::map<std::string, meaning, std::less<>> names;
    u32 area = 0;
  };

  static std::map<std::string, meaning, std::less<>> special_registers() {
    return {
        {"%tid.x", {{}, [](auto& e, auto&, auto, unsigned lane) { return u64{e.of->number} * warp_size + lane; }}},
        {"%ntid.x", {{}, [](auto& e, auto&, auto, unsigned) { return u64{e.launch->configuration.threads}; }}},
        {"%ctaid.x", {{}, [](auto& e, auto&, auto, unsigned) { return u64{e.block->number}; }}},
        {"%nctaid.x", {{}, [](auto& e, auto&, auto, unsigned) { return u64{e.launch->configuration.blocks}; }}},
        {"%laneid", {{}, [](auto&, auto&, auto, unsigned lane) { return u64{lane}; }}},
        {"%lanemask_le", {{}, [](auto&, auto&, auto, unsigned lane) { return u64{(2U << lane) - 1}; }}},
        {"%lanemask_ge", {{}, [](auto&, auto&, auto, unsigned lane) { return u64{all_lanes << lane}; }}},
    };
  }

  [[noreturn]] void refuse(const std::string& why) const {
    const std::string text(function_.code.empty() ? function_.parameters_text : function_.code.back().text);
    throw ptx_error("software GPU: " + why + " in '" + text + "' of " + function_.name);
  }

  operand new_register(u8 bytes) {
    operand o{function_.register_bytes, function_.register_count++, plane::registers, bytes};
    function_.register_bytes += bytes == 0 ? 8 : warp_size * bytes;
    return o;
  }

  operand new_constant(u8 bytes) {
    operand o{static_cast<u32>(function_.constants.size() * 8), 0, plane::constants, bytes};
    function_.constants.resize(function_.constants.size() + (bytes == 0 ? 1 : warp_size * bytes / 8U));
    return o;
  }

  /// Immediates are planes with the same number in each lane, so that operations need not tell them from registers.
  operand immediate(u64 bits, u8 bytes) {
    const auto [at, added] = immediates_.try_emplace({bits, bytes});
    if (added) {
      at->second = new_constant(bytes);
      function_.set_constant(at->second, bytes == 0 && bits != 0 ? all_lanes : bits);
    }
    return at->second;
  }

  operand preset(preset_register::value_of_lane value, u32 offset = 0, const variable* of = nullptr) {
    for (const preset_register& p : function_.presets)
      if (p.value == value && p.offset == offset && p.of == of) return p.holder;
    function_.presets.push_back({new_register(8), value, offset, of});
    return function_.presets.back().holder;
  }

  /// Searches the scopes from the innermost on.
  const meaning* find(std::string_view name) const {
    for (auto at = scopes_.rbegin(); at != scopes_.rend(); ++at)
      if (const auto found = at->names.find(name); found != at->names.end()) return &found->second;
    return nullptr;
  }

  operand resolve(std::string_view text, u8 bytes) {
    if (const meaning* const m = find(text)) return m->known == nullptr ? m->of_register : preset(m->known, m->offset);
    if (const auto bits = number(text)) return immediate(*bits, bytes);
    const auto v = module_.variables.find(text);
    if (v == module_.variables.end()) refuse("unknown operand '" + std::string(text) + "'");
    if (v->second->where != space::shared) return immediate(v->second->address, 8);
    function_.shared[v->second.get()];
    return preset(address_in_shared, 0, v->second.get());
  }

  /// Adds the address "[base+displacement]". Elements of a kernel's parameters are constants of a launch, which are
  /// added in place of the address; returns whether they were.
  bool decode_address(instruction& i, std::string_view address, u8 bytes) {
    const auto parts = split(address.substr(1, address.size() - 2), '+');
    const auto displacement = parts.size() == 1 ? 0 : number(parts.back());
    if (!displacement) refuse("the displacement is no number");
    const meaning* const m = find(parts.at(0));
    i.displacement = *displacement + (m != nullptr ? m->offset : 0);
    const bool constants = m != nullptr && m->known == address_of_parameters;
    for (u32 k = 0; k < i.count && constants; ++k) {
      from_.push_back(new_constant(bytes));
      function_.launch_constants.push_back({from_.back(), {static_cast<u32>(i.displacement) + k * bytes, bytes}});
    }
    const bool local = m != nullptr && m->known == address_in_frame;
    if (!constants) from_.push_back(local ? preset(address_in_frame) : resolve(parts.at(0), 8));
    return constants;
  }

  parameter declare_in_frame(std::string_view text, preset_register::value_of_lane address) {
    const declaration d = declared(text);
    const auto offset = static_cast<u32>(aligned(area_, d.alignment));
    area_ = offset + static_cast<u32>(d.bytes);
    function_.memory_bytes = std::max(function_.memory_bytes, area_);
    scopes_.back().names[std::string(d.name)] = {{}, address, offset};
    return {offset, static_cast<u32>(d.bytes)};
  }

  std::vector<parameter> declare_parameters(std::string_view list) {
    std::vector<parameter> result;
    for (const std::string_view text : split(list, ','))
      result.push_back(declare_in_frame(text, function_.kernel ? address_of_parameters : address_in_frame));
    return result;
  }

  /// ".reg .b32 %r<5>, name"
  void declare_registers(std::string_view text) {
    const std::string_view type = split(text, ' ').at(1);
    const u8 bytes = size_of_type(type.substr(1));
    auto& names = scopes_.back().names;
    for (const std::string_view name : split(text.substr(text.find(type) + type.size()), ',')) {
      const std::size_t angle = std::min(name.find('<'), name.size());
      const std::string first(name.substr(0, angle));
      if (angle == name.size()) names[first].of_register = new_register(bytes);
      const u64 count = angle == name.size() ? 0 : number(name.substr(angle + 1, name.size() - angle - 2)).value_or(0);
      for (u64 k = 0; k < count; ++k) names[first + std::to_string(k)].of_register = new_register(bytes);
    }
  }

  void declare(std::string_view text) {
    if (text.starts_with(".reg "))
      declare_registers(text);
    else if (text.starts_with(".local ") || text.starts_with(".param "))
      declare_in_frame(text, address_in_frame);
    else if (text.starts_with(".shared "))
      add_variable(module_, text);
    else if (!text.starts_with(".pragma "))
      refuse("unknown declaration '" + std::string(text) + "'");
  }

  void decode_instruction(std::string_view text) {
    instruction& i = function_.code.emplace_back();
    i.text = text;
    if (text[0] == '@') {
      i.guarded = true, i.guard_negated = text[1] == '!';
      const std::size_t begin = i.guard_negated ? 2 : 1, end = text.find(' ');
      i.guard = resolve(text.substr(begin, end - begin), 0);
      text = trimmed(text.substr(end));
    }
    const std::string_view opcode = text.substr(0, text.find(' '));
    const auto arguments = split(text.substr(opcode.size()), ',');
    to_.clear(), from_.clear();
    if (opcode == "bra" || opcode == "bra.uni") {
      i.what = action::branch;
      branches_.emplace_back(function_.code.size() - 1, arguments.at(0));
    } else if (opcode == "call" || opcode == "call.uni") {
      decode_call(i, arguments);
    } else if (!decode_operation(i, opcode, arguments)) {
      i.what = action::unsupported, to_.clear(), from_.clear();
    }
    i.to_count = static_cast<u8>(to_.size()), i.from_count = static_cast<u8>(from_.size());
    function_.operands.insert(function_.operands.end(), to_.begin(), to_.end());
    function_.operands.insert(function_.operands.end(), from_.begin(), from_.end());
  }

  void decode_call(instruction& i, const std::vector<std::string_view>& arguments) {
    call_site call;
    const auto offsets = [&](std::string_view list) {
      std::vector<u32> result;
      for (const std::string_view name : split(list.substr(1, list.size() - 2), ',')) {
        const meaning* const m = find(name);
        if (m == nullptr) refuse("unknown parameter '" + std::string(name) + "'");
        result.push_back(m->offset);
      }
      return result;
    };
    std::size_t k = 0;
    if (arguments.at(0)[0] == '(') call.results = offsets(arguments[k++]);
    call.callee = module_.find(arguments.at(k++));
    if (k < arguments.size()) call.arguments = offsets(arguments[k]);
    i.what = call.callee != nullptr ? action::call : action::unsupported;
    i.target = static_cast<u32>(function_.calls.size());
    function_.calls.push_back(std::move(call));
  }

  /// Looks the instruction up; false if this machine lacks it.
  bool decode_operation(instruction& i, std::string_view opcode, const std::vector<std::string_view>& arguments) {
    const auto words = split(opcode, '.');
    std::string key(words[0]);
    for (std::size_t k = 1; k < words.size(); ++k) {
      const std::string_view word = words[k];
      const auto where = std::find(spaces.begin(), spaces.end(), word);
      if (where != spaces.end())
        i.where = static_cast<space>(where - spaces.begin());
      else if (word == "relaxed" || word == "volatile")
        i.strong = true;
      else if (word == "v2" || word == "v4")
        i.count = word == "v2" ? 2 : 4;
      else if (word[0] == 'b' && size_of_type(word) != 0)
        key += ".u" + std::string(word.substr(1));
      else if (word != "rn" && word != "gpu" && word != "nc" && word != "cg")
        key += "." + std::string(word);
    }
    i.strong = i.strong || words[0] == "atom";
    const auto in_braces = [&](std::size_t k) { return k < arguments.size() && arguments[k][0] == '{'; };
    if (words[0] == "mov" && in_braces(0)) key.replace(0, 3, "take_apart");
    if (words[0] == "mov" && in_braces(1)) key.replace(0, 3, "join");
    const auto found = operations().find(key);
    if (found == operations().end()) return false;
    const operation& o = found->second;
    i.run = o.run, i.what = o.what, i.defines = o.defines, i.whole_warp = o.whole_warp;
    std::size_t sources = o.from_bytes.size() + (o.results == 0 ? i.count - 1U : 0U);
    for (std::size_t k = 0; k < arguments.size(); ++k) {
      const std::string_view argument = arguments[k];
      if (argument[0] == '[') {
        if (!decode_address(i, argument, size_of_type(words.back()))) continue;
        i.run = operations().at("mov" + key.substr(2)).run, i.defines = false, sources = i.count;
        continue;
      }
      for (const auto part : in_braces(k) ? split(argument.substr(1, argument.size() - 2), ',') : split(argument, '|'))
        if (k < o.results)
          to_.push_back(resolve(part, 0));
        else
          from_.push_back(resolve(part, o.from_bytes.at(std::min(from_.size(), o.from_bytes.size() - 1))));
    }
    return from_.size() == sources;
  }

  ptx_module& module_;
  function& function_;
  std::vector<scope> scopes_;
  std::vector<operand> to_, from_;
  std::map<std::pair<u64, u8>, operand> immediates_;
  std::unordered_map<std::string_view, u32> labels_;
  std::vector<std::pair<std::size_t, std::string_view>> branches_;
  u32 area_ = 0;
};

}  // namespace

void decode(ptx_module& from, function& f) {
  if (f.decoded) return;
  f.decoded = true;
  decoder(from, f).decode();
  for (const call_site& call : f.calls)
    if (call.callee != nullptr) {
      decode(from, *call.callee);
      f.shared.insert(call.callee->shared.begin(), call.callee->shared.end());
    }
  for (auto& [v, offset] : f.shared) {
    offset = static_cast<u32>(aligned(f.shared_bytes, v->declared.alignment));
    f.shared_bytes = offset + static_cast<u32>(v->declared.bytes);
  }
}

}  // namespace devplace::test::software_gpu
