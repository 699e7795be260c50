// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <devplace/place/backend.hpp>
#include <devplace/runtime/step_record.hpp>

namespace devplace::op {

/// `run(ordinal, n, update)` updates n elements with the factors of an optimizer's step, and computes the factors of
/// the next step (runtime::update in runtime/step_record.hpp).
struct update {};

}  // namespace devplace::op

#include <devplace/backend/cpu/update.hpp>
#include DEVPLACE_BACKENDS(update)
