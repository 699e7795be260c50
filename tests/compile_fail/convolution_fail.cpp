// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ratio>

#include <devplace/nn/avg_pool1d.hpp>
#include <devplace/nn/avg_pool2d.hpp>
#include <devplace/nn/batch_norm.hpp>
#include <devplace/nn/conv1d.hpp>
#include <devplace/nn/conv2d.hpp>
#include <devplace/nn/conv_transpose2d.hpp>
#include <devplace/nn/cross_entropy.hpp>
#include <devplace/nn/flatten.hpp>
#include <devplace/nn/frozen.hpp>
#include <devplace/nn/global_average_pool.hpp>
#include <devplace/nn/group_norm.hpp>
#include <devplace/nn/input.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/log_softmax.hpp>
#include <devplace/nn/max_pool1d.hpp>
#include <devplace/nn/max_pool2d.hpp>
#include <devplace/nn/model.hpp>
#include <devplace/nn/named.hpp>
#include <devplace/nn/nll.hpp>
#include <devplace/nn/permute.hpp>
#include <devplace/nn/relu.hpp>
#include <devplace/nn/reshape.hpp>
#include <devplace/nn/residual.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/nn/upsample.hpp>
#include <devplace/optim/sgd.hpp>
#include <devplace/train/trainer.hpp>

namespace dp = devplace;
namespace nn = devplace::nn;

template <class... Layers> using model_of = dp::model<nn::sequential<nn::input<3, 8, 8>, Layers...>, dp::on<dp::cpu>>;

using fitting = nn::conv2d<3, 4, nn::kernel<3>>;

