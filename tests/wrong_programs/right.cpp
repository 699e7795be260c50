// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "prologue.hpp"

#if defined(ZEROS_OF_NUMBERS)  // right: the extents as numbers, the place without on
void program() {
  auto a = dp::zeros<float, dp::cpu>(3, 4);
  std::cout << a;
}
#endif

#if defined(TENSOR_SET_TO_ZERO)  // right: all elements set to 0
void program() {
  auto a = some_matrix();
  a = 0;
  std::cout << a;
}
#endif

#if defined(ROWS_IN_A_LOOP)  // right: the rows of a matrix in a loop
void program() {
  auto a = some_matrix();
  for (auto r : a) std::cout << r;
}
#endif

#if defined(MODEL_CALLED)  // right: a model called like a function
void program() {
  dp::model<net, host> m{dp::seed{1}};
  std::cout << m(some_samples());
}
#endif

#if defined(MODEL_ON_PLACE)  // right: a model on a place without on
void program() {
  dp::model<net, dp::cpu> m{dp::seed{1}};
  std::cout << m.predict(some_samples());
}
#endif

#if defined(TENSORS_IN_A_VECTOR)  // right: a vector that grows
void program() {
  std::vector<matrix> v;
  for (int i = 0; i < 3; ++i) v.push_back(some_matrix());
  std::cout << v[2];
}
#endif

#if defined(DOUBLE_LITERAL)  // right: a float matrix times 0.5
void program() {
  auto a = some_matrix();
  dp::tensor b = a * 0.5 + 1;
  std::cout << b;
}
#endif

#if defined(EXPRESSION_RETURNED)  // right: a function that returns an expression of its argument
dp::tensor<float, dp::extents<2, 3>, host> twice(const matrix& m) { return m + m; }
void program() {
  auto a = some_matrix();
  std::cout << twice(a);
}
#endif

#if defined(STATIC_FOR_DYNAMIC)  // right: static extents for a function of dynamic ones
void show(dp::view<const float, dp::extents<dp::dyn, dp::dyn>, host> m) { std::cout << m; }
void program() {
  auto a = some_matrix();
  show(a);
}
#endif

#if defined(ROW_WRITTEN)  // right: a row assigned a computed row
void program() {
  auto a = some_matrix();
  a[0] = a[1] * 2.0f;
  std::cout << a;
}
#endif

#if defined(RATE_CHANGED)  // right: a learning rate that decays
void program() {
  dp::model<net, host> m{dp::seed{1}};
  dp::trainer step{m, nn::cross_entropy{}, optim::adam{1e-2}};
  step(some_samples(), some_labels());
  step.optimizer().rule().learning_rate *= 0.5;
  std::cout << step(some_samples(), some_labels()).item();
}
#endif

#if defined(BEST_KEPT)  // right: the best parameters kept and put back
void program() {
  dp::model<net, host> m{dp::seed{1}};
  auto best = dp::to<host>(m);
  dp::trainer step{m, nn::cross_entropy{}, optim::adam{}};
  step(some_samples(), some_labels());
  m.assign(best);
  step(some_samples(), some_labels());
}
#endif

#if defined(TRAINER_REPLACED)  // right: a trainer replaced by another one
void program() {
  dp::model<net, host> m{dp::seed{1}};
  dp::trainer step{m, nn::cross_entropy{}, optim::adam{}};
  step = dp::trainer{m, nn::cross_entropy{}, optim::adam{.learning_rate = 1e-4}};
  step(some_samples(), some_labels());
}
#endif

#if defined(ACCURACY_WITHOUT_OPTIONS)  // right: the accuracy on a data set, and on a loader's epoch
void program() {
  auto data = some_data();
  dp::model<nn::sequential<nn::linear<4, 3>>, host> m{dp::seed{1}};
  dp::loader<host> batches{data.test, {.batch = 4}};
  std::cout << dp::accuracy(m, data.test, {}) << dp::accuracy(m, batches.epoch(0));
}
#endif

#if defined(ALGORITHMS_ON_ROW)  // right: standard algorithms on a row
void program() {
  row a{3, 1, 2};
  auto v = a.view();
  std::sort(v.data(), v.data() + v.size());
  std::cout << a << *std::max_element(v.data(), v.data() + v.size());
}
#endif
