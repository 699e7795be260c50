// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <algorithm>
#include <bit>
#include <limits>
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
__extension__ using s128 = __int128;
__extension__ using u128 = unsigned __int128;

constexpr auto plus = []<class T>(T a, same<T> b) { return static_cast<T>(wide(a) + wide(b)); };
constexpr auto minus = []<class T>(T a, same<T> b) { return static_cast<T>(wide(a) - wide(b)); };
constexpr auto times = []<class T>(T a, same<T> b) { return static_cast<T>(wide(a) * wide(b)); };
constexpr auto times_high = []<class T>(T a, same<T> b) {
  if constexpr (sizeof(T) == 8)
    return static_cast<T>(static_cast<std::conditional_t<std::is_signed_v<T>, s128, u128>>(a) * b >> 64);
  else
    return static_cast<T>(static_cast<twice<T>>(a) * static_cast<twice<T>>(b) >> bits_of<T>);
};
constexpr auto times_wide = []<class T>(T a, same<T> b) { return static_cast<twice<T>>(static_cast<twice<T>>(a) * b); };
/// The low 24 bits of an operand of mul24.
constexpr auto low_24 = []<class T>(T a) {
  return std::is_signed_v<T> ? static_cast<T>(static_cast<s32>(static_cast<u32>(a) << 8) >> 8)
                             : static_cast<T>(a & 0xffffff);
};
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
constexpr auto clamped_sum = [](s32 a, s64 b) {
  const s64 sum = s64{a} + b;
  const s64 low = std::numeric_limits<s32>::min(), high = std::numeric_limits<s32>::max();
  return static_cast<s32>(sum < low ? low : (sum > high ? high : sum));
};

constexpr auto shift_left = []<class T>(T a, u32 n) { return n >= bits_of<T> ? T{0} : static_cast<T>(wide(a) << n); };
constexpr auto shift_right = []<class T>(T a, u32 n) {
  return static_cast<T>(a >> (n < bits_of<T> ? n : bits_of<T> - 1) >> (n < bits_of<T> ? 0 : 1));
};

