// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <devplace/ops/random.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include <devplace/base/thread_team.hpp>
#include <devplace/ops/creation.hpp>

#include "support/catch.hpp"
#include "support/element_types.hpp"
#include "support/sanitizers.hpp"

namespace {

namespace dp = devplace;
using dp::cpu;
using dp::dyn;
using dp::extents;
using dp::on;

constexpr dp::seed known_seed{0x123456789abcdef};
constexpr std::uint64_t known_uniform = 7 ^ dp::detail::uniform_streams, known_normal = 7 ^ dp::detail::normal_streams;

template <class T> std::vector<T> copied(const dp::tensor<T, extents<dyn>, on<cpu>>& x) {
  return {x.data(), x.data() + x.size()};
}

template <class T> std::vector<T> uniform_numbers(std::size_t n, dp::seed seed, std::uint64_t stream, T low, T high) {
  dp::tensor<T, extents<dyn>, on<cpu>> x(extents<dyn>{n});
  dp::uniform_into(x, seed, stream, low, high);
  return copied(x);
}

template <class T>
std::vector<T> normal_numbers(std::size_t n, dp::seed seed, std::uint64_t stream, dp::detail::computed_t<T> mean = 0,
                              dp::detail::computed_t<T> deviation = 1) {
  dp::tensor<T, extents<dyn>, on<cpu>> x(extents<dyn>{n});
  dp::normal_into(x, seed, stream, mean, deviation);
  return copied(x);
}

/// Returns the Kolmogorov-Smirnov statistic: the largest distance between the numbers' distribution and the given one,
/// times sqrt(n). For equal distributions it exceeds 1.95 with probability 0.001.
template <class T, class Distribution> double distance(std::vector<T> x, const Distribution& distribution) {
  std::sort(x.begin(), x.end());
  const auto n = static_cast<double>(x.size());
  double largest = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double expected = distribution(static_cast<double>(x[i]));
    largest = std::max({largest, std::fabs(expected - static_cast<double>(i) / n),
                        std::fabs(static_cast<double>(i + 1) / n - expected)});
  }
  return largest * std::sqrt(n);
}

template <class T> double correlation(const std::vector<T>& a, const std::vector<T>& b, std::size_t shift) {
  double ab = 0, aa = 0, bb = 0;
  for (std::size_t i = 0; i + shift < a.size(); ++i) {
    const double x = static_cast<double>(a[i]), y = static_cast<double>(b[i + shift]);
    ab += x * y;
    aa += x * x;
    bb += y * y;
  }
  return ab / std::sqrt(aa * bb);
}

}  // namespace

// The expected numbers of the next two cases were computed from the definition in Python.
TEST_CASE("uniform numbers are the words' leading bits", "[ops][random]") {
  CHECK(uniform_numbers<float>(6, known_seed, known_uniform, 0, 1) ==
        std::vector<float>{0.20584452152252197f, 0.5576818585395813f, 0.9912044405937195f, 0.6513698101043701f,
                           0.975149393081665f, 0.1206275224685669f});
  CHECK(uniform_numbers<double>(5, known_seed, known_uniform, 0, 1) ==
        std::vector<double>{0.5576818674350726, 0.6513698666801686, 0.12062755692171612, 0.7717981488083541,
                            0.43503543231951003});
  CHECK(uniform_numbers<float>(2, known_seed, known_uniform, -1, 3) ==
        std::vector<float>{-1 + 4 * 0.20584452152252197f, -1 + 4 * 0.5576818585395813f});
}

TEST_CASE("normal numbers follow Box and Muller", "[ops][random]") {
  const std::vector<double> expected{-0.6276764052757268, -0.8797474346214407, 0.2808121573089423,
                                     -2.0374590982019343, 0.3089834352085492,  1.2526710789236823};
  const std::vector<double> of_floats{-1.662496032450219,   -0.6303768411475373, -0.07720260982570713,
                                      -0.10820670853030162, 0.16293118274216872, 0.15421604520510337};
  const auto fine = normal_numbers<double>(6, known_seed, known_normal);
  const auto coarse = normal_numbers<float>(6, known_seed, known_normal);
  const auto rounded = normal_numbers<dp::bf16>(6, known_seed, known_normal);
  for (std::size_t i = 0; i < 6; ++i) {
    CHECK(fine[i] == Catch::Approx(expected[i]).epsilon(1e-14));
    CHECK(coarse[i] == Catch::Approx(of_floats[i]).epsilon(4e-7));
    CHECK(rounded[i] == static_cast<dp::bf16>(coarse[i]));
  }
  const auto odd = normal_numbers<double>(5, known_seed, known_normal);
  CHECK(std::equal(odd.begin(), odd.end(), fine.begin()));
  CHECK(normal_numbers<double>(1, known_seed, known_normal, 10, 0) == std::vector<double>{10});
}

