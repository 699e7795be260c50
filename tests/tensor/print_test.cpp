// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The expected texts were printed by NumPy 2.4 for the same arrays.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include <devplace/ops/elementwise.hpp>
#include <devplace/tensor/copy.hpp>
#include <devplace/tensor/print.hpp>
#include <devplace/tensor/wrap.hpp>

#include "support/catch.hpp"

namespace {

namespace dp = devplace;

constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity = std::numeric_limits<float>::infinity();

template <class X> std::string text(const X& x) {
  std::ostringstream out;
  out << x;
  return out.str();
}

/// The text after the head line.
template <class X> std::string body(const X& x) {
  const std::string all = text(x);
  return all.substr(all.find('\n') + 1);
}

template <class T, class Extents> std::string elements(const std::vector<T>& values, const Extents& extents) {
  return body(dp::to<dp::on<dp::cpu>>(dp::wrap(values, extents)));
}

/// Elements 0, step, 2 step, ...
template <class T, class Extents> std::string ramp(const Extents& extents, T step) {
  std::vector<T> values;
  for (std::size_t i = 0; i < extents.size(); ++i) values.push_back(static_cast<T>(static_cast<T>(i) * step));
  return elements(values, extents);
}

}  // namespace

TEST_CASE("the head line names element type, extents and place", "[tensor][print]") {
  dp::tensor<float, dp::extents<2, 3>, dp::on<dp::cpu>> a{{1, 2, 3}, {4, 5, 6}};
  CHECK(text(a) == "tensor<float, 2x3> on cpu\n[[1. 2. 3.]\n [4. 5. 6.]]");
  CHECK(text(a.view()) == "view<float, 2x3> on cpu\n[[1. 2. 3.]\n [4. 5. 6.]]");
  const auto& constant = a;
  CHECK(text(constant[1]) == "view<const float, 3> on cpu\n[4. 5. 6.]");
  CHECK(text(a.view().erased()) == "view<float, 2x3> on cpu\n[[1. 2. 3.]\n [4. 5. 6.]]");
  const dp::tensor<std::uint8_t, dp::extents<dp::dyn>, dp::on<dp::cpu>> bytes(dp::extents<dp::dyn>{0});
  CHECK(text(bytes) == "tensor<uint8, 0> on cpu\n[]");
  dp::tensor<double, dp::extents<>, dp::on<dp::cpu>> scalar{dp::extents<>{}};
  scalar() = 0.1;
  CHECK(text(scalar) == "tensor<double, scalar> on cpu\n0.1");
}

TEST_CASE("an empty tensor prints only brackets", "[tensor][print]") {
  CHECK(elements<float>({}, dp::extents<0, 3>{}) == "[]");
  CHECK(elements<float>({}, dp::extents<2, dp::dyn>{0}) == "[]");
}

TEST_CASE("up to 1000 elements are all shown", "[tensor][print]") {
  CHECK(ramp<std::uint8_t>(dp::extents<1000>{}, 1).find("...") == std::string::npos);
  CHECK(ramp<std::uint8_t>(dp::extents<10, 100>{}, 1).find("...") == std::string::npos);
}

