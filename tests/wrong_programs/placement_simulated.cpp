// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "prologue.hpp"

#if defined(ADD_TWO_PLACES)  // host plus device
void program() {
  auto a = some_matrix();
  auto b = dp::to<dp::on<dp::cuda<0>>>(a);
  dp::tensor c = a + b;
  std::cout << c;
}
#endif

#if defined(ADD_TWO_DEVICES)  // device 0 plus device 1
void program() {
  auto a = dp::ones<float, dp::on<dp::cuda<0>>>(dp::extents<3>{});
  auto b = dp::ones<float, dp::on<dp::cuda<1>>>(dp::extents<3>{});
  dp::tensor c = a + b;
  std::cout << c;
}
#endif

#if defined(ELEMENT_OF_DEVICE)  // an element of an array on a device
void program() {
  auto b = dp::ones<float, dp::on<dp::cuda<0>>>(dp::extents<3>{});
  std::cout << b(1);
}
#endif

#if defined(ELEMENT_WRITTEN_ON_DEVICE)  // an element written on a device
void program() {
  auto b = dp::ones<float, dp::on<dp::cuda<0>>>(dp::extents<3>{});
  b(1) = 5;
  std::cout << b;
}
#endif

#if defined(ELEMENT_BY_POINTER)  // run: an element of a device by its pointer
void program() {
  auto b = dp::ones<float, dp::on<dp::cuda<0>>>(dp::extents<3>{});
  float s = b.data()[0];
  std::cout << s;
}
#endif

#if defined(SORT_DEVICE_POINTER)  // run: std::sort of an array on a device
void program() {
  auto b = dp::ones<float, dp::on<dp::cuda<0>>>(dp::extents<3>{});
  std::sort(b.data(), b.data() + b.size());
  std::cout << b;
}
#endif

#if defined(MEMCPY_OF_DEVICE)  // run: memcpy from a device
void program() {
  auto b = dp::ones<float, dp::on<dp::cuda<0>>>(dp::extents<3>{});
  std::vector<float> v(3);
  std::memcpy(v.data(), b.data(), 12);
  std::cout << v[0];
}
#endif

#if defined(WRAP_HOST_AS_DEVICE)  // run: a vector wrapped as if it were on a device
void program() {
  std::vector<float> v(3, 1.0f);
  auto b = dp::wrap<dp::on<dp::cuda<0>>>(v, dp::extents<3>{});
  dp::tensor c = b + b;
  std::cout << c;
}
#endif

#if defined(TO_BY_STRING)  // PyTorch's to("cuda:0")
void program() {
  auto a = some_matrix();
  auto b = dp::to(a, "cuda:0");
  std::cout << b;
}
#endif

#if defined(TO_WITHOUT_PLACE)  // to without a place
void program() {
  auto a = some_matrix();
  auto b = dp::to(a);
  std::cout << b;
}
#endif

#if defined(TO_BY_NUMBER)  // to with a device's number
void program() {
  auto a = some_matrix();
  auto b = dp::to<0>(a);
  std::cout << b;
}
#endif

#if defined(TO_BY_OBJECT)  // the place as an argument
void program() {
  auto a = some_matrix();
  auto b = dp::to(dp::cuda<0>{}, a);
  std::cout << b;
}
#endif

#if defined(TO_CUDA_METHOD)  // PyTorch's cuda()
void program() {
  auto a = some_matrix();
  auto b = a.cuda();
  std::cout << b;
}
#endif

#if defined(TO_DISCARDED)  // run: to as a statement, as if it moved its argument
void program() {
  dp::model<net, host> m{dp::seed{1}};
  dp::to<dp::on<dp::cuda<0>>>(m);
  std::cout << m.predict(some_samples());
}
#endif

#if defined(TO_EXPRESSION)  // an expression moved
void program() {
  auto a = some_matrix();
  auto b = dp::to<dp::on<dp::cuda<0>>>(a + a);
  std::cout << b;
}
#endif

#if defined(TO_VECTOR)  // a vector moved to a device
void program() {
  std::vector<float> v(3);
  auto b = dp::to<dp::on<dp::cuda<0>>>(v);
  std::cout << b;
}
#endif

#if defined(ASSIGN_ACROSS)  // an array of the host assigned to one of a device
void program() {
  auto a = some_matrix();
  auto b = dp::zeros<float, dp::on<dp::cuda<0>>>(dp::extents<2, 3>{});
  b = a;
  std::cout << b;
}
#endif

#if defined(ASSIGN_MOVED_ACROSS)  // the same with std::move
void program() {
  auto a = some_matrix();
  auto b = dp::zeros<float, dp::on<dp::cuda<0>>>(dp::extents<2, 3>{});
  b = std::move(a);
  std::cout << b;
}
#endif

