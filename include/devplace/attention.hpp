// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

// Layers of sequences: embeddings and attention. Not part of all.hpp or nn.hpp, to save compile time in files that do
// not use these layers.
#include <devplace/nn/embedding.hpp>
#include <devplace/nn/multi_head_attention.hpp>
#include <devplace/nn/positional_embedding.hpp>
