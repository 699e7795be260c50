// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "link/ordinal_in_functor.hpp"

void ordinal_in_functor_eight(float* x) { run_on_devices<0, 1, 2, 3, 4, 5, 6, 7>(x); }
