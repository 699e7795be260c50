// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <devplace/place/backend.hpp>

namespace devplace {

namespace op {

/// `run(ordinal)`: allocates the workspace of a device's operations, once for all of them.
struct workspaces {};

}  // namespace op

namespace detail {

/// Allocates the workspace of products and reductions on a backend's device, so that none of them allocates later.
/// Never freed before the process ends.
template <class Backend>
void prepare_workspaces(int ordinal) {
  dispatch<op::workspaces, Backend>(ordinal);
}

}  // namespace detail

}  // namespace devplace

#include <devplace/backend/cpu/workspaces.hpp>
#include DEVPLACE_CUDA_BACKEND(workspaces)