TEST_CASE("logarithm, cosine and sine are accurate to some units in the last place", "[ops][random]") {
  const double units = 4 * std::numeric_limits<double>::epsilon();
  for (const double x : uniform_numbers<double>(5000, dp::seed{3}, 0, 0, 1)) {
    for (const double y : {x, x * 1e-12, 1 - x * 1e-9}) {
      if (y > 0) REQUIRE(std::fabs(dp::detail::portable_log(y) - std::log(y)) <= units * std::fabs(std::log(y)));
    }
    const auto pair = dp::detail::portable_cosine_and_sine(x);
    const double angle = x * 6.28318530717958648;
    REQUIRE(std::fabs(pair.cosine - std::cos(angle)) <= 8 * units);  // the angle is rounded
    REQUIRE(std::fabs(pair.sine - std::sin(angle)) <= 8 * units);
  }
  CHECK(dp::detail::portable_log(1) == 0);
  CHECK(dp::detail::portable_log(0x1p-54) == Catch::Approx(-54 * std::log(2.0)).epsilon(1e-15));
  CHECK(dp::detail::portable_cosine_and_sine(0).cosine == 1);
  CHECK(dp::detail::portable_cosine_and_sine(0.25).sine == 1);
  CHECK(dp::detail::portable_cosine_and_sine(0.5).cosine == -1);
  CHECK(dp::detail::portable_cosine_and_sine(0.75).sine == -1);
}

TEST_CASE("radii and directions of floats are accurate to some units in the last place", "[ops][random]") {
  const double unit = std::numeric_limits<float>::epsilon();
  std::vector<std::uint32_t> words{0,           1,           2,           0x7FFF'FFFF, 0x8000'0000,
                                   0xB504'F333, 0xB504'F334, 0xFFFF'FFFE, 0xFFFF'FFFF};
  for (std::uint32_t i = 0; i < 20000; ++i) words.push_back(i * 214'749);
  for (const std::uint32_t word : words) {
    CAPTURE(word);
    const double share = (word + 0.5) / 0x1p32, exact = -2 * (share < 0.5 ? std::log(share) : std::log1p(share - 1));
    REQUIRE(std::fabs(dp::detail::squared_radius(word) - exact) <= 3 * unit * exact);
    const auto direction = dp::detail::portable_direction(word);
    const double angle = share * 6.28318530717958648;
    REQUIRE(std::fabs(direction.cosine - std::cos(angle)) <= 2 * unit);
    REQUIRE(std::fabs(direction.sine - std::sin(angle)) <= 2 * unit);
  }
}

TEST_CASE("numbers have the requested distribution", "[ops][random]") {
  const auto uniform = [](double low, double high) { return [=](double x) { return (x - low) / (high - low); }; };
  const auto normal = [](double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); };
  CHECK(distance(uniform_numbers<float>(100000, dp::seed{1}, 0, -2, 5), uniform(-2, 5)) < 1.95);
  CHECK(distance(uniform_numbers<double>(100000, dp::seed{2}, 0, 0, 1), uniform(0, 1)) < 1.95);
  CHECK(distance(normal_numbers<float>(100000, dp::seed{3}, 0), normal) < 1.95);
  CHECK(distance(normal_numbers<double>(100000, dp::seed{4}, 0), normal) < 1.95);
  CHECK(distance(normal_numbers<double>(100000, dp::seed{5}, 0, 3, 0.5),
                 [&normal](double x) { return normal((x - 3) / 0.5); }) < 1.95);
}

