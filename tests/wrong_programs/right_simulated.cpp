// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "prologue.hpp"

#if defined(TO_PLACE)  // right: a place where to takes a placement
void program() {
  auto a = some_matrix();
  auto b = dp::to<dp::cuda<0>>(a);
  auto c = dp::to<dp::cpu>(b);
  std::cout << b << c;
}
#endif

#if defined(TO_METHOD)  // right: to as a method
void program() {
  auto a = some_matrix();
  auto b = a.to<dp::cuda<0>>();
  std::cout << b;
}
#endif

#if defined(PLACEMENT_PRINTED)  // right: where a tensor lies
void program() {
  auto a = dp::ones<float, dp::on<dp::cuda<0>>>(dp::extents<3>{});
  std::cout << a.placement();
}
#endif

#if defined(FIRST_AVAILABLE_PLACES)  // right: places without on
void program() {
  dp::first_available<dp::cuda<0>, dp::cpu>([](auto where) { std::cout << dp::placement_name<decltype(where)>(); });
}
#endif

#if defined(WAIT_FOR_DEVICE)  // right: synchronize of a device, whose memory is then read back
void program() {
  auto a = dp::ones<float, dp::on<dp::cuda<0>>>(dp::extents<3>{});
  a = a + a;
  dp::synchronize<dp::cuda<0>>();
  std::cout << dp::item(dp::sum(a));
}
#endif
