// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#undef NDEBUG
#include "link/configurations.hpp"

const configured_file checked_file = this_file();
