// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "prologue.hpp"

#if defined(LAYER_WITHOUT_OUTPUT)  // a layer without its output's extents
struct scale {
  static constexpr nn::keep keeps = nn::keep::nothing;
  static void forward(const auto& c) { c.output = c.input * 2.0f; }
  static void backward(const auto& c) { c.input_gradient = c.output_gradient * 2.0f; }
};
void program() { dp::model<nn::sequential<nn::linear<4, 8>, scale, nn::linear<8, 3>>, host> m{dp::seed{1}}; }
#endif

#if defined(LAYER_WITHOUT_BACKWARD)  // a layer without backward, as in PyTorch
struct scale {
  template <class In> using output = In;
  static void forward(const auto& c) { c.output = c.input * 2.0f; }
};
void program() {
  dp::model<nn::sequential<nn::linear<4, 8>, scale, nn::linear<8, 3>>, host> m{dp::seed{1}};
  dp::trainer step{m, nn::cross_entropy{}, optim::adam{}};
  step(some_samples(), some_labels());
}
#endif

#if defined(LAYER_NOT_STATIC)  // a layer with ordinary methods
struct scale {
  template <class In> using output = In;
  void forward(const auto& c) { c.output = c.input * 2.0f; }
  void backward(const auto& c) { c.input_gradient = c.output_gradient * 2.0f; }
};
void program() {
  dp::model<nn::sequential<nn::linear<4, 8>, scale, nn::linear<8, 3>>, host> m{dp::seed{1}};
  std::cout << m.predict(some_samples());
}
#endif

#if defined(LAYER_RETURNS)  // a layer whose forward takes and returns a tensor
struct scale {
  template <class In> using output = In;
  static auto forward(const auto& x) { return x * 2.0f; }
  static auto backward(const auto& g) { return g * 2.0f; }
};
void program() {
  dp::model<nn::sequential<nn::linear<4, 8>, scale, nn::linear<8, 3>>, host> m{dp::seed{1}};
  std::cout << m.predict(some_samples());
}
#endif

#if defined(LAYER_WITH_STATE)  // run: a layer with a member
struct scale {
  float factor = 2;
  template <class In> using output = In;
  static void forward(const auto& c) { c.output = c.input * 2.0f; }
  static void backward(const auto& c) { c.input_gradient = c.output_gradient * 2.0f; }
};
void program() {
  dp::model<nn::sequential<nn::linear<4, 8>, scale, nn::linear<8, 3>>, host> m{dp::seed{1}};
  std::cout << m.predict(some_samples());
}
#endif

#if defined(LAYER_WRONG_KEEP)  // backward reads the input, which the layer does not keep
struct squared {
  template <class In> using output = In;
  static constexpr nn::keep keeps = nn::keep::nothing;
  static void forward(const auto& c) { c.output = dp::square(c.input); }
  static void backward(const auto& c) { c.input_gradient = c.output_gradient * 2.0f * c.input; }
};
void program() {
  dp::model<nn::sequential<nn::linear<4, 8>, squared, nn::linear<8, 3>>, host> m{dp::seed{1}};
  dp::trainer step{m, nn::cross_entropy{}, optim::adam{}};
  std::cout << step(some_samples(), some_labels()).item();
}
#endif

#if defined(LAYER_NO_SUCH_PARAMETER)  // a parameter that the layer does not have
struct scale {
  template <class In> using output = In;
  static constexpr std::array parameters{nn::parameter{"factor", {1}, nn::init::ones()}};
  static void forward(const auto& c) { c.output = c.input * c.template parameter<1>(); }
  static void backward(const auto& c) { c.input_gradient = c.output_gradient * 2.0f; }
};
void program() {
  dp::model<nn::sequential<nn::linear<4, 8>, scale, nn::linear<8, 3>>, host> m{dp::seed{1}};
  std::cout << m.predict(some_samples());
}
#endif

#if defined(LAYER_PARAMETER_WITHOUT_INIT)  // a parameter without its initialisation
struct scale {
  template <class In> using output = In;
  static constexpr std::array parameters{nn::parameter{"factor", {1}}};
  static void forward(const auto& c) { c.output = c.input * c.template parameter<0>(); }
  static void backward(const auto& c) { c.input_gradient = c.output_gradient * 2.0f; }
};
void program() {
  dp::model<nn::sequential<nn::linear<4, 8>, scale, nn::linear<8, 3>>, host> m{dp::seed{1}};
  std::cout << m.predict(some_samples());
}
#endif

#if defined(LAYER_NAMED_EXPRESSION)  // an intermediate result with a name
struct swish {
  template <class In> using output = In;
  static void forward(const auto& c) {
    auto s = dp::sigmoid(c.input);
    c.output = c.input * s;
  }
  static void backward(const auto& c) { c.input_gradient = c.output_gradient * 1.0f; }
};
void program() {
  dp::model<nn::sequential<nn::linear<4, 8>, swish, nn::linear<8, 3>>, host> m{dp::seed{1}};
  std::cout << m.predict(some_samples());
}
#endif

#if defined(LAYER_OTHER_EXTENTS)  // forward writes an output of other extents
struct sums {
  template <class In> using output = dp::extents<5>;
  static void forward(const auto& c) { c.output = c.input * 2.0f; }
  static void backward(const auto& c) { c.input_gradient = c.output_gradient * 2.0f; }
};
void program() {
  dp::model<nn::sequential<nn::linear<4, 8>, sums, nn::linear<5, 3>>, host> m{dp::seed{1}};
  std::cout << m.predict(some_samples());
}
#endif

