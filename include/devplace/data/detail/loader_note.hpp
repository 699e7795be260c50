// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <devplace/base/joined.hpp>
#include <devplace/base/type_text.hpp>
#include <devplace/data/loader_options.hpp>
#include <devplace/parallel/fingerprint.hpp>
#include <devplace/place/placement.hpp>
#include <devplace/tensor/extents.hpp>

namespace devplace::detail {

/// Collects the options of a loader that must be equal in all processes: trainers compare the options in each step, and
/// accuracy() once. Empty for placements of one process.
template <class Where, class Views, class... Transform>
parallel::batch_note note_of_loader([[maybe_unused]] const Views& data, [[maybe_unused]] const loader_options& options,
                                    [[maybe_unused]] const Transform&... transform) {
  parallel::batch_note note;
  if constexpr (spans_processes<Where>) {
    parallel::fingerprint& all = note.loader;
    all.add("loader's features", to_string(data.features.extents()));
    all.add("loader's targets", to_string(data.targets.extents()));
    all.add("loader's batch", options.batch);
    all.add("loader's shuffle", options.shuffle ? joined({"seed ", options.shuffle->value}) : "none");
    all.add("loader's drop_last", options.drop_last);
    options.scale ? all.add("loader's scale", *options.scale) : all.add("loader's scale", "default");
    all.add("loader's mean", options.mean);
    all.add("loader's standard_deviation", options.standard_deviation);
    all.add("loader's split", options.split);
    (all.add("loader's transform", type_text<Transform>()), ...);
    (all.add_options("loader's transform's ", transform), ...);
    note.loader_hash = all.hash();
  }
  return note;
}

}  // namespace devplace::detail
