// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

// The communicators between devices of one process.
#include <devplace/parallel/direct.hpp>
#include <devplace/parallel/ring.hpp>