int main() {
  {
    model_of<fitting, nn::relu, nn::max_pool2d<nn::kernel<2>>, nn::upsample<2>, nn::global_average_pool> right{
        dp::seed{1}};
    model_of<nn::conv2d<3, 6, nn::kernel<1>>, nn::permute<1, 2, 0>> labels_pixels{dp::seed{1}};
    dp::trainer step{labels_pixels, nn::cross_entropy{}, dp::optim::sgd{}};
    model_of<nn::flatten, nn::reshape<4, 48>, nn::max_pool1d<nn::kernel<2>>> of_series{dp::seed{1}};
  }
#if defined(CHANNELS_BEFORE_CROSS_ENTROPY)  // expect: devplace: trainer: cross_entropy and nll .*<1, 2, 0>
  {
    model_of<nn::conv2d<3, 8, nn::kernel<3>, nn::padding<1>>> images{dp::seed{1}};
    dp::trainer wrong{images, nn::cross_entropy{}, dp::optim::sgd{}};
  }
#endif
#if defined(CHANNELS_IN_FRONT_OF_OTHER_LAYERS)  // expect: devplace: trainer: cross_entropy and nll take the classes
                                                // along
  {
    using block = nn::residual<nn::batch_norm<4>, nn::relu>;
    model_of<nn::frozen<fitting>, nn::named<"block", block>, nn::log_softmax> images{dp::seed{1}};
    dp::trainer wrong{images, nn::nll{}, dp::optim::sgd{}};
  }
#endif
#if defined(CHANNELS_OF_SERIES)  // expect: devplace: trainer: cross_entropy and nll take .*nn::permute<1, 0> for series
  {
    model_of<nn::reshape<3, 64>, nn::conv1d<3, 4, nn::kernel<3>>> series{dp::seed{1}};
    dp::trainer wrong{series, nn::cross_entropy{}, dp::optim::sgd{}};
  }
#endif
#if defined(LABELS_OF_CHANNELS_FIRST)  // expect: devplace: cross_entropy and nll take labels with the extents
  {
    dp::tensor<float, dp::extents<dp::dyn, 5, 8, 8>, dp::on<dp::cpu>> scores(dp::extents<dp::dyn, 5, 8, 8>{2});
    dp::tensor<int, dp::extents<dp::dyn, 8, 8>, dp::on<dp::cpu>> labels(dp::extents<dp::dyn, 8, 8>{2});
    nn::cross_entropy{}(scores, labels);
  }
#endif
#if defined(RESHAPE_TO_ANOTHER_SIZE)  // expect: devplace: reshape changes the extents of a sample
  {
    model_of<nn::reshape<3, 60>> wrong{dp::seed{1}};
  }
#endif
#if defined(AXIS_TWICE)  // expect: devplace: permute names each axis of a sample once
  {
    model_of<nn::permute<1, 1, 0>> wrong{dp::seed{1}};
  }
#endif
#if defined(AXES_WITH_THAT_OF_THE_BATCH)  // expect: devplace: permute names each axis of a sample once
  {
    model_of<nn::permute<2, 3, 1>> wrong{dp::seed{1}};
  }
#endif
#if defined(MORE_AXES_THAN_THE_SAMPLES)  // expect: position<1.*permute<0.*at_least<.*<1.*, 1.*, 1.*, 1.*receives<.*<3.*
  {
    model_of<nn::permute<0, 2, 3, 1>> wrong{dp::seed{1}};
  }
#endif
#if defined(CHANNELS_DO_NOT_FIT)  // expect: devplace: a layer does not take what the layer before it gives
  {
    model_of<fitting, nn::conv2d<5, 2, nn::kernel<3>>> wrong{dp::seed{1}};
  }
#endif
#if defined(CHANNELS_ARE_NAMED)  // expect: position<2.*conv2d<3.*expects<.*<3.*, 6.*, 6.*receives<.*<4.*, 6.*, 6
  {
    model_of<fitting, nn::conv2d<3, 2, nn::kernel<3>>> wrong{dp::seed{1}};
  }
#endif
#if defined(KERNEL_LARGER_THAN_THE_IMAGE)  // expect: position<2.*at_least<.*<4.*, 7.*, 7.*receives<.*<4.*, 6.*, 6
  {
    model_of<fitting, nn::conv2d<4, 2, nn::kernel<9>, nn::padding<1>>> wrong{dp::seed{1}};
  }
#endif
#if defined(VECTORS_FOR_A_CONVOLUTION)  // expect: position<2.*conv2d<192.*receives<
  {
    model_of<nn::flatten, nn::conv2d<192, 2, nn::kernel<3>>> wrong{dp::seed{1}};
  }
#endif
#if defined(IMAGES_FOR_ONE_AXIS)  // expect: position<1.*conv1d<3.*at_least<.*<3.*, 5.*receives<.*<3.*, 8.*, 8
  {
    model_of<nn::conv1d<3, 2, nn::kernel<5>>> wrong{dp::seed{1}};
  }
#endif
#if defined(WINDOW_TOO_LARGE)  // expect: position<1.*max_pool2d<.*at_least<.*<3.*, 9.*, 9.*receives<.*<3.*, 8
  {
    model_of<nn::max_pool2d<nn::kernel<9>>> wrong{dp::seed{1}};
  }
#endif
#if defined(VECTORS_FOR_A_POOLING)  // expect: position<2.*global_average_pool.*at_least<.*receives<.*<192
  {
    model_of<nn::flatten, nn::global_average_pool> wrong{dp::seed{1}};
  }
#endif
#if defined(CHANNELS_OF_BATCH_NORM)  // expect: position<2.*batch_norm<5.*expects<.*<5.*, 6.*, 6.*receives<.*<4.*, 6.*,
                                     // 6
  {
    model_of<fitting, nn::batch_norm<5>> wrong{dp::seed{1}};
  }
#endif
#if defined(CHANNELS_OF_GROUP_NORM)  // expect: position<2.*group_norm<2.*expects<.*<6.*, 6.*, 6.*receives<.*<4.*, 6.*,
                                     // 6
  {
    model_of<fitting, nn::group_norm<2, 6>> wrong{dp::seed{1}};
  }
#endif
#if defined(GROUPS_OF_SEVERAL_SIZES)  // expect: devplace: group_norm<Groups, Channels> divides the channels into groups
  {
    model_of<fitting, nn::group_norm<3, 4>> wrong{dp::seed{1}};
  }
#endif
#if defined(EPSILON_OF_GROUP_NORM)  // expect: devplace: group_norm takes epsilon as a ratio that is not negative
  {
    model_of<fitting, nn::group_norm<2, 4, std::ratio<-1, 9>>> wrong{dp::seed{1}};
  }
#endif
#if defined(MOMENTUM_ABOVE_ONE)  // expect: devplace: batch_norm takes the momentum, the weight of new
  {
    model_of<fitting, nn::batch_norm<4, nn::of_each_place, std::ratio<2>>> wrong{dp::seed{1}};
  }
#endif
#if defined(MOMENTUM_IN_PLACE_OF_SAMPLES)  // expect: devplace: batch_norm's second argument names the samples
  {
    model_of<fitting, nn::batch_norm<4, std::ratio<1, 10>>> wrong{dp::seed{1}};
  }
#endif
#if defined(EPSILON_OF_BATCH_NORM)  // expect: devplace: batch_norm takes epsilon as a ratio that is not negative
  {
    model_of<fitting, nn::batch_norm<4, nn::of_each_place, std::ratio<1, 10>, std::ratio<-1, 9>>> wrong{dp::seed{1}};
  }
#endif
#if defined(ONE_ELEMENT_OF_BATCH_NORM)  // expect: devplace: batch_norm's fifth argument selects how to train with
  using tenth = std::ratio<1, 10>;
  {
    model_of<fitting, nn::batch_norm<4, nn::of_each_place, tenth, tenth, std::true_type>> wrong{dp::seed{1}};
  }
#endif
#if defined(GROUPS_DO_NOT_DIVIDE)  // expect: devplace: the groups of a convolution do not divide its channels
  {
    model_of<nn::conv2d<3, 4, nn::kernel<3>, nn::groups<2>>> wrong{dp::seed{1}};
  }
#endif
#if defined(NO_KERNEL)  // expect: devplace: a convolution needs the extents of its kernel
  {
    model_of<nn::conv2d<3, 4, nn::stride<2>>> wrong{dp::seed{1}};
  }
#endif
#if defined(KERNEL_OF_THREE_AXES)  // expect: devplace: a convolution's options are kernel, .* of one number or two
  {
    model_of<nn::conv2d<3, 4, nn::kernel<3, 3, 3>>> wrong{dp::seed{1}};
  }
#endif
#if defined(UPSAMPLE_OF_TWO_FACTORS)  // expect: devplace: upsample<Factor> .*give one factor: upsample<2>
  {
    model_of<nn::upsample<2, 3>> wrong{dp::seed{1}};
  }
#endif
#if defined(FORGOTTEN_FLATTEN)  // expect: devplace: a layer takes vectors .* put nn::flatten in front
  {
    model_of<nn::linear<192, 10>> wrong{dp::seed{1}};
  }
#endif
#if defined(UNKNOWN_OPTION)  // expect: devplace: a convolution's options are kernel, stride, padding and dilation
  {
    model_of<nn::conv2d<3, 4, nn::kernel<3>, nn::relu>> wrong{dp::seed{1}};
  }
#endif
#if defined(OPTION_TWICE)  // expect: devplace: a convolution's options are .* each at most once
  {
    model_of<nn::conv2d<3, 4, nn::kernel<3>, nn::stride<1>, nn::stride<2>>> wrong{dp::seed{1}};
  }
#endif
#if defined(KERNEL_TWICE)  // expect: devplace: a convolution's options are .* each at most once
  {
    model_of<nn::conv2d<3, 4, nn::kernel<3>, nn::kernel<5>>> wrong{dp::seed{1}};
  }
#endif
#if defined(STRIDE_OF_NOTHING)  // expect: devplace: kernel, stride and dilation of a convolution are 1 or more
  {
    model_of<nn::conv2d<3, 4, nn::kernel<3>, nn::stride<0>>> wrong{dp::seed{1}};
  }
#endif
#if defined(TWO_NUMBERS_FOR_ONE_AXIS)  // expect: devplace: a conv1d has one axis, so its options have one number
  {
    dp::model<nn::sequential<nn::input<3, 8>, nn::conv1d<3, 4, nn::kernel<3, 5>>>, dp::on<dp::cpu>> wrong{dp::seed{1}};
  }
#endif
#if defined(POOLING_WITH_GROUPS)  // expect: devplace: a pooling's options are kernel, stride, padding
  {
    model_of<nn::max_pool2d<nn::kernel<2>, nn::groups<3>>> wrong{dp::seed{1}};
  }
#endif
#if defined(POOLING_WITHOUT_A_KERNEL)  // expect: devplace: a pooling needs the extents of its window
  {
    model_of<nn::max_pool2d<nn::stride<2>>> wrong{dp::seed{1}};
  }
#endif
#if defined(TWO_NUMBERS_FOR_POOLING_ONE_AXIS)  // expect: devplace: max_pool1d and avg_pool1d have one axis, so their
  {
    model_of<nn::reshape<3, 64>, nn::avg_pool1d<nn::kernel<2, 3>>> wrong{dp::seed{1}};
  }
#endif
#if defined(IMAGES_FOR_POOLING_ONE_AXIS)  // expect: position<1.*max_pool1d<.*at_least<.*<1.*, 2.*receives<.*<3.*, 8
  {
    model_of<nn::max_pool1d<nn::kernel<2>>> wrong{dp::seed{1}};
  }
#endif
#if defined(POOLING_OF_PADDING)  // expect: devplace: a pooling's padding is at most half its kernel
  {
    model_of<nn::avg_pool2d<nn::kernel<2>, nn::padding<2>>> wrong{dp::seed{1}};
  }
#endif
#if defined(DILATED_MEANS)  // expect: devplace: avg_pool2d and avg_pool1d have no dilation
  {
    model_of<nn::avg_pool2d<nn::kernel<2>, nn::dilation<2>>> wrong{dp::seed{1}};
  }
#endif
#if defined(UPSAMPLED_TO_NOTHING)  // expect: devplace: upsample<Factor> repeats pixels one time or more
  {
    model_of<nn::upsample<0>> wrong{dp::seed{1}};
  }
#endif
#if defined(TRANSPOSED_CHANNELS)  // expect: position<1.*conv_transpose2d<5.*expects<.*<5.*, 8.*, 8.*receives<.*<3.*, 8
  {
    model_of<nn::conv_transpose2d<5, 2, nn::kernel<3>>> wrong{dp::seed{1}};
  }
#endif
#if defined(TRANSPOSED_GROUPS)  // expect: devplace: the groups of conv_transpose2d do not divide its channels
  {
    model_of<nn::conv_transpose2d<3, 4, nn::kernel<3>, nn::groups<2>>> wrong{dp::seed{1}};
  }
#endif
#if defined(VECTORS_FOR_TRANSPOSED)  // expect: position<2.*conv_transpose2d<192.*receives<
  {
    model_of<nn::flatten, nn::conv_transpose2d<192, 2, nn::kernel<2>, nn::stride<2>, nn::padding<1>>> wrong{
        dp::seed{1}};
  }
#endif
#if defined(TRANSPOSED_TO_NOTHING)  // expect: devplace: the padding of conv_transpose2d removes all of its output
  {
    model_of<nn::conv_transpose2d<3, 4, nn::kernel<1>, nn::padding<4>>> wrong{dp::seed{1}};
  }
#endif
}
