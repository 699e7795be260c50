// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

#include <devplace/data/loader.hpp>
#include <devplace/nn/model.hpp>
#include <devplace/ops/reduce_into.hpp>
#include <devplace/tensor/placed.hpp>

namespace devplace {

namespace detail {

/// Adds to `right` in how many rows the largest logit is the label's.
template <class Tu, class Right, class Logits, class Labels>
void add_right(const Right& right, const Logits& logits, const Labels& labels) {
  using where = here<typename Logits::backend_type>;
  const extents<dyn> rows{logits.extent(0)};
  const auto memory = allocate<typename Logits::backend_type, Tu>(logits.ordinal(), rows.size() * sizeof(std::int64_t),
                                                                  memory_purpose::workspace);
  const view<std::int64_t, extents<dyn>, where> classes{static_cast<std::int64_t*>(memory.data()), rows,
                                                        device_of<where>{logits.ordinal()}};
  argmax_into<Tu>(classes, logits);
  count_equal_into<Tu>(right, classes, labels, 1);
}

}  // namespace detail

/// The share of samples whose largest output is their label's, from 0 to 1; NaN for no samples. The batches come from a
/// loader for the model's placement: `accuracy(model, batches.epoch(0))`. Reads one number back from each place at the
/// end.
template <class Tu = detail::this_tu, class Net, placement Where, precision P, class Batches>
  requires requires(Batches& b) {
    b.begin();
  }
double accuracy(const model<Net, Where, P>& m, Batches&& batches) {
  using backend_type = placement_backend_t<Where>;
  static_assert(model<Net, Where, P>::output_extents::rank == 1,
                "devplace: accuracy: the model's output must be one row of class scores for each sample.");
  using counts =
      tensor<std::int64_t, extents<>, std::conditional_t<single_place<Where>, Where, gradient_placement_t<Where>>>;
  counts right(extents<>{}, Tu{});
  const std::int64_t zero = 0;
  for (std::size_t k = 0; k < place_count<Where>; ++k) {
    const auto part = detail::local_part(right, k);
    detail::copy_in<backend_type, Tu>(part.ordinal(), part.data(), &zero, sizeof zero);
  }
  std::size_t samples = 0;
  for (const auto& [images, labels] : batches) {
    using labels_type = std::remove_cvref_t<decltype(labels)>;
    static_assert(std::is_same_v<typename labels_type::placement_type, batch_placement_t<Where>>,
                  "devplace: accuracy: the labels do not lie where the model takes its batches; a loader<Where> gives "
                  "both there.");
    nn::detail::check_batch<Where, element_of_t<P>, typename model<Net, Where, P>::input_extents>(images);
    static_assert(std::is_integral_v<typename labels_type::value_type> && labels_type::rank == 1,
                  "devplace: accuracy: there must be one integer label for each sample.");
    if (labels.extent(0) != images.extent(0))
      throw shape_error("accuracy: a batch has " + std::to_string(images.extent(0)) + " samples and " +
                        std::to_string(labels.extent(0)) + " labels; give one label for each sample.");
    const auto logits = m.template predict<Tu>(images);
    samples += images.extent(0);
    for (std::size_t k = 0; k < place_count<Where>; ++k)
      detail::add_right<Tu>(detail::local_part(right, k), detail::local_part(logits, k), detail::local_part(labels, k));
  }
  std::int64_t total = 0;
  for (std::size_t k = 0; k < place_count<Where>; ++k) {
    const auto part = detail::local_part(right, k);
    std::int64_t count = 0;
    detail::copy_out<backend_type, Tu>(part.ordinal(), &count, part.data(), sizeof count);
    total += count;
  }
  return static_cast<double>(total) / static_cast<double>(samples);
}

/// The same over a set of images, in batches of `options.batch` (256 unless given); pixels are scaled as the options
/// say, so give those that training had.
template <class Tu = detail::this_tu, class Net, placement Where, precision P>
double accuracy(const model<Net, Where, P>& m, const image_set& data, loader_options options = {.batch = 256}) {
  options.shuffle.reset();
  options.drop_last = false;
  loader<Where, element_of_t<P>> batches(data, options);
  return accuracy<Tu>(m, batches.template epoch<Tu>(0));
}

}  // namespace devplace
