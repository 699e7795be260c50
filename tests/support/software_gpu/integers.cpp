// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <bit>
#include <type_traits>

#include "support/software_gpu/lanes.hpp"
#include "support/software_gpu/warp.hpp"

// Integers and bits. Sums and products are computed without a sign, for which overflow is defined.

namespace devplace::test::software_gpu {

namespace {

template <class T> using same = std::type_identity_t<T>;
template <class T> constexpr unsigned bits_of = 8 * sizeof(T);
template <class T> constexpr u64 wide(T x) { return static_cast<u64>(static_cast<s64>(x)); }
template <class T>
using twice = std::conditional_t<std::is_signed_v<T>, std::conditional_t<sizeof(T) == 2, s32, s64>,
                                 std::conditional_t<sizeof(T) == 2, u32, u64>>;

constexpr auto plus = []<class T>(T a, same<T> b) { return static_cast<T>(wide(a) + wide(b)); };
constexpr auto minus = []<class T>(T a, same<T> b) { return static_cast<T>(wide(a) - wide(b)); };
constexpr auto times = []<class T>(T a, same<T> b) { return static_cast<T>(wide(a) * wide(b)); };
constexpr auto times_wide = []<class T>(T a, same<T> b) { return static_cast<twice<T>>(static_cast<twice<T>>(a) * b); };
// Division by zero is not defined by PTX; hardware returns all ones, and the dividend as remainder.
constexpr auto quotient = []<class T>(T a, same<T> b) {
  if (b == 0) return static_cast<T>(-1);
  if (std::is_signed_v<T> && b == static_cast<T>(-1)) return minus(T{0}, a);
  return static_cast<T>(a / b);
};
constexpr auto remainder = []<class T>(T a, same<T> b) {
  if (b == 0) return a;
  if (std::is_signed_v<T> && b == static_cast<T>(-1)) return T{0};
  return static_cast<T>(a % b);
};

constexpr auto shift_left = []<class T>(T a, u32 n) { return n >= bits_of<T> ? T{0} : static_cast<T>(wide(a) << n); };
constexpr auto shift_right = []<class T>(T a, u32 n) {
  return static_cast<T>(a >> (n < bits_of<T> ? n : bits_of<T> - 1) >> (n < bits_of<T> ? 0 : 1));
};
constexpr auto insert_field = []<class T>(T a, same<T> b, u32 position, u32 length) {
  position &= 255, length &= 255;
  if (position >= bits_of<T>) return b;
  const u64 mask = (length < 64 ? (u64{1} << length) - 1 : ~u64{0}) << position;
  return static_cast<T>((static_cast<u64>(a) << position & mask) | (b & ~mask));
};
constexpr auto reversed = [](u32 a) {
  u32 result = 0;
  for (unsigned k = 0; k < 32; ++k) result = result << 1 | (a >> k & 1);
  return result;
};
constexpr auto permuted = [](u32 a, u32 b, u32 selector) {
  const u64 bytes = u64{b} << 32 | a;
  u32 result = 0;
  for (unsigned k = 0; k < 4; ++k) {
    const u32 select = selector >> (4 * k) & 15;
    u32 byte = static_cast<u32>(bytes >> (8 * (select & 7))) & 255;
    if ((select & 8) != 0) byte = (byte & 128) != 0 ? 255 : 0;
    result |= byte << (8 * k);
  }
  return result;
};
constexpr auto bit_mask = [](u32 first, u32 count) {
  const u64 mask = ((u64{1} << (count < 32 ? count : 32)) - 1) << (first < 32 ? first : 32);
  return static_cast<u32>(mask);
};

template <bool Reads, bool Writes, class F> void run_with_carry(execution& e, const instruction& i) {
  const lanes_of<u32> a(e, i.from[0]), b(e, i.from[1]), c(e, i.from[i.from_count - 1]);
  alignas(64) u32 results[warp_size];
  each_lane(e.active, [&](unsigned lane) {
    const u64 sum = F{}(a[lane], b[lane], c[lane], Reads ? e.of->carry >> lane & 1 : 0);
    results[lane] = static_cast<u32>(sum);
    if (Writes) e.of->carry = (e.of->carry & ~(1U << lane)) | static_cast<u32>(sum >> 32 & 1) << lane;
  });
  store_lanes(e, i.to[0], results);
}
/// Adds the operations that write the carry of their thread (.cc), read it (c), or both. F returns 33 bits.
template <class F> void add_carries(operation_table& table, const std::string& name, const std::string& part, F) {
  const std::vector<u8> from(name == "mad" ? 3 : 2, 4);
  table[name + part + ".cc.u32"] = {&run_with_carry<false, true, F>, from};
  table[name + "c" + part + ".cc.u32"] = {&run_with_carry<true, true, F>, from};
  table[name + "c" + part + ".u32"] = {&run_with_carry<true, false, F>, from};
}

template <class... T> void add_products(operation_table& table) {
  constexpr auto high = []<class U>(U a, same<U> b) { return static_cast<U>(times_wide(a, b) >> bits_of<U>); };
  constexpr auto plus_product = []<class U>(U a, same<U> b, twice<U> c) { return plus(times_wide(a, b), c); };
  (add<T, T, T>(table, "mul.hi", high), ...), (add<twice<T>, T, T>(table, "mul.wide", times_wide), ...);
  (add<twice<T>, T, T, twice<T>>(table, "mad.wide", plus_product), ...);
}
template <class... T> void add_arithmetic(operation_table& table) {
  add_binary<T...>(table, "add", plus), add_binary<T...>(table, "sub", minus), add_binary<T...>(table, "mul.lo", times);
  add_binary<T...>(table, "div", quotient), add_binary<T...>(table, "rem", remainder);
  add_binary<T...>(table, "min", []<class U>(U a, same<U> b) { return a < b ? a : b; });
  add_binary<T...>(table, "max", []<class U>(U a, same<U> b) { return a > b ? a : b; });
  add_ternary<T...>(table, "mad.lo", []<class U>(U a, same<U> b, same<U> c) { return plus(times(a, b), c); });
  (add<T, T, u32>(table, "shr", shift_right), ...);
}
template <class... T> void add_bits(operation_table& table) {
  add_binary<T...>(table, "and", []<class U>(U a, same<U> b) { return static_cast<U>(a & b); });
  add_binary<T...>(table, "or", []<class U>(U a, same<U> b) { return static_cast<U>(a | b); });
  add_binary<T...>(table, "xor", []<class U>(U a, same<U> b) { return static_cast<U>(a ^ b); });
  add_unary<T...>(table, "not", []<class U>(U a) { return static_cast<U>(~a); });
  (add<T, T, u32>(table, "shl", shift_left), ...);
  (add<u32, T>(table, "popc", [](T a) { return static_cast<u32>(std::popcount(a)); }), ...);
  (add<u32, T>(table, "clz", [](T a) { return static_cast<u32>(std::countl_zero(a)); }), ...);
  (add<T, T, T, u32, u32>(table, "bfi", insert_field), ...);
}

}  // namespace

void add_integer_operations(operation_table& table) {
  add_arithmetic<u16, s16, u32, s32, u64, s64>(table), add_products<u16, s16, u32, s32>(table);
  add_unary<s16, s32, s64>(table, "neg", []<class T>(T a) { return minus(T{0}, a); });
  add_unary<s16, s32, s64>(table, "abs", []<class T>(T a) { return a < 0 ? minus(T{0}, a) : a; });
  add_bits<u16, u32, u64>(table);
  add_unary<u32>(table, "brev", reversed);
  table["prmt.u32"] = {&join_parts<std::remove_const_t<decltype(permuted)>, u32, u32, u32, u32>, {4, 4, 4}, true};
  add_binary<u32>(table, "bmsk.clamp", bit_mask);
  add_carries(table, "add", "", [](u64 a, u64 b, u64, u64 carry) { return a + b + carry; });
  add_carries(table, "sub", "", [](u64 a, u64 b, u64, u64 carry) { return a - b - carry; });
  add_carries(table, "mad", ".lo", [](u64 a, u64 b, u64 c, u64 carry) { return (a * b & ~0U) + c + carry; });
  add_carries(table, "mad", ".hi", [](u64 a, u64 b, u64 c, u64 carry) { return (a * b >> 32) + c + carry; });
}

}  // namespace devplace::test::software_gpu
