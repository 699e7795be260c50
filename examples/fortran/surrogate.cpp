// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A network as C functions, from which no exception escapes. For another network copy this file, and change the
// network, its loss and its optimizer.

#include "surrogate.h"

#include <devplace/all.hpp>
#include <devplace/io/parameters.hpp>

namespace dp = devplace;
namespace nn = dp::nn;

using model_type = dp::model<nn::sequential<nn::linear<3, 32>, nn::tanh, nn::linear<32, 2>>, dp::cpu>;
using inputs = dp::extents<dp::dyn, 3>;
using outputs = dp::extents<dp::dyn, 2>;

struct surrogate_network {
  model_type model{dp::seed{1}};
  dp::trainer<model_type, nn::mse, dp::optim::adam> step{model, nn::mse{}, dp::optim::adam{.learning_rate = 3e-3}};
};

// The code of the exception that a call throws; 0 without one.
static int code_of(const auto& call) { return dp::error_code_of(call).value(); }
static auto& existing(auto* net) {
  if (net == nullptr) throw dp::argument_error("surrogate: there is no network; create or load it first.");
  return *net;
}

int surrogate_create(surrogate_network** made) {
  return code_of([&] { *made = new surrogate_network; });
}
void surrogate_destroy(surrogate_network* net) { delete net; }
int surrogate_load(surrogate_network* net, const char* path) {
  return code_of([&] { dp::load_parameters(existing(net).model, path); });
}
int surrogate_save(const surrogate_network* net, const char* path) {
  return code_of([&] { dp::save_parameters(existing(net).model, path); });
}
int surrogate_predict(const surrogate_network* net, float* y, const float* x, size_t n) {
  return code_of([&] { existing(net).model.predict_into(dp::wrap(y, outputs{n}), dp::wrap(x, inputs{n})); });
}
int surrogate_predict_fields(const surrogate_network* net, float* y, const float* x, size_t n) {
  return code_of(
      [&] { existing(net).model.predict_into(dp::wrap(y, outputs{n}, {1, n}), dp::wrap(x, inputs{n}, {1, n})); });
}
int surrogate_train(surrogate_network* net, const float* x, const float* y, size_t n, float* loss) {
  return code_of([&] { *loss = existing(net).step(dp::wrap(x, inputs{n}), dp::wrap(y, outputs{n})).item(); });
}
const char* surrogate_error() { return dp::last_error_message(); }
