// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <devplace/config.hpp>

// Attention over blocks of keys with a running maximum and sum: no matrix of all queries and keys is stored. The
// gradient recomputes the probabilities of a block from log_sums (Dao et al., FlashAttention: fast and memory-efficient
// exact attention with IO-awareness, NeurIPS 2022).

namespace devplace::op {

/// `run(ordinal, attention_arguments<T>, columns_of_head<N>)`.
struct attention {};

/// `run(ordinal, attention_gradient_arguments<T>, columns_of_head<N>)`.
struct attention_gradient {};

/// `computes(width)` returns, at compile time, whether op::attention and op::attention_gradient take arguments with
/// 16-bit elements for heads of `width` elements.
struct attention_in_16_bits {};

/// Attention of 16-bit elements without dropout by a backend's library. `computes<T>(ordinal, shape, scale, training)`
/// returns whether the library supports the shape and, if `training`, also the gradient. `run(ordinal,
/// attention_arguments<T>)` returns false and enqueues nothing if the library fails nevertheless. If this `run`
/// returned true, `run(ordinal, attention_gradient_arguments<T>)` computes the gradient and returns true.
struct mixed_attention {};

}  // namespace devplace::op

#include <devplace/backend/cpu/attention.hpp>
#include DEVPLACE_BACKENDS(attention)