#if defined(ASSIGN_SUM_ACROSS)  // a sum on the host assigned to an array of a device
void program() {
  auto a = some_matrix();
  auto b = dp::zeros<float, dp::on<dp::cuda<0>>>(dp::extents<2, 3>{});
  b = a + a;
  std::cout << b;
}
#endif

#if defined(COPY_OTHER_EXTENTS_ACROSS)  // a copy between two shapes
void program() {
  auto a = some_matrix();
  auto b = dp::zeros<float, dp::on<dp::cuda<0>>>(dp::extents<3, 2>{});
  dp::copy(b, a);
  std::cout << b;
}
#endif

#if defined(COPY_OTHER_TYPE_ACROSS)  // a copy of floats into doubles
void program() {
  auto a = some_matrix();
  auto b = dp::zeros<double, dp::on<dp::cuda<0>>>(dp::extents<2, 3>{});
  dp::copy(b, a);
  std::cout << b;
}
#endif

#if defined(COPY_SWAPPED_ACROSS)  // run: copy(from, to): the host's data is overwritten
void program() {
  auto a = some_matrix();
  auto b = dp::zeros<float, dp::on<dp::cuda<0>>>(dp::extents<2, 3>{});
  dp::copy(a, b);
  std::cout << a;
}
#endif

#if defined(PASS_DEVICE_TO_HOST)  // an array on a device for a function of the host
float first(dp::view<const float, dp::extents<2, 3>, host> m) { return m(0, 0); }
void program() {
  auto b = dp::zeros<float, dp::on<dp::cuda<0>>>(dp::extents<2, 3>{});
  std::cout << first(b.view());
}
#endif

#if defined(PREDICT_ELSEWHERE)  // samples on the host for a model on a device
void program() {
  dp::model<net, dp::on<dp::cuda<0>>> m{dp::seed{1}};
  std::cout << m.predict(some_samples());
}
#endif

#if defined(STEP_ELSEWHERE)  // a batch on the host for a model on a device
void program() {
  dp::model<net, dp::on<dp::cuda<0>>> m{dp::seed{1}};
  dp::trainer step{m, nn::cross_entropy{}, optim::adam{}};
  step(some_samples(), some_labels());
}
#endif

#if defined(STEP_LABELS_ELSEWHERE)  // labels forgotten on the host
void program() {
  dp::model<net, dp::on<dp::cuda<0>>> m{dp::seed{1}};
  dp::trainer step{m, nn::cross_entropy{}, optim::adam{}};
  step(dp::to<dp::on<dp::cuda<0>>>(some_samples()), some_labels());
}
#endif

#if defined(LOADER_ELSEWHERE)  // a loader of another device
void program() {
  auto data = some_data();
  dp::model<nn::sequential<nn::linear<4, 3>>, dp::on<dp::cuda<0>>> m{dp::seed{1}};
  dp::trainer step{m, nn::cross_entropy{}, optim::adam{}};
  dp::loader<dp::on<dp::cuda<1>>> batches{data.train, {.batch = 4}};
  for (const auto& [x, y] : batches.epoch(0)) step(x, y);
}
#endif

#if defined(MODEL_ASSIGNED_ACROSS)  // a model of the host assigned to one on a device
void program() {
  dp::model<net, host> m{dp::seed{1}};
  dp::model<net, dp::on<dp::cuda<0>>> n{dp::seed{2}};
  n = m;
  std::cout << n.parameter_count();
}
#endif

#if defined(OUTPUT_ELEMENT_ON_DEVICE)  // an output's element on a device
void program() {
  dp::model<net, dp::on<dp::cuda<0>>> m{dp::seed{1}};
  auto y = m.predict(dp::to<dp::on<dp::cuda<0>>>(some_samples()));
  std::cout << y(0, 0);
}
#endif

#if defined(PINNED_COMPUTED)  // a sum in pinned memory
void program() {
  dp::tensor<float, dp::extents<3>, dp::on<dp::pinned>> a{1, 2, 3};
  dp::tensor c = a + a;
  std::cout << c;
}
#endif

#if defined(PINNED_MODEL)  // a model in pinned memory
void program() {
  dp::model<net, dp::on<dp::pinned>> m{dp::seed{1}};
  std::cout << m.parameter_count();
}
#endif

#if defined(DEVICE_TOO_HIGH)  // run: a device that the machine does not have
void program() {
  auto a = dp::ones<float, dp::on<dp::cuda<17>>>(dp::extents<3>{});
  std::cout << a;
}
#endif

#if defined(DEVICE_NEGATIVE)  // a negative device
void program() {
  auto a = dp::ones<float, dp::on<dp::cuda<-1>>>(dp::extents<3>{});
  std::cout << a;
}
#endif

