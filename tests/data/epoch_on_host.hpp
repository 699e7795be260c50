// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <type_traits>

#include <devplace/data/loader.hpp>
#include <devplace/parallel/gather.hpp>
#include <devplace/tensor/copy.hpp>

#include "support/labelled_samples.hpp"

namespace support {

namespace dp = devplace;

/// A tensor on one place, or split over several, copied to the host.
template <class T, class Extents, class P> auto on_host(const dp::tensor<T, Extents, dp::on<P>>& x) {
  return dp::to<dp::on<dp::cpu>>(x);
}
template <class T, class Extents, class... P>
auto on_host(const dp::tensor<T, Extents, dp::sharded_on<dp::axis<0>, P...>>& x) {
  return dp::gather<dp::on<dp::cpu>>(x);
}

/// All samples and labels of one epoch of a loader for any placement, copied to the host.
template <class Loader> auto read_on_host(Loader& batches, int epoch) {
  using batch = typename Loader::batch_type;
  epoch_contents<typename decltype(batch::images)::value_type, typename decltype(batch::labels)::value_type> result;
  for (const auto& [images, labels] : batches.epoch(epoch)) {
    const auto samples = on_host(images);
    const auto targets = on_host(labels);
    result.samples.insert(result.samples.end(), samples.data(), samples.data() + samples.size());
    result.labels.insert(result.labels.end(), targets.data(), targets.data() + targets.size());
    result.batch_sizes.push_back(labels.extent(0));
  }
  return result;
}

/// All samples and labels of one epoch of a new loader of images.
template <class Where> auto read_on_host(const dp::image_set& data, const dp::loader_options& how, int epoch) {
  dp::loader<Where> batches{data, how};
  static_assert(std::is_same_v<typename decltype(dp::loader<Where>::batch_type::images)::placement_type,
                               dp::batch_placement_t<Where>>);
  return read_on_host(batches, epoch);
}

}  // namespace support
