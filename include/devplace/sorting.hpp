// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

// Sorts, cumulative sums and random permutations, computed on each place. Not in all.hpp: on CUDA devices they use CUB,
// whose headers cost nvcc several seconds per file.
#include <devplace/ops/categorical.hpp>
#include <devplace/ops/permutation.hpp>
#include <devplace/ops/scan.hpp>
#include <devplace/ops/sort.hpp>
