// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

// Layers of sequences: embeddings and attention. Not part of all.hpp or nn.hpp, to save compile time in files that do
// not use these layers.
#include <devplace/nn/embedding.hpp>
#include <devplace/nn/multi_head_attention.hpp>
#include <devplace/nn/positional_embedding.hpp>

// The loops of attention, for component compiled.
namespace devplace::detail {

DEVPLACE_COMPILED_LOOP(attention_exponentials<float>)
DEVPLACE_COMPILED_LOOP(attention_gradients<float>)
DEVPLACE_COMPILED(void attend(const attention_arguments<float>&, std::size_t, std::size_t))
DEVPLACE_COMPILED(void attend_backward(const attention_gradient_arguments<float>&, std::size_t))

}  // namespace devplace::detail