#if defined(LAYER_LAMBDA)  // a lambda as a layer
void program() {
  dp::model<nn::sequential<nn::linear<4, 8>, decltype([](auto x) { return x * 2.0f; }), nn::linear<8, 3>>, host> m{
      dp::seed{1}};
}
#endif

#if defined(LAYER_OF_SIZES_ONLY)  // the extents of the output as a number
struct scale {
  static constexpr std::size_t output = 8;
  static void forward(const auto& c) { c.output = c.input * 2.0f; }
  static void backward(const auto& c) { c.input_gradient = c.output_gradient * 2.0f; }
};
void program() { dp::model<nn::sequential<nn::linear<4, 8>, scale, nn::linear<8, 3>>, host> m{dp::seed{1}}; }
#endif

#if defined(LAYER_CHECK_WITHOUT_SEED)  // the gradient check without a seed
void program() {
  const auto check = nn::check_gradients<net>();
  std::cout << check.worst;
}
#endif

#if defined(LAYER_CHECK_OF_MODEL)  // the gradient check of a model
void program() {
  dp::model<net, host> m{dp::seed{1}};
  const auto check = nn::check_gradients(m);
  std::cout << check.worst;
}
#endif

#if defined(MAP_ORDER)  // the array before the function
struct cube {
  DEVPLACE_HD float operator()(float x) const { return x * x * x; }
};
void program() {
  auto a = some_matrix();
  dp::tensor c = dp::map(a, cube{});
  std::cout << c;
}
#endif

#if defined(MAP_NOT_CONST)  // a function that is not const
struct counted {
  int n = 0;
  float operator()(float x) {
    ++n;
    return x;
  }
};
void program() {
  auto a = some_matrix();
  dp::tensor c = dp::map(counted{}, a);
  std::cout << c;
}
#endif

#if defined(MAP_WITH_TENSOR)  // a function that has a tensor
struct weighted {
  matrix w;
  float operator()(float x) const { return x * w(0, 0); }
};
void program() {
  auto a = some_matrix();
  dp::tensor c = dp::map(weighted{some_matrix()}, a);
  std::cout << c;
}
#endif

#if defined(MAP_WITH_VECTOR)  // a lambda that captures a vector by value
void program() {
  auto a = some_matrix();
  std::vector<float> table{1, 2, 3};
  dp::tensor c = dp::map([table](float x) { return x * table[0]; }, a);
  std::cout << c;
}
#endif

#if defined(MAP_OTHER_ARITY)  // a function of two numbers for one array
struct add {
  float operator()(float x, float y) const { return x + y; }
};
void program() {
  auto a = some_matrix();
  dp::tensor c = dp::map(add{}, a);
  std::cout << c;
}
#endif

#if defined(MAP_WITHOUT_RESULT)  // a function that returns nothing
void program() {
  auto a = some_matrix();
  dp::tensor c = dp::map([](float& x) { x = 2 * x; }, a);
  std::cout << c;
}
#endif

#if defined(MAP_RETURNS_TEXT)  // a function that returns a string
void program() {
  auto a = some_matrix();
  dp::tensor c = dp::map([](float x) { return std::to_string(x); }, a);
  std::cout << c;
}
#endif

#if defined(MAP_FUNCTION_NAME)  // an overloaded function by its name
void program() {
  auto a = some_matrix();
  dp::tensor c = dp::map(std::sin, a);
  std::cout << c;
}
#endif

#if defined(MAP_OTHER_SHAPES)  // a function of two arrays of different shapes
void program() {
  auto a = some_matrix();
  auto b = dp::ones<float, host>(dp::extents<3, 2>{});
  dp::tensor c = dp::map([](float x, float y) { return x * y; }, a, b);
  std::cout << c;
}
#endif

#if defined(MAP_ROW_FUNCTION)  // a function of a row
void program() {
  auto a = some_matrix();
  dp::tensor c = dp::map([](const float* r) { return r[0]; }, a);
  std::cout << c;
}
#endif

#if defined(LOSS_OF_FUNCTION)  // a lambda as the loss
void program() {
  dp::model<net, host> m{dp::seed{1}};
  dp::trainer step{m, [](auto y, auto t) { return dp::mean(dp::square(y - t)); }, optim::adam{}};
}
#endif

#if defined(LOSS_OF_STRUCT)  // a struct with a call operator as the loss
struct absolute {
  auto operator()(const auto& y, const auto& t) const { return dp::mean(dp::abs(y - t)); }
};
void program() {
  dp::model<net, host> m{dp::seed{1}};
  dp::trainer step{m, absolute{}, optim::adam{}};
}
#endif

#if defined(RULE_OF_STRUCT)  // a struct with a step as the rule
struct descent {
  double learning_rate = 0.1;
  void step(auto& p, const auto& g) { p -= g; }
};
void program() {
  dp::model<net, host> m{dp::seed{1}};
  dp::trainer step{m, nn::cross_entropy{}, descent{}};
}
#endif

#if defined(THREADS_NONE)  // run: no threads
void program() {
  dp::set_thread_count(0);
  std::cout << dp::thread_count();
}
#endif

#if defined(THREADS_NEGATIVE)  // run: all threads, as other libraries have -1
void program() {
  dp::set_thread_count(-1);
  std::cout << dp::thread_count();
}
#endif

#if defined(THREADS_OF_TEMPORARY)  // a team that nobody keeps
void program() {
  dp::thread_team_scope scope{dp::serial_team{}};
  std::cout << dp::thread_count();
}
#endif