#if defined(ON_NUMBER)  // a device's number as a placement
void program() {
  auto a = dp::ones<float, dp::on<0>>(dp::extents<3>{});
  std::cout << a;
}
#endif

#if defined(ON_ON)  // right: a placement of a placement
void program() {
  auto a = dp::ones<float, dp::on<dp::on<dp::cpu>>>(dp::extents<3>{});
  std::cout << a;
}
#endif

#if defined(ON_TWO)  // one placement of two devices
void program() {
  auto a = dp::ones<float, dp::on<dp::cuda<0>, dp::cuda<1>>>(dp::extents<3>{});
  std::cout << a;
}
#endif

#if defined(ON_CUDA_WITHOUT_NUMBER)  // a device without its number
void program() {
  auto a = dp::ones<float, dp::on<dp::cuda>>(dp::extents<3>{});
  std::cout << a;
}
#endif

#if defined(DEVICE_AT_RUN_TIME)  // a device chosen by a variable
void program() {
  int device = 1;
  auto a = dp::ones<float, dp::on<dp::cuda<device>>>(dp::extents<3>{});
  std::cout << a;
}
#endif

#if defined(CHOSEN_BY_CONDITION)  // host or device by ?:
void program() {
  bool gpu = true;
  auto a = some_matrix();
  auto b = gpu ? dp::to<dp::on<dp::cuda<0>>>(a) : dp::to<host>(a);
  std::cout << b;
}
#endif

#if defined(SELECT_UNKNOWN)  // run: a name that is no placement
void program() {
  dp::select<host, dp::on<dp::cuda<0>>>("gpu", [](auto where) { std::cout << dp::placement_name<decltype(where)>(); });
}
#endif

#if defined(SELECT_OTHER_RESULTS)  // a function with another result for each placement
void program() {
  auto a = dp::select<host, dp::on<dp::cuda<0>>>(
      "cpu", [](auto where) { return dp::ones<float, decltype(where)>(dp::extents<3>{}); });
  std::cout << a;
}
#endif

#if defined(SELECT_NO_ARGUMENT)  // a function that does not take the placement
void program() {
  dp::first_available<dp::on<dp::cuda<0>>, host>([] { std::cout << "here"; });
}
#endif

#if defined(SELECT_NAME_LAST)  // the name after the function
void program() {
  dp::select<host, dp::on<dp::cuda<0>>>([](auto where) { std::cout << dp::placement_name<decltype(where)>(); }, "cpu");
}
#endif

#if defined(SELECT_WITHOUT_LIST)  // select without candidates
void program() {
  dp::select("cpu", [](auto where) { std::cout << dp::placement_name<decltype(where)>(); });
}
#endif

#if defined(AVAILABLE_BY_OBJECT)  // right: a place as an argument of available
void program() { std::cout << dp::available(dp::cuda<0>{}); }
#endif

#if defined(SYNCHRONIZE_NOTHING)  // PyTorch's synchronize
void program() { dp::synchronize(); }
#endif

#if defined(SYNCHRONIZE_MODEL)  // synchronize of a model
void program() {
  dp::model<net, dp::on<dp::cuda<0>>> m{dp::seed{1}};
  dp::synchronize(m);
}
#endif

#if defined(SYNCHRONIZE_TENSOR)  // synchronize of an array
void program() {
  auto a = dp::ones<float, dp::on<dp::cuda<0>>>(dp::extents<3>{});
  dp::synchronize(a);
}
#endif

#if defined(MAP_TOO_LATE)  // run: the device map after the first use
void program() {
  auto a = dp::ones<float, dp::on<dp::cuda<0>>>(dp::extents<3>{});
  dp::set_device_map({{0, 1}});
  std::cout << a;
}
#endif

#if defined(MAP_NO_DEVICE)  // run: a device map of a device that does not exist
void program() {
  dp::set_device_map({{0, 9}});
  auto a = dp::ones<float, dp::on<dp::cuda<0>>>(dp::extents<3>{});
  std::cout << a;
}
#endif

#if defined(STATISTICS_WITHOUT_PLACE)  // statistics of nothing
void program() { std::cout << dp::memory_statistics(); }
#endif

#if defined(STATISTICS_BY_STRING)  // the purpose as a string
void program() { std::cout << dp::memory_statistics<dp::cuda<0>>().of("parameters"); }
#endif

#if defined(STATISTICS_AS_NUMBER)  // statistics as a number
void program() {
  std::size_t n = dp::memory_statistics<dp::cuda<0>>();
  std::cout << n;
}
#endif

#if defined(TABLE_OF_PLACE)  // the table of one place
void program() { std::cout << dp::memory_table<dp::cuda<0>>(); }
#endif

#if defined(TRIM_WITHOUT_PLACE)  // PyTorch's empty_cache
void program() { dp::trim_memory(); }
#endif
