// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <devplace/place/first_available.hpp>
#include <devplace/place/select.hpp>
#include <devplace/tensor/tensor.hpp>
#include <devplace/tensor/wrap.hpp>

namespace dp = devplace;

// Naming a cuda placement is valid in every build; only storage on it needs a component.
using named = dp::on<dp::cuda<1>>;
void takes(const dp::tensor<float, dp::extents<3>, named>&);

// Compiles through nvcc, too, whose front end rejects some type lists.
std::string choose_among_gpus() {
  const auto name = [](auto where) { return dp::placement_name<decltype(where)>(); };
  return dp::first_available<dp::up_to<3>, dp::on<dp::cpu>>(name) +
         dp::select<dp::on<dp::cpu>, dp::up_to<2>>("cpu", name);
}

float* for_libraries(dp::view<float, dp::extents<3>, named> x) {
  return x.data() == nullptr ? nullptr : (x.data() + 1).get();
}

// Passes x to a case. See compile_fail.cmake.
template <class Case, class... X> void in_a_template(const Case& f, X&&... x) { f(x...); }

#if defined(ELEMENT_BY_DEVICE_POINTER)  // expect: devplace: the host cannot reach a device's memory
float element(dp::view<float, dp::extents<3>, named> x) { return x.data()[1]; }
#endif

#if defined(SORT_OF_DEVICE_POINTERS)  // expect: devplace: the host cannot reach a device's memory; get\(\) is the
void sort(dp::view<std::int64_t, dp::extents<3>, named> x) {
  in_a_template([](auto& numbers) { std::sort(numbers.data(), numbers.data() + 3); }, x);
}
#endif

#if defined(WRAP_DEVICE_POINTER_AS_HOST)  // expect: devplace: wrap: the pointer is of a device's memory, which the host
auto wrapped(dp::device_pointer<float> x) { return dp::wrap(x, dp::extents<3>{}); }
#endif

#if defined(NEGATIVE_ORDINAL)  // expect: devplace: a cuda ordinal counts from 0
dp::cuda<-1> negative;
#endif

#if defined(PLACE_TWICE)  // expect: devplace: this placement names one place twice
dp::replicated<0, 1, 0> twice;
#endif

#if defined(NO_PLACE)  // expect: devplace: a placement needs at least one place
dp::replicated<> nowhere;
#endif

#if defined(ACROSS_ONE_COPY)  // expect: devplace: write across<on<P>> for a copy on one place of each process
static_assert(dp::local_place_count<dp::across<dp::replicated_on<dp::cpu>>> == 1);
#endif

#if defined(ACROSS_TWICE)  // expect: devplace: across<Local> takes a placement in one process; write across once
static_assert(dp::local_place_count<dp::across<dp::across<dp::on<dp::cpu>>>> == 1);
#endif

#if defined(PARTICIPANTS_WITHOUT_PROCESSES)  // expect: (no matching function|no instance of overloaded function)
static_assert(dp::participant_count<dp::across<dp::on<dp::cpu>>>() == 1);
#endif

#if defined(FIRST_AVAILABLE_OF_NOTHING)  // expect: devplace: first_available, select: none of the placements can be
void choose() {
  dp::first_available<dp::replicated<0, 1>, dp::on<dp::cuda<0>>>([](auto) {});
}
#endif

#if defined(SELECT_OF_NOTHING)  // expect: devplace: first_available, select: none of the placements can be used
void choose() {
  dp::select<dp::on<dp::cuda<0>>>("cuda:0", [](auto) {});
}
#endif

#if defined(DIFFERENT_RESULTS)  // expect: devplace: first_available, select: the function returns different types
struct counts {
  int operator()(dp::on<dp::cpu>) const { return 1; }
  double operator()(dp::replicated_on<dp::cpu>) const { return 1; }
};
double choose() { return dp::first_available<dp::on<dp::cpu>, dp::replicated_on<dp::cpu>>(counts{}); }
#endif

#if defined(FUNCTION_WITHOUT_PLACEMENT)  // expect: devplace: first_available, select: the function takes the chosen
void choose() {
  dp::first_available<dp::cpu>([] {});
}
#endif

#if defined(FUNCTION_OF_A_NUMBER)  // expect: devplace: first_available, select: the function takes the chosen placement
int choose() {
  return dp::select<dp::cpu>("cpu", [](int x) { return x; });
}
#endif

#if defined(FIRST_AVAILABLE_WITHOUT_PLACEMENTS)  // expect: devplace: first_available, select: name the placements
void choose() {
  dp::first_available([](auto) {});
}
#endif

#if defined(SELECT_WITH_NAME_LAST)  // expect: devplace: select: the first argument is the placement's name, a string
void choose() {
  dp::select<dp::cpu>([](auto) {}, "cpu");
}
#endif

#if defined(SELECT_BY_NULL)  // expect: devplace: select: the first argument is the placement's name, a string
void choose() {
  dp::select<dp::cpu>(0, [](auto) {});
}
#endif

#if defined(WRAP_VECTOR_AS_DEVICE)  // expect: devplace: wrap: the container is in host memory and the place is a device
auto wrapped(std::vector<float>& x) { return dp::wrap<named>(x, dp::extents<3>{}); }
#endif

#if defined(UP_TO_NO_GPU)  // expect: devplace: up_to<N> stands for N GPUs or fewer
void choose() {
  dp::first_available<dp::up_to<0>, dp::on<dp::cpu>>([](auto) {});
}
#endif
