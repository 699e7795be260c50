// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "prologue.hpp"

#if defined(MODEL_WITHOUT_PLACE)  // a model; where it lies is forgotten
void program() {
  dp::model<net> m{dp::seed{1}};
  std::cout << m.parameter_count();
}
#endif

#if defined(MODEL_WITHOUT_SEED)  // a model without a seed
void program() {
  dp::model<net, host> m;
  std::cout << m.parameter_count();
}
#endif

#if defined(MODEL_SEED_AS_NUMBER)  // a model with a bare number as the seed
void program() {
  dp::model<net, host> m{42};
  std::cout << m.parameter_count();
}
#endif

#if defined(MODEL_ARGUMENTS_SWAPPED)  // the placement before the network
void program() {
  dp::model<host, net> m{dp::seed{1}};
  std::cout << m.parameter_count();
}
#endif

#if defined(MODEL_OF_OBJECT)  // a network as an object, as in PyTorch
void program() {
  nn::sequential layers{nn::linear<4, 8>{}, nn::relu{}};
  dp::model<layers, host> m{dp::seed{1}};
}
#endif

#if defined(MODEL_RELU_CALLED)  // a layer written as a call
void program() {
  dp::model<nn::sequential<nn::linear<4, 8>, nn::relu(), nn::linear<8, 3>>, host> m{dp::seed{1}};
  std::cout << m.parameter_count();
}
#endif

#if defined(MODEL_OF_FUNCTION)  // the function relu instead of the layer
void program() { dp::model<nn::sequential<nn::linear<4, 8>, dp::relu, nn::linear<8, 3>>, host> m{dp::seed{1}}; }
#endif

#if defined(MODEL_SIZES_DIFFER)  // a layer that does not take what the one before gives
void program() {
  dp::model<nn::sequential<nn::linear<4, 8>, nn::relu, nn::linear<6, 3>>, host> m{dp::seed{1}};
  std::cout << m.parameter_count();
}
#endif

#if defined(MODEL_LINEAR_OF_ONE_SIZE)  // a layer with its outputs only, as in Keras
void program() { dp::model<nn::sequential<nn::linear<8>, nn::relu>, host> m{dp::seed{1}}; }
#endif

#if defined(MODEL_OF_NUMBERS)  // the sizes of the layers, without layers
void program() { dp::model<nn::sequential<4, 8, 3>, host> m{dp::seed{1}}; }
#endif

#if defined(MODEL_OF_INT)  // a type that is no network
void program() { dp::model<int, host> m{dp::seed{1}}; }
#endif

#if defined(MODEL_DROPOUT_OF_SHARE)  // dropout with a share instead of a percentage
void program() { dp::model<nn::sequential<nn::linear<4, 8>, nn::dropout<0.1>, nn::linear<8, 3>>, host> m{dp::seed{1}}; }
#endif

#if defined(MODEL_DROPOUT_OF_ALL)  // dropout of everything
void program() {
  dp::model<nn::sequential<nn::linear<4, 8>, nn::dropout<100>, nn::linear<8, 3>>, host> m{dp::seed{1}};
  std::cout << m.parameter_count();
}
#endif

#if defined(MODEL_HALF)  // half precision
void program() {
  dp::model<net, host, _Float16> m{dp::seed{1}};
  std::cout << m.parameter_count();
}
#endif

#if defined(MODEL_OF_INTEGERS)  // integer parameters
void program() {
  dp::model<net, host, int> m{dp::seed{1}};
  std::cout << m.parameter_count();
}
#endif

#if defined(MODEL_COPIED)  // a copy of a model by auto
void program() {
  dp::model<net, host> m{dp::seed{1}};
  auto best = m;
  std::cout << best.parameter_count();
}
#endif

#if defined(MODEL_BY_VALUE)  // a model passed by value
std::size_t count(dp::model<net, host> m) { return m.parameter_count(); }
void program() {
  dp::model<net, host> m{dp::seed{1}};
  std::cout << count(m);
}
#endif

#if defined(MODEL_ASSIGNED)  // the best parameters put back by =
void program() {
  dp::model<net, host> m{dp::seed{1}}, best{dp::seed{2}};
  m = best;
  std::cout << m.parameter_count();
}
#endif

#if defined(MODEL_OTHER_NETWORK)  // a model of one network assigned to one of another
void program() {
  dp::model<net, host> m{dp::seed{1}};
  dp::model<nn::sequential<nn::linear<4, 3>>, host> small{dp::seed{2}};
  m.assign(small);
}
#endif

#if defined(MODEL_VECTOR)  // an ensemble of five models
void program() {
  std::vector<dp::model<net, host>> all(5);
  std::cout << all.size();
}
#endif

#if defined(MODEL_PRINTED)  // a summary of the model
void program() {
  dp::model<net, host> m{dp::seed{1}};
  std::cout << m;
}
#endif

#if defined(MODEL_EVAL)  // PyTorch's eval
void program() {
  dp::model<net, host> m{dp::seed{1}};
  m.eval();
}
#endif

#if defined(MODEL_PARAMETERS)  // PyTorch's parameters
void program() {
  dp::model<net, host> m{dp::seed{1}};
  for (auto& p : m.parameters()) std::cout << p;
}
#endif

