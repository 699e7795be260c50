// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <vector>

#include <devplace/nn/linear.hpp>

// In a header, because tests of a unity build cannot specialise templates of namespace devplace (unity.cmake).
namespace devplace::test {

/// A backend that computes nothing and records the precision of products.
struct noting {};
inline std::vector<detail::product_math> noted;

}  // namespace devplace::test

namespace devplace {

template <> struct implementation<test::noting, op::matmul> {
  template <class T> static void run(int, const detail::gemm_arguments<T>& g) { test::noted.push_back(g.math); }
};
template <> struct implementation<test::noting, op::linear_gradients> {
  template <class T> static void run(int, const detail::gemm_arguments<T>& g, T*) { test::noted.push_back(g.math); }
};
template <> struct implementation<test::noting, op::relu_gradient> {
  template <class T> static void run(int, const detail::relu_gradient_arguments<T>&) {}
};

}  // namespace devplace
