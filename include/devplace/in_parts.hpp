// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

// Models whose activations are split along the rows of images: `model<net, in_parts<axis<2>, 0, 1>>`
// (docs/larger_models.md). Not part of all.hpp: programs that train such models include it, too.

#include <devplace/nn/strips.hpp>
#include <devplace/parallel/model_in_parts.hpp>
#include <devplace/place/in_parts.hpp>
#include <devplace/train/plan_in_parts.hpp>
#include <devplace/train/trainer_in_parts.hpp>
