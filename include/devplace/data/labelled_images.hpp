// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>
#include <string>
#include <type_traits>

#include <devplace/base/error.hpp>
#include <devplace/base/host_memory.hpp>
#include <devplace/config.hpp>
#include <devplace/data/idx.hpp>
#include <devplace/data/sampler.hpp>
#include <devplace/data/shuffle_seed.hpp>
#include <devplace/tensor/detail/number_format.hpp>
#include <devplace/tensor/tensor.hpp>

namespace devplace {

/// Grey images of one size with one label each. Move-only, as its tensors.
struct image_set {
  tensor<std::uint8_t, extents<dyn, dyn, dyn>, on<cpu>> images;  ///< (count, height, width)
  tensor<std::uint8_t, extents<dyn>, on<cpu>> labels;            ///< (count)

  /// Makes an empty set.
  DEVPLACE_CONFIGURED image_set() = default;
  /// Moves both tensors.
  image_set(decltype(images)&& given_images, decltype(labels)&& given_labels)
      : images(std::move(given_images)), labels(std::move(given_labels)) {}

  /// Number of images.
  std::size_t size() const { return labels.size(); }

  /// Number of classes that the labels need: the largest label plus one; 0 without labels.
  std::size_t classes() const {
    std::size_t count = 0;
    for (std::size_t i = 0; i < labels.size(); ++i) count = std::max<std::size_t>(count, labels(i) + std::size_t{1});
    return count;
  }
};

/// A training set and a test set.
struct labelled_images {
  image_set train;  ///< training images
  image_set test;   ///< images held out

  /// Number of classes that the labels of both sets need: 10 for MNIST.
  std::size_t classes() const { return std::max(train.classes(), test.classes()); }
};

}  // namespace devplace

namespace devplace::detail::inline DEVPLACE_CONFIGURATION {

DEVPLACE_COMPILABLE_PLAIN() image_set images_and_labels(const std::string& images, const std::string& labels) {
  image_set set{read_idx<std::uint8_t, extents<dyn, dyn, dyn>>(images), read_idx<std::uint8_t, extents<dyn>>(labels)};
  if (set.images.extents().extent(0) != set.size())
    fail_file("read_image_set", images,
              {"holds ", set.images.extents().extent(0), " images and '", labels, "' holds ", set.size(),
               " labels; give the two files of one set."});
  return set;
}
DEVPLACE_COMPILED_PLAIN(image_set images_and_labels(const std::string&, const std::string&))

DEVPLACE_COMPILABLE_PLAIN() labelled_images sets_in_folder(const std::string& folder) try {
  const auto read = [&](const std::string& part) {
    return images_and_labels(joined({folder, "/", part, "-images-idx3-ubyte"}),
                             joined({folder, "/", part, "-labels-idx1-ubyte"}));
  };
  labelled_images data{read("train"), read("t10k")};
  for (const std::size_t axis : {1u, 2u})
    if (data.train.images.extent(axis) != data.test.images.extent(axis))
      throw file_error({"read_mnist: the training images in ", in_quotes(folder), " have the shape ",
                        to_string(data.train.images.extents()), " and the test images ",
                        to_string(data.test.images.extents()),
                        "; the height and width must agree. Give the four files of one data set."});
  return data;
} catch (const std::bad_alloc&) {
  fail_without_memory("the sets of read_mnist");
}
DEVPLACE_COMPILED_PLAIN(labelled_images sets_in_folder(const std::string&))

/// Copies `held_out` images, the last or randomly drawn ones, to the test set, and all others to the training set.
DEVPLACE_COMPILABLE_PLAIN()
labelled_images split_images(const image_set& all, std::size_t held_out, shuffle_seed shuffle) try {
  const auto images = all.images.view();
  const auto labels = all.labels.view();
  const std::size_t count = images.extents().extent(0), pixels = images.extents().stride(0);
  if (count != labels.size())
    throw argument_error(
        {"hold_out: the set has ", count, " images and ", labels.size(), " labels; give one label for each image."});
  if (held_out > count)
    throw argument_error({"hold_out: ", static_cast<std::ptrdiff_t>(held_out), " images were to be held out of ", count,
                          "; hold out none, all of them or a number between."});
  sampler order(count, shuffle);
  const auto copies_of = [&](const std::int64_t* chosen, std::size_t size) {
    image_set result{decltype(image_set::images)(
                         extents<dyn, dyn, dyn>(size, images.extents().extent(1), images.extents().extent(2))),
                     decltype(image_set::labels)(extents<dyn>(size))};
    for (std::size_t i = 0; i < size; ++i) {
      const auto index = static_cast<std::size_t>(chosen[i]);
      std::copy_n(images.data() + index * pixels, pixels, result.images.data() + i * pixels);
      result.labels.data()[i] = labels.data()[index];
    }
    return result;
  };
  const std::int64_t* const indices = order.order(0).data();
  return {copies_of(indices, count - held_out), copies_of(indices + count - held_out, held_out)};
} catch (const std::bad_alloc&) {
  fail_without_memory("the sets of hold_out");
}
DEVPLACE_COMPILED_PLAIN(labelled_images split_images(const image_set&, std::size_t, shuffle_seed))

}  // namespace devplace::detail::inline DEVPLACE_CONFIGURATION

namespace devplace::inline DEVPLACE_CONFIGURATION {

/// Reads images, uint8 (count, height, width), and their labels, uint8 (count), from two IDX files, as read_idx does.
/// Throws file_error if the counts differ.
inline image_set read_image_set(const std::string& images_path, const std::string& labels_path) {
  return detail::images_and_labels(images_path, labels_path);
}

/// Reads MNIST, or a set with its file names (Fashion-MNIST), from a folder: `train-images-idx3-ubyte`,
/// `train-labels-idx1-ubyte`, `t10k-images-idx3-ubyte` and `t10k-labels-idx1-ubyte`, each plain or, with the component
/// zlib, as `.gz`. Throws file_error as read_image_set does, and if train and test images differ in size.
inline labelled_images read_mnist(const std::string& folder) { return detail::sets_in_folder(folder); }

/// Holds out the last images of a set as test images. With a seed, holds out randomly drawn images, which depend only
/// on the seed. `held_out` is the number of test images. If it has a floating-point type, it is the fraction of test
/// images, rounded to the nearest number: `hold_out(set, 0.2)`. Both parts are copies. Throws argument_error if the set
/// has fewer images, if the fraction does not lie between 0 and 1, or if the numbers of images and labels differ.
template <class Amount> labelled_images hold_out(const image_set& all, Amount held_out, shuffle_seed shuffle = {}) {
  if constexpr (std::is_floating_point_v<Amount>) {
    if (!(held_out >= 0 && held_out <= 1))
      throw argument_error({"hold_out: the fraction ", detail::format_number(held_out),
                            " does not lie between 0 and 1; a number of images is written without a decimal point."});
    const double images = static_cast<double>(held_out) * static_cast<double>(all.size());
    return detail::split_images(all, static_cast<std::size_t>(images + 0.5), shuffle);
  } else {
    return detail::split_images(all, static_cast<std::size_t>(held_out), shuffle);
  }
}

}  // namespace devplace::inline DEVPLACE_CONFIGURATION