#if defined(MODEL_PARAMETER_BY_NAME)  // a parameter by its name
void program() {
  dp::model<net, host> m{dp::seed{1}};
  std::cout << m.parameter("0.weight");
}
#endif

#if defined(MODEL_PARAMETER_BY_NUMBER)  // a parameter by a number in parentheses
void program() {
  dp::model<net, host> m{dp::seed{1}};
  std::cout << m.parameter(0);
}
#endif

#if defined(MODEL_NO_SUCH_PARAMETER)  // a parameter that the network does not have
void program() {
  dp::model<net, host> m{dp::seed{1}};
  std::cout << m.parameter<7>();
}
#endif

#if defined(MODEL_MOVED_FROM)  // run: predict of a model that was moved away
void program() {
  dp::model<net, host> m{dp::seed{1}};
  auto other = std::move(m);
  std::cout << m.predict(some_samples());
}
#endif

#if defined(PREDICT_VECTOR)  // predict of a std::vector
void program() {
  dp::model<net, host> m{dp::seed{1}};
  std::vector<float> x(4);
  std::cout << m.predict(x);
}
#endif

#if defined(PREDICT_ONE_SAMPLE)  // predict of one sample without a batch axis
void program() {
  dp::model<net, host> m{dp::seed{1}};
  dp::tensor<float, dp::extents<4>, host> x{1, 2, 3, 4};
  std::cout << m.predict(x);
}
#endif

#if defined(PREDICT_OTHER_WIDTH)  // samples of five features for a network of four
void program() {
  dp::model<net, host> m{dp::seed{1}};
  auto x = dp::ones<float, host>(dp::extents<6, 5>{});
  std::cout << m.predict(x);
}
#endif

#if defined(PREDICT_OTHER_WIDTH_DYNAMIC)  // run: the same with a width that is known at run time
void program() {
  dp::model<net, host> m{dp::seed{1}};
  auto x = dp::ones<float, host>(dp::extents<dp::dyn, dp::dyn>(6, 5));
  std::cout << m.predict(x);
}
#endif

#if defined(PREDICT_DOUBLES)  // doubles for a model of float
void program() {
  dp::model<net, host> m{dp::seed{1}};
  auto x = dp::ones<double, host>(dp::extents<6, 4>{});
  std::cout << m.predict(x);
}
#endif

#if defined(PREDICT_PIXELS)  // bytes for a model of float
void program() {
  dp::model<net, host> m{dp::seed{1}};
  auto set = some_images();
  std::cout << m.predict(set.images);
}
#endif

#if defined(PREDICT_UNFLATTENED)  // right: images where the first layer takes rows
void program() {
  dp::model<net, host> m{dp::seed{1}};
  auto x = dp::ones<float, host>(dp::extents<6, 2, 2>{});
  std::cout << m.predict(x);
}
#endif

#if defined(PREDICT_TWO)  // predict of samples and labels
void program() {
  dp::model<net, host> m{dp::seed{1}};
  std::cout << m.predict(some_samples(), some_labels());
}
#endif

#if defined(PREDICT_SUM)  // the class of each row, by argmax without its axis
void program() {
  dp::model<net, host> m{dp::seed{1}};
  int c = dp::argmax(m.predict(some_samples()));
  std::cout << c;
}
#endif

#if defined(BACKWARD_WITHOUT_MOVE)  // backward with a name
void program() {
  dp::model<net, host> m{dp::seed{1}};
  auto x = some_samples();
  auto [y, saved] = m.forward(x);
  auto [loss, gradient] = nn::cross_entropy{}(y, some_labels());
  auto g = m.backward(saved, gradient);
}
#endif

#if defined(BACKWARD_SWAPPED)  // the gradient before the saved activations
void program() {
  dp::model<net, host> m{dp::seed{1}};
  auto x = some_samples();
  auto [y, saved] = m.forward(x);
  auto [loss, gradient] = nn::cross_entropy{}(y, some_labels());
  auto g = m.backward(gradient, std::move(saved));
}
#endif

#if defined(BACKWARD_TWICE)  // run: backward twice with one set of saved activations
void program() {
  dp::model<net, host> m{dp::seed{1}};
  auto x = some_samples();
  auto [y, saved] = m.forward(x);
  auto [loss, gradient] = nn::cross_entropy{}(y, some_labels());
  {
    auto g = m.backward(std::move(saved), gradient);
  }
  auto h = m.backward(std::move(saved), gradient);
}
#endif

#if defined(BACKWARD_OF_LOSS)  // the whole result of the loss as the gradient
void program() {
  dp::model<net, host> m{dp::seed{1}};
  auto x = some_samples();
  auto [y, saved] = m.forward(x);
  auto l = nn::cross_entropy{}(y, some_labels());
  auto g = m.backward(std::move(saved), l);
}
#endif

#if defined(FORWARD_AS_OUTPUT)  // the result of forward as if it were the output
void program() {
  dp::model<net, host> m{dp::seed{1}};
  auto x = some_samples();
  auto y = m.forward(x);
  std::cout << dp::argmax(y, dp::axis<1>{});
}
#endif
