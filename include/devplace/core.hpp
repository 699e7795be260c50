// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

// Places, memory, tensors and the operations on them.
#include <devplace/config.hpp>
#include <devplace/memory/backend.hpp>
#include <devplace/memory/block.hpp>
#include <devplace/memory/event.hpp>
#include <devplace/memory/report.hpp>
#include <devplace/memory/statistics.hpp>
#include <devplace/memory/stream.hpp>
#include <devplace/place/availability.hpp>
#include <devplace/place/device_info.hpp>
#include <devplace/place/device_map.hpp>
#include <devplace/place/error.hpp>
#include <devplace/place/first_available.hpp>
#include <devplace/place/place.hpp>
#include <devplace/place/placement.hpp>
#include <devplace/place/seed.hpp>
#include <devplace/place/select.hpp>
#include <devplace/place/thread_team.hpp>
#include <devplace/tensor/copy.hpp>
#include <devplace/tensor/copy_async.hpp>
#include <devplace/tensor/distributed.hpp>
#include <devplace/tensor/dtype.hpp>
#include <devplace/tensor/extents.hpp>
#include <devplace/tensor/item.hpp>
#include <devplace/tensor/pending.hpp>
#include <devplace/tensor/precision.hpp>
#include <devplace/tensor/print.hpp>
#include <devplace/tensor/tensor.hpp>
#include <devplace/tensor/transposed.hpp>
#include <devplace/tensor/view.hpp>
#include <devplace/tensor/wrap.hpp>
#include <devplace/version.hpp>

// Later, so that messages of tensors are shown with few lines of nested headers.
#include <devplace/ops/assign.hpp>
#include <devplace/ops/creation.hpp>
#include <devplace/ops/cross_entropy.hpp>
#include <devplace/ops/elementwise.hpp>
#include <devplace/ops/matmul.hpp>
#include <devplace/ops/matrix_engine.hpp>
#include <devplace/ops/mse.hpp>
#include <devplace/ops/random.hpp>
#include <devplace/ops/reduce.hpp>
#include <devplace/ops/reduce_into.hpp>
#include <devplace/ops/scale_bytes.hpp>
#include <devplace/ops/softmax.hpp>
#include <devplace/ops/take_rows.hpp>

// It includes elementwise.hpp, which is to stand above.
#include <devplace/ops/activations.hpp>