constexpr auto extract_field = []<class T>(T a, u32 position, u32 length) {
  position &= 255, length &= 255;
  const u64 bits = static_cast<std::make_unsigned_t<T>>(a);
  const u32 last = std::min<u32>(position + length - 1, bits_of<T> - 1);
  const bool sign = std::is_signed_v<T> && length != 0 && (bits >> last & 1) != 0;
  const u32 present = position < bits_of<T> ? std::min<u32>(length, bits_of<T> - position) : 0;
  const u64 mask = present < 64 ? (u64{1} << present) - 1 : ~u64{0};
  return static_cast<T>((position < bits_of<T> ? bits >> position & mask : 0) | (sign ? ~mask : 0));
};
constexpr auto insert_field = []<class T>(T a, same<T> b, u32 position, u32 length) {
  position &= 255, length &= 255;
  if (position >= bits_of<T>) return b;
  const u64 mask = (length < 64 ? (u64{1} << length) - 1 : ~u64{0}) << position;
  return static_cast<T>((static_cast<u64>(a) << position & mask) | (b & ~mask));
};
constexpr auto highest_bit = []<class T>(T a) {
  using bits = std::make_unsigned_t<T>;
  const bits x = a < 0 ? static_cast<bits>(~a) : static_cast<bits>(a);
  return static_cast<u32>(std::bit_width(x)) - 1;
};
constexpr auto reversed = []<class T>(T a) {
  T result = 0;
  for (unsigned k = 0; k < bits_of<T>; ++k) result = static_cast<T>(result << 1 | (a >> k & 1));
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
constexpr auto funnel_left = [](u32 low, u32 high, u32 n) {
  return n == 0 ? high : (n >= 32 ? low : high << n | low >> (32 - n));
};
constexpr auto funnel_right = [](u32 low, u32 high, u32 n) {
  return n == 0 ? low : (n >= 32 ? high : low >> n | high << (32 - n));
};
constexpr auto any_of_three = [](u32 a, u32 b, u32 c, u32 truth) {
  u32 result = 0;
  for (unsigned k = 0; k < 8; ++k)
    if ((truth >> k & 1) != 0) result |= ((k & 4) != 0 ? a : ~a) & ((k & 2) != 0 ? b : ~b) & ((k & 1) != 0 ? c : ~c);
  return result;
};
constexpr auto bit_mask = [](u32 first, u32 count) {
  const u64 mask = ((u64{1} << (count < 32 ? count : 32)) - 1) << (first < 32 ? first : 32);
  return static_cast<u32>(mask);
};
template <class A, class B>
constexpr auto dot_of_bytes = [](u32 a, u32 b, u32 c) {
  for (unsigned k = 0; k < 32; k += 8)
    c += static_cast<u32>(static_cast<s32>(static_cast<A>(a >> k)) * static_cast<s32>(static_cast<B>(b >> k)));
  return c;
};

/// Additions, subtractions and multiplications that read (mode 1) and write (mode 2) the carry of their thread.
enum class with_carry { add, subtract, low_product, high_product };
template <class T, with_carry Operation> void run_with_carry(execution& e, const instruction& i) {
  const lanes_of<T> a(e, i.from[0]), b(e, i.from[1]), c(e, i.from[i.from_count - 1]);
  alignas(64) T results[warp_size];
  using bits = std::make_unsigned_t<T>;
  e.each([&](unsigned lane) {
    const u128 x = static_cast<bits>(a[lane]), y = static_cast<bits>(b[lane]), z = static_cast<bits>(c[lane]);
    const u128 in = (i.mode & 1) != 0 ? e.of->carry >> lane & 1 : 0;
    u128 all = x + y + in;
    if constexpr (Operation == with_carry::subtract) all = x - y - in;
    if constexpr (Operation == with_carry::low_product) all = u128{static_cast<bits>(times(a[lane], b[lane]))} + z + in;
    if constexpr (Operation == with_carry::high_product)
      all = u128{static_cast<bits>(times_high(a[lane], b[lane]))} + z + in;
    results[lane] = static_cast<T>(all);
    if ((i.mode & 2) != 0)
      e.of->carry = (e.of->carry & ~(1U << lane)) | static_cast<u32>(all >> bits_of<T> & 1) << lane;
  });
  store_lanes(e, i.to[0], results);
}
template <class T> void add_carries(operation_table& table) {
  const auto add = [&](const char* name, run_function run) {
    const u8 size = sizeof(T);
    table[name + std::string(name_of<T>())] = {run, size, {size, size, size}};
  };
  add("addc", &run_with_carry<T, with_carry::add>), add("subc", &run_with_carry<T, with_carry::subtract>);
  add("madc.lo", &run_with_carry<T, with_carry::low_product>);
  add("madc.hi", &run_with_carry<T, with_carry::high_product>);
}

template <class... T> void add_arithmetic(operation_table& table) {
  add_binary<T...>(table, "add", plus), add_binary<T...>(table, "sub", minus);
  add_binary<T...>(table, "mul.lo", times), add_binary<T...>(table, "mul.hi", times_high);
  add_binary<T...>(table, "div", quotient), add_binary<T...>(table, "rem", remainder);
  add_binary<T...>(table, "min", []<class U>(U a, same<U> b) { return a < b ? a : b; });
  add_binary<T...>(table, "max", []<class U>(U a, same<U> b) { return a > b ? a : b; });
  add_ternary<T...>(table, "mad.lo", []<class U>(U a, same<U> b, same<U> c) { return plus(times(a, b), c); });
  add_ternary<T...>(table, "mad.hi", []<class U>(U a, same<U> b, same<U> c) { return plus(times_high(a, b), c); });
  add_ternary<T...>(table, "sad",
                    []<class U>(U a, same<U> b, same<U> c) { return plus(c, a < b ? minus(b, a) : minus(a, b)); });
  ((table[std::string("shr") + name_of<T>()] = lanewise<T, T, u32>(shift_right)), ...);
}

template <class... T> void add_wide_products(operation_table& table) {
  ((table[std::string("mul.wide") + name_of<T>()] = lanewise<twice<T>, T, T>(times_wide)), ...);
  ((table[std::string("mad.wide") + name_of<T>()] =
        lanewise<twice<T>, T, T, twice<T>>([](T a, T b, twice<T> c) { return plus(times_wide(a, b), c); })),
   ...);
}

}  // namespace

