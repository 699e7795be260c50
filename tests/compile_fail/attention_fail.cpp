// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cstdint>
#include <ratio>

#include <devplace/attention.hpp>
#include <devplace/nn/flatten.hpp>
#include <devplace/nn/input.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/model.hpp>
#include <devplace/nn/sequential.hpp>

namespace dp = devplace;
namespace nn = devplace::nn;
using cpu = dp::on<dp::cpu>;

// If a layer's type is rejected, nvcc's message names other extents.
template <class... Layers> using model_of = dp::model<nn::sequential<nn::input<6>, Layers...>, cpu>;

using table = nn::embedding<10, 8>;

int main() {
  model_of<table, nn::positional_embedding<6, 8>, nn::multi_head_attention<8, 2, nn::causal>> right{dp::seed{1}};
  const dp::tensor<std::int32_t, dp::extents<2, 6>, cpu> indices;
  static_cast<void>(right.predict(indices));
#if defined(HEADS_DO_NOT_DIVIDE)  // expect: devplace: multi_head_attention<Width, Heads>: the width is divided
  {
    model_of<table, nn::multi_head_attention<8, 3>> wrong{dp::seed{1}};
  }
#endif
#if defined(NO_HEADS)  // expect: devplace: multi_head_attention<Width, Heads>: the width is divided
  {
    model_of<table, nn::multi_head_attention<8, 0>> wrong{dp::seed{1}};
  }
#endif
#if defined(UNKNOWN_OPTION_OF_ATTENTION)  // expect: devplace: multi_head_attention's options are causal and
                                          // attention_dropout
  {
    model_of<table, nn::multi_head_attention<8, 2, nn::flatten>> wrong{dp::seed{1}};
  }
#endif
#if defined(CAUSAL_TWICE)  // expect: devplace: multi_head_attention's options are causal and attention_dropout
  {
    model_of<table, nn::multi_head_attention<8, 2, nn::causal, nn::causal>> wrong{dp::seed{1}};
  }
#endif
#if defined(DROPOUT_WITHOUT_RATIO)  // expect: devplace: attention_dropout takes its probability as a ratio
  {
    model_of<table, nn::multi_head_attention<8, 2, nn::attention_dropout<float>>> wrong{dp::seed{1}};
  }
#endif
#if defined(ATTENTION_DROPOUT_OF_ALL)  // expect: devplace: attention_dropout takes its probability .* at least 0 and
                                       // below 1
  {
    model_of<table, nn::multi_head_attention<8, 2, nn::attention_dropout<std::ratio<1>>>> wrong{dp::seed{1}};
  }
#endif
#if defined(WIDTH_DOES_NOT_FIT)  // expect: devplace: a layer does not take what the layer before it gives
  {
    model_of<table, nn::multi_head_attention<16, 2>> wrong{dp::seed{1}};
  }
#endif
#if defined(WIDTHS_ARE_NAMED)  // expect: position<2.*multi_head_attention<12.*expects<.*12.*receives<.*<6.*, 8
  {
    model_of<table, nn::multi_head_attention<12, 2>> wrong{dp::seed{1}};
  }
#endif
#if defined(VECTORS_FOR_ATTENTION)  // expect: position<3.*sequences_of<8.*receives<.*<48|is not a layer
  {
    model_of<table, nn::flatten, nn::multi_head_attention<8, 2>> wrong{dp::seed{1}};
  }
#endif
#if defined(OTHER_LENGTH)  // expect: position<2.*positional_embedding<5.*expects<.*<5.*, 8.*receives<.*<6.*, 8
  {
    model_of<table, nn::positional_embedding<5, 8>> wrong{dp::seed{1}};
  }
#endif
#if defined(LINEAR_OF_ANOTHER_AXIS)  // expect: position<2.*linear<6.*expects<.*<6.*receives<.*<6.*, 8
  {
    model_of<table, nn::linear<6, 3>> wrong{dp::seed{1}};
  }
#endif
#if defined(EMBEDDING_BEHIND_A_LAYER)  // expect: devplace: a layer requires its own element type
  {
    model_of<nn::linear<6, 6>, table> wrong{dp::seed{1}};
  }
#endif
#if defined(PADDING_BEYOND_THE_TABLE)  // expect: devplace: embedding's padding_index names no row
  {
    model_of<nn::embedding<10, 8, nn::padding_index<10>>> wrong{dp::seed{1}};
  }
#endif
#if defined(OTHER_OPTION_OF_EMBEDDING)  // expect: devplace: embedding's only option is padding_index<Index>
  {
    model_of<nn::embedding<10, 8, nn::causal>> wrong{dp::seed{1}};
  }
#endif
#if defined(FLOATS_FOR_AN_EMBEDDING)  // expect: devplace: .*element
  {
    const dp::tensor<float, dp::extents<2, 6>, cpu> wrong;
    static_cast<void>(right.predict(wrong));
  }
#endif
}
