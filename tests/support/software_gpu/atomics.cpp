// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <algorithm>
#include <cstring>

#include "support/software_gpu/decoder.hpp"
#include "support/software_gpu/memory.hpp"

// atom and red. The lanes of a warp execute one after the other.

namespace devplace::test::software_gpu {

namespace {

constexpr std::array<std::string_view, 10> names{"add", "inc", "dec", "min", "max", "exch", "cas", "and", "or", "xor"};
enum update : u8 {
  add,
  increment,
  decrement,
  minimum,
  maximum,
  exchange,
  compare_and_swap,
  and_bits,
  or_bits,
  xor_bits
};

template <class T> T updated(u8 how, T old, T x, T swap) {
  if constexpr (is_pair<T>) {
    return {updated(how, old.low, x.low, swap.low), updated(how, old.high, x.high, swap.high)};
  } else if constexpr (std::is_integral_v<T>) {
    switch (how) {
      case add:
        return static_cast<T>(static_cast<u64>(old) + static_cast<u64>(x));
      case increment:
        return old >= x ? T{0} : static_cast<T>(old + 1);
      case decrement:
        return old == 0 || old > x ? x : static_cast<T>(old - 1);
      case minimum:
        return std::min(old, x);
      case maximum:
        return std::max(old, x);
      case compare_and_swap:
        return old == x ? swap : old;
      case and_bits:
        return static_cast<T>(old & x);
      case or_bits:
        return static_cast<T>(old | x);
      case xor_bits:
        return static_cast<T>(old ^ x);
      default:
        return x;
    }
  } else {
    switch (how) {
      case add:
        return T(old + x);
      case minimum:
        return x < old ? x : old;
      case maximum:
        return old < x ? x : old;
      default:
        return x;
    }
  }
}

template <class T> void run(execution& e, const instruction& i) {
  // Sources: address, value, and what cas swaps in.
  const lanes_of<T> value(e, i.from[1]), swap(e, i.from[i.from_count - 1]);
  T results[warp_size];
  each_address(e, i, [&](unsigned lane, u64 address) {
    const place at = locate(e, i, lane, address, sizeof(T), access::update);
    T old{};
    if (at.data != nullptr) {
      std::memcpy(&old, at.data, sizeof old);
      const T now = updated(i.mode, old, value[lane], swap[lane]);
      std::memcpy(at.data, &now, sizeof now);
      if (at.written != nullptr) std::fill_n(at.written, sizeof(T), has_value);
    }
    results[lane] = old;
  });
  if (i.to_count != 0) store_lanes(e, i.to[0], results);
}

constexpr std::array<std::pair<std::string_view, run_function>, 14> of_type{{{"u32", &run<u32>},
                                                                             {"b32", &run<u32>},
                                                                             {"s32", &run<s32>},
                                                                             {"u64", &run<u64>},
                                                                             {"b64", &run<u64>},
                                                                             {"s64", &run<s64>},
                                                                             {"f32", &run<float>},
                                                                             {"f64", &run<double>},
                                                                             {"f16", &run<half>},
                                                                             {"bf16", &run<bfloat>},
                                                                             {"f16x2", &run<pair<half>>},
                                                                             {"bf16x2", &run<pair<bfloat>>},
                                                                             {"b16", &run<u16>},
                                                                             {"u16", &run<u16>}}};

}  // namespace

bool decode_atomic_operation(decoder& d, instruction& i) {
  const bool returns = d.words[0] == "atom";
  if (!returns && d.words[0] != "red") return false;
  const auto type = std::find_if(of_type.begin(), of_type.end(), [&](const auto& t) { return t.first == d.type(); });
  const auto name = std::find_if(names.begin(), names.end(), [&](std::string_view n) { return d.has(n); });
  if (type == of_type.end() || name == names.end() || d.has("v2") || d.has("v4")) return false;
  i.run = type->second, i.mode = static_cast<u8>(name - names.begin()), i.bytes = size_of_type(d.type());
  if (i.order == ordering::weak) i.order = ordering::relaxed;
  std::size_t k = 0;
  if (returns) d.to(d.arguments.at(k++));
  d.address(i, d.arguments.at(k++));
  for (; k < d.arguments.size(); ++k) d.from(d.arguments[k], i.bytes);
  return true;
}

}  // namespace devplace::test::software_gpu