void add_integer_operations(operation_table& table) {
  add_arithmetic<u16, s16, u32, s32, u64, s64>(table);
  add_wide_products<u16, s16, u32, s32>(table);
  add_binary<u32, s32>(table, "mul24.lo", []<class T>(T a, same<T> b) { return times(low_24(a), low_24(b)); });
  add_ternary<u32, s32>(table, "mad24.lo",
                        []<class T>(T a, same<T> b, same<T> c) { return plus(times(low_24(a), low_24(b)), c); });
  add_unary<s16, s32, s64>(table, "neg", []<class T>(T a) { return minus(T{0}, a); });
  add_unary<s16, s32, s64>(table, "abs", []<class T>(T a) { return a < 0 ? minus(T{0}, a) : a; });
  table["add.sat.s32"] = lanewise<s32, s32, s32>([](s32 a, s32 b) { return clamped_sum(a, b); });
  table["sub.sat.s32"] = lanewise<s32, s32, s32>([](s32 a, s32 b) { return clamped_sum(a, -s64{b}); });

  add_binary<u16, u32, u64>(table, "and", []<class T>(T a, same<T> b) { return static_cast<T>(a & b); });
  add_binary<u16, u32, u64>(table, "or", []<class T>(T a, same<T> b) { return static_cast<T>(a | b); });
  add_binary<u16, u32, u64>(table, "xor", []<class T>(T a, same<T> b) { return static_cast<T>(a ^ b); });
  add_unary<u16, u32, u64>(table, "not", []<class T>(T a) { return static_cast<T>(~a); });
  add_unary<u16, u32, u64>(table, "cnot", []<class T>(T a) { return static_cast<T>(a == 0 ? 1 : 0); });
  add_unary<u8, u16, u32, u64>(table, "mov", []<class T>(T a) { return a; });
  add_unary<u32, u64>(table, "brev", reversed);
  table["shl.u16"] = lanewise<u16, u16, u32>(shift_left);
  table["shl.u32"] = lanewise<u32, u32, u32>(shift_left), table["shl.u64"] = lanewise<u64, u64, u32>(shift_left);

  table["bfe.u32"] = lanewise<u32, u32, u32, u32>(extract_field);
  table["bfe.s32"] = lanewise<s32, s32, u32, u32>(extract_field);
  table["bfe.u64"] = lanewise<u64, u64, u32, u32>(extract_field);
  table["bfe.s64"] = lanewise<s64, s64, u32, u32>(extract_field);
  table["bfi.u32"] = lanewise<u32, u32, u32, u32, u32>(insert_field);
  table["bfi.u64"] = lanewise<u64, u64, u64, u32, u32>(insert_field);
  table["bfind.u32"] = lanewise<u32, u32>(highest_bit), table["bfind.s32"] = lanewise<u32, s32>(highest_bit);
  table["bfind.u64"] = lanewise<u32, u64>(highest_bit), table["bfind.s64"] = lanewise<u32, s64>(highest_bit);
  // The shift that moves the highest bit to the top.
  constexpr auto shift_of = [](auto a) {
    const u32 bit = highest_bit(a);
    return bit == ~0U ? bit : static_cast<u32>(bits_of<decltype(a)>) - 1 - bit;
  };
  table["bfind.shiftamt.u32"] = lanewise<u32, u32>(shift_of),
  table["bfind.shiftamt.s32"] = lanewise<u32, s32>(shift_of);
  table["bfind.shiftamt.u64"] = lanewise<u32, u64>(shift_of),
  table["bfind.shiftamt.s64"] = lanewise<u32, s64>(shift_of);
  constexpr auto ones = [](auto a) { return static_cast<u32>(std::popcount(a)); };
  constexpr auto zeros = [](auto a) { return static_cast<u32>(std::countl_zero(a)); };
  table["popc.u32"] = lanewise<u32, u32>(ones), table["popc.u64"] = lanewise<u32, u64>(ones);
  table["clz.u32"] = lanewise<u32, u32>(zeros), table["clz.u64"] = lanewise<u32, u64>(zeros);
  add_ternary<u32>(table, "prmt", permuted);
  add_ternary<u32>(table, "shf.l.clamp", funnel_left), add_ternary<u32>(table, "shf.r.clamp", funnel_right);
  add_ternary<u32>(table, "shf.l.wrap", [](u32 a, u32 b, u32 n) { return funnel_left(a, b, n & 31); });
  add_ternary<u32>(table, "shf.r.wrap", [](u32 a, u32 b, u32 n) { return funnel_right(a, b, n & 31); });
  table["lop3.u32"] = lanewise<u32, u32, u32, u32, u32>(any_of_three);
  add_binary<u32>(table, "bmsk.clamp", bit_mask);
  add_binary<u32>(table, "bmsk.wrap", [](u32 a, u32 b) { return bit_mask(a & 31, b & 31); });
  add_ternary<u32>(table, "dp4a.u32", dot_of_bytes<u8, u8>), add_ternary<u32>(table, "dp4a.s32", dot_of_bytes<s8, s8>);
  table["dp4a.u32.u32"] = lanewise<u32, u32, u32, u32>(dot_of_bytes<u8, u8>);
  table["dp4a.s32.s32"] = lanewise<u32, u32, u32, u32>(dot_of_bytes<s8, s8>);
  add_carries<u32>(table), add_carries<s32>(table), add_carries<u64>(table), add_carries<s64>(table);
}

}  // namespace devplace::test::software_gpu