TEST_CASE("neighbours, streams and seeds are independent", "[ops][random]") {
  const std::size_t n = 100000;
  const double limit = 4 / std::sqrt(static_cast<double>(n));
  const auto a = normal_numbers<float>(n, dp::seed{1}, 0);
  for (const std::size_t shift : {1u, 2u, 3u, 4u, 8u, 64u}) CHECK(std::fabs(correlation(a, a, shift)) < limit);
  CHECK(std::fabs(correlation(a, normal_numbers<float>(n, dp::seed{1}, 1), 0)) < limit);
  CHECK(std::fabs(correlation(a, normal_numbers<float>(n, dp::seed{2}, 0), 0)) < limit);
}

TEST_CASE("uniform and normal numbers and permutations of one seed are independent", "[ops][random]") {
  const std::size_t n = 100000;
  const double limit = 4 / std::sqrt(static_cast<double>(n));
  const auto uniform = uniform_numbers<double>(n, dp::seed{1}, 0, -1, 1);
  std::vector<std::int64_t> order(n);
  dp::permutation_into(order.data(), n, dp::seed{1});
  std::vector<double> permuted, places;
  for (std::size_t i = 0; i < n; ++i) {
    permuted.push_back(uniform[static_cast<std::size_t>(order[i])]);
    places.push_back(static_cast<double>(i) - static_cast<double>(n) / 2);
  }
  CHECK(std::fabs(correlation(permuted, places, 0)) < limit);
  // Both numbers of a pair are made from one pair of words, so they may have correlated magnitudes.
  const auto normal = normal_numbers<double>(n, dp::seed{1}, 0);
  std::vector<double> radius, first_words;
  for (std::size_t i = 0; i + 1 < n; i += 2) {
    radius.push_back(std::exp(-(normal[i] * normal[i] + normal[i + 1] * normal[i + 1]) / 2) - 0.5);
    first_words.push_back(uniform[i]);
  }
  CHECK(std::fabs(correlation(radius, first_words, 0)) < 1.5 * limit);
}

TEST_CASE("bounds hold for every number", "[ops][random]") {
  for (const float x : uniform_numbers<float>(200000, dp::seed{9}, 0, 1, 2)) REQUIRE((x >= 1 && x < 2));
  const auto within = [](auto low, auto high) {
    CAPTURE(low, high);
    for (const auto x : uniform_numbers(1000, dp::seed{9}, 0, low, high)) REQUIRE((x >= low && x < high));
  };
  const auto of_type = [&within](auto zero) {
    using limits = std::numeric_limits<decltype(zero)>;
    within(decltype(zero){1}, 1 + limits::epsilon());
    within(-1 - limits::epsilon(), decltype(zero){-1});
    within(zero, limits::denorm_min());
    within(-limits::denorm_min(), zero);
    within(-limits::max() / 2, limits::max() / 2);
    within(limits::max() * (1 - limits::epsilon()), limits::max());
  };
  of_type(0.0F);
  of_type(0.0);
  // There are few floats in this interval: rounding could return the upper bound itself.
  const float low = 1 - 0x1p-23f;
  for (const float x : uniform_numbers<float>(1000, dp::seed{9}, 0, low, 1)) REQUIRE((x >= low && x < 1));
  CHECK(uniform_numbers<float>(1, dp::seed{9}, 0, 3, 3) == std::vector<float>{3});
}

