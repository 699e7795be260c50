// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

// Collectives, and training over several places; includes nn.hpp.
#include <devplace/nn.hpp>
#include <devplace/parallel/all_gather.hpp>
#include <devplace/parallel/broadcast.hpp>
#include <devplace/parallel/gather.hpp>
#include <devplace/parallel/scatter.hpp>
#include <devplace/parallel/synchronize.hpp>
