// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

// Several places at once: collectives, policies, and the parts of data-parallel training.
#include <devplace/nn.hpp>
#include <devplace/parallel/all_gather.hpp>
#include <devplace/parallel/all_reduce.hpp>
#include <devplace/parallel/broadcast.hpp>
#include <devplace/parallel/broadcast_parameters.hpp>
#include <devplace/parallel/bucket_plan.hpp>
#include <devplace/parallel/check_replicas.hpp>
#include <devplace/parallel/communicator.hpp>
#include <devplace/parallel/direct.hpp>
#include <devplace/parallel/gather.hpp>
#include <devplace/parallel/hierarchical.hpp>
#include <devplace/parallel/parallel_apply.hpp>
#include <devplace/parallel/policy.hpp>
#include <devplace/parallel/reduce_scatter.hpp>
#include <devplace/parallel/reduce_to_place.hpp>
#include <devplace/parallel/replicate.hpp>
#include <devplace/parallel/ring.hpp>
#include <devplace/parallel/scatter.hpp>
#include <devplace/parallel/step_traffic.hpp>
#include <devplace/parallel/synchronize.hpp>
#include <devplace/parallel/to_batch.hpp>
#include <devplace/parallel/wire.hpp>
#include <devplace/process/process_group.hpp>

// The sums of collectives, for component compiled.
namespace devplace::detail {

DEVPLACE_COMPILED_LOOP(parallel::detail::reduce_in_rank_order<float, reduction::sum>)
DEVPLACE_COMPILED_LOOP(parallel::detail::reduce_in_rank_order<double, reduction::sum>)

}  // namespace devplace::detail