TEST_CASE("arrays are printed like NumPy's", "[tensor][print]") {
  SECTION("whole numbers") {
    CHECK(elements<float>({1.0f, 2.0f, 3.0f, 4.0f, 5.0f, 6.0f}, dp::extents<2, 3>{}) == R"([[1. 2. 3.]
 [4. 5. 6.]])");
  }
  SECTION("fractions of different length") {
    CHECK(elements<float>({0.10000000149011612f, -2.25f, 0.3333333432674408f, 100.0f, -0.5f, 7.0f},
                          dp::extents<2, 3>{}) == R"([[  0.1         -2.25         0.33333334]
 [100.          -0.5          7.        ]])");
  }
  SECTION("digits beyond the eighth are rounded") {
    CHECK(elements<double>({3.141592653589793, -2.718281828459045, 0.001, 0.6666666666666666}, dp::extents<4>{}) ==
          R"([ 3.14159265e+00 -2.71828183e+00  1.00000000e-03  6.66666667e-01])");
  }
  SECTION("NaN and infinities") {
    CHECK(elements<float>({1.5f, not_a_number, infinity, -infinity}, dp::extents<4>{}) == R"([ 1.5  nan  inf -inf])");
  }
  SECTION("nothing finite") {
    CHECK(elements<float>({not_a_number, infinity, not_a_number}, dp::extents<3>{}) == R"([nan inf nan])");
  }
  SECTION("small numbers take exponents") {
    CHECK(elements<float>({9.999999747378752e-06f, 0.5f, 0.0f}, dp::extents<3>{}) == R"([1.e-05 5.e-01 0.e+00])");
  }
  SECTION("a wide range takes exponents") {
    CHECK(elements<float>({1.25f, -1001.0f, 3.0f, 0.009999999776482582f}, dp::extents<2, 2>{}) ==
          R"([[ 1.250e+00 -1.001e+03]
 [ 3.000e+00  1.000e-02]])");
  }
  SECTION("three digits in an exponent") {
    CHECK(elements<double>({1e+100, -2.5e-07, double{not_a_number}}, dp::extents<3>{}) ==
          R"([ 1.0e+100 -2.5e-007       nan])");
  }
  SECTION("a large number takes exponents") {
    CHECK(elements<float>({100000000.0f, 150000000.0f}, dp::extents<2>{}) == R"([1.0e+08 1.5e+08])");
  }
  SECTION("both zeros") { CHECK(elements<float>({0.0f, -0.0f, 2.5f}, dp::extents<3>{}) == R"([ 0.  -0.   2.5])"); }
  SECTION("limits of the format without exponents") {
    CHECK(elements<float>({1e-4f, 0.05f}, dp::extents<2>{}) == "[0.0001 0.05  ]");
    CHECK(elements<float>({1000, 1}, dp::extents<2>{}) == "[1000.    1.]");
    CHECK(elements<float>({12345.678f, 12.345678f}, dp::extents<2>{}) == "[12345.678       12.345678]");
    CHECK(elements<float>({999999, 5e5f}, dp::extents<2>{}) == "[999999. 500000.]");
    CHECK(elements<float>({1000000, 5e5f}, dp::extents<2>{}) == "[1.e+06 5.e+05]");
    CHECK(elements<double>({99999999.5, 5e6}, dp::extents<2>{}) == "[99999999.5  5000000. ]");
    CHECK(elements<double>({0.1234567891, 1.5}, dp::extents<2>{}) == "[0.12345679 1.5       ]");
  }
  SECTION("int32") {
    CHECK(elements<std::int32_t>({1, -20, 300, 4}, dp::extents<2, 2>{}) == R"([[  1 -20]
 [300   4]])");
  }
  SECTION("uint8") { CHECK(elements<std::uint8_t>({0, 7, 255}, dp::extents<3>{}) == R"([  0   7 255])"); }
  SECTION("int64") {
    CHECK(elements<std::int64_t>({-9223372036854775807 - 1, 9223372036854775807}, dp::extents<2>{}) ==
          R"([-9223372036854775808  9223372036854775807])");
  }
  SECTION("three axes") {
    CHECK(elements<float>({0.0f, 0.125f, 0.25f, 0.375f, 0.5f, 0.625f, 0.75f, 0.875f, 1.0f, 1.125f, 1.25f, 1.375f},
                          dp::extents<2, 2, 3>{}) == R"([[[0.    0.125 0.25 ]
  [0.375 0.5   0.625]]

 [[0.75  0.875 1.   ]
  [1.125 1.25  1.375]]])");
  }
  SECTION("one element in two axes") { CHECK(elements<double>({0.3}, dp::extents<1, 1>{}) == R"([[0.3]])"); }
  SECTION("a row is broken into lines") {
    CHECK(ramp<float>(dp::extents<50>{}, 0.25f) ==
          R"([ 0.    0.25  0.5   0.75  1.    1.25  1.5   1.75  2.    2.25  2.5   2.75
  3.    3.25  3.5   3.75  4.    4.25  4.5   4.75  5.    5.25  5.5   5.75
  6.    6.25  6.5   6.75  7.    7.25  7.5   7.75  8.    8.25  8.5   8.75
  9.    9.25  9.5   9.75 10.   10.25 10.5  10.75 11.   11.25 11.5  11.75
 12.   12.25])");
  }
  SECTION("rows of a matrix are broken into lines") {
    CHECK(ramp<float>(dp::extents<2, 30>{}, 0.001f) ==
          R"([[0.    0.001 0.002 0.003 0.004 0.005 0.006 0.007 0.008 0.009 0.01  0.011
  0.012 0.013 0.014 0.015 0.016 0.017 0.018 0.019 0.02  0.021 0.022 0.023
  0.024 0.025 0.026 0.027 0.028 0.029]
 [0.03  0.031 0.032 0.033 0.034 0.035 0.036 0.037 0.038 0.039 0.04  0.041
  0.042 0.043 0.044 0.045 0.046 0.047 0.048 0.049 0.05  0.051 0.052 0.053
  0.054 0.055 0.056 0.057 0.058 0.059]])");
  }
  SECTION("integers in several lines") {
    CHECK(ramp<std::int32_t>(dp::extents<2, 40>{}, -7) ==
          R"([[   0   -7  -14  -21  -28  -35  -42  -49  -56  -63  -70  -77  -84  -91
   -98 -105 -112 -119 -126 -133 -140 -147 -154 -161 -168 -175 -182 -189
  -196 -203 -210 -217 -224 -231 -238 -245 -252 -259 -266 -273]
 [-280 -287 -294 -301 -308 -315 -322 -329 -336 -343 -350 -357 -364 -371
  -378 -385 -392 -399 -406 -413 -420 -427 -434 -441 -448 -455 -462 -469
  -476 -483 -490 -497 -504 -511 -518 -525 -532 -539 -546 -553]])");
  }
  SECTION("1001 elements are summarised") {
    CHECK(ramp<float>(dp::extents<1001>{}, 0.5f) == R"([  0.    0.5   1.  ... 499.  499.5 500. ])");
  }
  SECTION("a matrix is summarised") {
    CHECK(ramp<double>(dp::extents<40, 50>{}, 1.0) ==
          R"([[0.000e+00 1.000e+00 2.000e+00 ... 4.700e+01 4.800e+01 4.900e+01]
 [5.000e+01 5.100e+01 5.200e+01 ... 9.700e+01 9.800e+01 9.900e+01]
 [1.000e+02 1.010e+02 1.020e+02 ... 1.470e+02 1.480e+02 1.490e+02]
 ...
 [1.850e+03 1.851e+03 1.852e+03 ... 1.897e+03 1.898e+03 1.899e+03]
 [1.900e+03 1.901e+03 1.902e+03 ... 1.947e+03 1.948e+03 1.949e+03]
 [1.950e+03 1.951e+03 1.952e+03 ... 1.997e+03 1.998e+03 1.999e+03]])");
  }
  SECTION("short axes are shown in full") {
    CHECK(ramp<std::int64_t>(dp::extents<4, 300>{}, 3) == R"([[   0    3    6 ...  891  894  897]
 [ 900  903  906 ... 1791 1794 1797]
 [1800 1803 1806 ... 2691 2694 2697]
 [2700 2703 2706 ... 3591 3594 3597]])");
  }
  SECTION("three axes are summarised") {
    CHECK(ramp<float>(dp::extents<8, 7, 20>{}, 0.125f) ==
          R"([[[0.00000e+00 1.25000e-01 2.50000e-01 ... 2.12500e+00 2.25000e+00
   2.37500e+00]
  [2.50000e+00 2.62500e+00 2.75000e+00 ... 4.62500e+00 4.75000e+00
   4.87500e+00]
  [5.00000e+00 5.12500e+00 5.25000e+00 ... 7.12500e+00 7.25000e+00
   7.37500e+00]
  ...
  [1.00000e+01 1.01250e+01 1.02500e+01 ... 1.21250e+01 1.22500e+01
   1.23750e+01]
  [1.25000e+01 1.26250e+01 1.27500e+01 ... 1.46250e+01 1.47500e+01
   1.48750e+01]
  [1.50000e+01 1.51250e+01 1.52500e+01 ... 1.71250e+01 1.72500e+01
   1.73750e+01]]

 [[1.75000e+01 1.76250e+01 1.77500e+01 ... 1.96250e+01 1.97500e+01
   1.98750e+01]
  [2.00000e+01 2.01250e+01 2.02500e+01 ... 2.21250e+01 2.22500e+01
   2.23750e+01]
  [2.25000e+01 2.26250e+01 2.27500e+01 ... 2.46250e+01 2.47500e+01
   2.48750e+01]
  ...
  [2.75000e+01 2.76250e+01 2.77500e+01 ... 2.96250e+01 2.97500e+01
   2.98750e+01]
  [3.00000e+01 3.01250e+01 3.02500e+01 ... 3.21250e+01 3.22500e+01
   3.23750e+01]
  [3.25000e+01 3.26250e+01 3.27500e+01 ... 3.46250e+01 3.47500e+01
   3.48750e+01]]

 [[3.50000e+01 3.51250e+01 3.52500e+01 ... 3.71250e+01 3.72500e+01
   3.73750e+01]
  [3.75000e+01 3.76250e+01 3.77500e+01 ... 3.96250e+01 3.97500e+01
   3.98750e+01]
  [4.00000e+01 4.01250e+01 4.02500e+01 ... 4.21250e+01 4.22500e+01
   4.23750e+01]
  ...
  [4.50000e+01 4.51250e+01 4.52500e+01 ... 4.71250e+01 4.72500e+01
   4.73750e+01]
  [4.75000e+01 4.76250e+01 4.77500e+01 ... 4.96250e+01 4.97500e+01
   4.98750e+01]
  [5.00000e+01 5.01250e+01 5.02500e+01 ... 5.21250e+01 5.22500e+01
   5.23750e+01]]

 ...

 [[8.75000e+01 8.76250e+01 8.77500e+01 ... 8.96250e+01 8.97500e+01
   8.98750e+01]
  [9.00000e+01 9.01250e+01 9.02500e+01 ... 9.21250e+01 9.22500e+01
   9.23750e+01]
  [9.25000e+01 9.26250e+01 9.27500e+01 ... 9.46250e+01 9.47500e+01
   9.48750e+01]
  ...
  [9.75000e+01 9.76250e+01 9.77500e+01 ... 9.96250e+01 9.97500e+01
   9.98750e+01]
  [1.00000e+02 1.00125e+02 1.00250e+02 ... 1.02125e+02 1.02250e+02
   1.02375e+02]
  [1.02500e+02 1.02625e+02 1.02750e+02 ... 1.04625e+02 1.04750e+02
   1.04875e+02]]

 [[1.05000e+02 1.05125e+02 1.05250e+02 ... 1.07125e+02 1.07250e+02
   1.07375e+02]
  [1.07500e+02 1.07625e+02 1.07750e+02 ... 1.09625e+02 1.09750e+02
   1.09875e+02]
  [1.10000e+02 1.10125e+02 1.10250e+02 ... 1.12125e+02 1.12250e+02
   1.12375e+02]
  ...
  [1.15000e+02 1.15125e+02 1.15250e+02 ... 1.17125e+02 1.17250e+02
   1.17375e+02]
  [1.17500e+02 1.17625e+02 1.17750e+02 ... 1.19625e+02 1.19750e+02
   1.19875e+02]
  [1.20000e+02 1.20125e+02 1.20250e+02 ... 1.22125e+02 1.22250e+02
   1.22375e+02]]

 [[1.22500e+02 1.22625e+02 1.22750e+02 ... 1.24625e+02 1.24750e+02
   1.24875e+02]
  [1.25000e+02 1.25125e+02 1.25250e+02 ... 1.27125e+02 1.27250e+02
   1.27375e+02]
  [1.27500e+02 1.27625e+02 1.27750e+02 ... 1.29625e+02 1.29750e+02
   1.29875e+02]
  ...
  [1.32500e+02 1.32625e+02 1.32750e+02 ... 1.34625e+02 1.34750e+02
   1.34875e+02]
  [1.35000e+02 1.35125e+02 1.35250e+02 ... 1.37125e+02 1.37250e+02
   1.37375e+02]
  [1.37500e+02 1.37625e+02 1.37750e+02 ... 1.39625e+02 1.39750e+02
   1.39875e+02]]])");
  }
  SECTION("many short rows") {
    CHECK(ramp<float>(dp::extents<600, 2>{}, 1.0f) == R"([[0.000e+00 1.000e+00]
 [2.000e+00 3.000e+00]
 [4.000e+00 5.000e+00]
 ...
 [1.194e+03 1.195e+03]
 [1.196e+03 1.197e+03]
 [1.198e+03 1.199e+03]])");
  }
}

