// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

// Tensors and models in memory shared by several processes: place shared_memory, and handles for memory of GPUs. Not in
// all.hpp, because only programs of several processes need it.
#include <devplace/memory/detail/shared_pages.hpp>
#include <devplace/nn/shared_model.hpp>
#include <devplace/tensor/ipc.hpp>
#include <devplace/tensor/shared_tensor.hpp>
#include <devplace/train/hogwild.hpp>
