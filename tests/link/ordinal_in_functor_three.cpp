// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "link/ordinal_in_functor.hpp"

void ordinal_in_functor_three(float* x) { run_on_devices<0, 1, 7>(x); }
