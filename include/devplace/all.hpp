// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

// Everything. The table of contents, from narrow to wide: core.hpp (tensors and operations), nn.hpp (layers, models,
// optimizers), parallel.hpp (several places); then data, files and training. Each is usable alone. Only sorting.hpp is
// left out, for what CUB's headers cost nvcc.
#include <devplace/core.hpp>
#include <devplace/data/idx.hpp>
#include <devplace/data/labelled_batch.hpp>
#include <devplace/data/labelled_images.hpp>
#include <devplace/data/loader.hpp>
#include <devplace/data/loader_options.hpp>
#include <devplace/data/sampler.hpp>
#include <devplace/io/npy.hpp>
#include <devplace/nn.hpp>
#include <devplace/parallel.hpp>
#include <devplace/train/accuracy.hpp>
#include <devplace/train/memory_plan.hpp>
#include <devplace/train/progress.hpp>
#include <devplace/train/trainer.hpp>
