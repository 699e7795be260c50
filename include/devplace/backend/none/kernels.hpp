// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

// Deliberately empty: the header behind DEVPLACE_CUDA_BACKEND in files that cannot run kernels on cuda places.
