// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Sizes of networks that are not static, or negative numbers. Each case has sizes and a variable of its own: compilers
// report an instantiation once, and nothing after a second definition of one name.
#include <cstddef>

#include <devplace/all.hpp>
#include <devplace/attention.hpp>
#include <devplace/convolution.hpp>

namespace dp = devplace;
namespace nn = devplace::nn;
using dp::dyn;

template <class Net> using model_of = dp::model<Net, dp::on<dp::cpu>>;

// One network for each size of images.
template <std::size_t Size>
using classifier = nn::sequential<nn::input<3, Size, Size>, nn::conv2d<3, 4, nn::kernel<3>, nn::padding<1>>,
                                  nn::flatten, nn::linear<4 * Size * Size, 2>>;
model_of<classifier<8>> of_small_images{dp::seed{1}};
model_of<classifier<16>> of_large_images{dp::seed{1}};

#if defined(INPUT)  // expect: devplace: the extents of a sample and the sizes of layers are static numbers
model_of<nn::sequential<nn::input<3, dyn, dyn>, nn::flatten, nn::linear<3, 4>>> with_input{dp::seed{1}};
#endif
#if defined(NEGATIVE_INPUT)  // expect: devplace: the extents of a sample and the sizes of layers are static numbers
model_of<nn::sequential<nn::input<3, std::size_t(-8)>, nn::flatten, nn::linear<24, 4>>> with_negative_input{
    dp::seed{1}};
#endif
#if defined(LINEAR_INPUTS)  // expect: devplace: the extents of a sample and the sizes of layers are static numbers
model_of<nn::sequential<nn::linear<dyn, 4>>> with_linear_inputs{dp::seed{1}};
#endif
#if defined(LINEAR_OUTPUTS)  // expect: devplace: the extents of a sample and the sizes of layers are static numbers
model_of<nn::sequential<nn::linear<4, dyn>>> with_linear_outputs{dp::seed{1}};
#endif
#if defined(RESHAPE)  // expect: devplace: the extents of a sample and the sizes of layers are static numbers
model_of<nn::sequential<nn::input<64>, nn::reshape<dyn, 8>>> with_reshape{dp::seed{1}};
#endif
#if defined(EMBEDDING_ROWS)  // expect: devplace: the extents of a sample and the sizes of layers are static numbers
model_of<nn::sequential<nn::input<8>, nn::embedding<dyn, 6>>> with_embedding_rows{dp::seed{1}};
#endif
#if defined(EMBEDDING_WIDTH)  // expect: devplace: the extents of a sample and the sizes of layers are static numbers
model_of<nn::sequential<nn::input<8>, nn::embedding<64, dyn>>> with_embedding_width{dp::seed{1}};
#endif
#if defined(POSITIONS)  // expect: devplace: the extents of a sample and the sizes of layers are static numbers
model_of<nn::sequential<nn::positional_embedding<dyn, 5>>> with_positions{dp::seed{1}};
#endif
#if defined(LAYER_NORM)  // expect: devplace: the extents of a sample and the sizes of layers are static numbers
model_of<nn::sequential<nn::linear<3, 4>, nn::layer_norm<dyn>>> with_layer_norm{dp::seed{1}};
#endif
#if defined(RMS_NORM)  // expect: devplace: the extents of a sample and the sizes of layers are static numbers
model_of<nn::sequential<nn::linear<3, 4>, nn::rms_norm<std::size_t(-2)>>> with_rms_norm{dp::seed{1}};
#endif
#if defined(BATCH_NORM)  // expect: devplace: the extents of a sample and the sizes of layers are static numbers
model_of<nn::sequential<nn::input<3, 8, 8>, nn::batch_norm<std::size_t(-3)>>> with_batch_norm{dp::seed{1}};
#endif
#if defined(GROUP_NORM)  // expect: devplace: the extents of a sample and the sizes of layers are static numbers
model_of<nn::sequential<nn::input<3, 8, 8>, nn::group_norm<1, dyn>>> with_group_norm{dp::seed{1}};
#endif
#if defined(CHANNELS_IN)  // expect: devplace: the extents of a sample and the sizes of layers are static numbers
model_of<nn::sequential<nn::input<3, 8, 8>, nn::conv2d<dyn, 7, nn::kernel<3>>>> with_channels_in{dp::seed{1}};
#endif
#if defined(CHANNELS_OUT)  // expect: devplace: the extents of a sample and the sizes of layers are static numbers
model_of<nn::sequential<nn::input<3, 8, 8>, nn::conv2d<3, dyn, nn::kernel<3>>>> with_channels_out{dp::seed{1}};
#endif
#if defined(CHANNELS_OF_ONE_AXIS)  // expect: devplace: the extents of a sample and the sizes of layers are static
                                   // numbers
