// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

// Models of which each place stores a share: `model<net, fully_sharded<0, 1>>` (docs/larger_models.md). Not part of
// all.hpp: programs that train such models include it, too.

#include <devplace/parallel/sharded_model.hpp>
#include <devplace/parallel/sharded_step_traffic.hpp>
#include <devplace/parallel/unit_plan.hpp>
#include <devplace/train/detail/sharded_connection.hpp>
#include <devplace/train/detail/sharded_memory_layout.hpp>
