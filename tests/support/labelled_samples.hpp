// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <devplace/data/labelled_images.hpp>

namespace support {

/// Makes distinct images of 2x3 pixels: pixel p of image i is (7 i + p) % 256, its label i % 10.
inline devplace::image_set numbered_images(std::size_t count) {
  using devplace::dyn, devplace::extents, devplace::on, devplace::cpu;
  devplace::image_set set{
      devplace::tensor<std::uint8_t, extents<dyn, dyn, dyn>, on<cpu>>(extents<dyn, dyn, dyn>(count, 2, 3)),
      devplace::tensor<std::uint8_t, extents<dyn>, on<cpu>>(extents<dyn>(count))};
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t p = 0; p < 6; ++p) set.images.data()[i * 6 + p] = static_cast<std::uint8_t>((7 * i + p) % 256);
    set.labels.data()[i] = static_cast<std::uint8_t>(i % 10);
  }
  return set;
}

/// All samples and labels of one epoch of a loader on the CPU, in order.
template <class T, class Label> struct epoch_contents {
  std::vector<T> samples;
  std::vector<Label> labels;
  std::vector<std::size_t> batch_sizes;

  bool operator==(const epoch_contents&) const = default;
};

template <class Loader> auto read_epoch(Loader& batches, int epoch) {
  using batch = typename Loader::batch_type;
  epoch_contents<typename decltype(batch::images)::value_type, typename decltype(batch::labels)::value_type> result;
  for (const auto& [images, labels] : batches.epoch(epoch)) {
    result.samples.insert(result.samples.end(), images.data(), images.data() + images.size());
    result.labels.insert(result.labels.end(), labels.data(), labels.data() + labels.size());
    result.batch_sizes.push_back(images.extent(0));
  }
  return result;
}

}  // namespace support