TEST_CASE("a scalar is printed with all its digits", "[tensor][print]") {
  CHECK(elements<float>({3.0f}, dp::extents<>{}) == "3.0");
  CHECK(elements<float>({0.1f}, dp::extents<>{}) == "0.1");
  CHECK(elements<double>({1e-05}, dp::extents<>{}) == "1e-05");
  CHECK(elements<double>({-1.5e+20}, dp::extents<>{}) == "-1.5e+20");
  CHECK(elements<double>({0.0001}, dp::extents<>{}) == "0.0001");
  CHECK(elements<float>({123456789.0f}, dp::extents<>{}) == "1.2345679e+08");
  CHECK(elements<double>({1e15}, dp::extents<>{}) == "1000000000000000.0");
  CHECK(elements<double>({-0.0}, dp::extents<>{}) == "-0.0");
  CHECK(elements<std::int32_t>({-12}, dp::extents<>{}) == "-12");
  CHECK(elements<std::uint8_t>({200}, dp::extents<>{}) == "200");
  CHECK(elements<float>({not_a_number}, dp::extents<>{}) == "nan");
  CHECK(elements<double>({9007199254740993.0}, dp::extents<>{}) == "9007199254740992.0");
  CHECK(elements<float>({1e15f}, dp::extents<>{}) == "1e+15");
  CHECK(elements<float>({8388608.5f}, dp::extents<>{}) == "8.388608e+06");
  CHECK(elements<float>({16777216.0f}, dp::extents<>{}) == "1.6777216e+07");
  CHECK(elements<dp::bf16>({dp::bf16(1.01)}, dp::extents<>{}) == "1.0078125");
  CHECK(elements<dp::half>({dp::half(1.01), dp::half(65504)}, dp::extents<2>{}) == "[1.0097656e+00 6.5504000e+04]");
}

TEST_CASE("expressions, extents and placements are printed", "[tensor][print]") {
  const dp::tensor<float, dp::extents<2>, dp::cpu> x{1, 2};
  std::ostringstream out;
  out << x * 2.0f << '\n'
      << dp::lazy(x + x) << '\n'
      << x.extents() << ' ' << x.placement() << ' ' << x.view().placement();
  CHECK(out.str() == "tensor<float, 2> on cpu\n[2. 4.]\ntensor<float, 2> on cpu\n[2. 4.]\n2 cpu cpu");
}
