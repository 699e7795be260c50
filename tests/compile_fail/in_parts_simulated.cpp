// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Models whose images are split along their rows, and networks, losses and batches that cannot be split.
#include <cstddef>
#include <cstdint>

#include <devplace/data/loader.hpp>
#include <devplace/in_parts.hpp>
#include <devplace/nn.hpp>
#include <devplace/nn/global_average_pool.hpp>
#include <devplace/parallel.hpp>
#include <devplace/train/trainer.hpp>

namespace dp = devplace;
namespace nn = devplace::nn;
namespace collective = devplace::collective;

using where = dp::in_parts<dp::axis<2>, 0, 1>;
using three = nn::conv2d<2, 2, nn::kernel<3>, nn::padding<1>>;
template <class... Layers> using images = nn::sequential<nn::input<2, 8, 4>, Layers...>;
using net = images<three, nn::relu, nn::max_pool2d<nn::kernel<2>>>;
template <class Where> using samples = dp::tensor<float, dp::extents<dp::dyn, 2, 8, 4>, Where>;
template <class Where> using targets = dp::tensor<float, dp::extents<dp::dyn, 2, 4, 2>, Where>;
using rows = dp::sharded<dp::axis<2>, 0, 1>;

template <class Net, class Where = where> void make() { static_cast<void>(dp::model<Net, Where>{dp::seed{1}}); }
template <class Case, class... X> void in_a_template(const Case& f, X&&... x) { f(x...); }

void work(dp::model<net, where>& model, const samples<rows>& x, const targets<rows>& y) {
  dp::trainer step{model, nn::mse{}, dp::optim::sgd{}};
  step(x, y);
  static_cast<void>(model.predict(x));
  static_cast<void>(dp::predictor<net, dp::cuda<0>>{model, dp::batch<8>{}});
  make<images<nn::conv_transpose2d<2, 2, nn::kernel<2>, nn::stride<2>>, nn::dropout<>, nn::group_norm<1, 2>>>();
  static_assert(dp::memory_plan<dp::model<net, where>, dp::batch<8>, dp::optim::sgd>::bytes > 0);
#if defined(PARTS_OF_COLUMNS)  // expect: devplace: in_parts: activations are split along the rows of images, axis 2
  make<net, dp::in_parts<dp::axis<3>, 0, 1>>();
#endif
#if defined(ONE_PART)  // expect: devplace: in_parts: at least two places share the rows of images
  make<net, dp::in_parts<dp::axis<2>, 0>>();
#endif
#if defined(PARTS_OF_PROCESSES)  // expect: devplace: in_parts: so far the places that split images are those of one
  make<net, dp::across<where>>();
#endif
#if defined(LINEAR_IN_PARTS)  // expect: devplace: in_parts: this layer has no form for images whose rows
  make<images<three, nn::flatten, nn::linear<64, 2>>>();
#endif
#if defined(GLOBAL_POOL_IN_PARTS)  // expect: devplace: in_parts: this layer has no form for images whose rows
  make<images<three, nn::global_average_pool>>();
#endif
#if defined(ROWS_AND_PLACES)  // expect: devplace: in_parts: the places have equally many rows of each image
  make<net, dp::in_parts<dp::axis<2>, 0, 1, 2>>();
#endif
#if defined(VECTORS_IN_PARTS)  // expect: devplace: in_parts: the network's input is an image, nn::input<channels
  make<nn::sequential<nn::input<8, 4>, nn::relu>>();
#endif
#if defined(CONVOLUTION_WITHOUT_PADDING)  // expect: devplace: in_parts: the stride or padding of a convolution or
  make<images<nn::conv2d<2, 2, nn::kernel<3>>>>();
#endif
#if defined(STRIDE_OF_ROWS)  // expect: devplace: in_parts: the stride or padding of a convolution or pooling does not
  make<images<nn::max_pool2d<nn::kernel<2>>, nn::max_pool2d<nn::kernel<2>>>, dp::in_parts<dp::axis<2>, 0, 1, 2, 3>>();
#endif
#if defined(WINDOW_OVER_PARTS)  // expect: devplace: in_parts: the windows of a convolution or pooling reach over all
  make<images<nn::conv2d<2, 2, nn::kernel<7>, nn::padding<3>>>, dp::in_parts<dp::axis<2>, 0, 1, 2, 3>>();
#endif
#if defined(TRANSPOSED_OVER_PARTS)  // expect: devplace: in_parts: a conv_transpose2d has no form for rows
  make<images<nn::conv_transpose2d<2, 2, nn::kernel<4>, nn::stride<2>, nn::padding<1>>>>();
#endif
#if defined(JOINED_ROWS)  // expect: devplace: in_parts: concat_of<axis<2>, ...> joins images along the rows
  make<images<nn::concat_of<dp::axis<2>, three, nn::relu>>>();
#endif
#if defined(LOSS_OF_CLASSES)  // expect: devplace: trainer: the loss of a model in parts is a sum or mean over
  dp::trainer{model, nn::kl_div{}, dp::optim::sgd{}};
#endif
#if defined(BATCH_OF_SAMPLES)  // expect: devplace: the batch does not lie where the model takes it
  in_a_template([](auto& m, const auto& batch) { static_cast<void>(m.predict(batch)); }, model,
                samples<dp::sharded<dp::axis<0>, 0, 1>>(dp::extents<dp::dyn, 2, 8, 4>{2}));
#endif
#if defined(FORWARD_IN_PARTS)  // expect: devplace: a model in parts is trained by a trainer, in which the places
  in_a_template([](auto& m, const auto& batch) { static_cast<void>(m.forward(batch)); }, model, x);
#endif
#if defined(PREDICTOR_IN_PARTS)  // expect: devplace: predictor: the model is in parts, whose places exchange rows
  dp::predictor{model, dp::batch<8>{}};
#endif
#if defined(LOADER_IN_PARTS)  // expect: devplace: loader: batches of a model in parts are split along their rows
  in_a_template([](const auto& data) { static_cast<void>(dp::loader<where>{data, {.batch = 8}}); },
                dp::labelled_images{}.train);
#endif
#if defined(TENSOR_IN_PARTS)  // expect: devplace: tensor: only models lie in parts.*sharded<axis<2>, 0, 1>
  dp::tensor<float, dp::extents<4, 2, 8, 4>, where>{};
#endif
#if defined(UNITS_IN_PARTS)  // expect: devplace: trainer: collective::gather_units is the policy of models in shares
  dp::trainer{model, nn::mse{}, dp::optim::sgd{}, collective::gather_units<>{}};
#endif
}
