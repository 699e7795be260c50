// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A declaration with parentheses that declares a function where a tensor was meant. Where no operand is of a class type
// (2.0f * y, -y, y += 1.0f), C++ does not consider the library's operators, and the compiler's own error names a
// function type.
#include <cstddef>
#include <iostream>

#include <devplace/all.hpp>

namespace dp = devplace;
using dp::dyn;
using on_cpu = dp::on<dp::cpu>;
using numbers = dp::tensor<float, dp::extents<dyn>, on_cpu>;
using linear_model = dp::model<dp::nn::linear<3, 2>, on_cpu>;

// A function that makes a tensor may be passed to other functions and compared.
numbers made(dp::extents<dyn> shape) { return numbers{shape}; }
template <class Make> numbers made_by(Make&& make) {
  auto* const address = &make;
  return address != nullptr ? make(dp::extents<dyn>{3}) : numbers{dp::extents<dyn>{0}};
}

void declared([[maybe_unused]] std::size_t n, [[maybe_unused]] numbers& x, [[maybe_unused]] linear_model& m) {
  numbers right{dp::extents<dyn>{n}};
  right = made_by(made) + x;
#if defined(SUM_OF_OPERANDS)  // expect: devplace: the name is a function's and not a tensor's
  numbers y(dp::extents<dyn>(n));
  x = y + x;
#endif
#if defined(FUNCTION_OF_ELEMENTS)  // expect: devplace: the name is a function's and not a tensor's
  numbers y(dp::extents<dyn>(n));
  x = dp::relu(y);
#endif
#if defined(COPIED_FROM)  // expect: devplace: the name is a function's and not a tensor's
  numbers y(dp::extents<dyn>(n));
  dp::copy(x, y);
#endif
#if defined(COPIED_TO)  // expect: devplace: the name is a function's and not a tensor's
  numbers y(dp::extents<dyn>(n));
  dp::copy(y, x);
#endif
#if defined(MOVED_TO_A_DEVICE)  // expect: devplace: the name is a function's and not a tensor's
  numbers y(dp::extents<dyn>(n));
  auto b = dp::to<dp::cuda<0>>(y);
#endif
#if defined(PRINTED)  // expect: devplace: the name is a function's and not a tensor's
  numbers y(dp::extents<dyn>(n));
  std::cout << y;
#endif
#if defined(SUMMED)  // expect: devplace: the name is a function's and not a tensor's
  numbers y(dp::extents<dyn>(n));
  auto s = dp::sum(y);
#endif
#if defined(MULTIPLIED)  // expect: devplace: the name is a function's and not a tensor's
  numbers y(dp::extents<dyn>(n));
  auto p = dp::matmul(y, x);
#endif
#if defined(PREDICTED)  // expect: devplace: the name is a function's and not a tensor's
  numbers y(dp::extents<dyn>(n));
  auto p = m.predict(y);
#endif
#if defined(LOADED)  // expect: devplace: the name is a function's and not a tensor's
  numbers y(dp::extents<dyn>(n));
  auto l = dp::make_loader<on_cpu>(y, x, {.batch = 1});
#endif
#if defined(WRITTEN)  // expect: devplace: the name is a function's and not a tensor's
  numbers y(dp::extents<dyn>(n));
  dp::write_npy("x.npy", y);
#endif
#if defined(WITHOUT_A_SIZE)  // expect: devplace: the name is a function's and not a tensor's
  numbers y();
  x = y + x;
#endif
}
