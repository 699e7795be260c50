// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

// Training over several places; includes nn.hpp.
#include <devplace/nn.hpp>
#include <devplace/parallel/check_replicas.hpp>
#include <devplace/parallel/parallel_apply.hpp>
#include <devplace/parallel/replicate.hpp>
#include <devplace/parallel/synchronize.hpp>
