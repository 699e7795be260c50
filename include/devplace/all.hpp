// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

// Everything except sorting.hpp, whose CUB headers are expensive for nvcc. Narrower umbrella headers: core.hpp (tensors
// and operations), nn.hpp (also layers, models, optimizers), parallel.hpp (also several places). This one adds data,
// files and training.
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
