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

/// Images of 2x5x5 bytes and their masks of 5x5: in the first channel of an image all pixels differ, also from those of
/// the next image, in the second one they are 255 minus the first's, and in the mask 3 times the first's plus 1.
struct segmented_images {
  devplace::tensor<std::uint8_t, devplace::extents<devplace::dyn, 2, 5, 5>, devplace::on<devplace::cpu>> images;
  devplace::tensor<std::int32_t, devplace::extents<devplace::dyn, 5, 5>, devplace::on<devplace::cpu>> masks;

  explicit segmented_images(std::size_t count)
      : images(decltype(images)::extents_type(count)), masks(decltype(masks)::extents_type(count)) {
    for (std::size_t i = 0; i < count * 25; ++i) {
      const std::size_t pixel = (i + 8) % 248 + 8;  // 7 and less are free
      images.data()[i / 25 * 50 + i % 25] = static_cast<std::uint8_t>(pixel);
      images.data()[i / 25 * 50 + 25 + i % 25] = static_cast<std::uint8_t>(255 - pixel);
      masks.data()[i] = static_cast<std::int32_t>(3 * pixel + 1);
    }
  }
};

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
