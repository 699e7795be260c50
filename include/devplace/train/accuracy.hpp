// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

#include <devplace/data/loader.hpp>
#include <devplace/nn/model.hpp>
#include <devplace/ops/for_each.hpp>
#include <devplace/ops/reduce.hpp>
#include <devplace/tensor/placed.hpp>

namespace devplace {

namespace detail {

/// Counts the rows whose largest logit is their label's; ties go to the first, as in argmax. One thread of work: a
/// batch has few rows beside what predicting them cost.
template <class T, class Label>
struct count_right_functor {
  const T* logits;
  const Label* labels;
  std::size_t rows;
  std::size_t classes;
  std::int64_t* right;

  DEVPLACE_HD void operator()(std::size_t) const {
    for (std::size_t row = 0; row < rows; ++row) {
      const T* values = logits + row * classes;
      std::size_t best = 0;
      for (std::size_t c = 1; c < classes; ++c)
        best = values[best] == values[best] && !(values[c] <= values[best]) ? c : best;
      *right += static_cast<std::int64_t>(labels[row]) == static_cast<std::int64_t>(best) ? 1 : 0;
    }
  }
};

}  // namespace detail

/// The share of samples whose largest output is their label's, from 0 to 1; NaN for no samples. The batches come from a
/// loader for the model's placement: `accuracy(model, batches.epoch(0))`. Reads one number back from each place at the
/// end.
template <class Tu = detail::this_tu, class Net, placement Where, class T, class Batches>
  requires requires(Batches& b) {
    b.begin();
  }
double accuracy(const model<Net, Where, T>& m, Batches&& batches) {
  using backend_type = placement_backend_t<Where>;
  static_assert(model<Net, Where, T>::output_extents::rank == 1,
                "devplace: accuracy: the model's output must be one row of class scores for each sample.");
  using counts =
      tensor<std::int64_t, extents<1>, std::conditional_t<single_place<Where>, Where, gradient_placement_t<Where>>>;
  counts right(extents<1>{}, Tu{});
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
    static_assert(std::is_integral_v<typename labels_type::value_type> && labels_type::rank == 1,
                  "devplace: accuracy: there must be one integer label for each sample.");
    if (labels.extent(0) != images.extent(0))
      throw shape_error("accuracy: a batch has " + std::to_string(images.extent(0)) + " samples and " +
                        std::to_string(labels.extent(0)) + " labels; give one label for each sample.");
    const auto logits = m.template predict<Tu>(images);
    samples += images.extent(0);
    for (std::size_t k = 0; k < place_count<Where>; ++k) {
      const auto part = detail::local_part(logits, k);
      const auto of = detail::local_part(labels, k);
      using label_type = typename decltype(of)::value_type;
      detail::for_each_index<backend_type, Tu>(
          part.ordinal(), 1, 1,
          detail::count_right_functor<T, label_type>{part.data(), of.data(), part.extent(0), part.extent(1),
                                                     detail::local_part(right, k).data()});
    }
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
template <class Tu = detail::this_tu, class Net, placement Where, class T>
double accuracy(const model<Net, Where, T>& m, const image_set& data, loader_options options = {.batch = 256}) {
  options.shuffle.reset();
  options.drop_last = false;
  loader<Where, T> batches(data, options);
  return accuracy<Tu>(m, batches.template epoch<Tu>(0));
}

}  // namespace devplace
