// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

// Layers of sequences: embeddings and attention. Not part of all.hpp or nn.hpp, to save compile time in files that do
// not use these layers.
#include <devplace/nn/embedding.hpp>
#include <devplace/nn/multi_head_attention.hpp>
#include <devplace/nn/positional_embedding.hpp>

// The loops of attention, for component compiled.
namespace devplace {

DEVPLACE_COMPILED_LOOP(attention_exponentials<float>)
DEVPLACE_COMPILED_LOOP(attention_gradients<float>)
DEVPLACE_COMPILED(void detail::attend(const attention_arguments<float>&, std::size_t, std::size_t))
DEVPLACE_COMPILED(void detail::attend_backward(const attention_gradient_arguments<float>&, std::size_t))
DEVPLACE_COMPILED_LOOP(nn::detail::add_to_samples<float, float>)
DEVPLACE_COMPILED_PLAIN(bool nn::detail::attention_passes<float, backend::cpu, 1, false>::forward_in<float>(float*)
                            const)
DEVPLACE_COMPILED_PLAIN(bool nn::detail::attention_passes<float, backend::cpu, 1, false>::backward_in<float>(
    const float*, float*, const std::array<float*, 4>&, float) const)

}  // namespace devplace
