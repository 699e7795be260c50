// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <devplace/backend/cuda/repeated_launches.hpp>
#include <devplace/ops/repeated_work.hpp>
#include <devplace/place/backend.hpp>

namespace devplace {

template <> struct implementation<backend::cuda, op::repeated_work> {
  using launches = detail::cuda_repeated_launches;
};

}  // namespace devplace
