// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

// Sorts, running sums and random orders that every place makes itself. Not in all.hpp: on CUDA devices they are CUB's,
// whose headers cost nvcc several seconds in each file that includes them.
#include <devplace/ops/permutation.hpp>
#include <devplace/ops/scan.hpp>
#include <devplace/ops/sort.hpp>
