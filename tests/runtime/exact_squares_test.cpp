// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <devplace/runtime/exact_squares.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <limits>
#include <random>
#include <vector>

#include <devplace/backend/cpu/detail/instruction_sets.hpp>
#include <devplace/base/thread_team.hpp>
#include <devplace/runtime/clip_factor.hpp>

#include "support/catch.hpp"
#include "support/element_types.hpp"

namespace dp = devplace;
namespace runtime = devplace::runtime;

namespace {

/// The integers of a norm.
struct integers {
  std::int64_t value[runtime::norm_integers] = {-1, -1, -1};

  friend bool operator==(const integers&, const integers&) = default;
};

template <class T> double root(const integers& of) {
  return runtime::exact_squares<T>::root(of.value[0], runtime::stored_digits(of.value));
}

/// Computes the integers in parts that end at `ends`, as places with these shares do, and reduces them.
template <class T> integers in_parts(const std::vector<T>& numbers, const std::vector<std::size_t>& ends) {
  std::vector<integers> parts(ends.size());
  const auto each = [&](const auto& f) {
    for (std::size_t k = 0; k != ends.size(); ++k) {
      const std::size_t begin = k == 0 ? 0 : ends[k - 1];
      f(ends[k] - begin, numbers.data() + begin, parts[k].value);
    }
  };
  each([](std::size_t n, const T* x, std::int64_t* to) { runtime::find_largest<dp::backend::cpu>(0, n, x, to); });
  integers sum{{0, 0, 0}};
  for (const integers& part : parts) sum.value[0] = std::max(sum.value[0], part.value[0]);
  for (integers& part : parts) part.value[0] = sum.value[0];
  each([](std::size_t n, const T* x, std::int64_t* to) { runtime::add_squares<dp::backend::cpu>(0, n, x, to, false); });
  for (const integers& part : parts)
    for (std::size_t i = 1; i != runtime::norm_integers; ++i) sum.value[i] += part.value[i];
  return sum;
}
template <class T> integers whole(const std::vector<T>& numbers) { return in_parts(numbers, {numbers.size()}); }

/// An integer of any size, in digits of 32 bits.
class big_integer {
 public:
  /// Adds value * 2^shift.
  void add(std::uint64_t value, unsigned shift) {
    if (value >> 32 != 0) add(value >> 32, shift + 32);
    std::size_t i = shift / 32;
    std::uint64_t carry = (value & 0xffff'ffff) << shift % 32;
    for (; carry != 0; ++i, carry >>= 32) {
      carry += digits_[i];
      digits_[i] = static_cast<std::uint32_t>(carry);
    }
  }
  /// The number times 2^-shift.
  long double times_power(int shift) const {
    long double all = 0;
    for (std::size_t i = digits_.size(); i-- > 0;)
      all += std::ldexp(static_cast<long double>(digits_[i]), static_cast<int>(32 * i) + shift);
    return all;
  }

 private:
  std::vector<std::uint32_t> digits_ = std::vector<std::uint32_t>(32);
};

/// The root of the exact sum of squares of floats, rounded only at the end.
double exact_root(const std::vector<float>& numbers) {
  big_integer sum;  // in units of 2^-400
  for (const float x : numbers) {
    int exponent = 0;
    const auto digits = static_cast<std::uint64_t>(std::ldexp(std::frexp(std::abs(x), &exponent), 24));
    if (digits != 0) sum.add(digits * digits, static_cast<unsigned>(2 * (exponent - 24) + 400));
  }
  return static_cast<double>(std::sqrt(sum.times_power(-400)));
}

/// Numbers whose magnitudes are between two powers of two.
template <class T> std::vector<T> between(int lowest, int highest, std::size_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_int_distribution<int> exponents(lowest, highest - 1);
  std::uniform_real_distribution<double> digits(1, 2);
  std::vector<T> numbers(n);
  for (T& x : numbers) {
    x = static_cast<T>(std::ldexp(digits(random), exponents(random)));
    if (random() % 2 == 0) x = -x;
  }
  return numbers;
}

}  // namespace

TEST_CASE("the norm of floats of any magnitude equals the root of the exact sum of squares", "[runtime]") {
  const auto check = [](const std::vector<float>& numbers) {
    CHECK(std::abs(root<float>(whole(numbers)) / exact_root(numbers) - 1) < 4e-16);
  };
  for (const std::size_t n : {1u, 7u, 31u, 4095u, 4096u, 4097u, 100'003u}) {
    INFO(n << " numbers");
    check(between<float>(-1, 0, n, 1));
    check(between<float>(-30, 30, n, 2));
    check(between<float>(-100, 100, n, 3));
    check(between<float>(126, 128, n, 4));
    check(between<float>(-149, -126, n, 5));  // subnormal
  }
  // Each small square is below half a unit of the largest one in double.
  std::vector<float> one_large(300'000, 0x1p-30F);
  one_large[77'777] = 1;
  CHECK(root<float>(whole(one_large)) == std::sqrt(1 + 299'999 * 0x1p-60));
  one_large[77'777] = -1.5F;
  check(one_large);
}

TEMPLATE_TEST_CASE("the norm is within rounding of a sum in long double", "[runtime]", FLOATING_TYPES) {
  for (const std::size_t n : {1u, 100u, 5000u, 200'000u}) {
    const auto numbers = between<TestType>(-30, 30, n, 6);
    long double sum = 0;
    for (const TestType x : numbers) sum += static_cast<long double>(x) * static_cast<long double>(x);
    CHECK(std::abs(root<TestType>(whole(numbers)) / static_cast<double>(std::sqrt(sum)) - 1) < 1e-15);
  }
}

TEMPLATE_TEST_CASE("the norm of integers with an integral norm is exact", "[runtime]", FLOATING_TYPES) {
  CHECK(root<TestType>(whole(std::vector<TestType>{})) == 0);
  CHECK(root<TestType>(whole(std::vector<TestType>(1000, 0))) == 0);
  CHECK(root<TestType>(whole(std::vector<TestType>{3, -4})) == 5);
  CHECK(root<TestType>(whole(std::vector<TestType>{2, 3, 6})) == 7);
  CHECK(root<TestType>(whole(std::vector<TestType>(1 << 20, 3))) == 3 << 10);
  const TestType below = std::nextafter(TestType{1}, TestType{0});  // its square is rounded to the largest multiple
  CHECK(root<TestType>(whole(std::vector<TestType>(1 << 20, below))) == 1024 * static_cast<double>(below));
  const TestType tiny = std::numeric_limits<TestType>::min();
  CHECK(root<TestType>(whole(std::vector<TestType>{3 * tiny, 4 * tiny})) == static_cast<double>(5 * tiny));
  const TestType large = std::ldexp(TestType{1}, std::numeric_limits<TestType>::max_exponent - 3);
  CHECK(root<TestType>(whole(std::vector<TestType>{3 * large, 4 * large})) == static_cast<double>(5 * large));
  const TestType largest = std::numeric_limits<TestType>::max();
  CHECK(root<TestType>(whole(std::vector<TestType>{0, largest})) == static_cast<double>(largest));
}

TEMPLATE_TEST_CASE("the norm has the same bits in any order, in any parts, on any team, with all instructions",
                   "[runtime]", FLOATING_TYPES) {
  for (const int range : {1, 20, 100}) {
    auto numbers = between<TestType>(-range, range, 50'021, 7);
    const integers all = whole(numbers);
    for (const std::size_t parts : {2u, 3u, 4u, 5u, 9u}) {
      std::vector<std::size_t> ends;
      for (std::size_t k = 1; k <= parts; ++k) ends.push_back(numbers.size() * k * k / parts / parts);
      ends.insert(ends.begin(), 0);  // an empty part
      CHECK(root<TestType>(in_parts(numbers, ends)) == root<TestType>(all));
    }
    for (const int members : {1, 2, 3, 7}) {
      dp::builtin_thread_team team(members);
      const dp::thread_team_scope scope(team);
      CHECK(whole(numbers) == all);
    }
    const runtime::exact_squares<TestType> squares(all.value[0]);
    for (const auto isa : {dp::detail::cpu_isa::generic, dp::detail::cpu_isa::avx2, dp::detail::cpu_isa::avx512}) {
      if (isa > dp::detail::current_isa()) continue;
      const auto sum =
          dp::detail::with_instruction_set([&](auto code) { return code.sum_of(squares, numbers.data(), 4001); }, isa);
      const integers few = in_parts(numbers, {4001, numbers.size()});
      runtime::square_sum rest{};
      for (std::size_t i = 4001; i != numbers.size(); ++i)
        rest.add(runtime::square_source<TestType>{numbers.data(), all.value}.of_result(0)(i));
      rest.add(sum);
      CHECK(rest.high == static_cast<std::uint64_t>(all.value[1]));
      CHECK(rest.low == static_cast<std::uint64_t>(all.value[2]));
      CHECK(few.value[0] == all.value[0]);
    }
    std::shuffle(numbers.begin(), numbers.end(), std::mt19937(8));
    CHECK(whole(numbers) == all);
  }
}

TEMPLATE_TEST_CASE("a norm with infinite or NaN numbers is infinite or NaN", "[runtime]", FLOATING_TYPES) {
  const TestType infinity = std::numeric_limits<TestType>::infinity(), nan = std::numeric_limits<TestType>::quiet_NaN();
  for (const std::size_t at : {0u, 4095u, 4096u, 9999u}) {
    std::vector<TestType> numbers(10'000, 1);
    numbers[at] = -infinity;
    CHECK(root<TestType>(whole(numbers)) == std::numeric_limits<double>::infinity());
    CHECK(root<TestType>(in_parts(numbers, {5000, 10'000})) == std::numeric_limits<double>::infinity());
    numbers[9999 - at] = nan;
    CHECK(std::isnan(root<TestType>(whole(numbers))));
    CHECK(std::isnan(root<TestType>(in_parts(numbers, {5000, 10'000}))));
  }
}
