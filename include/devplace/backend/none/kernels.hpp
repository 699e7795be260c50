// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

// Deliberately empty: stands in for the header of a component that this file cannot use (config/components.hpp).
