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
// Each case declares a function of its own type in its own block: compilers report an error once for each type, and
// several declarations in one block are overloads.
template <std::size_t N> using rows = dp::tensor<float, dp::extents<dyn, N>, on_cpu>;
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
  {
    rows<1> y(dp::extents<dyn, 1>(n));
    x = y + x;
  }
#endif
#if defined(FUNCTION_OF_ELEMENTS)  // expect: devplace: the name is a function's and not a tensor's
  {
    rows<2> y(dp::extents<dyn, 2>(n));
    x = dp::relu(y);
  }
#endif
#if defined(COPIED_FROM)  // expect: devplace: the name is a function's and not a tensor's
  {
    rows<3> y(dp::extents<dyn, 3>(n));
    dp::copy(x, y);
  }
#endif
#if defined(COPIED_TO)  // expect: devplace: the name is a function's and not a tensor's
  {
    rows<4> y(dp::extents<dyn, 4>(n));
    dp::copy(y, x);
  }
#endif
#if defined(MOVED_TO_A_DEVICE)  // expect: devplace: the name is a function's and not a tensor's
  {
    rows<5> y(dp::extents<dyn, 5>(n));
    auto b = dp::to<dp::cuda<0>>(y);
  }
#endif
#if defined(PRINTED)  // expect: devplace: the name is a function's and not a tensor's
  {
    rows<6> y(dp::extents<dyn, 6>(n));
    std::cout << y;
  }
#endif
#if defined(SUMMED)  // expect: devplace: the name is a function's and not a tensor's
  {
    rows<7> y(dp::extents<dyn, 7>(n));
    auto s = dp::sum(y);
  }
#endif
#if defined(MULTIPLIED)  // expect: devplace: the name is a function's and not a tensor's
  {
    rows<8> y(dp::extents<dyn, 8>(n));
    auto p = dp::matmul(y, x);
  }
#endif
#if defined(PREDICTED)  // expect: devplace: the name is a function's and not a tensor's
  {
    rows<9> y(dp::extents<dyn, 9>(n));
    auto p = m.predict(y);
  }
#endif
#if defined(LOADED)  // expect: devplace: the name is a function's and not a tensor's
  {
    rows<10> y(dp::extents<dyn, 10>(n));
    auto l = dp::make_loader<on_cpu>(y, x, {.batch = 1});
  }
#endif
#if defined(WRITTEN)  // expect: devplace: the name is a function's and not a tensor's
  {
    rows<11> y(dp::extents<dyn, 11>(n));
    dp::write_npy("x.npy", y);
  }
#endif
#if defined(WITHOUT_A_SIZE)  // expect: devplace: the name is a function's and not a tensor's
  {
    numbers y();
    x = y + x;
  }
#endif
}