model_of<nn::sequential<nn::input<5, 8>, nn::conv1d<5, dyn, nn::kernel<3>>>> with_channels_of_one_axis{dp::seed{1}};
#endif
#if defined(CHANNELS_OF_A_TRANSPOSED_CONVOLUTION)  // expect: devplace: the extents of a sample and the sizes of layers
                                                   // are static
                                                   // numbers
model_of<nn::sequential<nn::input<6, 8, 8>, nn::conv_transpose2d<6, dyn, nn::kernel<2>>>> with_transposed_channels{
    dp::seed{1}};
#endif
#if defined(KERNEL)  // expect: devplace: the extents of a sample and the sizes of layers are static numbers
model_of<nn::sequential<nn::input<3, 8, 8>, nn::conv2d<3, 4, nn::kernel<dyn>>>> with_kernel{dp::seed{1}};
#endif
#if defined(STRIDE)  // expect: devplace: the extents of a sample and the sizes of layers are static numbers
model_of<nn::sequential<nn::input<3, 8, 8>, nn::conv2d<3, 4, nn::kernel<3>, nn::stride<dyn>>>> with_stride{dp::seed{1}};
#endif
#if defined(PADDING)  // expect: devplace: the extents of a sample and the sizes of layers are static numbers
model_of<nn::sequential<nn::input<3, 8, 8>, nn::conv2d<3, 4, nn::kernel<3>, nn::padding<dyn>>>> with_padding{
    dp::seed{1}};
#endif
#if defined(NEGATIVE_PADDING)  // expect: devplace: the extents of a sample and the sizes of layers are static numbers
model_of<nn::sequential<nn::input<3, 8, 8>, nn::conv2d<3, 4, nn::kernel<3>, nn::padding<std::size_t(-8)>>>>
    with_negative_padding{dp::seed{1}};
#endif
#if defined(DILATION)  // expect: devplace: the extents of a sample and the sizes of layers are static numbers
model_of<nn::sequential<nn::input<3, 8, 8>, nn::conv2d<3, 4, nn::kernel<3>, nn::dilation<dyn>>>> with_dilation{
    dp::seed{1}};
#endif
#if defined(GROUPS)  // expect: devplace: the extents of a sample and the sizes of layers are static numbers
model_of<nn::sequential<nn::input<3, 8, 8>, nn::conv2d<3, 6, nn::kernel<3>, nn::groups<dyn>>>> with_groups{dp::seed{1}};
#endif
#if defined(POOLING_STRIDE)  // expect: devplace: the extents of a sample and the sizes of layers are static numbers
model_of<nn::sequential<nn::input<3, 8, 8>, nn::avg_pool2d<nn::kernel<2>, nn::stride<dyn>>>> with_pooling_stride{
    dp::seed{1}};
#endif
#if defined(UPSAMPLE)  // expect: devplace: the extents of a sample and the sizes of layers are static numbers
model_of<nn::sequential<nn::input<3, 8, 8>, nn::upsample<std::size_t(-4)>>> with_upsample{dp::seed{1}};
#endif
#if defined(HEADS)  // expect: devplace: the extents of a sample and the sizes of layers are static numbers
model_of<nn::sequential<nn::input<8, 8>, nn::multi_head_attention<8, dyn>>> with_heads{dp::seed{1}};
#endif
#if defined(BATCH)  // expect: devplace: batch<N>: the size of the largest batch is a static number
dp::predictor p{of_small_images, dp::batch<dyn>{}};
#endif
#if defined(ACCUMULATED_BATCHES)  // expect: devplace: accumulate<k> adds up the gradients of k batches
dp::accumulate<dyn> batches;
#endif
#if defined(OPTIMIZER_WITHOUT_A_RULE)  // expect: devplace: optimizer: its arguments are .* in this order
dp::optimizer without_a_rule{of_small_images};
#endif
