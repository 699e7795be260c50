// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

// Places, memory, tensors and the operations on them.
#include <devplace/base/error.hpp>
#include <devplace/base/error_code.hpp>
#include <devplace/base/seed.hpp>
#include <devplace/base/thread_team.hpp>
#include <devplace/config.hpp>
#include <devplace/memory/block.hpp>
#include <devplace/memory/device_backend.hpp>
#include <devplace/memory/event.hpp>
#include <devplace/memory/report.hpp>
#include <devplace/memory/statistics.hpp>
#include <devplace/memory/stream.hpp>
#include <devplace/ops/activations.hpp>
#include <devplace/ops/assign.hpp>
#include <devplace/ops/concat.hpp>
#include <devplace/ops/creation.hpp>
#include <devplace/ops/cross_entropy.hpp>
#include <devplace/ops/elementwise.hpp>
#include <devplace/ops/math.hpp>
#include <devplace/ops/matmul.hpp>
#include <devplace/ops/matrix_engine.hpp>
#include <devplace/ops/matrix_parts.hpp>
#include <devplace/ops/mse.hpp>
#include <devplace/ops/parallel_for.hpp>
#include <devplace/ops/random.hpp>
#include <devplace/ops/rearrange.hpp>
#include <devplace/ops/reduce.hpp>
#include <devplace/ops/reduce_into.hpp>
#include <devplace/ops/scale_bytes.hpp>
#include <devplace/ops/softmax.hpp>
#include <devplace/ops/statistics.hpp>
#include <devplace/ops/take_along.hpp>
#include <devplace/ops/take_rows.hpp>
#include <devplace/place/availability.hpp>
#include <devplace/place/device_info.hpp>
#include <devplace/place/device_map.hpp>
#include <devplace/place/first_available.hpp>
#include <devplace/place/kind.hpp>
#include <devplace/place/place.hpp>
#include <devplace/place/placement.hpp>
#include <devplace/place/select.hpp>
#include <devplace/place/up_to.hpp>
#include <devplace/tensor/copy.hpp>
#include <devplace/tensor/copy_async.hpp>
#include <devplace/tensor/distributed.hpp>
#include <devplace/tensor/dtype.hpp>
#include <devplace/tensor/evaluated.hpp>
#include <devplace/tensor/extents.hpp>
#include <devplace/tensor/item.hpp>
#include <devplace/tensor/mdspan.hpp>
#include <devplace/tensor/pending.hpp>
#include <devplace/tensor/precision.hpp>
#include <devplace/tensor/print.hpp>
#include <devplace/tensor/tensor.hpp>
#include <devplace/tensor/transposed.hpp>
#include <devplace/tensor/view.hpp>
#include <devplace/tensor/wrap.hpp>
#include <devplace/version.hpp>

// The loops that most programs use, for component compiled.
namespace devplace::detail {

DEVPLACE_COMPILED_LOOP(cross_entropy_row<float, std::uint8_t>)
DEVPLACE_COMPILED_LOOP(cross_entropy_row<float, std::int32_t>)
DEVPLACE_COMPILED_LOOP(cross_entropy_row<float, std::int64_t>)
DEVPLACE_COMPILED_LOOP(softmax_row<float>)
DEVPLACE_COMPILED_LOOP(reduced_block<element_source<float>, sum_reducer<float, float>>)
DEVPLACE_COMPILED_LOOP(reduced_block<element_source<float>, mean_reducer<float, float>>)
DEVPLACE_COMPILED(class blocked_reduction<double>)
DEVPLACE_COMPILED(class blocked_reduction<loss_term>)
DEVPLACE_COMPILED(class blocked_reduction<std::int64_t>)

}  // namespace devplace::detail
