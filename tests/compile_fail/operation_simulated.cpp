// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <cstddef>
#include <string>

#include <devplace/ops/for_each.hpp>

namespace dp = devplace;

template <std::size_t Bytes> struct store {
  unsigned char* x;
  unsigned char values[Bytes];
  DEVPLACE_HD void operator()(std::size_t i) const { x[i] = values[i]; }
};

void runs(unsigned char* x) { dp::detail::for_each_index<dp::backend::cuda>(0, 1, 1, store<4000>{x, {}}); }

#if defined(ARGUMENTS_TOO_LARGE)  // expect: devplace: the arguments of this operation exceed the 4096 bytes
void launch(unsigned char* x) { dp::detail::for_each_index<dp::backend::cuda>(0, 1, 1, store<4096>{x, {}}); }
#endif

#if defined(ARGUMENT_NOT_TRIVIALLY_COPYABLE)  // expect: devplace: the arguments of an operation on a cuda place must
void launch() {
  dp::detail::simulated_devices::at(0).submit([text = std::string("x")] { static_cast<void>(text.size()); });
}
#endif
