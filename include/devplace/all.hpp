// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

// Adds data, files and training to parallel.hpp (several places), nn.hpp (layers, models, optimizers) and core.hpp
// (tensors and operations). Leaves out headers that are rarely used or slow to compile; docs/README.md lists them.

#include <devplace/config.hpp>  // first, so that a short include stack precedes its errors
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
#include <devplace/train/accumulate.hpp>
#include <devplace/train/accuracy.hpp>
#include <devplace/train/early_stopping.hpp>
#include <devplace/train/memory_plan.hpp>
#include <devplace/train/moving_average.hpp>
#include <devplace/train/progress.hpp>
#include <devplace/train/trainer.hpp>

// The loader of images and the loops of losses, norms and checksums, for component compiled.
namespace devplace::detail {

DEVPLACE_COMPILED_LOOP(reduced_block<element_source<float>, runtime::magnitude_reducer<float>>)
DEVPLACE_COMPILED_LOOP(reduced_block<parallel::detail::bits_source<float>, parallel::detail::checksum_reducer>)
DEVPLACE_COMPILED_LOOP(reduced_block<below_source, sum_reducer<std::int64_t, std::int64_t>>)
DEVPLACE_COMPILED_LOOP(
    reduced_block<classes_before_label<float, std::uint8_t>, sum_reducer<std::int64_t, std::int64_t>>)
DEVPLACE_COMPILED_LOOP(reduced_block<cross_entropy_terms<float, std::uint8_t>,
                                     loss_reducer<float, train::detail::loss_functor<float, float>>>)
DEVPLACE_COMPILED_LOOP(reduced_block<cross_entropy_terms<float, std::uint8_t>, loss_reducer<float, no_operation>>)
DEVPLACE_COMPILED_PLAIN(class batch_maker<float, view<const std::uint8_t, extents<dyn, dyn, dyn>, cpu, row_major>,
                                          view<const std::uint8_t, extents<dyn>, cpu, row_major>, cpu>)

}  // namespace devplace::detail