namespace {

/// Returns all finite numbers of a 16-bit type, in ascending order, as float.
template <class T> std::vector<float> numbers_of() {
  std::vector<float> all;
  for (unsigned bits = 0; bits < 0x10000; ++bits) {
    const float x = T::from_bits(static_cast<std::uint16_t>(bits));
    if (std::isfinite(x)) all.push_back(x);
  }
  std::sort(all.begin(), all.end());
  return all;
}

/// Returns the word that makes the `k`-th of 2^24 equally spaced numbers.
constexpr std::uint32_t word_of(std::uint32_t k) { return k << 8 | 0x55; }

/// Checks all 2^24 numbers that a word can make; with sanitizers, every fiftieth. Derives the limits as uniform_into
/// does; check_limits tests the limits of uniform_into itself.
template <class T> void check_every_word(float low, float high) {
  CAPTURE(low, high);
  const auto all = numbers_of<T>();
  const float first = *std::lower_bound(all.begin(), all.end(), low),
              last = *(std::lower_bound(all.begin(), all.end(), high) - 1);
  const dp::detail::uniform_body<T> body{nullptr, {1, 2}, first, high - first, last};
  const std::uint32_t least = word_of(0), greatest = word_of(0xff'ffff);
  CHECK(static_cast<float>(body.element(&least)) == first);
  CHECK(static_cast<float>(body.element(&greatest)) == last);
  std::size_t outside = 0, decreasing = 0, not_nearest = 0;
  const auto check_nearest = [&](float x, std::uint32_t k) {
    const auto exact = static_cast<float>(double{first} + k * 0x1p-24 * double{high - first});
    not_nearest += x != last && x != static_cast<float>(T{exact});
  };
  float before = first;
  constexpr std::uint32_t step = support::sanitized ? 50 : 1;  // a word takes ten times as long with sanitizers
  for (std::uint32_t k = 0; k < 0x100'0000; k += step) {
    const std::uint32_t word = word_of(k);
    const float x = body.element(&word);
    outside += !(x >= low && x < high);
    decreasing += x < before;
    // Exact numbers and what is nearest to them ascend: if a number is nearest for the first and the last of the words
    // that make it, it is for all of them.
    if (x != before) {
      check_nearest(before, k - step);
      check_nearest(x, k);
    }
    before = x;
  }
  CHECK(outside == 0);
  CHECK(decreasing == 0);
  CHECK(not_nearest == 0);
}

template <class T> std::vector<float> short_uniform(std::size_t n, float low, float high) {
  const auto x = dp::uniform<T, cpu>(extents<dyn>{n}, dp::seed{9}, low, high);
  return {x.data(), x.data() + x.size()};
}

/// Checks the smallest and the largest of many numbers from an interval that holds few of them.
template <class T> void check_limits(float low, float high) {
  CAPTURE(low, high);
  const auto all = numbers_of<T>();
  const auto drawn = short_uniform<T>(40000, low, high);
  CHECK(*std::min_element(drawn.begin(), drawn.end()) == *std::lower_bound(all.begin(), all.end(), low));
  CHECK(*std::max_element(drawn.begin(), drawn.end()) == *(std::lower_bound(all.begin(), all.end(), high) - 1));
}

}  // namespace

TEMPLATE_TEST_CASE("numbers of 16 bits stay below their upper limit for every random word", "[ops][random]",
                   SHORT_TYPES) {
  check_every_word<TestType>(0, 1);
  check_every_word<TestType>(-3, -0.3F);
}

TEMPLATE_TEST_CASE("numbers of 16 bits reach the first and the last number between their limits", "[ops][random]",
                   SHORT_TYPES) {
  const float epsilon = std::numeric_limits<TestType>::epsilon();
  const float least = std::numeric_limits<TestType>::denorm_min(), greatest = std::numeric_limits<TestType>::max();
  check_limits<TestType>(1, 1 + epsilon);  // contains only 1
  check_limits<TestType>(1, 1 + 3 * epsilon);
  check_limits<TestType>(1 - epsilon, 1);
  check_limits<TestType>(1 + epsilon / 4, 1 + 2.75F * epsilon);  // limits that TestType cannot represent
  check_limits<TestType>(-1 - 2.75F * epsilon, -1 - epsilon / 4);
  check_limits<TestType>(0, 2 * least);
  check_limits<TestType>(-least, least);
  check_limits<TestType>(-3 * least, 0);
  check_limits<TestType>(greatest * (1 - 2 * epsilon), greatest);
  check_limits<TestType>(-greatest, -greatest * (1 - 2 * epsilon));
  CHECK(short_uniform<TestType>(1, 3, 3) == std::vector<float>{3});
  CHECK(short_uniform<TestType>(1, 0.1F, 0.1F) == std::vector<float>{TestType{0.1F}});
}

TEMPLATE_TEST_CASE("a million numbers of 16 bits are float's, rounded within the limits", "[ops][random]",
                   SHORT_TYPES) {
  const std::size_t n = 1000000;
  const auto drawn = short_uniform<TestType>(n, 0, 1);
  const auto exact = uniform_numbers<float>(n, dp::seed{9}, 0, 0, 1);
  const float last = 1 - std::numeric_limits<TestType>::epsilon() / 2;
  std::size_t different = 0;
  for (std::size_t i = 0; i < n; ++i) different += drawn[i] != std::min<float>(TestType{exact[i]}, last);
  CHECK(different == 0);

  const auto normal = dp::normal<TestType, cpu>(extents<dyn>{n}, dp::seed{9}, 1, 2);
  const auto exact_normal = normal_numbers<float>(n, dp::seed{9}, 0, 1, 2);
  for (std::size_t i = 0; i < n; ++i)
    different += static_cast<float>(normal.data()[i]) != static_cast<float>(TestType{exact_normal[i]});
  CHECK(different == 0);
}

TEMPLATE_TEST_CASE("limits between which the element type has no number are rejected", "[ops][random]", SHORT_TYPES) {
  const float epsilon = std::numeric_limits<TestType>::epsilon(), greatest = std::numeric_limits<TestType>::max();
  CHECK_THROWS_WITH(short_uniform<TestType>(1, 1 + epsilon / 4, 1 + epsilon / 2),
                    Catch::Matchers::ContainsSubstring(std::string("[low, high) must contain a ") +
                                                       dp::dtype_name<TestType>() + " number."));
  CHECK_THROWS_AS(short_uniform<TestType>(1, 0, greatest * (1 + epsilon)), dp::argument_error);
  CHECK_THROWS_AS(short_uniform<TestType>(1, -greatest * (1 + epsilon), 0), dp::argument_error);
}

TEST_CASE("normal numbers that could be infinite are refused", "[ops][random]") {
  const auto make = [](auto zero, double mean, double deviation) {
    using T = decltype(zero);
    using number = dp::detail::computed_t<T>;
    const auto x = dp::normal<T, cpu>(extents<dyn>{100000}, dp::seed{1}, static_cast<number>(mean),
                                      static_cast<number>(deviation));
    return std::all_of(x.data(), x.data() + x.size(), [](number v) { return std::isfinite(v); });
  };
  CHECK(make(dp::half{}, 0, 7200));
  CHECK_THROWS_WITH(make(dp::half{}, 0, 30000), Catch::Matchers::ContainsSubstring("must be finite as half"));
  CHECK_THROWS_AS(make(dp::half{}, 70000, 0), dp::argument_error);
  CHECK_THROWS_AS(make(dp::half{}, -70000, 0), dp::argument_error);
  CHECK_THROWS_AS(make(dp::bf16{}, 0, 1e38), dp::argument_error);
  CHECK_THROWS_AS(make(0.0F, 0, 1e38), dp::argument_error);
  CHECK_THROWS_AS(make(0.0, 1e308, 1e308), dp::argument_error);
  CHECK(make(0.0F, 0, 3.7e37));
}

TEST_CASE("random numbers do not depend on the number of threads", "[ops][random]") {
  dp::serial_team alone;
  dp::builtin_thread_team three(3);
  const auto with = [](auto& team, const auto& make) {
    dp::thread_team_scope scope(team);
    return make();
  };
  for (const std::size_t n : {1u, 5u, 4095u, 8192u, 8193u, 50001u}) {
    const auto uniform = [n] { return uniform_numbers<float>(n, dp::seed{1}, 0, 0, 1); };
    const auto fine = [n] { return uniform_numbers<double>(n, dp::seed{1}, 0, 0, 1); };
    const auto normal = [n] { return normal_numbers<float>(n, dp::seed{1}, 0); };
    const auto dropped = [n] {
      dp::tensor<float, extents<dyn>, on<cpu>> x = dp::ones<float, on<cpu>>(extents<dyn>{n * 3});
      dp::dropout_into(x.reshape(extents<dyn, 3>{n}), x.reshape(extents<dyn, 3>{n}), 0.5, {1, 2, 3});
      return copied(x);
    };
    CHECK(with(alone, uniform) == with(three, uniform));
    CHECK(with(alone, fine) == with(three, fine));
    CHECK(with(alone, normal) == with(three, normal));
    CHECK(with(alone, dropped) == with(three, dropped));
  }
}

TEST_CASE("ranges of any begin and end give the elements one by one", "[ops][random]") {
  const std::size_t n = 304;  // groups of 16 bytes are full
  const dp::detail::random_sequence random(5, 6);
  const auto check = [&](auto zero) {
    using T = decltype(zero);
    std::vector<T> one_by_one(n), in_ranges(n);
    const dp::detail::uniform_body<T> groups{one_by_one.data(), random, 0, 1, 0.99F};
    for (std::size_t i = 0; i < n; i += groups.at_once) groups.several(i, &one_by_one[i]);
    const dp::detail::uniform_body<T> ranges{in_ranges.data(), random, 0, 1, 0.99F};
    for (std::size_t begin = 0, length = 1; begin < n; begin += length, length = length * 2 + 1)
      ranges.range(begin, std::min(n, begin + length));
    CHECK(in_ranges == one_by_one);

    const std::size_t size = n - 1;  // the last block is partly outside
    std::fill(in_ranges.begin(), in_ranges.end(), T(0));
    const dp::detail::normal_body<T> pairs{in_ranges.data(), size, random, 1, 2};
    for (std::size_t i = 0; i < n; i += pairs.at_once) pairs.several(i, &one_by_one[i]);
    one_by_one[size] = T(0);
    const std::size_t blocks = pairs.indices(size);
    for (std::size_t begin = 0, length = 1; begin < blocks; begin += length, length = length * 2 + 1)
      pairs.range(begin, std::min(blocks, begin + length));
    CHECK(in_ranges == one_by_one);
  };
  check(0.0f);
  check(0.0);
  check(dp::bf16{0.0f});
  check(dp::half{0.0f});

  std::vector<float> x(n, 1.0f), one_by_one(n), in_ranges(n);
  for (std::size_t i = 0; i < n; i += 7) x[i] = i % 2 == 0 ? std::numeric_limits<float>::infinity() : std::nanf("");
  for (const std::size_t columns : {1u, 3u, 64u, 100u, 300u})
    for (const std::uint64_t threshold : {0ull, 1ull << 31, (1ull << 32) - 1, 1ull << 32}) {
      CAPTURE(columns, threshold);
      dp::detail::dropout_body<float> body{one_by_one.data(), x.data(), columns, 9, {{1, 2}}, threshold, 2.0f};
      for (std::size_t i = 0; i < n; ++i) {
        const std::size_t column = i % columns;
        one_by_one[i] = body.element(x[i], body.words(i / columns, column / 4).word[column % 4]);
      }
      body.destination = in_ranges.data();
      for (std::size_t begin = 0, length = 1; begin < n; begin += length, length = length * 2 + 1)
        body.range(begin, std::min(n, begin + length));
      CHECK(std::memcmp(in_ranges.data(), one_by_one.data(), n * sizeof(float)) == 0);
    }
}

TEST_CASE("bad arguments throw", "[ops][random]") {
  dp::tensor<float, extents<2>, on<cpu>> x{0, 0};
  const float nan = std::numeric_limits<float>::quiet_NaN(), infinity = std::numeric_limits<float>::infinity();
  CHECK_THROWS_AS(dp::uniform_into(x, dp::seed{1}, 0, 1, 0), dp::argument_error);
  CHECK_THROWS_AS(dp::uniform_into(x, dp::seed{1}, 0, nan, 0), dp::argument_error);
  CHECK_THROWS_AS(dp::uniform_into(x, dp::seed{1}, 0, 0, infinity), dp::argument_error);
  CHECK_THROWS_AS(dp::normal_into(x, dp::seed{1}, 0, 0, -1), dp::argument_error);
  CHECK_THROWS_AS(dp::normal_into(x, dp::seed{1}, 0, nan, 1), dp::argument_error);
  CHECK_THROWS_AS(dp::dropout_into(x, x, -0.1, {}), dp::argument_error);
  CHECK_THROWS_AS(dp::dropout_into(x, x, 1.1, {}), dp::argument_error);
  CHECK_THROWS_AS(dp::dropout_into(x, x, static_cast<double>(nan), {}), dp::argument_error);
  dp::tensor<float, extents<dyn>, on<cpu>> y(extents<dyn>{3});
  CHECK_THROWS_AS(dp::dropout_into(y, x, 0.5, {}), dp::shape_error);
}

TEST_CASE("dropout keeps the requested share and scales it", "[ops][random]") {
  const auto x = dp::ones<float, on<cpu>>(extents<1000, 100>{});
  auto y = dp::zeros_like(x);
  for (const double probability : {0.1, 0.5, 0.9}) {
    dp::dropout_into(y, x, probability, {1, 2, 3});
    const auto scale = static_cast<float>(1 / (1 - probability));
    std::size_t kept = 0;
    for (std::size_t i = 0; i < y.size(); ++i) {
      REQUIRE((y.data()[i] == 0 || y.data()[i] == scale));
      kept += y.data()[i] != 0;
    }
    const double n = static_cast<double>(y.size()), deviation = std::sqrt(n * probability * (1 - probability));
    CHECK(std::fabs(static_cast<double>(kept) - n * (1 - probability)) < 4 * deviation);
  }
  dp::dropout_into(y, x, 0, {1, 2, 3});
  CHECK(std::equal(y.data(), y.data() + y.size(), x.data()));
  dp::dropout_into(y, x, 1, {1, 2, 3});
  CHECK(std::all_of(y.data(), y.data() + y.size(), [](float v) { return v == 0; }));
}

TEST_CASE("dropout of a batch's pieces equals dropout of the batch", "[ops][random]") {
  const auto x = dp::normal<float, on<cpu>>(extents<dyn, 37>{50}, dp::seed{1});
  auto whole = dp::zeros_like(x), pieces = dp::zeros_like(x);
  const dp::dropout_key key{11, 4, 100};
  dp::dropout_into(whole, x, 0.3, key, 1000);
  for (const auto& [first, last] : std::vector<std::pair<std::size_t, std::size_t>>{{0, 17}, {17, 18}, {18, 50}})
    dp::dropout_into(pieces.slice(first, last), x.slice(first, last), 0.3, key, 1000 + first);
  CHECK(std::equal(whole.data(), whole.data() + whole.size(), pieces.data()));

  auto in_place = x.clone();
  dp::dropout_into(in_place, in_place, 0.3, key, 1000);
  CHECK(std::equal(whole.data(), whole.data() + whole.size(), in_place.data()));

  const auto dropped = [&x](dp::dropout_key k, std::uint64_t first) {
    auto y = dp::zeros_like(x);
    dp::dropout_into(y, x, 0.3, k, first);
    std::vector<bool> zeros;
    for (std::size_t i = 0; i < y.size(); ++i) zeros.push_back(y.data()[i] == 0);
    return zeros;
  };
  const auto reference = dropped(key, 1000);
  CHECK(reference == dropped(key, 1000));
  CHECK(reference != dropped({12, 4, 100}, 1000));
  CHECK(reference != dropped({11, 5, 100}, 1000));
  CHECK(reference != dropped({11, 4, 101}, 1000));
  CHECK(reference != dropped(key, 1001));
}

TEST_CASE("dropout works on views without an ordinal and on more axes", "[ops][random]") {
  const auto x = dp::normal<double, on<cpu>>(extents<4, 3, 5>{}, dp::seed{1});
  auto a = dp::zeros_like(x), b = dp::zeros_like(x);
  dp::dropout_into(a, x, 0.5, {1, 2, 3});
  dp::dropout_into(b.view().erased(), x.view().erased(), 0.5, {1, 2, 3});
  CHECK(std::equal(a.data(), a.data() + a.size(), b.data()));
}

TEST_CASE("permutation gives each number once", "[ops][random]") {
  for (const std::size_t n : {0u, 1u, 2u, 7u, 1000u}) {
    auto order = copied(dp::permutation(n, dp::seed{5}));
    REQUIRE(order.size() == n);
    std::sort(order.begin(), order.end());
    for (std::size_t i = 0; i < n; ++i) REQUIRE(order[i] == static_cast<std::int64_t>(i));
  }
  CHECK(copied(dp::permutation(50, dp::seed{5})) == copied(dp::permutation(50, dp::seed{5})));
  CHECK(copied(dp::permutation(50, dp::seed{5})) != copied(dp::permutation(50, dp::seed{6})));
}

TEST_CASE("all orders are equally likely", "[ops][random]") {
  std::map<std::vector<std::int64_t>, int> counts;
  const int rounds = 24000;
  for (int k = 0; k < rounds; ++k) {
    std::vector<std::int64_t> order(4);
    dp::permutation_into(order.data(), 4, dp::seed{1}, static_cast<std::uint64_t>(k));
    ++counts[order];
  }
  REQUIRE(counts.size() == 24);
  double chi_square = 0;
  for (const auto& [order, count] : counts)
    chi_square += (count - rounds / 24.0) * (count - rounds / 24.0) / (rounds / 24.0);
  CHECK(chi_square < 49.7);  // exceeded with probability 0.001 for 23 degrees of freedom
}
