// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "link/public_types.hpp"

#if defined(__CUDACC__)
static const report_layouts report("CUDA");
#elif defined(DEVPLACE_WITH_CUDA)
static const report_layouts report("C++ with component cuda");
#elif defined(DEVPLACE_WITH_SIMULATED_CUDA)
static const report_layouts report("C++ with component simulated_cuda");
#elif defined(DEVPLACE_WITH_CBLAS)
static const report_layouts report("C++ with component cblas");
#elif defined(DEVPLACE_WITH_ZLIB)
static const report_layouts report("C++ with component zlib");
#else
static const report_layouts report("C++ without components");
#endif
