// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

// Empty on purpose: what DEVPLACE_CUDA_BACKEND names in a translation unit that cannot run kernels on cuda places.
