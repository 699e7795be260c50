// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

// Layers of sequences: embeddings and attention. Not part of all.hpp or nn.hpp, which would cost every file that
// includes these compile time.
#include <devplace/nn/embedding.hpp>
#include <devplace/nn/multi_head_attention.hpp>
#include <devplace/nn/positional_embedding.hpp>
