// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "link/ordinals.hpp"

float ordinals_three() { return use_devices<0, 1, 7>(); }
